//! How long the attempts at steps took, as far as entries of the history say.

use std::collections::BTreeMap;

use super::super::Snapshot;
use crate::{domain::parse_duration_ms, history::Entry};

/// From how many of the newest entries a person is shown how long a step took.
const NEWEST: usize = 100;

/// Times by the id of the step.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepTimes {
    times: BTreeMap<String, Times>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Times {
    newest: u64,
    total: u64,
}

impl StepTimes {
    /// The times that these entries report, oldest first.
    pub(crate) fn of(entries: &[Entry]) -> Self {
        let mut times: BTreeMap<String, Times> = BTreeMap::new();
        for entry in entries {
            let time = entry.field("actual_time").and_then(parse_duration_ms);
            if let (Some(step), Some(time)) = (entry.step_id(), time) {
                let known = times.entry(step.to_owned()).or_default();
                known.newest = time;
                known.total = known.total.saturating_add(time);
            }
        }
        Self { times }
    }

    /// How long the newest attempt took, in milliseconds.
    pub(crate) fn newest(&self, id: &str) -> Option<u64> {
        self.times.get(id).map(|times| times.newest)
    }

    /// How long all attempts took.
    pub(crate) fn total(&self, id: &str) -> Option<u64> {
        self.times.get(id).map(|times| times.total)
    }
}

impl Snapshot {
    /// The times in the newest entries, near the end of the history.
    pub(crate) fn recent_step_times(&self) -> StepTimes {
        StepTimes::of(&self.recent_entries(NEWEST, 16 << 10).unwrap_or_default())
    }
}
