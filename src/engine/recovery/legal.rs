//! Which actions are possible at all.

use super::{Action, Evidence, StepSeen};
use crate::engine::{PlanRole, StepRole};

/// Why an action cannot be carried out now; `None` if it can.
pub fn why_not(action: Action, evidence: &Evidence) -> Option<String> {
    if action == Action::HumanReview {
        return None;
    }
    if action == Action::RollbackCheckpoint {
        return evidence.checkpoints.is_empty().then(|| "there is no checkpoint".to_owned());
    }
    if let Some(damaged) = evidence.damage.first() {
        return Some(format!("the state is damaged: {damaged}"));
    }
    if let Some(review) = evidence.plan.open_reviews.first() {
        return Some(format!("a person has to decide first: {review}"));
    }
    let step = evidence.step.as_ref();
    if let Some(claim) = step.and_then(|step| step.claim.as_ref()).filter(|claim| claim.is_held())
        && action != Action::NextTask
    {
        let actor = claim.actor.as_deref().unwrap_or_default();
        return Some(format!("`{actor}` works on step {}", claim.step));
    }
    match action {
        Action::ContinueTask => {
            let paused = evidence.plan.role == Some(PlanRole::Paused);
            let possible = step.is_some_and(runs) || (paused && evidence.next.is_some());
            (!possible).then(|| "no step was interrupted".to_owned())
        }
        Action::RestartTask => {
            let possible = step.is_some_and(|step| runs(step) || failed(step));
            (!possible).then(|| "no step was interrupted or has failed".to_owned())
        }
        Action::NextTask => {
            let possible = step.is_some_and(can_end) || evidence.next.is_some();
            (!possible).then(|| "no step is complete, and none is ready".to_owned())
        }
        Action::RetryTask => match step {
            Some(step) if failed(step) => (step.attempts >= step.attempts_allowed)
                .then(|| format!("step {} was attempted {} times", step.number, step.attempts)),
            _ => Some("no step has failed".to_owned()),
        },
        Action::SkipTask => match step.or(evidence.next.as_ref()) {
            None => Some("there is no step to leave out".to_owned()),
            Some(step) if matches!(step.role, Some(StepRole::Done | StepRole::Skipped)) => {
                Some(format!("step {} is finished", step.number))
            }
            Some(_) => None,
        },
        Action::Restart => {
            let plan = &evidence.plan;
            let some = plan.failed + plan.running + plan.skipped > 0;
            (!some).then(|| "no step has been begun without being completed".to_owned())
        }
        Action::RollbackCheckpoint | Action::HumanReview => None,
    }
}

pub(super) fn runs(step: &StepSeen) -> bool {
    step.role == Some(StepRole::Active)
}

/// Whether it runs, and nobody else is at it.
pub(super) fn can_end(step: &StepSeen) -> bool {
    runs(step) && !step.claim.as_ref().is_some_and(|claim| claim.is_held())
}

pub(super) fn failed(step: &StepSeen) -> bool {
    step.role == Some(StepRole::Failed)
}
