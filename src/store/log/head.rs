//! The head cache: where the log ends and how the files were when they last agreed with it.
//!
//! Written in place without a sync, so it may be missing, torn or old. It saves reading the log
//! and is never trusted over it.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use serde::{Deserialize, Serialize};

use crate::store::{
    Hash, Result, Revision,
    disk::{
        Access, Disk, DiskFile, Stat,
        read::{open_existing, read_range},
    },
    error::At as _,
    log::{
        record,
        segment::{self, Header, Tracked},
        tail::Tail,
    },
    paths::Paths,
};

/// The most bytes of the cache that are read.
const LIMIT: u64 = 1024 * 1024;

/// The cached head; existing means that all operations up to it were applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "HeadLine")]
pub(in crate::store) struct Head {
    pub segment: u64,
    /// Where the segment ended.
    pub end: u64,
    /// Where its last line began, and that line's checksum.
    pub last: u64,
    pub sum: String,
    pub id: Revision,
    pub seq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    #[serde(flatten)]
    pub state: Tracked,
    /// Length, time and number of each file as it was then.
    pub signatures: BTreeMap<String, (u64, i64, u64)>,
    /// When files that this program wrote were last changed: with that time, and with that signature in
    /// the same boot, they are still as they were written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sealed: BTreeMap<String, i64>,
    /// The same for the segment, if its last line is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_log: Option<i64>,
    /// The caller's derived data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<DerivedData>,
}

/// The same as it is read: flattened fields would be kept as values of any kind first.
#[derive(Deserialize)]
struct HeadLine {
    segment: u64,
    end: u64,
    last: u64,
    sum: String,
    id: Revision,
    seq: u64,
    #[serde(default)]
    boot: Option<String>,
    files: BTreeMap<String, Hash>,
    appended: Tail,
    signatures: BTreeMap<String, (u64, i64, u64)>,
    #[serde(default)]
    sealed: BTreeMap<String, i64>,
    #[serde(default)]
    sealed_log: Option<i64>,
    #[serde(default)]
    facts: Option<DerivedData>,
}

impl From<HeadLine> for Head {
    fn from(line: HeadLine) -> Head {
        Head {
            segment: line.segment,
            end: line.end,
            last: line.last,
            sum: line.sum,
            id: line.id,
            seq: line.seq,
            boot: line.boot,
            state: Tracked { files: line.files, appended: line.appended },
            signatures: line.signatures,
            sealed: line.sealed,
            sealed_log: line.sealed_log,
            facts: line.facts,
        }
    }
}

/// Opaque derived data and the length of the appended file that it is valid for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct DerivedData {
    pub len: u64,
    #[serde(with = "crate::store::log::byte_text")]
    pub bytes: Vec<u8>,
}

/// What the last record of the log left, without what it did.
#[derive(Debug, Deserialize)]
struct LastRecord {
    id: Revision,
    seq: u64,
    #[serde(default)]
    files: Vec<FileOutcome>,
    #[serde(default)]
    appended: Option<AppendOutcome>,
}

#[derive(Debug, Deserialize)]
struct FileOutcome {
    name: String,
    #[serde(default)]
    after: Option<Hash>,
}

#[derive(Debug, Deserialize)]
struct AppendOutcome {
    len: u64,
    tail_after: Hash,
}

impl Head {
    /// Reads the cache; `None` when it is missing, torn or cannot be what we wrote.
    pub(in crate::store) fn load(disk: &dyn Disk, paths: &Paths) -> Result<Option<Head>> {
        let path = paths.head();
        let Some((file, stat)) = open_existing(disk, &path, Access::Read)? else {
            return Ok(None);
        };
        let found: Option<Head> =
            record::decode(&read_range(&*file, &path, 0, stat.len.min(LIMIT))?);
        Ok(found.filter(|head| head.check(&paths.layout).is_ok()))
    }

    /// Writes the cache. Failing is harmless: the next opening reads the log instead.
    pub(in crate::store) fn save(&self, disk: &dyn Disk, paths: &Paths) {
        let path = paths.head();
        if let Ok(line) = record::encode(self) {
            let _ =
                disk.open(&path, Access::WriteOrCreate).and_then(|file| file.write_at(&line, 0));
        }
    }

    /// Removes the cache of a log that is gone, so that it cannot be compared with another.
    pub(in crate::store) fn forget(disk: &dyn Disk, paths: &Paths) -> Result<()> {
        let path = paths.head();
        match disk.remove(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            other => other.at(&path),
        }
    }

    /// Whether the segment's file ends exactly as this cache says, and its last line says the same.
    ///
    /// The last record is read and checked: the next one must not go behind a damaged one, which
    /// would then be taken for an operation that never happened, nor behind one that it does not
    /// follow.
    pub(in crate::store) fn fits(&self, file: &dyn DiskFile, paths: &Paths) -> Result<bool> {
        let path = paths.segment(self.segment);
        if file.stat_when_opened().at(&path)?.len != self.end || self.end > segment::LIMIT {
            return Ok(false);
        }
        let line = read_range(file, &path, self.last, self.end.saturating_sub(self.last))?;
        Ok(line.starts_with(self.sum.as_bytes())
            && record::first_line(&line)
                .is_some_and(|(json, len)| len == line.len() && self.agrees_with(json)))
    }

    /// Whether nobody can have touched the segment since its last line was written: enough for
    /// readers, where that line is long.
    pub(in crate::store) fn is_log_sealed(&self, stat: &Stat) -> bool {
        self.sealed_log == Some(stat.ctime) && self.end == stat.len
    }

    /// Whether the last line of the segment leaves things as this cache says.
    fn agrees_with(&self, json: &[u8]) -> bool {
        if self.last == 0 {
            return serde_json::from_slice::<Header>(json).is_ok_and(|header| {
                header.segment == self.segment
                    && (&header.head, header.seq) == (&self.id, self.seq)
                    && header.state == self.state
            });
        }
        serde_json::from_slice::<LastRecord>(json).is_ok_and(|last| {
            let tail =
                last.appended.map(|append| Tail { len: append.len, hash: append.tail_after });
            (&last.id, last.seq) == (&self.id, self.seq)
                && tail.is_none_or(|tail| tail == self.state.appended)
                && last
                    .files
                    .iter()
                    .all(|file| self.state.files.get(&file.name).copied() == file.after)
        })
    }

    /// Whether a file still is the one that was there when the cache was written.
    pub(in crate::store) fn recognises(&self, name: &str, stat: Option<&Stat>) -> bool {
        self.signatures.get(name).copied() == stat.map(Stat::signature)
    }

    /// The hash of a file with that metadata, if nobody can have changed it since it was written.
    ///
    /// The metadata is that of a file of the same boot: another one may have lost what was written.
    pub(in crate::store) fn sealed_hash(&self, name: &str, stat: &Stat) -> Option<Hash> {
        let is_sealed =
            self.sealed.get(name) == Some(&stat.ctime) && self.recognises(name, Some(stat));
        self.state.files.get(name).copied().filter(|_| is_sealed)
    }

    /// Whether a file was written by somebody else after the cache was.
    pub(in crate::store) fn predates(&self, name: &str, stat: &Stat) -> bool {
        self.signatures.get(name).is_some_and(|(_, mtime, _)| stat.mtime > *mtime)
    }
}
