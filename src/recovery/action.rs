//! The eight possible actions.

use serde::Serialize;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RecoveryAction {
    /// Go on with the step that was interrupted.
    ContinueTask,
    /// Begin the step again.
    RestartTask,
    /// The current step is complete; take the next one.
    NextTask,
    /// Try the failed step once more.
    RetryTask,
    /// Go back to a checkpoint.
    RollbackCheckpoint,
    /// Leave the failed step out.
    SkipTask,
    /// Begin again with everything that is not completed.
    Restart,
    /// Ask a person.
    HumanReview,
}

impl RecoveryAction {
    /// Every action.
    pub(crate) const ALL: [Self; 8] = [
        Self::ContinueTask,
        Self::RestartTask,
        Self::NextTask,
        Self::RetryTask,
        Self::RollbackCheckpoint,
        Self::SkipTask,
        Self::Restart,
        Self::HumanReview,
    ];

    /// The word for it, such as `retry_task`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::ContinueTask => "continue_task",
            Self::RestartTask => "restart_task",
            Self::NextTask => "next_task",
            Self::RetryTask => "retry_task",
            Self::RollbackCheckpoint => "rollback_checkpoint",
            Self::SkipTask => "skip_task",
            Self::Restart => "restart",
            Self::HumanReview => "human_review",
        }
    }

    /// The action that a word names, whatever its letter case and hyphens.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        let word = word.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        Self::ALL.into_iter().find(|action| action.word() == word)
    }

    /// What it does, in one sentence.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::ContinueTask => "continue the step that was interrupted",
            Self::RestartTask => "restart that step",
            Self::NextTask => "the current step is complete, or there is none: start the next one",
            Self::RetryTask => "retry the failed step",
            Self::RollbackCheckpoint => "go back to the newest checkpoint",
            Self::SkipTask => "skip that step",
            Self::Restart => "restart every step that is not completed",
            Self::HumanReview => "ask a person",
        }
    }
}

impl std::fmt::Display for RecoveryAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}
