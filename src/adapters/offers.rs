//! Commands that the board and the page offer to a person, and what each of them asks first.

use crate::workspace::StepOverview;
#[cfg(any(feature = "board", feature = "web"))]
use crate::{domain::PlanRole, workspace::Overview};

/// What is asked before a command is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Nothing: it is easily undone and does no harm.
    Nothing,
    /// Whether it is meant.
    Whether,
    /// A text for an option, which may be left empty or not.
    Option { question: &'static str, name: &'static str, is_required: bool },
    /// A text that is an argument, after so many words.
    Argument { question: &'static str, after: usize },
}

fn optional(question: &'static str, name: &'static str) -> Ask {
    Ask::Option { question, name, is_required: false }
}

fn required(question: &'static str, name: &'static str) -> Ask {
    Ask::Option { question, name, is_required: true }
}

impl Ask {
    /// What a command asks; `None` for one that is not offered.
    pub(crate) fn of(words: &[&str]) -> Option<Self> {
        Some(match words {
            ["step", "start" | "take", _] | ["step", "next", "--claim"] => Self::Nothing,
            ["step", "done", _] => optional("A note, if there is one", "--note"),
            ["step", "fail", _] => required("What went wrong?", "--error"),
            ["step", "skip", _] => required("Why?", "--note"),
            ["step", "retry", _] => optional("What to do differently, if anything", "--note"),
            ["step", "reset", _] => optional("Why, if it is worth a note", "--note"),
            ["step", "move", _, _] | ["undo" | "redo" | "resume"] | ["restore", _] => Self::Whether,
            ["review", "approve", _] => optional("A remark, if there is one", "--why"),
            ["review", "reject", _] => required("Why is it rejected?", "--why"),
            ["pause"] => required("Why?", "--why"),
            ["history", "add"] | ["history", "add", _] => {
                Self::Argument { question: "What should be noted?", after: 2 }
            }
            _ => return None,
        })
    }

    /// The question that has to be answered, if there is one.
    pub(crate) fn needed(self) -> Option<&'static str> {
        match self {
            Self::Option { question, is_required: true, .. } | Self::Argument { question, .. } => {
                Some(question)
            }
            _ => None,
        }
    }

    /// The question, whether or not it has to be answered.
    #[cfg(feature = "board")]
    pub(crate) fn question(self) -> Option<&'static str> {
        match self {
            Self::Option { question, .. } | Self::Argument { question, .. } => Some(question),
            Self::Nothing | Self::Whether => None,
        }
    }

    /// The words of a command with the answer in its place, in which nothing ends it.
    ///
    /// # Errors
    /// A text is needed, or it cannot be used.
    #[cfg(any(feature = "board", feature = "web"))]
    pub(crate) fn answered(
        self,
        mut words: Vec<String>,
        text: &str,
    ) -> Result<Vec<String>, &'static str> {
        let text = text.trim();
        // On the command line it stands for standard input.
        if text == "-" {
            return Err("a single `-` is not a text");
        }
        if text.is_empty() && self.needed().is_some() {
            return Err("a text is needed");
        }
        match self {
            Self::Option { name, .. } if !text.is_empty() => words.push(format!("{name}={text}")),
            Self::Argument { after, .. } => {
                words.insert(after, text.to_owned());
                if text.starts_with('-') {
                    words.insert(after, "--".to_owned());
                }
            }
            _ => {}
        }
        Ok(words)
    }
}

/// The command that stops the plan, or lets it go on, whichever there is to do.
#[cfg(any(feature = "board", feature = "web"))]
pub(crate) fn plan_command(overview: &Overview) -> Option<&'static str> {
    match overview.role? {
        PlanRole::Paused | PlanRole::Failed => Some("resume"),
        PlanRole::Planning | PlanRole::Active => Some("pause"),
        PlanRole::Succeeded => None,
    }
}

/// Whether a step can be taken over, because nothing was heard of its holder for long.
pub(crate) fn can_be_taken(step: &StepOverview) -> bool {
    step.holder.as_ref().is_some_and(|held| !held.own && held.stale)
}
