//! What a caller asks the store to do, and what it gets back.

use std::ops::Range;

use crate::store::{Cancellation, CheckpointChange, Content, Revision};

/// One operation to be committed.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewOperation {
    /// A short word for the sort of change, such as `step` or `undo`.
    pub kind: String,
    /// The command as the user gave it.
    pub command: String,
    /// One line for people.
    pub message: String,
    /// Who did it.
    pub actor: String,
    /// The session in which it was done, if there is one.
    pub session: Option<String>,
    /// When, in the caller's format; the store compares it as text only.
    pub time: String,
    /// Changes to rewritable files, at most one for each.
    pub changes: Vec<FileChange>,
    /// Bytes to add to the end of the appended file.
    pub append: Vec<u8>,
    /// Bytes to put into the appended file, each before an offset of it with `append` at its end,
    /// in ascending order. The file is replaced then; nothing that is in it can go.
    pub insert: Vec<(u64, Vec<u8>)>,
    /// The operation this one undoes.
    pub undoes: Option<Revision>,
    /// The operation this one does again.
    pub redoes: Option<Revision>,
    /// As in [`Operation`](crate::store::Operation).
    pub settles: Option<u64>,
    /// Opaque derived data, valid for the appended file as it is after this operation.
    pub facts: Option<Vec<u8>>,
    /// Files, and what was derived from their bytes as they are after this operation.
    pub derived: Option<(Vec<String>, Vec<u8>)>,
    /// Checkpoints to be taken, put back or removed.
    pub checkpoints: Vec<CheckpointChange>,
    /// Whether it reports what was counted since the last one that did.
    pub records_tally: bool,
}

impl NewOperation {
    /// Whether there is nothing in it that the log would have to know.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.append.is_empty()
            && self.insert.is_empty()
            && self.checkpoints.is_empty()
            && self.undoes.is_none()
            && self.redoes.is_none()
    }
}

/// A change to one rewritable file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// The file, one of `Layout::rewritable`.
    pub name: String,
    /// What to do with it.
    pub kind: ChangeKind,
}

/// How a file changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// Replace ranges, given in ascending order and without overlap.
    Splice(Vec<ByteSplice>),
    /// The same, with the bytes that come of it.
    Edit(Vec<ByteSplice>, Content),
    /// Create the file or replace all of it; only the differing middle is logged.
    Write(Vec<u8>),
    /// Remove the file.
    Remove,
}

/// One replaced range of a file, in offsets of the bytes before the operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ByteSplice {
    /// The range that goes.
    pub at: Range<usize>,
    /// What comes in its place.
    pub new: Vec<u8>,
}

/// An operation that is durable.
#[derive(Debug, Clone)]
pub(crate) struct Committed {
    /// The revision it produced.
    pub revision: Revision,
    /// What could not be finished after the commit point; the next change completes it.
    pub warnings: Vec<String>,
    /// Whether all files are as the operation says.
    pub is_applied: bool,
}

/// Who takes the lock, shown to whoever has to wait for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct LockHolder {
    /// The acting person or agent.
    pub actor: String,
    /// The command being run.
    pub command: String,
    /// When it began.
    pub time: String,
    /// Whether it is still wanted when the lock is there.
    pub cancellation: Cancellation,
}
