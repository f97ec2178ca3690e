//! One file of the log: a header that says how things stood, then operations.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::disk::Disk;
use super::error::At as _;
use super::files::read_file;
use super::paths::{Paths, segment_number};
use super::tail::Tail;
use super::{Hash, Operation, Result, Revision, StoreError, objects, record, splice};

/// The format this code writes and the newest it reads.
pub(super) const FORMAT: u32 = 1;

/// The first line of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub format: u32,
    pub segment: u64,
    /// The last operation of the segment before.
    pub head: Revision,
    pub seq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    #[serde(flatten)]
    pub state: Tracked,
}

/// What the log expects the files to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tracked {
    /// The rewritable files that exist, each with the hash of its bytes.
    pub files: BTreeMap<String, Hash>,
    /// The appended file.
    pub appended: Tail,
}

impl Tracked {
    pub fn advance(&mut self, op: &Operation) {
        for file in &op.files {
            match file.after {
                Some(hash) => self.files.insert(file.name.clone(), hash),
                None => self.files.remove(&file.name),
            };
        }
        if let Some(append) = &op.appended {
            self.appended = Tail { len: append.len, hash: append.tail_after };
        }
    }
}

/// An operation and where its line is.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub offset: u64,
    pub sum: String,
    pub op: Operation,
}

/// A segment that was read and checked as a whole.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub number: u64,
    pub header: Header,
    pub records: Vec<Placed>,
    /// Where the next record goes.
    pub end: u64,
    /// How many bytes lie after it: an operation that never happened.
    pub torn: u64,
    /// The state after the last record.
    pub state: Tracked,
}

impl Segment {
    /// Reads a segment; `None` when there is no such file.
    pub fn load(disk: &dyn Disk, paths: &Paths, number: u64) -> Result<Option<Segment>> {
        let path = paths.segment(number);
        match read_file(disk, &path, u64::MAX)? {
            Some(contents) => Segment::parse(&path, number, &contents.bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Checks every line: a bad one at the end never happened, a bad one before is damage.
    pub fn parse(path: &Path, number: u64, bytes: &[u8]) -> Result<Segment> {
        let damaged = |offset: usize, message: &str| StoreError::Damaged {
            path: path.into(),
            offset: offset as u64,
            message: message.into(),
        };
        let Some((json, mut at)) = record::first_line(bytes) else {
            return Err(damaged(0, "the segment's header does not pass its checksum"));
        };
        let header: Header = serde_json::from_slice(json)
            .map_err(|error| damaged(0, &format!("the segment's header is unreadable: {error}")))?;
        if header.format > FORMAT {
            return Err(damaged(0, "the segment was written by a newer version"));
        }
        if header.segment != number {
            return Err(damaged(0, "the segment's number and its name differ"));
        }
        let mut segment = Segment {
            number,
            records: Vec::new(),
            end: 0,
            torn: 0,
            state: header.state.clone(),
            header,
        };
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let Some((json, len)) = record::first_line(rest) else {
                if record::intact_line_follows(rest) {
                    return Err(damaged(at, "a record does not pass its checksum"));
                }
                break;
            };
            let op: Operation = serde_json::from_slice(json)
                .map_err(|error| damaged(at, &format!("a record is unreadable: {error}")))?;
            if op.parent != *segment.head() || op.seq != segment.seq() + 1 {
                return Err(damaged(at, "a record does not follow the one before it"));
            }
            if op.id != op.compute_id() {
                return Err(damaged(at, "a record's id is not that of its content"));
            }
            segment.state.advance(&op);
            let sum = String::from_utf8_lossy(&rest[..record::SUM_LEN]).into_owned();
            segment.records.push(Placed { offset: at as u64, sum, op });
            at += len;
        }
        segment.end = at as u64;
        segment.torn = (bytes.len() - at) as u64;
        Ok(segment)
    }

    /// The id of the last operation.
    pub fn head(&self) -> &Revision {
        self.records.last().map_or(&self.header.head, |placed| &placed.op.id)
    }

    /// The number of the last operation.
    pub fn seq(&self) -> u64 {
        self.records.last().map_or(self.header.seq, |placed| placed.op.seq)
    }

    /// The boot during which the last record was written.
    pub fn boot(&self) -> Option<&str> {
        self.records.last().map_or(&self.header.boot, |placed| &placed.op.boot).as_deref()
    }

    /// Whether a file ever was as given, at the header or after any record.
    pub fn knows(&self, name: &str, hash: Option<Hash>) -> bool {
        self.header.state.files.get(name).copied() == hash
            || self
                .records
                .iter()
                .flat_map(|placed| &placed.op.files)
                .any(|file| file.name == name && file.after == hash)
    }

    /// All rewritable files after the first `count` records, checked against their hashes.
    pub fn images(
        &self,
        disk: &dyn Disk,
        paths: &Paths,
        count: usize,
    ) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut files = BTreeMap::new();
        for (name, hash) in &self.header.state.files {
            files.insert(name.clone(), objects::load(disk, paths, *hash)?);
        }
        for placed in self.records.iter().take(count) {
            for file in &placed.op.files {
                let old = files.remove(&file.name).unwrap_or_default();
                if let Some(after) = file.after {
                    let new = splice::apply(&old, &file.splices)
                        .filter(|new| Hash::of(new) == after)
                        .ok_or_else(|| StoreError::Damaged {
                            path: paths.segment(self.number),
                            offset: placed.offset,
                            message: format!("the record does not fit `{}`", file.name),
                        })?;
                    files.insert(file.name.clone(), new);
                }
            }
        }
        Ok(files)
    }
}

/// The numbers of all segments, ascending; empty when there is no log.
pub(super) fn numbers(disk: &dyn Disk, paths: &Paths) -> Result<Vec<u64>> {
    let dir = paths.log();
    let names = match disk.list(&dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        other => other.at(&dir)?,
    };
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment_number(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}
