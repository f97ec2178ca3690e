//! A checkpoint: a name for the files as they were, independent of the log.

pub(in crate::store) mod objects;
pub(in crate::store) mod records;
pub(in crate::store) mod registry;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::store::{
    CheckpointName, Hash, Revision,
    log::{segment::Tracked, tail::Tail},
};

/// The files at one moment. It holds hashes; the bytes are full images beside the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// Its name, unique among those that are there.
    pub name: CheckpointName,
    /// Its number; a later one has a higher number.
    pub number: u64,
    /// Why it was taken automatically; `gc` may drop automatic checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automatic: Option<String>,
    /// The message of whoever created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When it was taken.
    pub time: String,
    /// Who took it.
    pub actor: String,
    /// The revision whose files it holds.
    pub revision: Revision,
    /// The number of the operation that made that revision.
    pub seq: u64,
    /// The rewritable files that were there.
    pub files: BTreeMap<String, Image>,
    /// How long the appended file was.
    pub appended_len: u64,
    /// Hash of the last bytes of the appended file.
    pub appended_tail: Hash,
    /// Marks that the caller expects in the appended file from then on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
}

/// A file as a checkpoint knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Image {
    /// Hash of its bytes, and the name of the stored image.
    pub hash: Hash,
    /// How many bytes it has.
    pub len: u64,
}

/// What an operation did to the checkpoints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckpointRecord {
    /// It was added.
    Added(Checkpoint),
    /// It was removed.
    Removed(Checkpoint),
}

/// What an operation is to do to the checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CheckpointChange {
    /// Take a new one.
    Take(NewCheckpoint),
    /// Put one back that was removed; its images must still be there.
    PutBack(Checkpoint),
    /// Remove one.
    Remove(Checkpoint),
}

/// A checkpoint to be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewCheckpoint {
    /// Its name.
    pub name: CheckpointName,
    /// Why, if it is automatic.
    pub automatic: Option<String>,
    /// The message of whoever creates it.
    pub message: Option<String>,
    /// Which of the two states of the operation it holds.
    pub moment: Moment,
    /// Marks that the appended file contains from that moment on.
    pub marks: Vec<String>,
}

/// One of the two states of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The files as they were.
    Before,
    /// The files as the operation leaves them.
    After,
}

/// A revision with what the files are at it.
#[derive(Debug)]
pub(in crate::store) struct At<'a> {
    pub revision: Revision,
    pub seq: u64,
    pub state: &'a Tracked,
    pub files: &'a BTreeMap<String, &'a [u8]>,
}

impl Checkpoint {
    /// The requested checkpoint of the files at a revision.
    pub(in crate::store) fn take(
        new: NewCheckpoint,
        number: u64,
        time: &str,
        actor: &str,
        at: &At<'_>,
    ) -> Checkpoint {
        let Tail { len, hash } = at.state.appended;
        let files = at.files.iter().map(|(name, bytes)| {
            let image = Image { hash: Hash::of(bytes), len: bytes.len() as u64 };
            (name.clone(), image)
        });
        Checkpoint {
            name: new.name,
            number,
            automatic: new.automatic,
            message: new.message,
            time: time.to_owned(),
            actor: actor.to_owned(),
            revision: at.revision.clone(),
            seq: at.seq,
            files: files.collect(),
            appended_len: len,
            appended_tail: hash,
            marks: new.marks,
        }
    }
}

impl CheckpointRecord {
    /// The checkpoint that was added or removed.
    pub(crate) fn checkpoint(&self) -> &Checkpoint {
        match self {
            CheckpointRecord::Added(checkpoint) | CheckpointRecord::Removed(checkpoint) => {
                checkpoint
            }
        }
    }

    /// Whether it was added.
    pub(crate) fn is_added(&self) -> bool {
        matches!(self, CheckpointRecord::Added(_))
    }
}
