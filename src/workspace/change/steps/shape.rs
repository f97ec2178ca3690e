//! Adding, changing and removing steps.

use std::{
    collections::{BTreeMap, BTreeSet},
    slice,
};

use serde_json::{Map, Value};

use crate::{
    domain::{
        ErrorCode, NewStep, Plan, Renumbering, StateFile, Step, StepId, StepRef, StepRole as Role,
        StepUpdate,
        plan::{dependencies, step::heading::HeadingText},
    },
    text::markdown::Document,
    workspace::{
        Answer, Draft, Error, Readiness,
        change::{
            StepShape,
            steps::{fields, progress::PlanProgress, step_json},
            text_of,
        },
    },
};

/// Adds a step at the end, or after another.
pub(in crate::workspace::change) fn add(
    draft: &mut Draft<'_>,
    shape: &StepShape,
) -> Result<Answer, Error> {
    let shape = fields::sorted(shape)?;
    let title = title(shape.title.as_deref().unwrap_or_default())?;
    let plan = draft.plan()?;
    let after = shape.after.as_ref().map(|after| plan.step(after)).transpose()?;
    let renumbering = after.map(Renumbering::behind);
    let variables = draft.variables()?;
    let is_variable = |path: &str| variables.get(path).is_some();
    // Whoever adds a step knows the others by the numbers they have until then.
    let renumbered = |(key, value): (String, String)| match &renumbering {
        Some(renumbering) => (key, renumbering.text(&value, &is_variable)),
        None => (key, value),
    };
    let status = draft.workflow().step_with_role(Role::Open).to_owned();
    let mut progress = PlanProgress::new(draft, &plan)?;
    let id = chosen_id(&progress, shape.id.as_deref())?;
    let depends_on = identified(&mut progress, &plan, shape.depends_on.as_deref())?;
    let number = plan.new_number(after);
    if after.is_some() {
        for later in plan.steps.iter().filter(|step| step.number >= number) {
            progress.step(later).set_number(later.number + 1);
        }
    }
    let depends_on = progress.list(&depends_on);
    let inputs = pairs(&shape.input).into_iter().map(renumbered).collect();
    let new = NewStep { inputs, ..new_step(&shape, title, depends_on) };
    let place = plan.place_of_box(after, progress.has_boxes());
    let heading = match place {
        Some(place) => {
            plan.add_box(progress.edit(), place, number, &new.title);
            None
        }
        None => Some(plan.add_step(progress.edit(), (&id, number), &new, &status, after)?),
    };
    if let Some(renumbering) = &renumbering {
        plan.update_references(progress.edit(), renumbering, None, &is_variable);
    }
    progress.added.push((number, status.clone()));
    progress.reopen_plan()?;
    progress.finish(&[])?;
    let description = shape.description.as_deref().filter(|text| !text.trim().is_empty());
    let id = match heading {
        Some(heading) => {
            complete(draft, number, heading, description)?;
            Some(id)
        }
        None => complete_box(draft, number, &new, shape.id.as_ref().map(|_| id), description)?,
    };
    touch(draft, number)?;
    Ok(added_answer(number, id.as_ref(), &new.title, &status))
}

