//! Counts and sums of a log, as one log hands them over to the next.

use serde::{Deserialize, Serialize};

/// What the entries of a log add up to.
///
/// A state that is imported elsewhere takes only its newest entries along. An entry of kind
/// `restore` with a field `carried`, which holds these counts as JSON, stands for the others:
/// counting starts from it, whatever is above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Counts {
    /// All entries.
    pub entries: u64,
    /// Step executions that completed.
    pub completed: u64,
    /// Step executions that failed.
    pub failed: u64,
    /// Step executions that were skipped.
    pub skipped: u64,
    /// Failed step executions since the last completed one.
    pub consecutive_failures: u64,
    /// Entries made in SIMULATION mode.
    pub simulated: u64,
    /// The sum of all costs, in millionths.
    pub cost_micros: i64,
    /// The sum of all times, in milliseconds.
    pub time_ms: u64,
    /// File operations.
    pub file_operations: u64,
    /// Web requests.
    pub web_requests: u64,
    /// Entries about step executions.
    pub steps: u64,
    /// Entries about adaptations.
    pub adaptations: u64,
    /// Entries about reviews.
    pub reviews: u64,
    /// Entries about restores.
    pub restores: u64,
    /// Entries about turns of the conversation.
    pub turns: u64,
    /// All other entries.
    pub notes: u64,
}

impl Counts {
    /// Step executions that came to an end.
    pub fn executions(&self) -> u64 {
        self.completed.saturating_add(self.failed).saturating_add(self.skipped)
    }

    /// Completed executions among those that completed or failed; `None` before the first.
    pub fn success_rate(&self) -> Option<f64> {
        let tried = self.completed.saturating_add(self.failed);
        (tried > 0).then(|| self.completed as f64 / tried as f64)
    }

    /// The counts without those of some entries; never below zero.
    #[must_use]
    pub(crate) fn without(self, part: Self) -> Self {
        Self {
            entries: self.entries.saturating_sub(part.entries),
            completed: self.completed.saturating_sub(part.completed),
            failed: self.failed.saturating_sub(part.failed),
            skipped: self.skipped.saturating_sub(part.skipped),
            consecutive_failures: self
                .consecutive_failures
                .saturating_sub(part.consecutive_failures),
            simulated: self.simulated.saturating_sub(part.simulated),
            cost_micros: self.cost_micros.saturating_sub(part.cost_micros),
            time_ms: self.time_ms.saturating_sub(part.time_ms),
            file_operations: self.file_operations.saturating_sub(part.file_operations),
            web_requests: self.web_requests.saturating_sub(part.web_requests),
            steps: self.steps.saturating_sub(part.steps),
            adaptations: self.adaptations.saturating_sub(part.adaptations),
            reviews: self.reviews.saturating_sub(part.reviews),
            restores: self.restores.saturating_sub(part.restores),
            turns: self.turns.saturating_sub(part.turns),
            notes: self.notes.saturating_sub(part.notes),
        }
    }

    /// What these say of executions, for the entry of an undo or a redo; `None` if nothing.
    ///
    /// The entries themselves stay and are counted as before.
    pub(crate) fn of_executions(&self) -> Option<String> {
        let counts = [
            ("completed", self.completed),
            ("failed", self.failed),
            ("skipped", self.skipped),
            ("cost_micros", u64::try_from(self.cost_micros).unwrap_or(0)),
            ("time_ms", self.time_ms),
            ("file_operations", self.file_operations),
            ("web_requests", self.web_requests),
        ];
        let counts = counts.into_iter().filter(|(_, count)| *count > 0);
        let counts: serde_json::Map<_, _> =
            counts.map(|(name, count)| (name.to_owned(), count.into())).collect();
        (!counts.is_empty()).then(|| serde_json::Value::Object(counts).to_string())
    }

    /// Reads the value of a `carried` field.
    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Subtracts executions that were undone, and adds those that were redone.
    pub(super) fn correct(&mut self, out: Self, again: Self, streak: Option<u64>) {
        let adjust = |count: &mut u64, out: u64, again: u64| {
            *count = count.saturating_sub(out).saturating_add(again);
        };
        adjust(&mut self.completed, out.completed, again.completed);
        adjust(&mut self.failed, out.failed, again.failed);
        adjust(&mut self.skipped, out.skipped, again.skipped);
        adjust(&mut self.time_ms, out.time_ms, again.time_ms);
        adjust(&mut self.file_operations, out.file_operations, again.file_operations);
        adjust(&mut self.web_requests, out.web_requests, again.web_requests);
        let cost = self.cost_micros.saturating_sub(out.cost_micros).max(0);
        self.cost_micros = cost.saturating_add(again.cost_micros);
        self.consecutive_failures = streak.unwrap_or(self.consecutive_failures);
    }
}

#[cfg(test)]
mod tests {
    use crate::history::HistoryFacts;

    #[test]
    fn an_entry_with_carried_counts_starts_counting_anew() {
        let log = "# H\n\n## Log\n\n### Step 1 Execution - 2026-01-01\n- **status**: FAILED\n\n\
            ### Imported - 2026-01-02\n- **kind**: restore\n\
            - **carried**: {\"entries\":7,\"failed\":3,\"consecutive_failures\":2}\n\n\
            ### Step 2 Execution - 2026-01-03\n- **status**: FAILED\n";
        let counts = HistoryFacts::scan(log.as_bytes(), &mut |_| {}).unwrap().counts;
        assert_eq!((counts.entries, counts.failed, counts.consecutive_failures), (8, 4, 3));
        assert_eq!((counts.steps, counts.restores), (1, 0));
    }
}
