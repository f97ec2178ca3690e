//! Pauses and resumes the plan, and continues an interrupted step.

use super::review::refuse_while_open;
use crate::{
    domain::{ErrorCode, Plan, PlanRole, StateFile, Step, StepRef, StepRole},
    history::PAUSED,
    workspace::{
        Answer, Draft, Error,
        change::steps::{
            gate::{self, Passage},
            progress::{PlanProgress, plan_status},
        },
    },
};

const BECAUSE: &str = "paused_because";
/// The active status of a paused plan, if it is not the first active one.
const FROM: &str = "paused_from";

/// Pauses the plan and notes why.
pub(super) fn pause(draft: &mut Draft<'_>, why: &str) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let from = plan_status(draft, &plan);
    let paused = draft.workflow().plan_towards(&from, PlanRole::Paused).to_owned();
    if from == paused {
        return Ok(Answer::new(format!("the plan is already {paused}")));
    }
    check(draft, &from, &paused)?;
    put_pause(draft, &plan, (&from, &paused), why)?;
    note(draft, PAUSED, &from, &paused, Some(why))?;
    Ok(Answer::new(format!("plan {paused}: {}", why.trim())).with("plan_status", paused))
}

/// Writes that the plan is paused, why, and its phase, if it has several active statuses.
pub(in super::super) fn put_pause(
    draft: &mut Draft<'_>,
    plan: &Plan,
    (from, paused): (&str, &str),
    why: &str,
) -> Result<(), Error> {
    let workflow = draft.workflow();
    let is_phase = workflow.plan_role(from) == Some(PlanRole::Active)
        && workflow.plan_with_role(PlanRole::Active) != from;
    let mut fields = vec![(BECAUSE, why)];
    fields.extend(is_phase.then_some((FROM, from)));
    let now = draft.env.now();
    let mut edit = plan.document.edit();
    plan.set_plan_status(&mut edit, paused, None)?;
    plan.set_metadata(&mut edit, &fields)?;
    plan.update_copies(&mut edit, &[("last_updated", &now)])?;
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    Ok(())
}

/// The status that a plan resumes in: the active one that it was paused in.
fn status_to_resume(draft: &Draft<'_>, plan: &Plan, from: &str) -> String {
    let workflow = draft.workflow();
    if workflow.plan_role(from) == Some(PlanRole::Active) {
        return from.to_owned();
    }
    let noted = plan.metadata.other.iter().find(|(key, _)| key == FROM);
    let noted = noted.and_then(|(_, status)| workflow.plan_status(status)).filter(|status| {
        workflow.plan_role(status) == Some(PlanRole::Active)
            && workflow.check_plan(from, status).is_ok()
    });
    noted.unwrap_or_else(|| workflow.plan_towards(from, PlanRole::Active)).to_owned()
}

/// Removes the fields about the pause.
fn forget_pause(progress: &mut PlanProgress<'_, '_, '_>, plan: &Plan) {
    let Some(section) = plan.metadata_section() else { return };
    for key in [BECAUSE, FROM] {
        if let Ok(Some(item)) = plan.document.field(section, key) {
            progress.edit().remove_item(item);
        }
    }
}