/// Adds several steps at the end by one edit: one reading of the plan and one proof for all.
///
/// # Errors
/// One of them is refused, or needs more than one edit; nothing was changed.
pub(in crate::workspace) fn add_all(
    draft: &mut Draft<'_>,
    shapes: &[&StepShape],
) -> Result<Vec<Answer>, Error> {
    let plan = draft.plan()?;
    let status = draft.workflow().step_with_role(Role::Open).to_owned();
    let mut progress = PlanProgress::new(draft, &plan)?;
    progress.reopen_plan()?;
    let first = plan.new_number(None);
    let (mut ids, mut titles) = (BTreeMap::new(), Vec::with_capacity(shapes.len()));
    let given = shapes.iter().filter_map(|shape| shape.id.as_deref()).collect::<BTreeSet<_>>();
    let mut answers = Vec::with_capacity(shapes.len());
    for (number, shape) in (first..).zip(shapes) {
        let shape = fields::sorted(shape)?;
        let title = title(shape.title.as_deref().unwrap_or_default())?;
        let mut id = chosen_id(&progress, shape.id.as_deref())?;
        while shape.id.is_none() && (ids.contains_key(&id) || given.contains(id.as_str())) {
            id = progress.new_id();
        }
        if ids.insert(id.clone(), number).is_some() {
            return Err(taken_id(&id));
        }
        let mut waits_for: Vec<(u32, String)> = Vec::new();
        let is_named = |wanted: &StepRef| {
            matches!(wanted, StepRef::Id(id) if ids.contains_key(id)) || plan.step(wanted).is_ok()
        };
        let wanted = shape.depends_on.as_deref().unwrap_or_default();
        for selected in each(wanted, is_named, number) {
            let of_these = match &selected {
                StepRef::Number(number) => Some(*number).filter(|number| *number >= first),
                StepRef::Id(id) => ids.get(id).copied(),
                StepRef::Label(_) => None,
            };
            let (number, title) = match of_these {
                Some(number) => {
                    let title = titles.get((number - first) as usize).cloned();
                    (number, title.map_or_else(|| plan.step(&selected).map(|_| String::new()), Ok)?)
                }
                None => {
                    let steps = identified(&mut progress, &plan, Some(slice::from_ref(&selected)))?;
                    let Some(step) = steps.first() else { continue };
                    let (number, title) = progress.name(step);
                    (number, title.to_owned())
                }
            };
            if !waits_for.iter().any(|(known, _)| *known == number) {
                waits_for.push((number, title));
            }
        }
        let waits_for = waits_for.iter().map(|(number, title)| (*number, title.as_str()));
        let new = new_step(&shape, title, dependencies::write(waits_for));
        let place = plan.place_of_box(None, progress.has_boxes());
        let (is_whole, id) = match place {
            Some(place) => {
                plan.add_box(progress.edit(), place, number, &new.title);
                (shape.id.is_none() && new.is_title_alone(), None)
            }
            None => {
                let heading = plan.add_step(progress.edit(), (&id, number), &new, &status, None)?;
                (!heading.ends_like_mark, Some(id))
            }
        };
        if !is_whole || shape.description.is_some() {
            let message = "this step cannot be added together with others; add it on its own";
            return Err(Error::refused(ErrorCode::BadValue, message));
        }
        progress.added.push((number, status.clone()));
        answers.push(added_answer(number, id.as_ref(), &new.title, &status));
        titles.push(new.title);
    }
    progress.finish(&[])?;
    for (number, _) in (first..).zip(shapes) {
        touch(draft, number)?;
    }
    Ok(answers)
}

fn new_step(shape: &StepShape, title: String, depends_on: String) -> NewStep {
    NewStep {
        title,
        component: shape.component.clone(),
        tool: shape.tool.clone(),
        inputs: pairs(&shape.input),
        expected_outputs: pairs(&shape.output),
        cost: shape.cost.map(|cost| cost.0.to_string()),
        time: shape.time.map(|time| time.to_string()),
        side_effects: shape.effects.clone(),
        depends_on,
        other: pairs(&shape.set),
    }
}

/// The id that was given for a new step, or a new one.
fn chosen_id(progress: &PlanProgress<'_, '_, '_>, given: Option<&str>) -> Result<StepId, Error> {
    let Some(given) = given else { return Ok(progress.new_id()) };
    let Some(id) = StepId::parse(given.trim()) else {
        let message = format!("`{given}` cannot be the id of a step");
        let hint = "a letter, then letters, digits, `-` and `_`, at most 40 in all";
        return Err(Error::refused_with(ErrorCode::BadValue, message, hint));
    };
    if progress.has_id(&id) { Err(taken_id(&id)) } else { Ok(id) }
}

fn taken_id(id: &StepId) -> Error {
    let message = format!("there is already a step with the id `{id}`");
    Error::refused_with(ErrorCode::Exists, message, "`statedir step list` shows all of them")
}

