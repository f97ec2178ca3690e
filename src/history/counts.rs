//! Counts and sums of a log, as one log hands them over to the next.

use serde::{Deserialize, Serialize};

use super::HistoryFacts;

/// What the entries of a log add up to.
///
/// A state that is imported elsewhere takes only its newest entries along. An entry of kind
/// `restore` with a field `carried`, which holds these counts as JSON, stands for the others:
/// counting starts from it, whatever is above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
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
    /// What is left when the part of some entries is taken away; never below zero.
    #[must_use]
    pub fn without(self, part: Self) -> Self {
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
    pub fn of_executions(&self) -> Option<String> {
        let told = [
            ("completed", self.completed),
            ("failed", self.failed),
            ("skipped", self.skipped),
            ("cost_micros", u64::try_from(self.cost_micros).unwrap_or(0)),
            ("time_ms", self.time_ms),
            ("file_operations", self.file_operations),
            ("web_requests", self.web_requests),
        ];
        let told = told.into_iter().filter(|(_, count)| *count > 0);
        let told: serde_json::Map<_, _> =
            told.map(|(name, count)| (name.to_owned(), count.into())).collect();
        (!told.is_empty()).then(|| serde_json::Value::Object(told).to_string())
    }

    /// Reads the value of a `carried` field.
    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

impl HistoryFacts {
    /// The counts and sums alone.
    pub fn counts(&self) -> Counts {
        Counts {
            entries: self.entries.saturating_add(self.unsigned),
            completed: self.completed,
            failed: self.failed,
            skipped: self.skipped,
            consecutive_failures: self.consecutive_failures,
            simulated: self.simulated,
            cost_micros: self.total_cost_micros,
            time_ms: self.total_time_ms,
            file_operations: self.file_operations,
            web_requests: self.web_requests,
            steps: self.steps,
            adaptations: self.adaptations,
            reviews: self.reviews,
            restores: self.restores,
            turns: self.turns,
            notes: self.notes,
        }
    }

    /// Takes executions out that were undone, puts those in that were done again.
    pub(super) fn correct(&mut self, out: Counts, again: Counts, streak: Option<u64>) {
        let settle = |count: &mut u64, out: u64, again: u64| {
            *count = count.saturating_sub(out).saturating_add(again);
        };
        settle(&mut self.completed, out.completed, again.completed);
        settle(&mut self.failed, out.failed, again.failed);
        settle(&mut self.skipped, out.skipped, again.skipped);
        settle(&mut self.total_time_ms, out.time_ms, again.time_ms);
        settle(&mut self.file_operations, out.file_operations, again.file_operations);
        settle(&mut self.web_requests, out.web_requests, again.web_requests);
        let cost = self.total_cost_micros.saturating_sub(out.cost_micros).max(0);
        self.total_cost_micros = cost.saturating_add(again.cost_micros);
        self.consecutive_failures = streak.unwrap_or(self.consecutive_failures);
    }

    /// Counts from here on as if these were the counts so far.
    pub(super) fn start_from(&mut self, counts: Counts) {
        self.entries = counts.entries;
        self.unsigned = 0;
        self.completed = counts.completed;
        self.failed = counts.failed;
        self.skipped = counts.skipped;
        self.consecutive_failures = counts.consecutive_failures;
        self.simulated = counts.simulated;
        self.total_cost_micros = counts.cost_micros;
        self.total_time_ms = counts.time_ms;
        self.file_operations = counts.file_operations;
        self.web_requests = counts.web_requests;
        self.steps = counts.steps;
        self.adaptations = counts.adaptations;
        self.reviews = counts.reviews;
        self.restores = counts.restores;
        self.turns = counts.turns;
        self.notes = counts.notes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_with_carried_counts_starts_counting_anew() {
        let log = "# H\n\n## Log\n\n### Step 1 Execution - 2026-01-01\n- **status**: FAILED\n\n\
            ### Imported - 2026-01-02\n- **kind**: restore\n\
            - **carried**: {\"entries\":7,\"failed\":3,\"consecutive_failures\":2}\n\n\
            ### Step 2 Execution - 2026-01-03\n- **status**: FAILED\n";
        let counts = HistoryFacts::scan(log.as_bytes(), &mut |_| {}).unwrap().counts();
        assert_eq!((counts.entries, counts.failed, counts.consecutive_failures), (8, 4, 3));
        assert_eq!((counts.steps, counts.restores), (1, 0));
    }
}
