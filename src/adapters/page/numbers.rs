//! Where the execution is, and what it has used.

use std::fmt::Write as _;

use super::short;
use crate::{domain::format_duration, workspace::Dashboard};

/// Title, goal, status, progress and the next move.
pub(crate) fn header(material: &Dashboard) -> String {
    let overview = &material.overview;
    let counts = &overview.counts;
    let mut out = format!("<h1>{}</h1>", short(&overview.title, 300));
    if let Some(goal) = overview.goal.as_deref().filter(|goal| *goal != overview.title) {
        let _ = write!(out, "<p class=\"goal\">{}</p>", short(goal, 2000));
    }
    let percent = counts.percent();
    let _ = write!(
        out,
        "<p class=\"state\"><span class=\"status\">{}</span> <progress max=\"100\" value=\"{percent}\" \
         aria-label=\"progress\">{percent}%</progress> {} of {} steps finished ({percent}%)",
        short(&overview.status, 60),
        counts.finished(),
        counts.total
    );
    for (count, what) in [
        (counts.running, "running"),
        (counts.failed, "failed"),
        (overview.open_reviews.len(), "to review"),
    ] {
        if count > 0 {
            let _ = write!(out, " · <b>{count} {what}</b>");
        }
    }
    out.push_str("</p>");
    if let Some(why) = &overview.paused_because {
        let _ = write!(out, "<p class=\"notice\">Paused: {}</p>", short(why, 1000));
    }
    let next = overview.next_move();
    let _ = write!(out, "<p class=\"next\">Next: {}</p>", short(&next.text, 600));
    let problems = overview.problems.len();
    if problems > 0 {
        let _ = write!(
            out,
            "<p class=\"notice\">{problems} {} found: <code>statedir check</code></p>",
            if problems == 1 { "problem was" } else { "problems were" }
        );
    }
    out
}

/// Counts, costs and times.
pub(crate) fn numbers(material: &Dashboard) -> String {
    let overview = &material.overview;
    let (history, spending) = (&overview.history, &overview.spending);
    let budget = spending.budget.map(|budget| format!(" of {budget}")).unwrap_or_default();
    let rate =
        history.success_rate().map_or("-".to_owned(), |rate| format!("{:.0}%", rate * 100.0));
    let rows = [
        ("Attempts that ended", history.executions().to_string()),
        ("Completed", history.completed.to_string()),
        ("Failed", history.failed.to_string()),
        ("Skipped", history.skipped.to_string()),
        ("Success rate", rate),
        ("Retries", overview.retries().to_string()),
        ("Cost", format!("{}{budget}", spending.total_cost)),
        ("Time of all attempts", format_duration(history.time_ms)),
        ("Entries in the history", history.entries.to_string()),
        ("File operations", spending.file_operations.to_string()),
        ("Web requests", spending.web_requests.to_string()),
        ("Revision", overview.revision.clone()),
    ];
    let mut out = String::from("<table class=\"numbers\"><tbody>");
    for (name, value) in rows {
        let _ =
            write!(out, "<tr><th scope=\"row\">{name}</th><td>{}</td></tr>", short(&value, 100));
    }
    for limit in &spending.limits {
        let _ = write!(
            out,
            "<tr><th scope=\"row\">Limit</th><td>{}</td></tr>",
            short(&limit.to_string(), 200)
        );
    }
    out.push_str("</tbody></table>");
    out
}
