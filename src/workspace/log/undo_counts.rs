//! Corrects the counts of the history after undo and redo, because the history is append-only.

use std::{collections::BTreeSet, io::Cursor};

use crate::{
    history::{EntryId, HistoryFacts, each_entry, last_entries, signed_ids},
    store::{AppendedView, Operation},
    workspace::{Draft, Error, Workspace},
};

/// Longer histories are not searched for the entries of a merge.
const SEARCHED: u64 = 64 << 20;

impl Workspace {
    /// The entries that an edit from outside, such as a merge, brought into the history: all except
    /// the ancestors of the newest entry before it, and those written since.
    pub(super) fn entries_of_merge(
        &self,
        target: &Operation,
        history: &AppendedView,
    ) -> Result<Vec<u8>, Error> {
        let is_rewritten = target.appended.as_ref().is_some_and(|record| record.bytes.is_none());
        if !is_rewritten || history.len() > SEARCHED {
            return Ok(Vec::new());
        }
        let around = self.store.appended_around(&target.id)?;
        let newest = around.before.map(|bytes| last_entries(Cursor::new(bytes), 1)).transpose()?;
        let Some(ours) = newest.and_then(|entries| entries.first().and_then(|entry| entry.id))
        else {
            return Ok(Vec::new());
        };
        let bytes = history.read_from(0)?;
        let mut entries = Vec::new();
        each_entry(bytes.as_slice(), |entry| entries.push((entry.id, entry.after, entry.offset)))?;
        let mut known: BTreeSet<EntryId> = signed_ids(around.since.as_slice()).collect();
        let mut followed = BTreeSet::from([ours]);
        // An entry is after its parents, so one pass finds all ancestors.
        for (id, after, _) in entries.iter().rev() {
            if id.is_some_and(|id| followed.contains(&id)) {
                followed.extend(after);
            }
        }
        known.append(&mut followed);
        let ends = entries.iter().skip(1).map(|(.., offset)| *offset).chain([bytes.len() as u64]);
        let mut came = Vec::new();
        for ((id, _, start), end) in entries.iter().zip(ends) {
            if id.is_some_and(|id| !known.contains(&id)) {
                came.extend_from_slice(
                    bytes.get(*start as usize..end as usize).unwrap_or_default(),
                );
            }
        }
        Ok(came)
    }
}

/// How many bytes before an operation are read for the failures in a row before it.
const NEAR: u64 = 64 << 10;

impl Draft<'_> {
    /// The fields of an undo entry that subtract the attempts of `target` from the counts, or of a redo
    /// entry that add them: an undone command counts neither as a failure nor against a limit.
    pub(in crate::workspace) fn undo_counts(
        &mut self,
        target: &Operation,
        undo: bool,
        of_merge: &[u8],
    ) -> Result<Vec<(String, String)>, Error> {
        let Some(record) = &target.appended else { return Ok(Vec::new()) };
        let (offset, bytes) = (record.offset, record.bytes.as_deref().unwrap_or(of_merge));
        let part = HistoryFacts::scan(bytes, &mut |_| {})?.counts;
        let Some(executions) = part.of_executions() else { return Ok(Vec::new()) };
        let before = self.facts()?.history.counts.consecutive_failures;
        let streak = match (undo, part.completed > 0) {
            (true, false) => before.saturating_sub(part.failed),
            // The success had ended a row of failures, which is in the entries before it.
            (true, true) => {
                let near =
                    self.view().appended().read_between(offset.saturating_sub(NEAR), offset)?;
                HistoryFacts::scan(near.as_slice(), &mut |_| {})?.counts.consecutive_failures
            }
            (false, false) => before.saturating_add(part.failed),
            (false, true) => part.consecutive_failures,
        };
        let mut fields =
            vec![(if undo { "taken_back" } else { "counted_again" }.to_owned(), executions)];
        if streak != before {
            fields.push(("consecutive_failures".to_owned(), streak.to_string()));
        }
        Ok(fields)
    }
}
