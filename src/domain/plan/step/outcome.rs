//! How an attempt at a step ended, by role.
//!
//! A history entry has the word of the lifecycle it was written under, `- **status**: BROKEN`.
//! Where the built-in lifecycle would read that word otherwise, the entry also has
//! `- **outcome**: failed`, so that it can be understood without that lifecycle.

use crate::domain::{StepRole, Workflow};

/// The key of the field that says the outcome.
pub(crate) const OUTCOME_FIELD: &str = "outcome";

/// How an attempt at a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepOutcome {
    /// Ended well.
    Done,
    /// Ended badly.
    Failed,
    /// Left out.
    Skipped,
}

impl StepOutcome {
    /// The word for it, which is the one for the role.
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// The outcome that a word names, in any letter case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.word().eq_ignore_ascii_case(word.trim()))
    }

    /// The outcome of an entry with these fields: as `outcome` says, or else as the built-in
    /// lifecycle and its aliases understand `status`.
    pub fn read(outcome: Option<&str>, status: Option<&str>) -> Option<Self> {
        outcome.and_then(Self::parse).or_else(|| {
            let role = Workflow::builtin().step_role(status?)?;
            role.outcome()
        })
    }

    /// The word that an entry with this status needs to be understood; `None` if the status alone
    /// says it.
    pub fn to_write(status: &str, role: StepRole) -> Option<&'static str> {
        let outcome = role.outcome()?;
        (Self::read(None, Some(status)) != Some(outcome)).then(|| outcome.word())
    }
}

impl StepOutcome {
    const ALL: [Self; 3] = [Self::Done, Self::Failed, Self::Skipped];

    /// The mark that says it at a glance.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Done => "✓",
            Self::Failed => "✗",
            Self::Skipped => "–",
        }
    }

    /// The outcome that a mark stands for.
    pub fn of_mark(mark: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.mark() == mark)
    }

    /// The status for it in the built-in lifecycle.
    pub fn builtin_status(self) -> &'static str {
        Workflow::builtin().step_with_role(self.role())
    }

    /// The status from which a step usually comes to it in the built-in lifecycle.
    pub fn usual_start(self) -> &'static str {
        let role = if self == Self::Skipped { StepRole::Open } else { StepRole::Active };
        Workflow::builtin().step_with_role(role)
    }

    fn role(self) -> StepRole {
        match self {
            Self::Done => StepRole::Done,
            Self::Failed => StepRole::Failed,
            Self::Skipped => StepRole::Skipped,
        }
    }

    /// The word that an entry with this status and this outcome needs to be understood.
    pub fn to_write_with(self, status: &str) -> Option<&'static str> {
        Self::to_write(status, self.role())
    }
}

impl StepRole {
    /// How an attempt ended that led to this role; `None` while it has not.
    pub fn outcome(self) -> Option<StepOutcome> {
        match self {
            Self::Open | Self::Active | Self::Waiting => None,
            Self::Done => Some(StepOutcome::Done),
            Self::Failed => Some(StepOutcome::Failed),
            Self::Skipped => Some(StepOutcome::Skipped),
        }
    }

    /// Whether a step needs no more work.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Done | Self::Skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_written_only_where_the_status_would_be_misunderstood() {
        let table = [
            ("COMPLETED", StepRole::Done, None),
            ("done", StepRole::Done, None),
            ("FAILED", StepRole::Failed, None),
            ("SHIPPED", StepRole::Done, Some("done")),
            ("BROKEN", StepRole::Failed, Some("failed")),
            ("DROPPED", StepRole::Skipped, Some("skipped")),
            ("COMPLETED", StepRole::Failed, Some("failed")),
            ("BROKEN", StepRole::Active, None),
        ];
        for (status, role, word) in table {
            assert_eq!(StepOutcome::to_write(status, role), word, "{status}");
            let read = StepOutcome::read(word, Some(status));
            assert_eq!(read, role.outcome(), "{status}");
        }
    }

    #[test]
    fn an_entry_without_an_outcome_is_read_by_the_built_in_words() {
        let of = |status: &str| StepOutcome::read(None, Some(status));
        assert_eq!(of(" completed "), Some(StepOutcome::Done));
        assert_eq!(of("CANCELLED"), Some(StepOutcome::Skipped));
        assert_eq!(of("SHIPPED"), None);
        assert_eq!(of("RUNNING"), None);
        assert_eq!(StepOutcome::read(Some("odd"), Some("FAILED")), Some(StepOutcome::Failed));
        assert_eq!(StepOutcome::read(None, None), None);
    }
}
