//! Continuing a step that was interrupted.

use super::{
    pause::{check, forget_pause, status_to_resume},
    review::refuse_while_open,
};
use crate::{
    domain::{PlanRole, StepRef},
    workspace::{
        Answer, Draft, Error,
        change::steps::{
            gate::{self, Passage},
            progress::{Progress, plan_status},
        },
    },
};

/// Goes on with a running step as it is: the plan is active, and the step is the actor's.
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
    let mut progress = Progress::new(draft, &plan)?;
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
