//! Moves that wait for a person: gates of the lifecycle and the limit of attempts.

use crate::{
    domain::{Decision, ErrorCode, Plan, Step, StepRole, Subject, Workflow},
    rules::Condition,
    workspace::{Draft, Error, ErrorKind, adapt},
};

/// Refuses a move behind a gate that nobody has opened; the refusal carries the question to ask.
pub(in crate::workspace::change) fn check(
    draft: &mut Draft<'_>,
    plan: &Plan,
    subject: Subject,
    to: &str,
    step: Option<&Step>,
) -> Result<(), Error> {
    if draft.workflow().gates().is_empty() {
        return Ok(());
    }
    let gates: Vec<_> = draft.workflow().gates_before(subject, to).cloned().collect();
    for gate in gates {
        if let Some(when) = &gate.when
            && !holds(draft, when)?
        {
            continue;
        }
        let of = step.map(|step| format!(" of {}", step.name())).unwrap_or_default();
        let question = format!("gate {}{of}: {subject} to {to}", gate.name);
        let decided = plan.reviews.iter().rev().find(|review| review.text.starts_with(&question));
        match decided.map(|review| (review.decision, &review.id)) {
            Some((Decision::Approved, _)) => {}
            Some((Decision::Open, id)) => {
                return Err(Error::refused_with(
                    ErrorCode::ReviewOpen,
                    format!("the gate `{}` is waiting for review {id}", gate.name),
                    format!("a person decides with `statedir review approve {id}`"),
                ));
            }
            Some((Decision::Rejected, _)) | None => {
                return Err(ErrorKind::NeedsReview { question }.into());
            }
        }
    }
    Ok(())
}

fn holds(draft: &mut Draft<'_>, when: &str) -> Result<bool, Error> {
    let condition = Condition::parse(when, draft.workflow()).map_err(|error| {
        Error::refused(
            ErrorCode::BadWorkflow,
            format!("the condition of a gate is not understood: {error}"),
        )
    })?;
    let constraints = draft.constraints()?;
    let facts = adapt::sheet(draft, &constraints, &[])?;
    Ok(condition.holds(&facts))
}

/// How often a step may be attempted: the limit, and once more for every approved escalation.
pub(in crate::workspace::change) fn attempts_allowed(
    draft: &Draft<'_>,
    plan: &Plan,
    step: &Step,
) -> u32 {
    attempts_allowed_by(draft.workflow(), plan, step)
}

/// The same under a given lifecycle.
pub(crate) fn attempts_allowed_by(workflow: &Workflow, plan: &Plan, step: &Step) -> u32 {
    let approved = plan.reviews.iter().filter(|review| {
        let about = step.id.as_ref().is_some_and(|id| review.is_about(id));
        about && review.decision == Decision::Approved && review.asks_for_attempts()
    });
    let more = u32::try_from(approved.count()).unwrap_or(u32::MAX);
    workflow.retry_limit().saturating_add(more)
}

/// Whether a failed step cannot be started again as things are.
pub(crate) fn has_failed_for_good(workflow: &Workflow, plan: &Plan, step: &Step) -> bool {
    let status = step.status.as_deref().unwrap_or_default();
    let active = workflow.step_with_role(StepRole::Active);
    workflow.check_step(status, active).is_err()
        || workflow.failures_of(step) >= attempts_allowed_by(workflow, plan, step)
}
