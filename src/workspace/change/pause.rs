//! Pausing and resuming.

use super::review::refuse_while_open;
use crate::{
    domain::{ErrorCode, Plan, PlanRole, StateFile, Step, StepRole},
    history::PAUSED,
    workspace::{
        Answer, Draft, Error,
        change::steps::{
            gate::{self, Passage},
            progress::{Progress, plan_status},
        },
    },
};

const BECAUSE: &str = "paused_because";
/// The active status that a paused plan had, where it is not the first of them.
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

/// Writes that the plan is paused, why, and where it was: one of several active statuses is a phase
/// that it goes on with.
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

/// The status that a plan resumes in: the one it was paused in.
pub(super) fn status_to_resume(draft: &Draft<'_>, plan: &Plan, from: &str) -> String {
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

/// Takes away what was noted about the pause.
pub(super) fn forget_pause(progress: &mut Progress<'_, '_, '_>, plan: &Plan) {
    let Some(section) = plan.metadata_section() else { return };
    for key in [BECAUSE, FROM] {
        if let Ok(Some(item)) = plan.document.field(section, key) {
            progress.edit().remove_item(item);
        }
    }
}

/// Goes on: the status moves, running steps stay as they are. A step that nobody has claimed
/// becomes the actor's.
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
        let mut progress = Progress::new(draft, &plan)?;
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

/// All steps may have been finished where nobody saw the end of the plan, as by a merge.
fn complete(draft: &mut Draft<'_>) -> Result<Option<String>, Error> {
    let plan = draft.plan()?;
    if !plan.is_left_active(draft.workflow()) {
        return Ok(None);
    }
    let mut progress = Progress::new(draft, &plan)?;
    progress.complete_plan()?;
    progress.finish(&[])
}

pub(super) fn check(draft: &Draft<'_>, from: &str, to: &str) -> Result<(), Error> {
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