/// A box has no id before there is something to know about it.
pub(in crate::workspace) fn added_answer(
    number: u32,
    id: Option<&StepId>,
    title: &str,
    status: &str,
) -> Answer {
    let step = serde_json::json!({ "number": number, "id": id, "title": title, "status": status });
    let id = id.map(|id| format!(" ({id})")).unwrap_or_default();
    Answer::new(format!("step {number}{id} added: {title}")).with("step", step)
}

/// What is in a list below a box, once the box is there; the id, if it was given one.
fn complete_box(
    draft: &mut Draft<'_>,
    number: u32,
    new: &NewStep,
    id: Option<StepId>,
    description: Option<&str>,
) -> Result<Option<StepId>, Error> {
    if id.is_none() && new.is_title_alone() && description.is_none() {
        return Ok(None);
    }
    let lists = [("inputs", &new.inputs), ("expected_outputs", &new.expected_outputs)];
    let given = || lists.into_iter().filter(|(_, pairs)| !pairs.is_empty());
    let plan = draft.plan()?;
    let mut edit = plan.document.edit();
    let step = plan.step(&StepRef::Number(number))?;
    let mut update = StepUpdate::default();
    new.box_fields().into_iter().for_each(|(key, value)| update.set(key, value));
    if let Some(text) = description {
        update.set("description", text);
    }
    if let Some(id) = &id {
        update.set("id", id.as_str());
    }
    plan.update_step(&mut edit, step, &update)?;
    for (list, _) in given() {
        plan.ensure_nested(&mut edit, step, list)?;
    }
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    let plan = draft.plan()?;
    let mut edit = plan.document.edit();
    let step = plan.step(&StepRef::Number(number))?;
    for (list, pairs) in given() {
        plan.set_nested(&mut edit, step, list, pairs)?;
    }
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    Ok(id)
}

/// What can be written only once the step is there: a title whose end looks like a mark, and the
/// text below the fields.
fn complete(
    draft: &mut Draft<'_>,
    number: u32,
    heading: HeadingText,
    description: Option<&str>,
) -> Result<(), Error> {
    if !heading.ends_like_mark && description.is_none() {
        return Ok(());
    }
    let plan = draft.plan()?;
    let mut added = plan.steps.iter().filter(|step| step.number == number);
    let Some(step) = added.next_back() else { return Ok(()) };
    let mut edit = plan.document.edit();
    if heading.ends_like_mark {
        edit.set_title_ending(step.section, &heading.text, true);
    }
    if let Some(description) = description {
        refuse_fields_in(description)?;
        edit.append_text(step.section, description);
    }
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    Ok(())
}

/// Refuses a description with an item `key: value` in a list: below a step that is a field.
fn refuse_fields_in(description: &str) -> Result<(), Error> {
    let Ok(document) = Document::parse(format!("# Step\n\n{description}\n")) else { return Ok(()) };
    let Ok(section) = document.find(&["Step"]) else { return Ok(()) };
    let parts = document.parts(section).into_iter();
    let mut keys = parts.filter_map(|part| document.item(part.item?).key.clone());
    let Some(key) = keys.next() else { return Ok(()) };
    Err(Error::refused_with(
        ErrorCode::BadValue,
        format!("in a description, the list item `{key}: …` would be a field of the step"),
        format!("give it as a field, `{key}=VALUE`, or write it without the list"),
    ))
}

