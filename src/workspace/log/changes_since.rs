//! The operations since the revision that a caller expected to be the newest.

use serde::Serialize;

use crate::{
    store::{OperationSummary, Revision},
    text::display::one_line,
    workspace::{LEAST_OF_REVISION, Workspace, same_revision},
};

/// How many operations are listed.
const MOST: usize = 50;
/// How many of them are named in a sentence.
const MOST_IN_WORDS: usize = 3;
/// The kind of an edit made outside statedir, whose author is not known.
const EXTERNAL: &str = "external";
/// What such an edit is called before it is an operation.
pub(super) const NOT_YET_RECORDED: &str = "edited outside statedir, not yet recorded";

/// The operations after a revision.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ChangesSince {
    /// The operations, oldest first; only the newest if there are many.
    pub changed: Vec<OperationLine>,
    /// Whether these are all of them.
    pub complete: bool,
    /// Whether the log knows the revision at all.
    pub known: bool,
}

/// One operation in short.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OperationLine {
    pub id: Revision,
    /// The kind of change.
    pub kind: String,
    /// Who made it.
    pub actor: String,
    /// When.
    pub time: String,
    /// The files it changed.
    pub files: Vec<String>,
    /// One line for people.
    pub message: String,
}

impl From<OperationSummary> for OperationLine {
    fn from(op: OperationSummary) -> Self {
        let OperationSummary { id, kind, mut actor, time, files, message, .. } = op;
        if actor.is_empty() {
            "unknown".clone_into(&mut actor);
        }
        Self { id, kind, actor, time, files, message }
    }
}

impl ChangesSince {
    /// The end of a sentence that lists the operations.
    pub(in crate::workspace) fn sentence(&self) -> String {
        let words = |step: &OperationLine| {
            let files = match step.files.as_slice() {
                [] => String::new(),
                files => format!(" ({})", files.join(", ")),
            };
            match step.kind.as_str() {
                EXTERNAL => format!("an edit outside statedir{files}"),
                kind => format!("{kind} by {}{files}", one_line(&step.actor)),
            }
        };
        let newest = self.changed.len().saturating_sub(MOST_IN_WORDS);
        let lines: Vec<String> = self.changed.iter().skip(newest).map(words).collect();
        if !self.known {
            return ", which the log does not know".to_owned();
        }
        let lines = lines.join(", ");
        match newest {
            _ if lines.is_empty() => String::new(),
            0 => format!("; since then {lines}"),
            _ => format!("; since then {} operations, the last {lines}", self.changed.len()),
        }
    }
}

impl Workspace {
    /// The operations between `expected` and `found`. An edit from outside that is not in the log yet
    /// is the last one.
    pub(in crate::workspace) fn changes_since(
        &self,
        expected: &str,
        found: &Revision,
    ) -> ChangesSince {
        let Ok(newest) = self.store.operations(Some(MOST + 1)) else {
            return ChangesSince::default();
        };
        let pending = newest.first().is_none_or(|op| op.id != *found).then(|| OperationLine {
            id: found.clone(),
            kind: EXTERNAL.to_owned(),
            actor: "unknown".to_owned(),
            time: self.env.now(),
            files: Vec::new(),
            message: NOT_YET_RECORDED.to_owned(),
        });
        let at = newest.iter().position(|op| same_revision(&op.id, expected));
        let before_first = newest.last().is_some_and(|op| same_revision(&op.parent, expected));
        let complete = at.is_some() || (before_first && newest.len() <= MOST);
        let known = complete
            || (expected.len() >= LEAST_OF_REVISION && self.store.operation(expected).is_ok());
        if !known {
            return ChangesSince::default();
        }
        let taken = at.unwrap_or(newest.len()).min(MOST);
        let mut changed: Vec<OperationLine> =
            newest.into_iter().take(taken).map(OperationLine::from).collect();
        changed.reverse();
        changed.extend(pending);
        ChangesSince { changed, complete, known }
    }
}