/// Resumes the plan; running steps stay as they are. A step that nobody has claimed becomes the
/// actor's.
pub(super) fn resume(draft: &mut Draft<'_>) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let from = plan_status(draft, &plan);
    let workflow = draft.workflow();
    let role = workflow.plan_role(&from);
    if role == Some(PlanRole::Succeeded) {
        return Err(Error::refused_with(
            ErrorCode::Finished,
            format!("the execution is finished ({from})"),
            "`statedir status` shows a summary; `statedir step add --help` shows how to add a step, which reopens it",
        ));
    }
    let active = status_to_resume(draft, &plan, &from);
    let running: Vec<&Step> =
        plan.steps.iter().filter(|step| workflow.role_of(step) == Some(StepRole::Active)).collect();
    refuse_while_open(&plan)?;
    if from != active {
        check(draft, &from, &active)?;
    }
    let mut lines = vec![format!("plan {active}")];
    let mut unclaimed = Vec::new();
    for step in running {
        let holder = draft.holder(step);
        let number = step.number;
        if holder.claimed_by.is_none() {
            lines.push(format!("step {number} continues: nobody had claimed it, it is yours now"));
            unclaimed.push(step);
        } else if holder.own {
            lines.push(format!("step {number} continues: it is yours, attempt {}", step.attempts));
        } else {
            let how = match holder.stale {
                true => format!("; `statedir step take {number}` takes it over"),
                false => String::new(),
            };
            lines.push(format!("step {number} is held by {}{how}", holder.phrase()));
        }
    }
    let numbers: Vec<String> = unclaimed.iter().map(|step| step.number.to_string()).collect();
    let goes_on = from != active || !unclaimed.is_empty();
    if goes_on {
        let claim = draft.env.identity().claim().to_string();
        let again = role == Some(PlanRole::Paused);
        let mut progress = PlanProgress::new(draft, &plan)?;
        for step in &unclaimed {
            progress.set_fields(step, &[("claimed_by", claim.as_str())]);
        }
        progress.set_plan_status(&active);
        forget_pause(&mut progress, &plan);
        progress.finish(&[])?;
        if from != active {
            gate::check(draft, &Passage { again, ..Passage::of_plan(&active) })?;
        }
    }
    let reached = match complete(draft)? {
        Some(reached) => {
            lines[0] = format!("plan {reached}: all steps are finished");
            reached
        }
        None if goes_on => active,
        None => {
            let nothing = format!("the plan is {active}; nothing was interrupted");
            lines[0] = if lines.len() == 1 { nothing } else { format!("the plan is {active}") };
            return Ok(Answer::new(lines.join("\n")).with("plan_status", active));
        }
    };
    let taken = (!numbers.is_empty()).then(|| format!("claimed: step {}", numbers.join(", ")));
    note(draft, "Resumed", &from, &reached, taken.as_deref())?;
    Ok(Answer::new(lines.join("\n")).with("plan_status", reached))
}

/// Continues an interrupted step as it is: the plan becomes active, and the step the actor's.
pub(in super::super) fn take_up(draft: &mut Draft<'_>, step: &StepRef) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let step = plan.step(step)?;
    refuse_while_open(&plan)?;
    let from = plan_status(draft, &plan);
    let active = status_to_resume(draft, &plan, &from);
    let again = draft.workflow().plan_role(&from) == Some(PlanRole::Paused);
    if from != active {
        check(draft, &from, &active)?;
    }
    let holder = draft.holder(step);
    let mut message = format!("step {} continues: {}", step.number, step.title);
    let claim = draft.env.identity().claim();
    if let Some(other) = holder.claimed_by.as_ref().filter(|_| !holder.own) {
        message.push_str(&format!(" (adopted from {other})"));
    }
    let mut progress = PlanProgress::new(draft, &plan)?;
    if from != active {
        progress.set_plan_status(&active);
        forget_pause(&mut progress, &plan);
    }
    if !holder.own {
        progress.set_fields(step, &[("claimed_by", claim.to_string().as_str())]);
    }
    progress.finish(&[])?;
    if from != active {
        gate::check(draft, &Passage { again, ..Passage::of_plan(&active) })?;
    }
    Ok(Answer::new(message))
}

/// Completes a plan whose steps were all finished by a merge.
fn complete(draft: &mut Draft<'_>) -> Result<Option<String>, Error> {
    let plan = draft.plan()?;
    if !plan.is_left_active(draft.workflow()) {
        return Ok(None);
    }
    let mut progress = PlanProgress::new(draft, &plan)?;
    progress.complete_plan()?;
    progress.finish(&[])
}

fn check(draft: &Draft<'_>, from: &str, to: &str) -> Result<(), Error> {
    draft.workflow().check_plan(from, to).map_err(Error::plan_transition)
}

fn note(
    draft: &mut Draft<'_>,
    title: &str,
    from: &str,
    to: &str,
    why: Option<&str>,
) -> Result<(), Error> {
    let mut fields = vec![("state_changes".to_owned(), format!("plan {from} → {to}"))];
    fields.extend(why.map(|why| ("notes".to_owned(), why.to_owned())));
    fields.push(("actor".to_owned(), draft.env.actor().to_owned()));
    draft.log(title, fields)?;
    Ok(())
}
