//! What the newest entries tell about an execution over time: reviews, recoveries, tokens, ends.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    domain::{Plan, StepOutcome},
    history::{Entry, EntryKind},
    workspace::environment::format_time,
};

/// Counts over the entries that were looked at.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Timeline {
    /// Questions to people.
    pub reviews: ReviewTimes,
    /// How the execution went on after interruptions, by what was decided.
    pub recoveries_by_result: BTreeMap<String, u64>,
    /// Tokens that turns of the conversation read.
    pub input_tokens: u64,
    /// Tokens that they wrote.
    pub output_tokens: u64,
    /// Commits that were merged for steps, as the plan says.
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
    /// How long those that were decided waited, added up.
    pub waited_ms: u64,
}

impl Timeline {
    /// What entries, oldest first, and the plan say.
    pub(super) fn of(plan: &Plan, entries: &[Entry]) -> Self {
        let mut timeline = Self { commits: commits(plan), ..Self::default() };
        let mut opened: BTreeMap<&str, u64> = BTreeMap::new();
        for entry in entries {
            match entry.kind {
                EntryKind::Review => timeline.add_review(entry, &mut opened),
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
        timeline
    }

    fn add_review<'e>(&mut self, entry: &'e Entry, opened: &mut BTreeMap<&'e str, u64>) {
        let Some(id) = entry.field("review") else { return };
        let decided = match entry.field("decision") {
            Some("approved") => &mut self.reviews.approved,
            Some("rejected") => &mut self.reviews.rejected,
            _ => {
                opened.extend(millis(entry).map(|ms| (id, ms)));
                return;
            }
        };
        *decided += 1;
        if let (Some(then), Some(now)) = (opened.remove(id), millis(entry)) {
            self.reviews.waited_ms += now.saturating_sub(then);
        }
    }

    /// When the last step was completed.
    pub(super) fn last_completion(&self) -> Option<&String> {
        self.completed_at.values().max()
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
