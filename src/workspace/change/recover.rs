//! Taking up a step that was interrupted.

use super::{
    pause::{BECAUSE, check},
    review::refuse_while_open,
};
use crate::{
    domain::{PlanRole, StepRef, Subject},
    workspace::{
        Answer, Draft, Error,
        change::steps::{
            gate,
            progress::{Progress, plan_status},
        },
    },
};

/// Goes on with a running step as it is: the plan is active, and the step is the actor's.
pub(in super::super) fn take_up(draft: &mut Draft<'_>, step: &StepRef) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let step = plan.step(step)?;
    refuse_while_open(&plan)?;
    let from = plan_status(draft, &plan)?;
    let active = draft.workflow().plan_with_role(PlanRole::Active).to_owned();
    if from != active {
        check(draft, &from, &active)?;
        gate::check(draft, &plan, Subject::Plan, &active, None)?;
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
        if let Some(section) = plan.metadata_section()
            && let Ok(Some(item)) = plan.document.field(section, BECAUSE)
        {
            progress.edit().remove_item(item);
        }
    }
    if !holder.own {
        progress.set_fields(step, &[("claimed_by", claim.to_string().as_str())]);
    }
    progress.finish(&[])?;
    Ok(Answer::new(message))
}
