//! The attempts at steps on a common scale of time.

use jiff::Timestamp;

use crate::{
    domain::{StepOutcome, parse_duration_ms},
    history::Entry,
    workspace::Dashboard,
};

/// Finished attempts, newest first.
#[derive(Debug)]
pub(crate) struct Attempts<'e> {
    pub list: Vec<Attempt<'e>>,
    /// The start of the first one in milliseconds.
    first: i64,
    /// Milliseconds from there to the end of the last one.
    span: i64,
}

/// One attempt.
#[derive(Debug)]
pub(crate) struct Attempt<'e> {
    /// Its history entry.
    pub entry: &'e Entry,
    /// The result.
    pub outcome: StepOutcome,
    /// How long it took.
    pub took: Option<u64>,
    /// Its end in milliseconds, if the entry has a time.
    end: Option<i64>,
}

impl Attempt<'_> {
    /// The attempt's number, from the second on.
    pub(crate) fn repeated(&self) -> Option<&str> {
        self.entry.field("attempt").filter(|text| *text != "1")
    }

    fn start(&self) -> Option<i64> {
        let took = i64::try_from(self.took.unwrap_or(0)).unwrap_or(0);
        Some(self.end?.saturating_sub(took))
    }
}

impl Attempts<'_> {
    /// Where an attempt begins and ends on a scale from zero to `width`.
    pub(crate) fn place(&self, attempt: &Attempt<'_>, width: i64) -> Option<(i64, i64)> {
        let at = |time: i64| {
            let share = i128::from(time.saturating_sub(self.first)) * i128::from(width);
            i64::try_from(share / i128::from(self.span)).unwrap_or(0).clamp(0, width)
        };
        Some((at(attempt.start()?), at(attempt.end?)))
    }
}

impl Dashboard {
    /// The newest attempts, at most `most`.
    pub(crate) fn attempts(&self, most: usize) -> Attempts<'_> {
        let ended = self.entries.iter().rev().filter_map(|entry| {
            entry.field("step")?;
            Some(Attempt {
                entry,
                outcome: entry.outcome()?,
                took: entry.field("actual_time").and_then(parse_duration_ms),
                end: entry.time.as_deref().and_then(millis),
            })
        });
        let list: Vec<Attempt<'_>> = ended.take(most).collect();
        let first = list.iter().filter_map(Attempt::start).min().unwrap_or(0);
        let last = list.iter().filter_map(|one| one.end).max().unwrap_or(0);
        Attempts { list, first, span: last.saturating_sub(first).max(1) }
    }
}

/// `2026-11-16 08:00:00 UTC` or `2026-11-16T08:00:00Z` in milliseconds.
fn millis(time: &str) -> Option<i64> {
    let text = match time.trim().strip_suffix(" UTC") {
        Some(bare) => format!("{}Z", bare.replacen(' ', "T", 1)),
        None => time.trim().to_owned(),
    };
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}
