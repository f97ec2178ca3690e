//! The attempts at steps, one under the other, on a common scale of time.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::{Material, short};
use crate::{
    domain::{format_duration, parse_duration_ms},
    history::Entry,
    text::html::escape,
};

/// How wide the scale is.
const WIDTH: i64 = 300;

/// An attempt that came to an end.
struct Attempt<'e> {
    entry: &'e Entry,
    /// Milliseconds at its end, if the entry says when.
    end: Option<i64>,
    took: Option<u64>,
}

/// The newest attempts with their time and cost, the newest first; at most so many.
pub(crate) fn timeline(material: &Material, most: usize) -> String {
    let attempts: Vec<Attempt<'_>> = material
        .entries
        .iter()
        .rev()
        .filter(|entry| entry.field("step").is_some() && entry.outcome().is_some())
        .take(most)
        .map(|entry| Attempt {
            entry,
            end: entry.time.as_deref().and_then(millis),
            took: entry.field("actual_time").and_then(parse_duration_ms),
        })
        .collect();
    if attempts.is_empty() {
        return "<p class=\"none\">No attempt has come to an end yet.</p>".to_owned();
    }
    let took = |attempt: &Attempt<'_>| i64::try_from(attempt.took.unwrap_or(0)).unwrap_or(0);
    let starts = attempts.iter().filter_map(|one| Some(one.end?.saturating_sub(took(one))));
    let first = starts.min().unwrap_or(0);
    let last = attempts.iter().filter_map(|one| one.end).max().unwrap_or(0);
    let span = last.saturating_sub(first).max(1);
    let mut out = String::from(
        "<table class=\"timeline\"><thead><tr><th scope=\"col\">when</th><th scope=\"col\">step</th>\
         <th scope=\"col\">result</th><th scope=\"col\">time</th><th scope=\"col\">cost</th>\
         <th scope=\"col\">actor</th><th scope=\"col\">course</th></tr></thead><tbody>",
    );
    for attempt in &attempts {
        let entry = attempt.entry;
        let outcome = entry.outcome().map_or("", |outcome| outcome.word());
        let bar = attempt.end.map(|end| {
            let at = |time: i64| {
                let share = i128::from(time.saturating_sub(first)) * i128::from(WIDTH);
                i64::try_from(share / i128::from(span)).unwrap_or(0).clamp(0, WIDTH)
            };
            let from = at(end.saturating_sub(took(attempt)));
            let width = (at(end) - from).max(2);
            format!(
                "<svg class=\"bar {outcome}\" width=\"{}\" height=\"12\" aria-hidden=\"true\">\
                 <rect x=\"{from}\" y=\"1\" width=\"{width}\" height=\"10\"/></svg>",
                WIDTH + 4
            )
        });
        let number = entry.step_number().map(|number| number.to_string()).unwrap_or_default();
        let attempt_number = entry.field("attempt").filter(|text| *text != "1");
        let _ = write!(
            out,
            "<tr class=\"{outcome}\"><td>{}</td><td>{number} {}{}</td><td>{outcome}{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            short(entry.time.as_deref().unwrap_or("-"), 40),
            short(entry.field("title").unwrap_or_default(), 80),
            attempt_number.map(|text| format!(" (attempt {})", short(text, 8))).unwrap_or_default(),
            entry
                .field("errors")
                .map(|error| format!(": {}", short(error, 160)))
                .unwrap_or_default(),
            attempt.took.map(format_duration).unwrap_or_default(),
            entry.field("actual_cost").map(escape).unwrap_or_default(),
            short(entry.field("actor").unwrap_or_default(), 40),
            bar.unwrap_or_default(),
        );
    }
    out.push_str("</tbody></table>");
    out
}

/// `2026-11-16 08:00:00 UTC` or `2026-11-16T08:00:00Z` in milliseconds.
fn millis(time: &str) -> Option<i64> {
    let text = match time.trim().strip_suffix(" UTC") {
        Some(bare) => format!("{}Z", bare.replacen(' ', "T", 1)),
        None => time.trim().to_owned(),
    };
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}
