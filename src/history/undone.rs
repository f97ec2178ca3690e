//! Which executions were undone.

use std::collections::BTreeSet;

use super::{Counts, Entry, EntryKind};

/// Follows undos and redos through the entries, in their order.
///
/// An entry says how many executions it takes back or counts again: the newest is undone first, and
/// what was undone last is redone first.
#[derive(Debug, Default)]
pub(crate) struct UndoneSteps {
    counted: Vec<u64>,
    undone: Vec<u64>,
}

impl UndoneSteps {
    /// Where the entries of executions are that were undone and not redone.
    pub(crate) fn among(entries: &[Entry]) -> BTreeSet<u64> {
        let mut steps = Self::default();
        for entry in entries {
            steps.take(entry);
        }
        steps.into_offsets()
    }

    /// Takes the next entry into account.
    pub(crate) fn take(&mut self, entry: &Entry) {
        if entry.kind == EntryKind::Step && !entry.simulation && entry.outcome().is_some() {
            self.counted.push(entry.offset);
        }
        if let Some(text) = entry.field("taken_back") {
            shift(&mut self.counted, &mut self.undone, text);
        }
        if let Some(text) = entry.field("counted_again") {
            shift(&mut self.undone, &mut self.counted, text);
        }
    }

    /// Where the entries of executions are that were undone and not redone.
    pub(crate) fn into_offsets(self) -> BTreeSet<u64> {
        self.undone.into_iter().collect()
    }
}

fn shift(from: &mut Vec<u64>, to: &mut Vec<u64>, text: &str) {
    let counts: Counts = serde_json::from_str(text).unwrap_or_default();
    let executions = usize::try_from(counts.executions()).unwrap_or(usize::MAX);
    let kept = from.len().saturating_sub(executions);
    to.extend(from.drain(kept..).rev());
}
