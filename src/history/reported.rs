//! What the fields of one entry report about cost, time and outcome.

use std::borrow::Cow;

use super::Counts;
use super::entry::is_simulation;
use crate::{
    domain::{OUTCOME_FIELD, StepOutcome, parse_duration_ms, parse_money},
    history::read::fields::Field,
};

/// The fields of an entry that facts are made of; of several with one key the first.
#[derive(Default)]
pub(super) struct Reported<'a> {
    kind: Option<Field<'a>>,
    mode: Option<Field<'a>>,
    status: Option<Field<'a>>,
    outcome: Option<Field<'a>>,
    cost: Option<Field<'a>>,
    time: Option<Field<'a>>,
    tool: Option<Field<'a>>,
    files: Option<Field<'a>>,
    requests: Option<Field<'a>>,
    carried: Option<Field<'a>>,
    taken_back: Option<Field<'a>>,
    counted_again: Option<Field<'a>>,
    streak: Option<Field<'a>>,
}

impl<'a> Reported<'a> {
    pub(super) fn read(fields: impl Iterator<Item = Field<'a>>) -> Self {
        let mut reported = Self::default();
        for field in fields {
            if let Some(place) = reported.place_of(field.key) {
                place.get_or_insert(field);
            }
        }
        reported
    }

    pub(super) fn kind(&self) -> Option<Cow<'a, str>> {
        self.kind.map(Field::value)
    }

    pub(super) fn is_simulation(&self) -> bool {
        self.mode.is_some_and(|mode| is_simulation(&mode.value()))
    }

    pub(super) fn cost_micros(&self) -> i64 {
        self.cost.and_then(|cost| parse_money(&cost.value())).unwrap_or(0)
    }

    pub(super) fn time_ms(&self) -> u64 {
        self.time.and_then(|time| parse_duration_ms(&time.value())).unwrap_or(0)
    }

    /// The counts that this entry hands over from elsewhere.
    pub(super) fn carried(&self) -> Option<Counts> {
        self.carried.and_then(|carried| Counts::parse(&carried.value()))
    }

    /// What an undo takes out of the counts, and what a redo puts in again.
    pub(super) fn corrections(&self) -> (Counts, Counts) {
        let counts = |field: Option<Field<'_>>| Counts::parse(&field?.value());
        (
            counts(self.taken_back).unwrap_or_default(),
            counts(self.counted_again).unwrap_or_default(),
        )
    }

    /// The number of consecutive failures from here on, where an entry has one.
    pub(super) fn streak(&self) -> Option<u64> {
        self.streak?.value().trim().parse().ok()
    }

    pub(super) fn outcome(&self) -> Option<StepOutcome> {
        let text = |field: Option<Field<'a>>| field.map(Field::value);
        StepOutcome::read(text(self.outcome).as_deref(), text(self.status).as_deref())
    }

    /// File operations and web requests: as the fields say, or else as the tool implies.
    pub(super) fn operations(&self) -> (u64, u64) {
        let count = |field: Option<Field<'_>>| field?.value().trim().parse().ok();
        let (files, requests) = (count(self.files), count(self.requests));
        if files.is_some() || requests.is_some() {
            return (files.unwrap_or(0), requests.unwrap_or(0));
        }
        let tool = self.tool.map(Field::value).unwrap_or_default();
        match tool.trim() {
            "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => (1, 0),
            "WebFetch" | "WebSearch" => (0, 1),
            _ => (0, 0),
        }
    }

    fn place_of(&mut self, key: &str) -> Option<&mut Option<Field<'a>>> {
        let is = |name: &str| key.eq_ignore_ascii_case(name);
        Some(match key.len() {
            4 if is("kind") => &mut self.kind,
            4 if is("mode") => &mut self.mode,
            6 if is("status") => &mut self.status,
            7 if is(OUTCOME_FIELD) => &mut self.outcome,
            7 if is("carried") => &mut self.carried,
            10 if is("taken_back") => &mut self.taken_back,
            13 if is("counted_again") => &mut self.counted_again,
            20 if is("consecutive_failures") => &mut self.streak,
            9 if is("tool_used") => &mut self.tool,
            11 if is("actual_cost") => &mut self.cost,
            11 if is("actual_time") => &mut self.time,
            12 if is("web_requests") => &mut self.requests,
            15 if is("file_operations") => &mut self.files,
            _ => return None,
        })
    }
}
