//! A step has failed: try again, go back, leave it out, begin again.
//!
//! The rows, first that fits:
//!
//! | error | completed | checkpoint | action |
//! |---|---|---|---|
//! | may pass by itself | more than half | | `retry_task` |
//! | any | more than 30 % | yes | `rollback_checkpoint` |
//! | any | more than 70 % | no | `skip_task` |
//! | any | otherwise | | `restart`, completed steps stay |
//!
//! When the attempts are used up, when going back has not helped twice, or when leaving the step
//! out would take from others what they need, a person is asked.

use super::{Action, Confidence, Decision, Evidence, RuledOut, StepSeen};
use crate::recovery::failure::{ErrorClass, PatternKind};

/// Completed steps out of all from which a retry is worth it.
const RETRY_ABOVE: f64 = 0.5;
/// Finished steps in percent from which a checkpoint is worth going back to.
const ROLLBACK_ABOVE: f64 = 30.0;
/// How often the same checkpoint is gone back to before a person is asked.
const ROLLBACKS: usize = 2;
/// Completed steps out of all from which the rest is worth more than the failed one.
const SKIP_ABOVE: f64 = 0.7;

pub(super) fn decide(evidence: &Evidence, step: &StepSeen) -> Decision {
    let plan = &evidence.plan;
    let (share, percent) = (plan.share_completed(), plan.percent());
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
    let mut ruled: Vec<RuledOut> = Vec::new();
    let mut rule_out = |action, why: String| ruled.push(RuledOut { action, why });
    let decision = if step.attempts >= step.attempts_allowed {
        rule_out(Action::RetryTask, format!("all {} attempts are used up", step.attempts_allowed));
        let reason = format!("step {} was attempted {} times", step.number, step.attempts);
        Decision::ask(reason, &["`statedir history list`", "`statedir review open TEXT`"])
    } else if class.is_recoverable() && share > RETRY_ABOVE {
        Decision::new(
            Action::RetryTask,
            Confidence::High,
            format!("{} may pass by itself, and most of the plan is done", class.phrase()),
        )
    } else if !evidence.checkpoints.is_empty() && percent > ROLLBACK_ABOVE {
        rule_out(Action::RetryTask, no_retry(class, share));
        roll_back(evidence, percent)
    } else if share > SKIP_ABOVE {
        rule_out(Action::RetryTask, no_retry(class, share));
        skip(evidence, step)
    } else {
        rule_out(Action::RetryTask, no_retry(class, share));
        let why = format!("only {:.0}% of the steps are completed", share * 100.0);
        rule_out(Action::SkipTask, why);
        if !evidence.checkpoints.is_empty() {
            let why = format!("only {percent:.0}% are finished: little would be kept");
            rule_out(Action::RollbackCheckpoint, why);
        }
        let reason = "little is done yet: restart what is not completed";
        Decision::new(Action::Restart, Confidence::Medium, reason)
    };
    let mut decision = decision;
    decision.reasons.extend(facts);
    decision.ruled_out = ruled;
    if let Some(advice) = advice(class) {
        decision.look_at.push(advice.to_owned());
    }
    decision
}

fn roll_back(evidence: &Evidence, percent: f64) -> Decision {
    let name = evidence.checkpoints.first().map_or("", |checkpoint| checkpoint.name.as_str());
    if evidence.rolled_back >= ROLLBACKS {
        let times = evidence.rolled_back;
        let reason =
            format!("checkpoint `{name}` was restored {times} times, and the step failed again");
        return Decision::ask(reason, &["`statedir history list`", "`statedir checkpoint list`"]);
    }
    let reason = format!("checkpoint `{name}` exists, and {percent:.0}% are finished");
    Decision::new(Action::RollbackCheckpoint, Confidence::Medium, reason)
}

fn skip(evidence: &Evidence, step: &StepSeen) -> Decision {
    let remaining = evidence.next.is_some() || evidence.plan.open > 0;
    if !step.needed_by.is_empty() {
        let names: Vec<String> = step.needed_by.iter().map(ToString::to_string).collect();
        let reason = format!("step {} needs what step {} gives", names.join(", "), step.number);
        return Decision::ask(reason, &["`statedir recover --decide skip_task` skips it anyway"]);
    }
    if !remaining {
        let reason = "it is the last step: skipping it would end the plan without it";
        return Decision::ask(reason, &["`statedir recover --decide skip_task` skips it anyway"]);
    }
    let reason = "nearly everything else is done, and the rest does not need this step";
    Decision::new(Action::SkipTask, Confidence::Medium, reason)
}

fn failure_fact(step: &StepSeen, class: ErrorClass) -> String {
    let Some(error) = &step.error else {
        return format!("step {} failed, and nobody said why", step.number);
    };
    let words = &error.failure.because;
    let because =
        if words.is_empty() { String::new() } else { format!(" (`{}`)", words.join("`, `")) };
    let again =
        if class.is_recoverable() { "may pass by itself" } else { "does not pass by itself" };
    format!("step {} failed with {}{because}, which {again}", step.number, class.phrase())
}

fn no_retry(class: ErrorClass, share: f64) -> String {
    if class.is_recoverable() {
        format!("only {:.0}% of the steps are completed", share * 100.0)
    } else {
        format!("{} does not pass by itself", class.phrase())
    }
}

/// What has to be mended before any further attempt.
fn advice(class: ErrorClass) -> Option<&'static str> {
    Some(match class {
        ErrorClass::Authentication => "the credentials: no attempt succeeds without them",
        ErrorClass::Permission => "the permissions: no attempt succeeds without them",
        ErrorClass::NotFound => "whether what the step asks for exists under that name",
        _ => return None,
    })
}
