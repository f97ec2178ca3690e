//! What an undo or a redo means for counts that come from the history, which only grows.

use std::{collections::BTreeSet, io::Cursor};

use crate::{
    history::{EntryId, HistoryFacts, each_entry, last_entries, signed_ids},
    store::{AppendedView, Operation},
    workspace::{Draft, Error, Workspace},
};

/// The longest history that is searched for what came with a merge.
const SEARCHED: u64 = 64 << 20;

impl Workspace {
    /// The entries that came with an edit made outside which did more than add to the history, such
    /// as a merge: all but those that follow from what this log wrote before it, and what it wrote
    /// since.
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
        // Each follows those that it follows.
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

/// How much before an operation is looked at for failures in a row.
const NEAR: u64 = 64 << 10;

impl Draft<'_> {
    /// The fields by which the entry of an undo takes the executions of `target` out of the counts
    /// again, and that of a redo puts them in: a command that is undone counts neither as a failure
    /// nor against a limit.
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
            // A success had ended a row of failures: what it was is before it.
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
