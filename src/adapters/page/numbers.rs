//! The progress of the execution, and what it has used.

use std::fmt::Write as _;

use super::{Links, moment, prose, short};
use crate::{
    domain::{StepRole, format_duration},
    workspace::{Dashboard, LimitUse, StepOverview},
};

/// How many steps a tile names.
const NAMED: usize = 4;

/// Title, goal, and at a glance: what runs, what waits for a person, what it cost.
pub(crate) fn header(dashboard: &Dashboard, links: &Links<'_>) -> String {
    let overview = &dashboard.overview;
    let counts = &overview.counts;
    let mut out = format!(
        "<h1>{} <span class=\"status\">{}</span></h1>",
        short(&overview.title, 300),
        short(&overview.status, 60)
    );
    if let Some(goal) = overview.goal.as_deref().filter(|goal| *goal != overview.title) {
        let _ = write!(out, "<p class=\"goal\">{}</p>", short(goal, 2000));
    }
    let percent = counts.percent();
    let progress = format!(
        "<b>{} of {}</b> steps <progress max=\"100\" value=\"{percent}\" aria-label=\"progress\">{percent}%</progress>",
        counts.finished(),
        counts.total
    );
    let reviews = overview.open_reviews.len();
    let waiting = match reviews {
        0 => "<span class=\"none\">nothing</span>".to_owned(),
        1 => format!("<b><a href=\"{}\">1 review</a></b>", links.reviews),
        count => format!("<b><a href=\"{}\">{count} reviews</a></b>", links.reviews),
    };
    let spending = &overview.spending;
    let budget = spending.budget.map(|budget| format!(" of {budget}")).unwrap_or_default();
    let is_over = spending.exceeded().next().is_some();
    let cost = format!("<b>{}</b>{}", spending.total_cost, short(&budget, 40));
    let changed = overview.last_updated.as_deref().map_or("-".to_owned(), moment);
    let tiles = [
        ("Progress", "", progress),
        (
            "Running",
            if counts.running > 0 { "active" } else { "" },
            named(dashboard, links, StepRole::Active),
        ),
        ("Waits for you", if reviews > 0 { "waiting" } else { "" }, waiting),
        (
            "Failed",
            if counts.failed > 0 { "failed" } else { "" },
            named(dashboard, links, StepRole::Failed),
        ),
        ("Cost", if is_over { "failed" } else { "" }, cost),
        ("Last change", "", changed),
    ];
    out.push_str("<dl class=\"tiles\">");
    for (name, class, value) in tiles {
        let _ = write!(out, "<div class=\"tile {class}\"><dt>{name}</dt><dd>{value}</dd></div>");
    }
    out.push_str("</dl>");
    if let Some(why) = &overview.paused_because {
        let _ = write!(out, "<p class=\"notice\">Paused: {}</p>", short(why, 1000));
    }
    for limit in spending.exceeded() {
        let _ = write!(out, "<p class=\"notice\">Over the limit: {}</p>", limit_use(limit));
    }
    let problems = overview.problems.len();
    if problems > 0 {
        let _ = write!(
            out,
            "<p class=\"notice\">{problems} {} found: <code>statedir check</code></p>",
            if problems == 1 { "problem was" } else { "problems were" }
        );
    }
    if links.says_next {
        let _ = write!(
            out,
            "<p class=\"next\"><span class=\"none\">Next for the agent:</span> {}</p>",
            prose(&overview.next_move().text, 600)
        );
    }
    out
}

/// The first steps in a role, with who is at work.
fn named(dashboard: &Dashboard, links: &Links<'_>, role: StepRole) -> String {
    let all: Vec<&StepOverview> = dashboard.overview.with_role(role).collect();
    if all.is_empty() {
        return "<span class=\"none\">nothing</span>".to_owned();
    }
    let one = |step: &&StepOverview| {
        let claim = step.claimed_by.as_ref().filter(|_| step.is_running());
        let who = claim.map(|claim| format!(" {}", short(&claim.actor, 24))).unwrap_or_default();
        format!("<a href=\"{}{}\"><b>{1}</b></a>{who}", links.steps, step.number)
    };
    let mut text = all.iter().take(NAMED).map(one).collect::<Vec<_>>().join(", ");
    if all.len() > NAMED {
        let _ = write!(text, " and {} more", all.len() - NAMED);
    }
    text
}

/// How much of a limit is used.
pub(super) fn limit_use(limit: &LimitUse) -> String {
    short(&format!("{}: {} of at most {}", limit.limit, limit.used, limit.at_most), 200)
}

/// Counts, costs and times.
pub(crate) fn numbers(dashboard: &Dashboard) -> String {
    let overview = &dashboard.overview;
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
        let _ = write!(out, "<tr><th scope=\"row\">Limit</th><td>{}</td></tr>", limit_use(limit));
    }
    out.push_str("</tbody></table>");
    out
}
