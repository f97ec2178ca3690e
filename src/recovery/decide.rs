//! The order in which evidence counts.

use super::{
    Confidence, Evidence, RecoveryAction, RecoveryDecision, failed, legal, running, why_not,
};
use crate::domain::PlanRole;

/// Decides how to continue.
///
/// What stops everything comes first: damage, an open question, somebody at work, a finished
/// plan. Then a step that was interrupted, then one that failed, then the next one.
pub(crate) fn decide(evidence: &Evidence) -> RecoveryDecision {
    let mut decision = decide_action(evidence);
    if let Some(operation) = &evidence.last_operation {
        for found in &operation.interrupted {
            decision.reasons.push(found.clone());
        }
    }
    for claim in evidence.other_running.iter().filter(|claim| claim.stale) {
        let who = match &claim.claimed_by {
            Some(_) => format!("held by {}", claim.phrase()),
            None => "nobody has claimed it".to_owned(),
        };
        let number = claim.step;
        let reason = format!(
            "step {number} is also running, {who}: `statedir step take {number}` takes it over, \
             `statedir recover --step {number}` decides for it"
        );
        decision.reasons.push(reason);
    }
    decision.complete(evidence)
}

/// Chooses the action that a person or a program asked for, if it is possible.
///
/// # Errors
/// It is not; the text says why.
pub(crate) fn choose(
    action: RecoveryAction,
    reasons: Vec<String>,
    evidence: &Evidence,
) -> Result<RecoveryDecision, String> {
    if let Some(why) = why_not(action, evidence) {
        return Err(why);
    }
    let mut decision = RecoveryDecision::new(action, Confidence::High, String::new());
    decision.reasons = reasons;
    if action == RecoveryAction::SkipTask && evidence.step.is_none() {
        decision.step = evidence.next.as_ref().map(|step| step.number);
    }
    if action == RecoveryAction::ContinueTask
        && !evidence.step.as_ref().is_some_and(legal::is_running)
    {
        decision.step = evidence.next.as_ref().map(|step| step.number);
    }
    Ok(decision.complete(evidence))
}

fn decide_action(evidence: &Evidence) -> RecoveryDecision {
    let plan = &evidence.plan;
    if let Some(damaged) = evidence.damage.first() {
        return damage(evidence, damaged);
    }
    if let Some(review) = plan.open_reviews.first() {
        let reason = format!("a person has already been asked: {review}");
        return RecoveryDecision::ask(reason, &["`statedir review list`"]).with_high_confidence();
    }
    if let Some(unknown) = plan.unknown.first() {
        let reason = format!("{unknown}, which the lifecycle does not know");
        return RecoveryDecision::ask(reason, &["`statedir check`", "`statedir step list`"]);
    }
    let step = evidence.step.as_ref();
    let unfinished = plan.failed + plan.running + plan.waiting.len() + plan.open;
    if plan.role == Some(PlanRole::Succeeded) && unfinished > 0 {
        let status = plan.status.as_deref().unwrap_or_default();
        let reason = format!("the plan is {status}, but {unfinished} steps are not finished");
        return RecoveryDecision::ask(reason, &["`statedir step list`", "`statedir check`"]);
    }
    if let Some(step) = step.filter(|step| legal::is_running(step)) {
        if let Some(claim) = step.claim.as_ref().filter(|claim| claim.is_held()) {
            let number = step.number;
            let reason =
                format!("step {number} is held by {}: nothing was interrupted", claim.phrase());
            let mut decision =
                RecoveryDecision::new(RecoveryAction::ContinueTask, Confidence::High, reason)
                    .nothing();
            decision.look_at = vec![format!(
                "if the holder is gone: `statedir step take {number} --force --why \"it is gone\"`"
            )];
            return decision;
        }
        return running::decide(evidence, step);
    }
    if let Some(step) = step.filter(|step| legal::has_failed(step)) {
        return failed::decide(evidence, step);
    }
    if let Some(next) = &evidence.next {
        if plan.role == Some(PlanRole::Paused) {
            let why = plan.paused_because.as_deref().unwrap_or("no reason was given");
            let reason = format!("the plan was paused on purpose ({why}) and nothing has failed");
            return RecoveryDecision::new(RecoveryAction::ContinueTask, Confidence::High, reason)
                .about(Some(next.number));
        }
        let done = plan.completed + plan.skipped;
        let mut reason =
            format!("{done} of {} steps are finished, step {} is ready", plan.total, next.number);
        if plan.running + plan.failed == 0 {
            reason.push_str("; none was interrupted and none has failed");
        }
        return RecoveryDecision::new(RecoveryAction::NextTask, Confidence::High, reason)
            .about(Some(next.number));
    }
    if plan.total == 0 {
        let reason = "the plan has no steps yet: `statedir step add --help` shows how to add one";
        return RecoveryDecision::new(RecoveryAction::NextTask, Confidence::High, reason).nothing();
    }
    if unfinished == 0 {
        let reason = "all steps are finished: there is nothing to recover";
        return RecoveryDecision::new(RecoveryAction::NextTask, Confidence::High, reason).nothing();
    }
    if let Some(waiting) = plan.waiting.first() {
        let reason = format!("{waiting}: nothing was interrupted");
        let mut decision =
            RecoveryDecision::new(RecoveryAction::NextTask, Confidence::High, reason).nothing();
        decision.look_at = vec!["`statedir step list`".to_owned()];
        return decision;
    }
    let reason = format!("{} steps are waiting, and none of them can be started", plan.open);
    RecoveryDecision::ask(
        reason,
        &["`statedir step list` shows what they wait for", "`statedir check`"],
    )
}

fn damage(evidence: &Evidence, damaged: &str) -> RecoveryDecision {
    let reason = format!("the state is damaged: {damaged}");
    let decision = match evidence.checkpoints.first() {
        // The log knows what the file was: nothing that was done since has to be given up.
        Some(checkpoint) if evidence.log_cannot_repair => {
            let from = format!("checkpoint `{}` of {} is whole", checkpoint.name, checkpoint.time);
            RecoveryDecision::new(RecoveryAction::RollbackCheckpoint, Confidence::Medium, reason)
                .because(from)
        }
        _ => RecoveryDecision::ask(reason, &[]),
    };
    let mut decision = decision;
    decision.look_at = vec![
        "`statedir check --fix` repairs what is safe and can be undone".to_owned(),
        "`statedir diff` shows what was edited".to_owned(),
    ];
    decision
}

impl RecoveryDecision {
    pub(super) fn with_high_confidence(mut self) -> Self {
        self.confidence = Confidence::High;
        self
    }

    pub(super) fn nothing(mut self) -> Self {
        self.nothing_to_do = true;
        self
    }
}