/// Changes what a step says.
pub(in crate::workspace::change) fn set(
    draft: &mut Draft<'_>,
    shape: &StepShape,
) -> Result<Answer, Error> {
    let Some(selected) = &shape.step else {
        return Err(Error::refused(ErrorCode::BadValue, "`step.set` needs a `step`"));
    };
    if shape.id.is_some() {
        let message = "the id of a step cannot be changed";
        return Err(Error::refused_with(ErrorCode::ManagedField, message, "it never changes"));
    }
    let shape = fields::sorted(shape)?;
    for (list, given) in [("expected_outputs", &shape.output), ("inputs", &shape.input)] {
        if !given.is_empty() {
            let plan = draft.plan()?;
            let mut edit = plan.document.edit();
            plan.ensure_nested(&mut edit, plan.step(selected)?, list)?;
            draft.put(StateFile::Plan, Plan::finish(edit)?);
        }
    }
    let plan = draft.plan()?;
    let step = plan.step(selected)?;
    let mut progress = PlanProgress::new(draft, &plan)?;
    let id = progress.identify(step);
    let depends_on = identified(&mut progress, &plan, shape.depends_on.as_deref())?;
    let mut dropped = String::new();
    if shape.depends_on.is_some() {
        refuse_cycle(&plan, step, &depends_on)?;
        let is_kept = |wanted: &&StepRef| depends_on.iter().any(|step| step.is(wanted));
        let gone = step.depends_on.iter().filter(|wanted| !is_kept(wanted));
        let number =
            |wanted| plan.step(wanted).map_or(wanted.to_string(), |step| step.number.to_string());
        let gone: Vec<String> = gone.map(number).collect();
        if !gone.is_empty() {
            dropped = format!(": it no longer depends on {}", gone.join(", "));
        }
    }
    if let Some(new_title) = &shape.title {
        progress.step(step).set_title(&title(new_title)?);
    }
    let cost = shape.cost.map(|cost| cost.0.to_string());
    let time = shape.time.map(|time| time.to_string());
    let depends_on = shape.depends_on.as_ref().map(|_| progress.list(&depends_on));
    let mut fields: Vec<(&str, &str)> = Vec::new();
    let known = [
        ("component", shape.component.as_deref()),
        ("tool_mapping", shape.tool.as_deref()),
        ("estimated_cost", cost.as_deref()),
        ("estimated_time", time.as_deref()),
        ("side_effects", shape.effects.as_deref()),
        ("depends_on", depends_on.as_deref()),
    ];
    fields.extend(known.into_iter().filter_map(|(key, value)| Some((key, value?))));
    for (key, _) in shape.set.iter().filter(|(_, value)| value.is_null()) {
        progress.step(step).clear(key);
    }
    let other = pairs(&shape.set);
    fields.extend(other.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    progress.set_fields(step, &fields);
    if let Some(description) = shape.description.as_deref().filter(|text| !text.trim().is_empty()) {
        match step.item {
            // There is no place for text below a box but a field.
            Some(_) => progress.step(step).set("description", description),
            None => {
                refuse_fields_in(description)?;
                progress.edit().append_text(step.section, description);
            }
        }
    }
    if !shape.input.is_empty() {
        plan.set_nested(progress.edit(), step, "inputs", &pairs(&shape.input))?;
    }
    if !shape.output.is_empty() {
        plan.set_nested(progress.edit(), step, "expected_outputs", &pairs(&shape.output))?;
    }
    progress.finish(&[])?;
    let wanted = StepRef::Number(step.number);
    touch(draft, step.number)?;
    // As it is now: a title may be new. That of before can be taken over.
    drop(plan);
    let plan = draft.plan()?;
    let step = plan.step(&wanted)?;
    let answer = Answer::new(format!("step {} changed{dropped}", step.number));
    Ok(answer.with("step", step_json(step, &id, step.status().unwrap_or_default())))
}

/// Takes a step out of the plan, unless others wait for it.
pub(in crate::workspace::change) fn remove(
    draft: &mut Draft<'_>,
    selected: &StepRef,
) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let step = plan.step(selected)?;
    let needed_by: Vec<String> = plan
        .steps
        .iter()
        .filter(|other| other.depends_on.iter().any(|wanted| step.is(wanted)))
        .map(|other| other.number.to_string())
        .collect();
    if !needed_by.is_empty() {
        return Err(Error::refused_with(
            ErrorCode::Needed,
            format!("{} is needed by step {}", step.name(), needed_by.join(", ")),
            format!("`statedir step skip {}` keeps it and leaves it out", step.number),
        ));
    }
    if let Some(inner) = plan.inside(step) {
        return Err(Error::refused_with(
            ErrorCode::Needed,
            format!("{} is inside {}", inner.name(), step.name()),
            "give its heading the same level in plan.md",
        ));
    }
    if step.id.is_none()
        && let [first, ..] = plan.referring_to(step).as_slice()
    {
        return Err(Error::refused_with(
            ErrorCode::Needed,
            format!("{} is referred to by step {}", step.name(), first.number),
            format!(
                "change the inputs of step {} first; `statedir step skip {}` leaves it out",
                first.number, step.number
            ),
        ));
    }
    let variables = draft.variables()?;
    let is_variable = |path: &str| variables.get(path).is_some();
    let mut progress = PlanProgress::new(draft, &plan)?;
    plan.remove_step(progress.edit(), step);
    for later in plan.steps.iter().filter(|later| later.number > step.number) {
        progress.step(later).set_number(later.number - 1);
    }
    plan.update_references(
        progress.edit(),
        &Renumbering::without(&plan, step),
        Some(step),
        &is_variable,
    );
    progress.removed = Some(step.offset);
    progress.finish(&[])?;
    touch(draft, step.number)?;
    Ok(Answer::new(format!("step {} removed: {}", step.number, step.title)))
}

