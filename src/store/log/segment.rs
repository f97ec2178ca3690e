//! One file of the log: a header that says how things stood, then operations.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::store::{
    FileRecord, Hash, Layout, Operation, Result, Revision, StoreError,
    checkpoint::objects,
    disk::{
        Access, Disk,
        read::{Contents, open_existing, read_file, read_range},
    },
    error::At as _,
    log::{record, splice, tail::Tail},
    paths::{Paths, segment_number},
};

/// The format this code writes and the newest it reads.
pub(in crate::store) const FORMAT: u32 = 1;

/// No segment grows beyond this, so a larger file is not a segment.
pub(in crate::store) const LIMIT: u64 = 512 * 1024 * 1024;

/// The first line of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct Header {
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

impl Header {
    /// The header of a segment without what follows it; `None` when it is not plain to see.
    pub(in crate::store) fn peek(disk: &dyn Disk, paths: &Paths, number: u64) -> Option<Header> {
        /// Enough for five files, and for many.
        const LENGTHS: [u64; 2] = [2 << 10, 64 << 10];
        let path = paths.segment(number);
        let (file, stat) = open_existing(disk, &path, Access::Read).ok()??;
        let decoded = |len: u64| -> Option<Header> {
            record::decode(&read_range(&*file, &path, 0, stat.len.min(len)).ok()?)
        };
        let header = LENGTHS.into_iter().find_map(decoded)?;
        let is_sound = header.format <= FORMAT && header.segment == number;
        (is_sound && header.check(&paths.layout).is_ok()).then_some(header)
    }
}

/// What the log expects the files to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct Tracked {
    /// The rewritable files that exist, each with the hash of its bytes.
    pub files: BTreeMap<String, Hash>,
    /// The appended file.
    pub appended: Tail,
}

