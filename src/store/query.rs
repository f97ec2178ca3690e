//! Looking back: operations newest first, one operation, the files right after it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::store::{
    Hash, Operation, OperationSummary, Result, Revision, Store, StoreError, View,
    checkpoint::objects,
    disk::{
        Access,
        read::{open_existing, read_range},
    },
    error::At as _,
    log::{
        record,
        segment::{self, Header, Segment},
    },
};

/// Who made an operation, and when.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Author {
    /// When, as the caller said.
    pub time: String,
    /// Who made it.
    pub actor: String,
    /// The session in which it was made, if there was one.
    #[serde(default)]
    pub session: Option<String>,
}

/// The appended file as it was at some operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AppendedThen {
    /// How long it was.
    pub len: u64,
    /// Whether the file of today begins with it.
    pub still_there: bool,
}

/// How many operations an ambiguous prefix is answered with.
const CANDIDATES: usize = 5;

impl Store {
    /// The bytes that the log and the images beside it take.
    pub(crate) fn log_size(&self) -> Result<u64> {
        let this = self.session();
        let mut bytes = 0;
        for dir in [this.paths.log(), this.paths.objects()] {
            let names = match this.disk.list(&dir) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                other => other.at(&dir)?,
            };
            for path in names.into_iter().map(|name| dir.join(name)) {
                let len = this.disk.stat(&path).at(&path)?.map_or(0, |stat| stat.len);
                bytes = len.saturating_add(bytes);
            }
        }
        Ok(bytes)
    }

    /// The newest operations first, at most `limit` when given.
    ///
    /// Reads without the lock, so that it can be called while a transaction is open. An edit made
    /// outside is listed once a mutating command has recorded it.
    pub(crate) fn operations(&self, limit: Option<usize>) -> Result<Vec<OperationSummary>> {
        Backwards::new(self)?
            .take(limit.unwrap_or(usize::MAX))
            .map(|op| op.map(|op| op.summary(self.layout.appended)))
            .collect()
    }

    /// Who made the newest operations, the newest first. Only the end of the log is read, as far as
    /// the caller goes back, and it is not checked: this is evidence, not state.
    ///
    /// Reads without the lock.
    pub(crate) fn authors(&self) -> impl Iterator<Item = Author> + '_ {
        let this = self.session();
        let numbers = segment::numbers(&*this.disk, &this.paths).unwrap_or_default();
        Authors { store: this, numbers, end: None, read: Vec::new() }
    }

    /// The operations after `last`, the oldest first; all of them if the log does not know it.
    ///
    /// Reads without the lock.
    pub(crate) fn operations_after(
        &self,
        last: Option<&Revision>,
    ) -> Result<Vec<OperationSummary>> {
        let mut found = Vec::new();
        for op in Backwards::new(self)? {
            let op = op?;
            if last == Some(&op.id) {
                break;
            }
            found.push(op.summary(self.layout.appended));
        }
        found.reverse();
        Ok(found)
    }

    /// One operation by its id or a unique prefix of it.
    pub(crate) fn operation(&self, id_prefix: &str) -> Result<Operation> {
        let mut found: Vec<Operation> = Vec::new();
        for op in Backwards::new(self)? {
            let op = op?;
            if op.id.as_str() == id_prefix {
                return Ok(op);
            }
            if op.id.as_str().starts_with(id_prefix) {
                found.push(op);
            }
        }
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some(op), None) if !id_prefix.is_empty() => Ok(op),
            (Some(first), second) => Err(StoreError::Ambiguous {
                prefix: id_prefix.to_owned(),
                candidates: std::iter::once(first)
                    .chain(second)
                    .chain(found)
                    .take(CANDIDATES)
                    .map(|op| op.id.to_string())
                    .collect(),
            }),
            (None, _) => Err(StoreError::NotFound { what: format!("operation `{id_prefix}`") }),
        }
    }

    /// For each of some texts the oldest operation that appended it, as far as the log knows one.
    ///
    /// Reads without the lock.
    pub(crate) fn appended_by(&self, texts: &[String]) -> Result<BTreeMap<String, Revision>> {
        let mut found = BTreeMap::new();
        for op in Backwards::new(self)? {
            let op = op?;
            let Some(bytes) = op.appended.and_then(|appended| appended.bytes) else { continue };
            let written = String::from_utf8_lossy(&bytes);
            for text in texts.iter().filter(|text| written.contains(text.as_str())) {
                found.insert(text.clone(), op.id.clone());
            }
        }
        Ok(found)
    }

    /// The rewritable files right after an operation, given by its id or a unique prefix.
    pub(crate) fn files_at(&self, id: &str) -> Result<BTreeMap<String, Vec<u8>>> {
        let this = self.session();
        let (disk, paths) = (&*this.disk, &this.paths);
        let id = match this.operation(id) {
            Ok(op) => op.id,
            // The record may be dropped while the segment after it still holds the images.
            Err(error @ StoreError::NotFound { .. }) => Revision::parse(id).ok_or(error)?,
            Err(error) => return Err(error),
        };
        for number in segment::numbers(disk, paths)?.into_iter().rev() {
            let Some(segment) = Segment::load(disk, paths, number)? else {
                continue;
            };
            if let Some(at) = segment.records.iter().position(|placed| placed.op.id == id) {
                return segment.images(disk, paths, at + 1);
            }
            if segment.header.head == id && !id.is_root() {
                return segment.images(disk, paths, 0);
            }
        }
        Err(StoreError::NotFound { what: format!("operation `{id}`") })
    }

    /// The length of the appended file right after an operation, given by its id or a unique
    /// prefix; and whether the file in `view` still begins with what it was then.
    pub(crate) fn appended_at(&self, id: &str, view: &View) -> Result<AppendedThen> {
        let this = self.session();
        let (disk, paths) = (&*this.disk, &this.paths);
        let id = this.operation(id)?.id;
        for number in segment::numbers(disk, paths)?.into_iter().rev() {
            let Some(segment) = Segment::load(disk, paths, number)? else { continue };
            let Some(at) = segment.records.iter().position(|placed| placed.op.id == id) else {
                continue;
            };
            let mut state = segment.header.state.clone();
            for placed in segment.records.iter().take(at + 1) {
                state.advance(&placed.op);
            }
            let tail = state.appended;
            let still_there = view.appended().begins_with(tail)?;
            return Ok(AppendedThen { len: tail.len, still_there });
        }
        Err(StoreError::NotFound { what: format!("operation `{id}`") })
    }

    /// A full image stored by a checkpoint or a rotation.
    pub(crate) fn object(&self, hash: Hash) -> Result<Vec<u8>> {
        objects::load(&*self.disk, &self.paths, hash)
    }
}

