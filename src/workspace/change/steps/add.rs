//! Adding steps.

use std::{
    collections::{BTreeMap, BTreeSet},
    slice,
};

use crate::{
    domain::{
        ErrorCode, NewStep, Plan, Renumbering, StateFile, StepId, StepRef, StepRole as Role,
        StepUpdate,
        plan::{dependencies, step::heading::HeadingText},
    },
    text::markdown::Document,
    workspace::{
        Answer, Draft, Error,
        change::{
            StepShape,
            steps::{
                fields,
                progress::PlanProgress,
                shape::{each, identified, pairs, title, touch},
            },
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
        edit.append_text(step.section, &plan.below_step(step, description));
    }
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    Ok(())
}

/// Refuses a description with an item `key: value` in a list: below a step that is a field.
pub(super) fn refuse_fields_in(description: &str) -> Result<(), Error> {
    let Ok(document) = Document::parse(format!("# Step\n\n{description}\n")) else { return Ok(()) };
    let Ok(section) = document.find(&["Step"]) else { return Ok(()) };
    let parts = document.body_blocks(section).into_iter();
    let mut keys = parts.filter_map(|part| document.item(part.item?).key.clone());
    let Some(key) = keys.next() else { return Ok(()) };
    Err(Error::refused_with(
        ErrorCode::BadValue,
        format!("in a description, the list item `{key}: …` would be a field of the step"),
        format!("give it as a field, `{key}=VALUE`, or write it without the list"),
    ))
}
