//! What an undo or a redo means for counts that come from the history, which only grows.

use crate::{
    history::HistoryFacts,
    store::Operation,
    workspace::{Draft, Error},
};

/// How much before an operation is looked at for failures in a row.
const NEAR: u64 = 64 << 10;

impl Draft<'_> {
    /// The fields by which the entry of an undo takes the executions of `target` out of the
    /// counts again, and that of a redo puts them in: a command that is taken back counts neither
    /// as a failure nor against a limit.
    pub(in crate::workspace) fn undo_counts(
        &mut self,
        target: &Operation,
        undo: bool,
    ) -> Result<Vec<(String, String)>, Error> {
        let Some((offset, bytes)) = target
            .appended
            .as_ref()
            .and_then(|record| Some((record.offset, record.bytes.as_ref()?)))
        else {
            return Ok(Vec::new());
        };
        let part = HistoryFacts::scan(bytes.as_slice(), &mut |_| {})?.counts;
        let Some(executions) = part.of_executions() else { return Ok(Vec::new()) };
        let before = self.facts()?.history.counts.consecutive_failures;
        let streak = match (undo, part.completed > 0) {
            (true, false) => before.saturating_sub(part.failed),
            // A success had ended a row of failures: what it was stands before it.
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
