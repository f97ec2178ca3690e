//! The attempts at steps, one under the other, on a common scale of time.

use std::fmt::Write as _;

use super::{moment, short};
use crate::{domain::format_duration, text::html::escape, workspace::Dashboard};

/// How wide the scale is.
const WIDTH: i64 = 300;

/// The newest attempts with their time and cost, newest first, up to a limit.
pub(crate) fn timeline(material: &Dashboard, most: usize) -> String {
    let attempts = material.attempts(most);
    if attempts.list.is_empty() {
        return "<p class=\"none\">No attempt has finished yet.</p>".to_owned();
    }
    let mut out = String::from(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Attempts\"><table class=\"timeline\"><thead><tr><th scope=\"col\">when</th><th scope=\"col\">step</th>\
         <th scope=\"col\">result</th><th scope=\"col\">took</th><th scope=\"col\">cost</th>\
         <th scope=\"col\">actor</th><th scope=\"col\">course</th></tr></thead><tbody>",
    );
    for attempt in &attempts.list {
        let entry = attempt.entry;
        let outcome = attempt.outcome.word();
        let bar = attempts.place(attempt, WIDTH).map(|(from, end)| {
            let width = (end - from).max(2);
            format!(
                "<svg class=\"bar {outcome}\" width=\"{}\" height=\"12\" aria-hidden=\"true\">\
                 <rect x=\"{from}\" y=\"1\" width=\"{width}\" height=\"10\"/></svg>",
                WIDTH + 4
            )
        });
        let number = entry.step_number().map(|number| number.to_string()).unwrap_or_default();
        let _ = write!(
            out,
            "<tr class=\"{outcome}\"><td>{}</td><td class=\"text\"><b>{number}</b> {}{}</td><td class=\"text\"><span class=\"outcome {outcome}\">{outcome}</span>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td><td>{}</td></tr>",
            entry.time.as_deref().map_or("-".to_owned(), moment),
            short(entry.field("title").unwrap_or_default(), 80),
            attempt
                .repeated()
                .map(|text| format!(" (attempt {})", short(text, 8)))
                .unwrap_or_default(),
            entry.error().map(|error| format!(": {}", short(error, 160))).unwrap_or_default(),
            attempt.took.map(format_duration).unwrap_or_default(),
            entry.field("actual_cost").map(escape).unwrap_or_default(),
            short(entry.field("actor").unwrap_or_default(), 40),
            bar.unwrap_or_default(),
        );
    }
    out.push_str("</tbody></table></div>");
    out
}