impl Tracked {
    pub(in crate::store) fn advance(&mut self, op: &Operation) {
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
pub(in crate::store) struct Placed {
    pub offset: u64,
    pub sum: String,
    pub op: Operation,
}

/// A segment that was read and checked as a whole.
#[derive(Debug, Clone)]
pub(in crate::store) struct Segment {
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
    pub(in crate::store) fn load(
        disk: &dyn Disk,
        paths: &Paths,
        number: u64,
    ) -> Result<Option<Segment>> {
        match Segment::load_sound_part(disk, paths, number)? {
            Some((_, Some(damage))) => Err(damage),
            Some((segment, None)) => Ok(Some(segment)),
            None => Ok(None),
        }
    }

    /// Reads a segment up to where it is damaged, if it is; fails when its header is.
    pub(in crate::store) fn load_sound_part(
        disk: &dyn Disk,
        paths: &Paths,
        number: u64,
    ) -> Result<Option<(Segment, Option<StoreError>)>> {
        let path = paths.segment(number);
        match read_file(disk, &path, LIMIT) {
            Ok(Some(contents)) => Segment::parse(paths, number, &contents.bytes).map(Some),
            Ok(None) => Ok(None),
            Err(StoreError::TooLarge { path, bytes, limit }) => Err(StoreError::Damaged {
                path,
                offset: limit,
                message: format!("{bytes} bytes are more than a segment can have"),
            }),
            Err(error) => Err(error),
        }
    }

    /// Checks every line: a bad one at the end never happened, a bad one before is damage, which
    /// is given with what comes before it.
    fn parse(paths: &Paths, number: u64, bytes: &[u8]) -> Result<(Segment, Option<StoreError>)> {
        let damaged = |offset: usize, message: &str| StoreError::Damaged {
            path: paths.segment(number),
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
        header
            .check(&paths.layout)
            .map_err(|why| damaged(0, &format!("the segment's header is not sound: {why}")))?;
        let mut segment = Segment {
            number,
            records: Vec::new(),
            end: 0,
            torn: 0,
            state: header.state.clone(),
            header,
        };
        let mut damage = None;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let Some((json, len)) = record::first_line(rest) else {
                if record::intact_line_follows(rest) {
                    damage = Some(damaged(at, "a record does not pass its checksum"));
                }
                break;
            };
            match segment.next(json, &paths.layout) {
                Ok(op) => {
                    segment.state.advance(&op);
                    let sum = String::from_utf8_lossy(&rest[..record::SUM_LEN]).into_owned();
                    segment.records.push(Placed { offset: at as u64, sum, op });
                    at += len;
                }
                Err(why) => {
                    damage = Some(damaged(at, &why));
                    break;
                }
            }
        }
        segment.end = at as u64;
        segment.torn = (bytes.len() - at) as u64;
        Ok((segment, damage))
    }

    /// Reads bytes as the first segment of a log, for the fuzzer.
    #[cfg(fuzzing)]
    pub(crate) fn fuzz(bytes: &[u8]) {
        let (rewritable, appended) = (&["plan.md", "variables.json"], "history.md");
        let layout = Layout {
            dir: "/state".into(),
            rewritable,
            appended,
            max_bytes: 1 << 20,
            keeps_former: false,
        };
        let _ = Segment::parse(&Paths::new(&layout), 1, bytes);
        // The same with sound checksums, so that what lies behind them is reached.
        let mut signed = Vec::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            let sum = crate::store::log::hash::hex_prefix(line, record::SUM_LEN);
            signed.extend_from_slice(&[sum.as_bytes(), b" ", line, b"\n"].concat());
        }
        if let Ok((segment, _)) = Segment::parse(&Paths::new(&layout), 1, &signed) {
            assert_eq!(segment.end + segment.torn, signed.len() as u64);
        }
    }

    /// Decodes the record that follows, or says why it cannot.
    fn next(&self, json: &[u8], layout: &Layout) -> std::result::Result<Operation, String> {
        let op: Operation = serde_json::from_slice(json)
            .map_err(|error| format!("a record is unreadable: {error}"))?;
        if op.parent != *self.head() || op.seq != self.seq() + 1 {
            return Err("a record does not follow the one before it".to_owned());
        }
        if op.id != op.compute_id() {
            return Err("a record's id is not that of its content".to_owned());
        }
        op.check(layout)
            .and_then(|()| op.check_continues(&self.state))
            .map_err(|why| format!("a record is not sound: {why}"))?;
        Ok(op)
    }

    /// Whether a header begins where this segment ends.
    pub(in crate::store) fn precedes(&self, header: &Header) -> bool {
        (&header.head, header.seq) == (self.head(), self.seq()) && header.state == self.state
    }

    /// The id of the last operation.
    pub(in crate::store) fn head(&self) -> &Revision {
        self.records.last().map_or(&self.header.head, |placed| &placed.op.id)
    }

    /// The number of the last operation.
    pub(in crate::store) fn seq(&self) -> u64 {
        self.records.last().map_or(self.header.seq, |placed| placed.op.seq)
    }

    /// The boot during which the last record was written.
    pub(in crate::store) fn boot(&self) -> Option<&str> {
        self.records.last().map_or(&self.header.boot, |placed| &placed.op.boot).as_deref()
    }

    /// Whether a file ever had this content, at the header or after any record.
    pub(in crate::store) fn knows(&self, name: &str, hash: Option<Hash>) -> bool {
        self.header.state.files.get(name).copied() == hash
            || self
                .records
                .iter()
                .flat_map(|placed| &placed.op.files)
                .any(|file| file.name == name && file.after == hash)
    }

    /// All rewritable files after the first `count` records, checked against their hashes.
    pub(in crate::store) fn images(
        &self,
        disk: &dyn Disk,
        paths: &Paths,
        count: usize,
    ) -> Result<BTreeMap<String, Vec<u8>>> {
        let changed = self.records.iter().take(count).flat_map(|placed| &placed.op.files);
        let names: BTreeSet<&String> =
            self.header.state.files.keys().chain(changed.map(|file| &file.name)).collect();
        let mut files = BTreeMap::new();
        for name in names {
            if let Some(bytes) = self.image(disk, paths, name, count, None)? {
                files.insert(name.clone(), bytes);
            }
        }
        Ok(files)
    }

    /// One rewritable file after the first `count` records, checked against its hash.
    ///
    /// `there` is content that may be one of the file's past states, so that a stored image is
    /// only needed when it is not. [`is_image_lost`] tells whether an error means that the bytes are
    /// no longer known.
    pub(in crate::store) fn image(
        &self,
        disk: &dyn Disk,
        paths: &Paths,
        name: &str,
        count: usize,
        there: Option<&Contents>,
    ) -> Result<Option<Vec<u8>>> {
        let changes: Vec<(u64, &FileRecord)> = self
            .records
            .iter()
            .take(count)
            .flat_map(|placed| placed.op.files.iter().map(|file| (placed.offset, file)))
            .filter(|(_, file)| file.name == name)
            .collect();
        let known = |(_, file): &(u64, &FileRecord)| {
            file.after.is_none() || there.is_some_and(|there| file.after == Some(there.hash))
        };
        let whole = |(_, file): &(u64, &FileRecord)| file.whole || file.before.is_none();
        let header = self.header.state.files.get(name).copied();
        let (mut bytes, start) = if let Some(at) = changes.iter().rposition(known) {
            let after = changes.get(at).and_then(|(_, file)| file.after);
            (after.and(there).map(|there| there.bytes.clone()), at + 1)
        } else if let Some(at) = changes.iter().rposition(whole) {
            (None, at)
        } else if let Some(there) = there.filter(|there| header == Some(there.hash)) {
            (Some(there.bytes.clone()), 0)
        } else {
            (header.map(|hash| objects::load(disk, paths, hash)).transpose()?, 0)
        };
        for (offset, file) in changes.into_iter().skip(start) {
            let old = if file.whole { Vec::new() } else { bytes.unwrap_or_default() };
            let new = splice::apply(&old, &file.splices)
                .filter(|new| new.len() as u64 <= paths.layout.max_bytes)
                .filter(|new| file.after == Some(Hash::of(new)))
                .ok_or_else(|| StoreError::Damaged {
                    path: paths.segment(self.number),
                    offset,
                    message: format!("the record does not fit `{name}`"),
                })?;
            bytes = Some(new);
        }
        Ok(bytes)
    }
}

/// Whether an error says that the bytes of an image are not known any more.
pub(in crate::store) fn is_image_lost(error: &StoreError) -> bool {
    matches!(error, StoreError::NotFound { .. } | StoreError::Damaged { .. })
}

/// The numbers of all segments, ascending; empty when there is no log.
pub(in crate::store) fn numbers(disk: &dyn Disk, paths: &Paths) -> Result<Vec<u64>> {
    let dir = paths.log();
    let names = match disk.list(&dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        other => other.at(&dir)?,
    };
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment_number(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}
