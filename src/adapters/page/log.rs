//! The history with its proof, and the operations.

use std::fmt::Write as _;

use super::{moment, short};
use crate::{
    store::OperationSummary,
    text::{html::escape, markdown::to_html},
    workspace::Dashboard,
};

/// How much of a field is shown.
const TEXT: usize = 20_000;

/// The entries that were read, newest first; `skipped` newer ones are on other pages.
pub(crate) fn history(dashboard: &Dashboard, skipped: usize) -> String {
    let mut out = String::new();
    let all = dashboard.overview.history.entries;
    for entry in dashboard.entries.iter().rev() {
        let (mark, proof) = entry.proof().words();
        let _ = write!(
            out,
            "<details class=\"entry\"{}><summary><span class=\"proof {mark}\" title=\"{proof}\">{mark}</span> \
             {} {}</summary><dl>",
            entry.id.as_ref().map(|id| format!(" id=\"entry-{id}\"")).unwrap_or_default(),
            entry.time.as_deref().map_or_else(|| "<time>-</time>".to_owned(), moment),
            short(&entry.summary().heading, 300)
        );
        for (key, value) in &entry.fields {
            let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", short(key, 80), text(value));
        }
        out.push_str("</dl></details>");
    }
    let shown = (dashboard.entries.len() + skipped) as u64;
    if all == 0 {
        out.push_str("<p class=\"none\">Nothing has happened yet.</p>");
    } else if out.is_empty() {
        out.push_str("<p class=\"none\">There are no entries here.</p>");
    } else if all > shown {
        let _ = write!(
            out,
            "<p class=\"none\">{shown} of {all} entries so far, the newest first; <code>statedir history list</code> has all.</p>"
        );
    }
    out
}

/// A value of several lines is markdown; another is a line of text.
fn text(value: &str) -> String {
    let end = value.char_indices().nth(TEXT).map_or(value.len(), |(end, _)| end);
    match value.contains('\n') {
        true => format!("<div class=\"markdown\">{}</div>", to_html(&value[..end], 4)),
        false => short(value, TEXT),
    }
}

/// Operations as a list to read, the newest first.
pub(crate) fn operations(operations: &[OperationSummary]) -> String {
    let mut out = String::from("<ol class=\"log\">");
    for operation in operations {
        let _ = write!(
            out,
            "<li data-operation=\"{0}\"><div class=\"what\">{1}</div><code>{0}</code></li>",
            escape(operation.id.as_str()),
            operation_line(operation)
        );
    }
    out.push_str("</ol>");
    out
}

/// When, who, what.
pub(crate) fn operation_line(operation: &OperationSummary) -> String {
    format!(
        "{} <span class=\"actor\">{}</span> {}",
        moment(&operation.time),
        short(&operation.actor, 40),
        short(operation.message.lines().next().unwrap_or(&operation.kind), 300)
    )
}