fn touch(draft: &mut Draft<'_>, number: u32) -> Result<(), Error> {
    draft.facts()?.touch(&format!("{} step {number}", StateFile::Plan));
    Ok(())
}

/// The steps that are meant, each with an id, so that its name can be found again after a merge.
fn identified<'p>(
    progress: &mut PlanProgress<'_, '_, '_>,
    plan: &'p Plan,
    wanted: Option<&[StepRef]>,
) -> Result<Vec<&'p Step>, Error> {
    let mut steps: Vec<&Step> = Vec::new();
    let is_named = |wanted: &StepRef| plan.step(wanted).is_ok();
    for selected in each(wanted.unwrap_or_default(), is_named, plan.new_number(None)) {
        let step = plan.step(&selected)?;
        plan.refuse_copied(step)?;
        progress.identify(step);
        if !steps.iter().any(|known| known.offset == step.offset) {
            steps.push(step);
        }
    }
    Ok(steps)
}

/// The steps of a list, a range such as `1-3` as its steps unless a step is called so. One that reaches
/// the number `end`, which no step has, is its last step alone: that is what is wrong with it.
fn each(
    wanted: &[StepRef],
    is_named: impl Fn(&StepRef) -> bool,
    end: u32,
) -> impl Iterator<Item = StepRef> {
    wanted.iter().flat_map(move |step| {
        let range = step.range().filter(|_| !is_named(step)).map(|range| match *range.end() {
            last if last < end => range,
            last => last..=last,
        });
        let single = range.is_none().then(|| step.clone());
        single.into_iter().chain(range.into_iter().flatten().map(StepRef::Number))
    })
}

fn refuse_cycle(plan: &Plan, step: &Step, depends_on: &[&Step]) -> Result<(), Error> {
    let mut changed = plan.clone();
    for other in &mut changed.steps {
        if other.offset == step.offset {
            let numbers = depends_on.iter().map(|step| StepRef::Number(step.number));
            other.depends_on = numbers.collect();
        }
    }
    let readiness = Readiness::new(&changed, crate::domain::Workflow::builtin());
    let Some(cycle) = readiness.cycle() else { return Ok(()) };
    let names: Vec<String> = cycle.iter().map(|step| step.number.to_string()).collect();
    let message = format!("these steps would depend on each other: {}", names.join(" → "));
    Err(Error::refused(ErrorCode::DependencyCycle, message))
}

fn title(text: &str) -> Result<String, Error> {
    let text = text.trim();
    if text.is_empty() || text.contains(['\n', '\r', '\0']) {
        return Err(Error::refused(ErrorCode::BadValue, "a step needs a title of one line"));
    }
    Error::refuse_placeholder(text)?;
    Ok(text.to_owned())
}

fn pairs(map: &Map<String, Value>) -> Vec<(String, String)> {
    let is_given = |(_, value): &(&String, &Value)| !value.is_null();
    map.iter().filter(is_given).map(|(key, value)| (key.clone(), text_of(value))).collect()
}
