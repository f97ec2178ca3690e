//! What the log remembers of files that are gone or cut.

use std::collections::BTreeMap;

use crate::store::{
    AppendRecord, Result, Store, StoreError,
    disk::{
        Access,
        read::{read_range, require_file},
    },
    error::At as _,
    log::{
        segment::{self, Segment, is_image_lost},
        tail::Tail,
    },
};

/// How much of the appended file is put together in memory.
const LIMIT: u64 = 256 * 1024 * 1024;

/// How much of the file is compared at a time.
const CHUNK: usize = 64 * 1024;

impl Store {
    /// The newest content that the log knows of each rewritable file, also of removed ones.
    ///
    /// Reads without the lock. Of a damaged segment the part before the damage counts, so that
    /// this can be asked before [`Store::set_damaged_log_aside`]; a file of which nothing can be put
    /// together is left out.
    pub(crate) fn last_known_files(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let this = self.session();
        let (disk, paths) = (&*this.disk, &this.paths);
        let mut known = BTreeMap::new();
        for number in segment::numbers(disk, paths)?.into_iter().rev() {
            if known.len() == self.layout.rewritable.len() {
                break;
            }
            let segment = match Segment::load_sound_part(disk, paths, number) {
                Ok(Some((segment, _))) => segment,
                Ok(None) | Err(StoreError::Damaged { .. }) => continue,
                Err(error) => return Err(error),
            };
            for name in self.layout.rewritable {
                let Some(count) = newest_content(&segment, name) else { continue };
                if known.contains_key(*name) {
                    continue;
                }
                match segment.image(disk, paths, name, count, None) {
                    Ok(bytes) => known.extend(bytes.map(|bytes| ((*name).to_owned(), bytes))),
                    Err(error) if is_image_lost(&error) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(known)
    }

    /// The whole content of the appended file, if the log still holds all of it.
    ///
    /// A cut or a removal that was recorded as an edit made outside does not count as long as
    /// nothing was added after it. `TooLarge` when it is more than fits in memory.
    pub(crate) fn appended_from_log(&self) -> Result<Option<Vec<u8>>> {
        let remembered = self.remember_appended()?;
        let from_the_beginning = remembered.base.len == 0;
        Ok(Some(remembered.into_longest()).filter(|bytes| from_the_beginning && !bytes.is_empty()))
    }

    /// Whether the log has ever seen something in the appended file.
    pub(crate) fn has_known_appended(&self) -> Result<bool> {
        let remembered = self.remember_appended()?;
        Ok(remembered.base.len > 0 || !remembered.into_longest().is_empty())
    }

    /// What is missing at the end of the appended file, according to the log.
    ///
    /// `None` when the file is not a beginning of what the log knows, or both have nothing; empty
    /// when the file is whole.
    /// Unlike [`Store::appended_from_log`] this also works when the log begins later than the
    /// file, as after a collection.
    pub(crate) fn appended_missing_tail(&self) -> Result<Option<Vec<u8>>> {
        let remembered = self.remember_appended()?;
        let base = remembered.base;
        let path = self.paths.appended();
        let mut bytes = remembered.into_longest();
        let len = require_file(&*self.disk, &path)?.map_or(0, |stat| stat.len);
        if len < base.len || len - base.len > bytes.len() as u64 {
            return Ok(None);
        }
        if len == 0 {
            return Ok(Some(bytes).filter(|bytes| !bytes.is_empty()));
        }
        let file = self.disk.open(&path, Access::Read).at(&path)?;
        if Tail::of(Some(&*file), &path, base.len)? != Some(base) {
            return Ok(None);
        }
        let there = usize::try_from(len - base.len).unwrap_or(usize::MAX);
        let mut at = base.len;
        for part in bytes.get(..there).unwrap_or_default().chunks(CHUNK) {
            if read_range(&*file, &path, at, part.len() as u64)? != part {
                return Ok(None);
            }
            at += part.len() as u64;
        }
        bytes.drain(..there);
        Ok(Some(bytes))
    }

    fn remember_appended(&self) -> Result<Remembered> {
        let this = self.session();
        let (disk, paths) = (&*this.disk, &this.paths);
        let mut remembered = Remembered::default();
        for number in segment::numbers(disk, paths)? {
            // Dropped by a collection since the names were listed.
            let Some(segment) = Segment::load(disk, paths, number)? else { continue };
            remembered.expect(segment.header.state.appended);
            for append in segment.records.iter().filter_map(|placed| placed.op.appended.as_ref()) {
                remembered.replay(append);
                let bytes = remembered.bytes.len() as u64;
                if bytes > LIMIT {
                    let path = paths.appended();
                    return Err(StoreError::TooLarge { path, bytes, limit: LIMIT });
                }
            }
        }
        Ok(remembered)
    }
}

/// How many records lead to the newest content of a file that exists; `None` when none does.
fn newest_content(segment: &Segment, name: &str) -> Option<usize> {
    let written = |placed: &segment::Placed| {
        placed.op.files.iter().any(|file| file.name == name && file.after.is_some())
    };
    let there = || segment.header.state.files.contains_key(name).then_some(0);
    segment.records.iter().rposition(written).map(|at| at + 1).or_else(there)
}

/// The appended file as the log tells it: unknown up to `base`, then `bytes`.
#[derive(Debug, Default)]
struct Remembered {
    base: Tail,
    bytes: Vec<u8>,
    /// What follows `bytes` in the file before it was cut, unless something was added since.
    cut_off: Vec<u8>,
}

impl Remembered {
    fn into_longest(mut self) -> Vec<u8> {
        self.bytes.append(&mut self.cut_off);
        self.bytes
    }

    fn end(&self) -> u64 {
        self.base.len + self.bytes.len() as u64
    }

    /// Starts over when the log has a gap.
    fn expect(&mut self, tail: Tail) {
        if self.end() != tail.len || self.tail_at(tail.len).is_some_and(|known| known != tail) {
            *self = Remembered { base: tail, ..Remembered::default() };
        }
    }

    fn replay(&mut self, append: &AppendRecord) {
        self.expect(Tail { len: append.offset, hash: append.tail_before });
        let after = Tail { len: append.len, hash: append.tail_after };
        if let Some(bytes) = &append.bytes {
            self.bytes.extend_from_slice(bytes);
            self.cut_off.clear();
        } else if append.len < append.offset && self.tail_at(append.len) == Some(after) {
            let keep = usize::try_from(append.len - self.base.len).unwrap_or(usize::MAX);
            let mut cut_off = self.bytes.split_off(keep.min(self.bytes.len()));
            cut_off.append(&mut self.cut_off);
            self.cut_off = cut_off;
        } else {
            *self = Remembered { base: after, ..Remembered::default() };
        }
    }

    /// The tail at a length, where the bytes for it are known.
    fn tail_at(&self, len: u64) -> Option<Tail> {
        if len == self.base.len {
            return Some(self.base);
        }
        let end = usize::try_from(len.checked_sub(self.base.len)?).ok()?;
        Tail::of_bytes(self.bytes.get(..end)?, len)
    }
}
