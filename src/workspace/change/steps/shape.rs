//! Changing what steps say, and removing them.

use serde_json::{Map, Value};

use crate::{
    domain::{ErrorCode, Plan, Renumbering, StateFile, Step, StepId, StepRef},
    workspace::{
        Answer, Draft, Error, ErrorKind, Readiness,
        change::{
            StepShape,
            steps::{add::refuse_fields_in, claim, fields, progress::PlanProgress, step_json},
            text_of,
        },
    },
};

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
    // There is no place for text below a box but a field, and a field that is there stays the place.
    let is_field = step.item.is_some() || plan.step_field(step, "description")?.is_some();
    if let Some(text) = shape.description.as_ref().filter(|_| is_field) {
        match text.trim().is_empty() {
            true => progress.step(step).clear("description"),
            false => progress.step(step).set("description", text),
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
    let text = shape.description.as_deref().filter(|_| !is_field);
    // As it is now: a title may be new. That of before can be taken over.
    drop(plan);
    let keeps_list = text.map_or(Ok(false), |text| describe(draft, &wanted, text))?;
    let plan = draft.plan()?;
    let step = plan.step(&wanted)?;
    let stays = if keeps_list { "; its list stays" } else { "" };
    let answer = Answer::new(format!("step {} changed{dropped}{stays}", step.number));
    Ok(answer.with("step", step_json(step, &id, step.status().unwrap_or_default())))
}

/// Replaces the description of a step and proves that the plan says the same besides: a line of the
/// text could be a status, or a heading a step. Whether a list stays that is part of the description.
fn describe(draft: &mut Draft<'_>, wanted: &StepRef, text: &str) -> Result<bool, Error> {
    refuse_fields_in(text)?;
    let before = draft.plan()?;
    let step = before.step(wanted)?;
    let mut edit = before.document.edit();
    let keeps_list = before.set_description(&mut edit, step, text)?;
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    let after = draft.plan()?;
    let names = |plan: &Plan| -> Vec<(u32, Option<StepId>)> {
        plan.steps.iter().map(|step| (step.number, step.id.clone())).collect()
    };
    let said = |step: &Step| {
        let mut fields = serde_json::to_value(step).unwrap_or_default();
        fields.as_object_mut().map(|fields| fields.remove("description"));
        fields
    };
    if names(&after) != names(&before) || said(after.step(wanted)?) != said(step) {
        return Err(Error::refused_with(
            ErrorCode::BadValue,
            format!(
                "the text would change more of the plan than the description of {}",
                step.name()
            ),
            "write it without lines that read as a status or as a step",
        ));
    }
    Ok(keeps_list)
}

/// Takes a step out of the plan, unless others wait for it or somebody else works on it.
pub(in crate::workspace::change) fn remove(
    draft: &mut Draft<'_>,
    selected: &StepRef,
    force: bool,
) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let step = plan.step(selected)?;
    if !force {
        claim::refuse_others(draft, step).map_err(|mut error| {
            if let ErrorKind::Refused { hint: Some(hint), .. } = error.innermost_mut() {
                hint.push_str("; `--force` removes it all the same");
            }
            error
        })?;
    }
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

pub(super) fn touch(draft: &mut Draft<'_>, number: u32) -> Result<(), Error> {
    draft.facts()?.touch(&format!("{} step {number}", StateFile::Plan));
    Ok(())
}

/// The steps that are meant, each with an id, so that its name can be found again after a merge.
pub(super) fn identified<'p>(
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
pub(super) fn each(
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

pub(super) fn title(text: &str) -> Result<String, Error> {
    let text = text.trim();
    if text.is_empty() || text.contains(['\n', '\r', '\0']) {
        return Err(Error::refused(ErrorCode::BadValue, "a step needs a title of one line"));
    }
    Error::refuse_placeholder(text)?;
    Ok(text.to_owned())
}

pub(super) fn pairs(map: &Map<String, Value>) -> Vec<(String, String)> {
    let is_given = |(_, value): &(&String, &Value)| !value.is_null();
    map.iter().filter(is_given).map(|(key, value)| (key.clone(), text_of(value))).collect()
}
