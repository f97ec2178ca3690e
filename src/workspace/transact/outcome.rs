//! What a command did, and what opening the state found, in words.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    domain::StateFile,
    store::{Report, Revision},
};

/// The answer to one change.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// One line for people.
    pub message: String,
    /// The same for machines.
    #[serde(flatten)]
    pub data: Map<String, Value>,
}

impl Answer {
    /// An answer of one line.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), data: Map::new() }
    }

    /// The same answer with a named value.
    #[must_use]
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.data.insert(key.to_owned(), value.into());
        self
    }
}

/// One changed file, before and after.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileDiff {
    /// Which file.
    pub file: StateFile,
    /// The text before; empty when it was not there.
    pub before: String,
    /// The text after; empty when it is gone.
    pub after: String,
}

/// The outcome of a mutating command.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The revision it produced; the one before when nothing changed.
    pub revision: Revision,
    /// Whether an operation was recorded.
    pub committed: bool,
    /// The files it changed.
    pub changed: Vec<StateFile>,
    /// The answers, one per change.
    pub answers: Vec<Answer>,
    /// What the caller should know besides: repairs, captured edits, rules not understood.
    pub notices: Vec<String>,
    /// The changes themselves; filled for a dry run only.
    pub diff: Vec<FileDiff>,
}

/// One line for each report of a command that changes the state.
pub(in crate::workspace) fn notices(reports: &[Report]) -> Vec<String> {
    reports.iter().map(describe).collect()
}

/// One line for each report of a command that only reads: nothing was recorded or written.
pub(in crate::workspace) fn pending_notices(reports: &[Report]) -> Vec<String> {
    let pending = |report: &Report| match report {
        Report::External { files, .. } => {
            format!("edited outside statedir and not yet recorded: {}", files.join(", "))
        }
        Report::Adopted { .. } => {
            "there is no operation log yet; the first change starts one".to_owned()
        }
        Report::RolledForward { op, .. } => {
            format!("operation {op} was interrupted; the next change completes the files")
        }
        other => describe(other),
    };
    reports.iter().map(pending).collect()
}

fn describe(report: &Report) -> String {
    match report {
        Report::RolledForward { op, .. } => {
            format!("completed operation {op}, which had been interrupted")
        }
        Report::External { op, files } => {
            format!("recorded an edit made outside statedir as {op}: {}", files.join(", "))
        }
        Report::Salvaged { file, copy } => {
            let aside = copy
                .as_ref()
                .map(|copy| format!("; the damaged version is in `{}`", copy.display()));
            format!("`{file}` was damaged by a power loss: restored{}", aside.unwrap_or_default())
        }
        Report::Adopted { files, .. } => format!("adopted {}", files.join(", ")),
        Report::CompletedAppend { bytes } => {
            format!("added {bytes} bytes to history.md that an interrupted operation had left out")
        }
        Report::Distrusted { why, copy } => {
            let aside = match copy {
                Some(copy) => format!("was set aside as `{}`", copy.display()),
                None => "is not used".to_owned(),
            };
            format!(
                "`.statedir/` {aside}: {why}; the state files are unchanged. \
                 `statedir trust` accepts it"
            )
        }
        Report::TornTail { bytes } => {
            format!("dropped {bytes} bytes of an operation that was never completed")
        }
    }
}
