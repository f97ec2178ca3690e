//! The operation: the unit of change, of undo and of the log.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::store::{CheckpointRecord, Hash, log::hash};

/// How many hexadecimal digits an id has.
const DIGITS: usize = 12;

/// The id of an operation, and thereby of the state right after it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Revision(String);

impl Revision {
    /// The revision of a directory in which nothing has happened yet.
    pub(crate) fn root() -> Revision {
        Revision("0".repeat(DIGITS))
    }

    /// An id as found in a log record; `None` when a text is not one.
    pub(crate) fn parse(id: impl Into<String>) -> Option<Revision> {
        let id = id.into();
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (id.len() == DIGITS && id.bytes().all(is_digit)).then_some(Revision(id))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is [`Revision::root`].
    pub(crate) fn is_root(&self) -> bool {
        self.0.bytes().all(|b| b == b'0')
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Revision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Revision, D::Error> {
        let id = String::deserialize(deserializer)?;
        Revision::parse(id).ok_or_else(|| serde::de::Error::custom("not the id of an operation"))
    }
}

/// Everything the log says about one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Operation {
    /// The operation's id.
    pub id: Revision,
    /// The operation before it.
    pub parent: Revision,
    /// Its number, counted from 1.
    pub seq: u64,
    /// When, as the caller said.
    pub time: String,
    /// The boot of the machine during which it was made, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// Who made it.
    pub actor: String,
    /// The session in which it was made, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The sort of change.
    pub kind: String,
    /// The command.
    pub command: String,
    /// One line for people.
    pub message: String,
    /// The operation it undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Revision>,
    /// The operation it does again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redoes: Option<Revision>,
    /// For an undo the number of the operation it undoes, for a redo that of the undo: what is
    /// between is undone as well, so that the next one need not look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settles: Option<u64>,
    /// The rewritable files it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileRecord>,
    /// What it did to the appended file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub appended: Option<AppendRecord>,
    /// What it did to the checkpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<CheckpointRecord>,
    /// Remarks of the store, such as what was set aside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What an operation did to one rewritable file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    /// The file.
    pub name: String,
    /// Hash of its bytes before; `None` when there was no file.
    pub before: Option<Hash>,
    /// Hash of its bytes after; `None` when the file was removed.
    pub after: Option<Hash>,
    /// Replaced ranges, ascending, in offsets of the bytes before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splices: Vec<SpliceRecord>,
    /// Whether the bytes before were not known any more, so that the one splice, or none for an
    /// empty file, is all of the bytes after. Such a change cannot be undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}

/// A replaced range with what was there and what came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SpliceRecord {
    /// Where, in the bytes before the operation.
    pub offset: u64,
    /// The bytes that went.
    #[serde(with = "crate::store::log::byte_text")]
    pub old: Vec<u8>,
    /// The bytes that came.
    #[serde(with = "crate::store::log::byte_text")]
    pub new: Vec<u8>,
}

/// What an operation did to the appended file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AppendRecord {
    /// The length before.
    pub offset: u64,
    /// Hash of the tail before.
    pub tail_before: Hash,
    /// The length after.
    pub len: u64,
    /// Hash of the tail after.
    pub tail_after: Hash,
    /// The bytes that were added, when the file only grew and they were few enough to keep.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::store::log::byte_text::option"
    )]
    pub bytes: Option<Vec<u8>>,
}

/// An operation without its bytes, for lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OperationSummary {
    /// The operation's id.
    pub id: Revision,
    /// The operation before it.
    pub parent: Revision,
    /// Its number, counted from 1.
    pub seq: u64,
    /// When, as the caller said.
    pub time: String,
    /// Who made it.
    pub actor: String,
    /// The session in which it was made, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The sort of change.
    pub kind: String,
    /// The command.
    pub command: String,
    /// One line for people.
    pub message: String,
    /// The operation it undoes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Revision>,
    /// The operation it does again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redoes: Option<Revision>,
    /// Names of the files it changed, the appended file included.
    pub files: Vec<String>,
    /// How much the appended file grew.
    pub appended_bytes: u64,
}

impl Operation {
    /// The operation without its bytes; `appended` is the name of the appended file.
    pub(crate) fn summary(&self, appended: &str) -> OperationSummary {
        let mut files: Vec<String> = self.files.iter().map(|file| file.name.clone()).collect();
        let mut appended_bytes = 0;
        if let Some(append) = &self.appended {
            files.push(appended.to_owned());
            appended_bytes = append.len.saturating_sub(append.offset);
        }
        OperationSummary {
            id: self.id.clone(),
            parent: self.parent.clone(),
            seq: self.seq,
            time: self.time.clone(),
            actor: self.actor.clone(),
            session: self.session.clone(),
            kind: self.kind.clone(),
            command: self.command.clone(),
            message: self.message.clone(),
            undoes: self.undoes.clone(),
            redoes: self.redoes.clone(),
            files,
            appended_bytes,
        }
    }

    /// Whether the record describes files that were already as it says when it was written.
    pub(in crate::store) fn is_observation(&self) -> bool {
        self.kind == EXTERNAL || self.kind == ADOPT
    }

    /// The id this operation must have.
    ///
    /// Neither time nor actor goes in, so that a reader can tell the revision that recording a
    /// pending edit will produce.
    pub(in crate::store) fn compute_id(&self) -> Revision {
        let mut text = format!("{}\0{}\0", self.parent, self.kind);
        for file in &self.files {
            let after = file.after.map_or_else(|| "-".to_owned(), |hash| hash.to_string());
            text.push_str(&format!("{}\0{after}\0", file.name));
        }
        if let Some(append) = &self.appended {
            text.push_str(&format!("{}\0{}\0", append.len, append.tail_after));
        }
        for change in &self.checkpoints {
            let sign = if change.is_added() { '+' } else { '-' };
            text.push_str(&format!("{sign}{}\0", change.checkpoint().name));
        }
        Revision(hash::hex_prefix(text.as_bytes(), DIGITS))
    }
}

/// The kind of an operation that records an edit made outside.
pub(in crate::store) const EXTERNAL: &str = "external";
/// The kind of an operation that adopts files found without a log.
pub(in crate::store) const ADOPT: &str = "adopt";
/// The kind of an operation that creates the state.
pub(in crate::store) const INIT: &str = "init";
/// The kind of operation that moves the whole directory away; moving it back is `archive.restore`.
pub(in crate::store) const ARCHIVE: &str = "archive";
