//! Reviews, recoveries, tokens and completion times from the newest history entries.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    domain::{Decision, Plan, StepOutcome},
    history::{Entry, EntryKind},
    workspace::environment::format_time,
};

/// Counts over the newest entries.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Timeline {
    /// Questions to people.
    pub reviews: ReviewTimes,
    /// Recoveries by what was decided.
    pub recoveries_by_result: BTreeMap<String, u64>,
    /// Input tokens of all turns.
    pub input_tokens: u64,
    /// Output tokens of all turns.
    pub output_tokens: u64,
    /// Commits that were merged for steps, according to the plan.
    pub commits: usize,
    /// When each step was completed last, by its id.
    #[serde(skip)]
    pub(super) completed_at: BTreeMap<String, String>,
}

/// Reviews, and how long they waited for a decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ReviewTimes {
    /// How many were approved.
    pub approved: u64,
    /// How many were rejected.
    pub rejected: u64,
    /// The total time that decided reviews waited.
    pub waited_ms: u64,
}

impl Timeline {
    /// Counts in the plan and in entries, oldest first.
    pub(super) fn of(plan: &Plan, entries: &[Entry]) -> Self {
        let mut timeline = Self { commits: commits(plan), ..Self::default() };
        let mut asked: BTreeMap<&str, ReviewTimestamps> = BTreeMap::new();
        for entry in entries {
            match entry.kind {
                EntryKind::Review => {
                    if let (Some(id), Some(ms)) = (entry.field("review"), millis(entry)) {
                        asked.entry(id).or_default().note(entry, ms);
                    }
                }
                EntryKind::Recover => {
                    let result = entry.title.split_once(": ").map_or("other", |(_, what)| what);
                    *timeline.recoveries_by_result.entry(result.to_owned()).or_default() += 1;
                }
                EntryKind::Turn => {
                    let count = |key| entry.field(key).and_then(|n| n.trim().parse().ok());
                    timeline.input_tokens += count("input_tokens").unwrap_or(0);
                    timeline.output_tokens += count("output_tokens").unwrap_or(0);
                }
                EntryKind::Step if entry.outcome() == Some(StepOutcome::Done) => {
                    if let (Some(id), Some(ms)) = (entry.field("step"), millis(entry)) {
                        timeline.completed_at.insert(id.to_owned(), written(ms));
                    }
                }
                _ => {}
            }
        }
        timeline.reviews = ReviewTimes::of(plan, &asked);
        timeline
    }

    /// When the last step was completed.
    pub(super) fn last_completion(&self) -> Option<&String> {
        self.completed_at.values().max()
    }
}

/// When a review was opened and decided last.
#[derive(Clone, Copy, Debug, Default)]
struct ReviewTimestamps {
    opened: Option<u64>,
    decided: Option<u64>,
}

impl ReviewTimestamps {
    fn note(&mut self, entry: &Entry, ms: u64) {
        match entry.field("decision") {
            Some("approved" | "rejected") => self.decided = Some(ms),
            _ => *self = Self { opened: Some(ms), decided: None },
        }
    }
}

impl ReviewTimes {
    /// Decisions are taken from the plan, so that undone ones do not count; times from the history.
    fn of(plan: &Plan, asked: &BTreeMap<&str, ReviewTimestamps>) -> Self {
        let mut times = Self::default();
        for review in &plan.reviews {
            match review.decision {
                Decision::Approved => times.approved += 1,
                Decision::Rejected => times.rejected += 1,
                Decision::Open | Decision::Closed => continue,
            }
            let asked = asked.get(review.id.as_str()).copied().unwrap_or_default();
            if let (Some(then), Some(now)) = (asked.opened, asked.decided) {
                times.waited_ms += now.saturating_sub(then);
            }
        }
        times
    }
}

fn commits(plan: &Plan) -> usize {
    let listed = plan.steps.iter().filter_map(|step| step.field("commits"));
    listed.map(|list| list.split(',').filter(|commit| !commit.trim().is_empty()).count()).sum()
}

fn millis(entry: &Entry) -> Option<u64> {
    Some(entry.id?.0.millis())
}

fn written(ms: u64) -> String {
    let time = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    time.map(format_time).unwrap_or_default()
}