/// Operations from the newest to the oldest, one segment in memory at a time.
#[derive(Debug)]
pub(super) struct Backwards<'a> {
    segments: Segments<'a>,
    operations: Vec<Operation>,
}

impl<'a> Backwards<'a> {
    pub(super) fn new(store: &'a Store) -> Result<Backwards<'a>> {
        Ok(Backwards { segments: Segments::new(store)?, operations: Vec::new() })
    }

    /// Goes on with the operation of that number, or the newest before it. Segments in between are
    /// not read.
    pub(super) fn skip_to(&mut self, number: u64) {
        self.operations.retain(|op| op.seq <= number);
        self.segments.newest = Some(number);
    }
}

impl Iterator for Backwards<'_> {
    type Item = Result<Operation>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(op) = self.operations.pop() {
                return Some(Ok(op));
            }
            match self.segments.next()? {
                Ok(segment) => {
                    let newest = self.segments.newest.unwrap_or(u64::MAX);
                    let operations = segment.records.into_iter().map(|placed| placed.op);
                    self.operations = operations.filter(|op| op.seq <= newest).collect();
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Who made operations, from the newest to the oldest, read from the end of the log.
struct Authors<'a> {
    store: Cow<'a, Store>,
    /// The segments that are still to be read, the newest last.
    numbers: Vec<u64>,
    /// Where in the newest of them everything that follows has been read.
    end: Option<u64>,
    /// What was read and not yet given, the newest last.
    read: Vec<Author>,
}

impl Authors<'_> {
    /// How much is read at first: some dozens of operations.
    const WINDOW: u64 = 32 << 10;

    /// Reads the part before what was read already; `None` at the beginning.
    fn go_back(&mut self) -> Option<()> {
        let path = self.store.paths.segment(*self.numbers.last()?);
        let (file, stat) = open_existing(&*self.store.disk, &path, Access::Read).ok()??;
        let end = self.end.unwrap_or(stat.len);
        let mut window = Self::WINDOW;
        loop {
            let start = end.saturating_sub(window);
            let bytes = read_range(&*file, &path, start, end - start).ok()?;
            // The first line is whole only at the beginning of the segment.
            let before_last = &bytes[..bytes.len().saturating_sub(1)];
            let cut = match before_last.iter().position(|byte| *byte == b'\n') {
                _ if start == 0 => 0,
                Some(at) => at + 1,
                None => {
                    window = window.saturating_mul(8);
                    continue;
                }
            };
            let lines = bytes[cut..].split_inclusive(|byte| *byte == b'\n');
            self.read = lines.filter_map(record::decode).collect();
            self.end = Some(start + cut as u64).filter(|end| *end > 0);
            break;
        }
        if self.end.is_none() {
            self.numbers.pop();
        }
        Some(())
    }
}

impl Iterator for Authors<'_> {
    type Item = Author;

