//! A step has failed: retry it, or ask a person when it has failed too often.
//!
//! Findings and finished work are never sacrificed to a failure: going back to a checkpoint is
//! proposed only where the state itself is damaged. Skipping the step, restarting and going back
//! are for a person to decide.

use super::{Confidence, Evidence, RecoveryAction, RecoveryDecision, RuledOut, StepEvidence};
use crate::{
    recovery::failure::{ErrorClass, PatternKind},
    text::display::counted,
};

pub(super) fn decide(evidence: &Evidence, step: &StepEvidence) -> RecoveryDecision {
    let plan = &evidence.plan;
    let class = step.error.as_ref().map_or(ErrorClass::Unknown, |error| error.failure.class);
    let mut facts = vec![failure_fact(step, class)];
    facts.push(format!("{} of {} steps are completed", plan.completed, plan.total));
    for pattern in &evidence.patterns {
        facts.push(match pattern.kind {
            PatternKind::SameClass => {
                format!(
                    "the last {} attempts all failed in the same way: {}",
                    pattern.count, pattern.what
                )
            }
            PatternKind::SameMessage => {
                format!("{} attempts failed with the same message: {}", pattern.count, pattern.what)
            }
            PatternKind::Alternating => {
                format!("step {} alternates between failure and success", pattern.what)
            }
        });
    }
    let mut decision = if step.failures >= step.attempts_allowed {
        let times = counted(step.failures as usize, "time", "times");
        let reason = format!("step {} has failed {times}", step.number);
        let look_at = ["`statedir history list`", "`statedir recover --decide skip_task`"];
        let mut decision = RecoveryDecision::ask(reason, &look_at);
        let why = match step.attempts_allowed {
            1 => "the only attempt is used up".to_owned(),
            attempts => format!("all {attempts} attempts are used up"),
        };
        decision.ruled_out.push(RuledOut { action: RecoveryAction::RetryTask, why });
        decision
    } else if class.is_recoverable() {
        let reason = format!("{} may pass by itself", class.phrase());
        RecoveryDecision::new(RecoveryAction::RetryTask, Confidence::High, reason)
    } else {
        let left = step.attempts_allowed - step.failures;
        let failures = counted(left as usize, "more failure", "more failures");
        let reason = format!("fix the cause first; {failures} before a person is asked");
        RecoveryDecision::new(RecoveryAction::RetryTask, Confidence::Medium, reason)
    };
    decision.reasons.extend(facts);
    rule_out(evidence, step, &mut decision);
    if let Some(advice) = advice(class) {
        decision.look_at.push(advice.to_owned());
    }
    decision
}

/// Why what would give something up is not proposed.
fn rule_out(evidence: &Evidence, step: &StepEvidence, decision: &mut RecoveryDecision) {
    let mut rule_out = |action, why: String| decision.ruled_out.push(RuledOut { action, why });
    if let Some(checkpoint) = evidence.checkpoints.first() {
        let mut why = "nothing suggests that the state is wrong rather than the work".to_owned();
        if !checkpoint.undoes.is_empty() {
            why.push_str(&format!("; it would undo {}", checkpoint.undoes.join(", ")));
        }
        if evidence.rolled_back > 0 {
            why.push_str(&format!("; it was restored {} times already", evidence.rolled_back));
        }
        rule_out(RecoveryAction::RollbackCheckpoint, why);
    }
    if !step.needed_by.is_empty() {
        let names: Vec<String> = step.needed_by.iter().map(ToString::to_string).collect();
        let why = format!("step {} needs the result of step {}", names.join(", "), step.number);
        rule_out(RecoveryAction::SkipTask, why);
    }
}

fn failure_fact(step: &StepEvidence, class: ErrorClass) -> String {
    let Some(error) = &step.error else {
        return format!("step {} failed, and no reason was given", step.number);
    };
    let words = &error.failure.because;
    let because =
        if words.is_empty() { String::new() } else { format!(" (`{}`)", words.join("`, `")) };
    let again =
        if class.is_recoverable() { "may pass by itself" } else { "does not pass by itself" };
    format!("step {} failed with {}{because}, which {again}", step.number, class.phrase())
}

/// What has to be fixed before any further attempt.
fn advice(class: ErrorClass) -> Option<&'static str> {
    Some(match class {
        ErrorClass::Authentication => "the credentials: no attempt succeeds without them",
        ErrorClass::Permission => "the permissions: no attempt succeeds without them",
        ErrorClass::NotFound => "whether what the step asks for exists under that name",
        _ => return None,
    })
}
