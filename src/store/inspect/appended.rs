//! The state of the appended file: as expected, unfinished, grown or rewritten outside, or torn.

use std::path::Path;

use crate::store::{
    AppendRecord, Result,
    disk::{Access, Disk, DiskFile, Stat, read::read_range},
    error::At as _,
    inspect::inspection::Evidence,
    log::{segment::LIMIT, tail::Tail},
};

/// Outside additions up to this size are copied into the log.
const RECORDED_GROWTH: u64 = 1024 * 1024;

/// What is to become of the appended file.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct AppendedPlan {
    /// How many bytes of the file stay.
    pub keep: u64,
    /// What comes after them.
    pub add: Vec<u8>,
    /// Whether torn bytes after `keep` are to be set aside and cut off.
    pub cut: bool,
    /// What was done to the file outside, to be recorded.
    pub record: Option<AppendRecord>,
    /// Whether data derived from the content is void.
    pub rewritten: bool,
}

impl AppendedPlan {
    /// Whether the file has to be written to.
    pub(in crate::store) fn needs_write(&self) -> bool {
        self.cut || !self.add.is_empty()
    }
}

/// Compares the appended file with what the log expects.
pub(in crate::store) fn compare(
    disk: &dyn Disk,
    path: &Path,
    stat: Option<&Stat>,
    evidence: &Evidence<'_>,
) -> Result<AppendedPlan> {
    let file = match stat {
        Some(_) => Some(disk.open(path, Access::Read).at(path)?),
        None => None,
    };
    let actual = Actual { file: file.as_deref(), path, len: stat.map_or(0, |stat| stat.len) };
    if evidence.same_boot {
        actual.judge_same_boot(evidence)
    } else {
        actual.judge_after_boot(stat, evidence)
    }
}

struct Actual<'a> {
    file: Option<&'a dyn DiskFile>,
    path: &'a Path,
    len: u64,
}

impl Actual<'_> {
    fn judge_same_boot(&self, evidence: &Evidence<'_>) -> Result<AppendedPlan> {
        let expected = evidence.segment.state.appended;
        if self.begins_with(expected)? {
            return self.clean_or_grown(expected);
        }
        let unapplied = evidence.unapplied.and_then(|op| op.appended.as_ref());
        if let Some(AppendRecord { offset, tail_before, bytes: Some(bytes), .. }) = unapplied
            && self.begins_with(Tail { len: *offset, hash: *tail_before })?
        {
            // No more is read than the operation has, however long the file is.
            let wanted = bytes.len() as u64;
            let there = self.read(self.len.saturating_sub(wanted).max(*offset), self.len)?;
            if self.len - offset <= wanted
                && let Some(rest) = bytes.strip_prefix(there.as_slice())
            {
                return Ok(AppendedPlan {
                    keep: self.len,
                    add: rest.to_vec(),
                    ..Default::default()
                });
            }
            if there != *bytes {
                // Somebody appended before the interrupted operation could: both stay.
                return self.rewritten(expected, bytes.clone());
            }
        }
        self.rewritten(expected, Vec::new())
    }

    /// After another boot, all bytes since the last sync are compared with the log.
    fn judge_after_boot(
        &self,
        stat: Option<&Stat>,
        evidence: &Evidence<'_>,
    ) -> Result<AppendedPlan> {
        let expected = evidence.segment.state.appended;
        let (base, logged) = since_last_sync(evidence);
        if !self.begins_with(base)? {
            return self.rewritten(expected, Vec::new());
        }
        let known = base.len.saturating_add(logged.len() as u64);
        let there = self.read(base.len, self.len.min(expected.len).min(known))?;
        let same = there.iter().zip(&logged).take_while(|(a, b)| a == b).count();
        let keep = base.len + same as u64;
        if same == logged.len() {
            return self.clean_or_grown(expected);
        }
        let add = logged.get(same..).unwrap_or_default().to_vec();
        if same == there.len() {
            return Ok(AppendedPlan { keep, add, ..Default::default() });
        }
        let damaged = there.get(same..).unwrap_or_default();
        let outside = stat.is_some_and(|stat| {
            evidence.is_written_since_boot(stat)
                || (evidence.is_written_since_last_operation(evidence.appended_name, stat) && !damaged.contains(&0))
                // More than the log can hold was never written by an operation.
                || self.len.saturating_sub(keep) > LIMIT
        });
        if outside {
            return self.rewritten(expected, Vec::new());
        }
        Ok(AppendedPlan { keep, add, cut: true, ..Default::default() })
    }

    fn clean_or_grown(&self, expected: Tail) -> Result<AppendedPlan> {
        let growth = self.len - expected.len;
        if growth == 0 {
            return Ok(AppendedPlan { keep: self.len, ..Default::default() });
        }
        let bytes = match growth <= RECORDED_GROWTH {
            true => Some(self.read(expected.len, self.len)?),
            false => None,
        };
        Ok(AppendedPlan {
            keep: self.len,
            record: self.record(expected, &[], bytes)?,
            ..Default::default()
        })
    }

    fn rewritten(&self, expected: Tail, add: Vec<u8>) -> Result<AppendedPlan> {
        let record = self.record(expected, &add, None)?;
        Ok(AppendedPlan { keep: self.len, add, cut: false, record, rewritten: true })
    }

    fn record(
        &self,
        expected: Tail,
        add: &[u8],
        bytes: Option<Vec<u8>>,
    ) -> Result<Option<AppendRecord>> {
        let after = Tail::after(self.file, self.path, self.len, add)?;
        Ok(Some(AppendRecord {
            offset: expected.len,
            tail_before: expected.hash,
            len: after.len,
            tail_after: after.hash,
            bytes,
        }))
    }

    fn begins_with(&self, tail: Tail) -> Result<bool> {
        Ok(self.len >= tail.len && Tail::of(self.file, self.path, tail.len)? == Some(tail))
    }

    fn read(&self, from: u64, to: u64) -> Result<Vec<u8>> {
        match self.file {
            Some(file) => read_range(file, self.path, from, to.saturating_sub(from)),
            None => Ok(Vec::new()),
        }
    }
}

/// The last state that was synced, and everything the log appended since.
fn since_last_sync(evidence: &Evidence<'_>) -> (Tail, Vec<u8>) {
    let mut base = evidence.segment.header.state.appended;
    let mut logged = Vec::new();
    for append in evidence.segment.records.iter().filter_map(|placed| placed.op.appended.as_ref()) {
        match &append.bytes {
            Some(bytes) => logged.extend_from_slice(bytes),
            None => {
                base = Tail { len: append.len, hash: append.tail_after };
                logged.clear();
            }
        }
    }
    (base, logged)
}
