//! Moves a step to another place, or adds one there.

use super::add;
use crate::{
    domain::{ErrorCode, Plan, Renumbering, StateFile, Step, StepRef},
    workspace::{
        Answer, Draft, Error,
        change::{StepShape, steps::progress::PlanProgress},
    },
};

/// Adds a step at the requested place.
pub(in crate::workspace::change) fn add(
    draft: &mut Draft<'_>,
    shape: &StepShape,
) -> Result<Answer, Error> {
    let is_first = shape.after == Some(StepRef::Number(0));
    if shape.before.is_none() && !is_first {
        return add::add(draft, shape);
    }
    let plan = draft.plan()?;
    if plan.steps.is_empty() {
        return add::add(draft, &StepShape { after: None, before: None, ..shape.clone() });
    }
    // References in the new step use the current numbers; they are updated when it is moved.
    let before = shape.before.clone();
    let number = before.as_ref().map(|before| plan.step(before).map(|step| step.number));
    let number = number.transpose()?.unwrap_or(plan.steps[0].number);
    let mut answer = add::add(draft, &StepShape { after: None, before: None, ..shape.clone() })?;
    let plan = draft.plan()?;
    let added = plan.steps.last().map_or(0, |step| step.number);
    reorder(draft, &StepRef::Number(added), None, Some(&StepRef::Number(number)))?;
    let plan = draft.plan()?;
    let step = plan.step(&StepRef::Number(number))?;
    let id = step.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
    answer.message = format!("step {number}{id} added: {}", step.title);
    if let Some(step) = answer.data.get_mut("step") {
        step["number"] = number.into();
    }
    Ok(answer)
}

/// Moves a step after or before another one; `after` 0 is the first place. Steps are renumbered, and
/// references by number are updated.
pub(in crate::workspace::change) fn reorder(
    draft: &mut Draft<'_>,
    selected: &StepRef,
    after: Option<&StepRef>,
    before: Option<&StepRef>,
) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let step = plan.step(selected)?;
    let beside = match (after, before) {
        (Some(_), Some(_)) | (None, None) => {
            let message = "say where: `after` one step or `before` one";
            return Err(Error::refused_with(
                ErrorCode::BadValue,
                message,
                "`statedir step reorder --help` has examples",
            ));
        }
        (Some(StepRef::Number(0)), None) => None,
        (Some(after), None) => Some(plan.step(after)?),
        (None, Some(before)) => previous(&plan, plan.step(before)?, step),
    };
    let mut numbers: Vec<u32> = plan.steps.iter().map(|step| step.number).collect();
    numbers.sort_unstable();
    if let Some(twice) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::refused_with(
            ErrorCode::Ambiguous,
            format!("two steps have the number {}", twice[0]),
            "`statedir check` shows where; renumber one of them",
        ));
    }
    let is_here = beside.is_some_and(|beside| beside.offset == step.offset);
    let moved = plan.numbers_after_move(step, beside);
    if is_here || moved.is_empty() {
        return Ok(Answer::new(format!("step {} is there already", step.number)));
    }
    let (old, title, is_new) = (step.number, step.title.clone(), moved.clone());
    let number = is_new.iter().find(|(from, _)| *from == old).map_or(old, |(_, to)| *to);
    // First the text, then the numbers. If numbers follow from the place alone, references must be
    // updated before.
    let place = |step: &Step| plan.steps.iter().position(|other| other.offset == step.offset);
    let (at, behind) = (place(step), beside.and_then(place));
    let counts_by_place = plan.counts_by_place();
    if counts_by_place {
        renumber(draft, &moved)?;
    }
    let plan = draft.plan()?;
    if let Some(step) = at.and_then(|at| plan.steps.get(at)) {
        let text = plan.text_after_move(step, behind.and_then(|at| plan.steps.get(at)))?;
        draft.put_whole(StateFile::Plan, text);
    }
    if !counts_by_place {
        renumber(draft, &moved)?;
    }
    draft.facts()?.touch(&format!("{} step {number}", StateFile::Plan));
    Ok(Answer::new(format!("step {old} is step {number} now: {title}")).with("number", number))
}

/// Renumbers steps and updates references by number.
fn renumber(draft: &mut Draft<'_>, moved: &[(u32, u32)]) -> Result<(), Error> {
    let plan = draft.plan()?;
    let variables = draft.variables()?;
    let is_variable = |path: &str| variables.get(path).is_some();
    let mut progress = PlanProgress::new(draft, &plan)?;
    let steps = plan.step_index();
    for (from, to) in moved {
        if let Some(step) = steps.get(&StepRef::Number(*from)) {
            progress.step(step).set_number(*to);
        }
    }
    let renumbering = Renumbering::moved(moved.to_vec());
    plan.update_references(progress.edit(), &renumbering, None, &is_variable);
    progress.finish(&[])?;
    Ok(())
}

/// The step directly before `before`, not counting `moved`.
fn previous<'p>(plan: &'p Plan, before: &Step, moved: &Step) -> Option<&'p Step> {
    let earlier = plan.steps.iter().take_while(|step| step.offset != before.offset);
    earlier.filter(|step| step.offset != moved.offset).last()
}
