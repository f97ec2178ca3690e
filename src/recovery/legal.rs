//! Which actions are possible at all.

use super::{Evidence, RecoveryAction, StepEvidence};
use crate::domain::{PlanRole, StepRole};

/// Why an action cannot be carried out now; `None` if it can.
pub(crate) fn why_not(action: RecoveryAction, evidence: &Evidence) -> Option<String> {
    if action == RecoveryAction::HumanReview {
        return None;
    }
    if action == RecoveryAction::RollbackCheckpoint {
        let why = || match evidence.passed_over.first() {
            Some(name) => format!(
                "there is no checkpoint from before the failure: `{name}` contains it, or equals the current state"
            ),
            None => "there is no checkpoint".to_owned(),
        };
        return evidence.checkpoints.is_empty().then(why);
    }
    if let Some(damaged) = evidence.damage.first() {
        return Some(format!("the state is damaged: {damaged}"));
    }
    if let Some(review) = evidence.plan.open_reviews.first() {
        return Some(format!("a person must decide first: {review}"));
    }
    let step = evidence.step.as_ref();
    if let Some(claim) = step.and_then(|step| step.claim.as_ref()).filter(|claim| claim.is_held())
        && action != RecoveryAction::NextTask
    {
        return Some(format!("step {} is held by {}", claim.step, claim.phrase()));
    }
    match action {
        RecoveryAction::ContinueTask => {
            let paused = evidence.plan.role == Some(PlanRole::Paused);
            let possible = step.is_some_and(is_running) || (paused && evidence.next.is_some());
            (!possible).then(|| why_unsuitable(evidence, "no step was interrupted"))
        }
        RecoveryAction::RestartTask => {
            let possible = step.is_some_and(|step| is_running(step) || has_failed(step));
            (!possible).then(|| why_unsuitable(evidence, "no step was interrupted or has failed"))
        }
        RecoveryAction::NextTask => {
            let possible = step.is_some_and(can_end) || evidence.next.is_some();
            let none = || match evidence.plan.total {
                0 => "the plan has no steps".to_owned(),
                _ => "no step is running that could be completed, and none is ready".to_owned(),
            };
            (!possible).then(none)
        }
        RecoveryAction::RetryTask => match step {
            Some(step) if has_failed(step) => (step.failures >= step.attempts_allowed)
                .then(|| format!("step {} has failed {} times", step.number, step.failures)),
            _ => Some(why_unsuitable(evidence, "no step has failed")),
        },
        RecoveryAction::SkipTask => match step.or(evidence.next.as_ref()) {
            None => Some("there is no step to skip".to_owned()),
            Some(step) if step.role.is_some_and(StepRole::is_finished) => {
                Some(format!("step {} is finished", step.number))
            }
            Some(_) => None,
        },
        RecoveryAction::Restart => {
            let plan = &evidence.plan;
            let some = plan.failed + plan.running + plan.skipped > 0;
            (!some).then(|| "no step was started and left incomplete".to_owned())
        }
        RecoveryAction::RollbackCheckpoint | RecoveryAction::HumanReview => None,
    }
}

/// Why the step that was asked for is not the right one; else what is true of all of them.
fn why_unsuitable(evidence: &Evidence, otherwise: &str) -> String {
    let step = evidence.step.as_ref().or(evidence.next.as_ref());
    match step.filter(|_| evidence.asked) {
        Some(step) => format!("step {} is {}", step.number, step.status),
        None => otherwise.to_owned(),
    }
}

pub(super) fn is_running(step: &StepEvidence) -> bool {
    step.role == Some(StepRole::Active)
}

/// Whether it runs, and nobody else is at it.
pub(super) fn can_end(step: &StepEvidence) -> bool {
    is_running(step) && !step.claim.as_ref().is_some_and(|claim| claim.is_held())
}

pub(super) fn has_failed(step: &StepEvidence) -> bool {
    step.role == Some(StepRole::Failed)
}
