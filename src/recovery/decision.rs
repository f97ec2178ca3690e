//! The decision: what to do, why, and why not something else.

use serde::Serialize;

use super::{Evidence, RecoveryAction, legal, why_not};

/// How sure a decision is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Confidence {
    /// A person should look.
    Low,
    /// The evidence points one way, but does not prove it.
    Medium,
    /// The evidence is plain.
    High,
}

/// Why another action was not chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RuledOut {
    pub action: RecoveryAction,
    pub why: String,
}

/// What is to be done.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RecoveryDecision {
    pub action: RecoveryAction,
    /// The number of the step it is about.
    pub step: Option<u32>,
    /// Whether there is nothing to recover, so that carrying it out changes nothing.
    pub nothing_to_do: bool,
    /// The attempt that a retry will be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// How long to wait before it, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_ms: Option<u64>,
    /// The checkpoint to go back to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// What going back to it would undo.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undoes: Vec<String>,
    /// How sure it is.
    pub confidence: Confidence,
    /// What speaks for it.
    pub reasons: Vec<String>,
    /// The other actions, and why not.
    pub ruled_out: Vec<RuledOut>,
    /// What a person should look at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub look_at: Vec<String>,
}

/// Why an action that is possible was not chosen.
fn why_not_chosen(action: RecoveryAction, chosen: RecoveryAction, evidence: &Evidence) -> String {
    let step = evidence.step.as_ref();
    let interrupted = step.is_some_and(legal::is_running);
    let number = step.map_or(0, |step| step.number);
    match action {
        RecoveryAction::ContinueTask if chosen == RecoveryAction::NextTask => {
            format!("step {number} says that it is complete")
        }
        RecoveryAction::ContinueTask if chosen == RecoveryAction::RestartTask => {
            format!("there is nothing of step {number} to continue from")
        }
        RecoveryAction::ContinueTask => "nothing shows how far it got".to_owned(),
        RecoveryAction::RestartTask if chosen == RecoveryAction::ContinueTask => {
            "finished work would be repeated".to_owned()
        }
        RecoveryAction::RestartTask if chosen == RecoveryAction::Restart => {
            "`restart` includes that".to_owned()
        }
        RecoveryAction::RestartTask if chosen == RecoveryAction::RetryTask => {
            "a retry does the same and counts the attempt".to_owned()
        }
        RecoveryAction::NextTask if step.is_none() => match &evidence.next {
            Some(next) => format!("step {} would be started", next.number),
            None => "no step would be started".to_owned(),
        },
        RecoveryAction::NextTask if interrupted => {
            format!("nothing proves that step {number} is complete")
        }
        RecoveryAction::NextTask => format!("step {number} would be left unresolved"),
        RecoveryAction::RollbackCheckpoint => {
            "the work done since would have to be repeated".to_owned()
        }
        RecoveryAction::SkipTask => "its result would be lost".to_owned(),
        RecoveryAction::Restart => {
            "the last resort: every unfinished step would be restarted".to_owned()
        }
        RecoveryAction::HumanReview => "the evidence is clear enough".to_owned(),
        _ => format!("`{chosen}` fits the evidence better"),
    }
}

impl RecoveryDecision {
    pub(super) fn new(
        action: RecoveryAction,
        confidence: Confidence,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            action,
            step: None,
            nothing_to_do: false,
            attempt: None,
            backoff_ms: None,
            checkpoint: None,
            undoes: Vec::new(),
            confidence,
            reasons: vec![reason.into()],
            ruled_out: Vec::new(),
            look_at: Vec::new(),
        }
    }

    /// A question to a person.
    pub(super) fn ask(reason: impl Into<String>, look_at: &[&str]) -> Self {
        let mut decision = Self::new(RecoveryAction::HumanReview, Confidence::Low, reason);
        decision.look_at = look_at.iter().map(ToString::to_string).collect();
        decision
    }

    pub(super) fn because(mut self, reason: impl Into<String>) -> Self {
        self.reasons.push(reason.into());
        self
    }

    pub(super) fn about(mut self, step: Option<u32>) -> Self {
        self.step = step;
        self
    }

    /// Fills in what follows from the action, and why the others were not chosen.
    pub(super) fn complete(mut self, evidence: &Evidence) -> Self {
        if self.step.is_none() && !self.nothing_to_do {
            let step = match self.action {
                RecoveryAction::NextTask => {
                    let running = evidence.step.as_ref().filter(|step| legal::can_end(step));
                    running.or(evidence.next.as_ref())
                }
                RecoveryAction::Restart | RecoveryAction::RollbackCheckpoint => None,
                _ => evidence.step.as_ref(),
            };
            self.step = step.map(|step| step.number);
        }
        if self.action == RecoveryAction::RetryTask
            && let Some(step) = &evidence.step
        {
            let attempt = step.attempts + 1;
            self.attempt = Some(attempt);
            let wait = step.error.as_ref().map_or(0, |error| error.failure.backoff_ms(attempt));
            self.backoff_ms = Some(wait);
        }
        if self.action == RecoveryAction::RollbackCheckpoint {
            let chosen = evidence.checkpoints.first();
            self.checkpoint = chosen.map(|checkpoint| checkpoint.name.clone());
            self.undoes = chosen.map(|checkpoint| checkpoint.undoes.clone()).unwrap_or_default();
        }
        let known: Vec<RecoveryAction> = self.ruled_out.iter().map(|ruled| ruled.action).collect();
        for action in RecoveryAction::ALL {
            if action == self.action || known.contains(&action) {
                continue;
            }
            let why = why_not(action, evidence)
                .unwrap_or_else(|| why_not_chosen(action, self.action, evidence));
            self.ruled_out.push(RuledOut { action, why });
        }
        self.ruled_out.sort_by_key(|ruled| ruled.action);
        self
    }
}