    fn next(&mut self) -> Option<Author> {
        loop {
            if let Some(author) = self.read.pop() {
                return Some(author);
            }
            self.go_back()?;
        }
    }
}

/// Segments from the newest to the oldest, as far as each follows the one before it.
#[derive(Debug)]
pub(super) struct Segments<'a> {
    store: Cow<'a, Store>,
    numbers: Vec<u64>,
    /// The header of the segment after the next one, which must follow that.
    after: Option<Header>,
    /// The newest operation that is of interest, if not all are.
    newest: Option<u64>,
    /// The segment that is missing although older ones are there.
    pub(super) missing: Option<u64>,
}

impl<'a> Segments<'a> {
    pub(super) fn new(store: &'a Store) -> Result<Segments<'a>> {
        let store = store.session();
        let numbers = segment::numbers(&*store.disk, &store.paths)?;
        Ok(Segments { store, numbers, after: None, newest: None, missing: None })
    }
}

impl Iterator for Segments<'_> {
    type Item = Result<Segment>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.numbers.pop()?;
        let after = self.after.take();
        if let Some(missing) = after.as_ref().map(|after| after.segment.saturating_sub(1))
            && missing != number
        {
            // A collection that the power interrupted can leave this, too: what comes between is
            // gone, and so the log begins behind it.
            self.missing = Some(missing);
            self.numbers.clear();
            return None;
        }
        if let Some(newest) = self.newest
            && let Some(header) = Header::peek(&*self.store.disk, &self.store.paths, number)
            && header.seq >= newest
        {
            self.after = Some(header);
            return self.next();
        }
        let damaged = |number, offset, message: &str| StoreError::Damaged {
            path: self.store.paths.segment(number),
            offset,
            message: message.into(),
        };
        let found = match Segment::load(&*self.store.disk, &self.store.paths, number) {
            // Only the segment that is being written can end in the middle of a record.
            Ok(Some(segment)) if segment.torn > 0 && after.is_some() => {
                Err(damaged(number, segment.end, "a record does not pass its checksum"))
            }
            Ok(Some(segment)) => match after.filter(|after| !segment.precedes(after)) {
                Some(after) => {
                    let message = "the segment does not follow the one before it";
                    Err(damaged(after.segment, 0, message))
                }
                None => Ok(segment),
            },
            // Dropped by a collection since the names were listed.
            Ok(None) => {
                self.numbers.clear();
                return None;
            }
            Err(error) => Err(error),
        };
        match &found {
            Ok(segment) => self.after = Some(segment.header.clone()),
            Err(_) => self.numbers.clear(),
        }
        Some(found)
    }
}
