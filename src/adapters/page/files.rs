//! Context, constraints and reviews.

use std::fmt::Write as _;

use super::{Actions, moment, numbers::limit_use, prose, short};
use crate::{
    domain::{Decision, Review},
    text::markdown::to_html,
    workspace::Dashboard,
};

/// How much of a section is shown.
const TEXT: usize = 100_000;

/// The sections of context.md.
pub(crate) fn context(material: &Dashboard) -> String {
    let mut out = String::from("<div class=\"markdown\">");
    for section in &material.state.context {
        if section.level > 1 {
            let level = (section.level + 1).clamp(3, 6);
            let _ = write!(out, "<h{level}>{}</h{level}>", short(&section.title, 200));
        }
        let text = &section.text;
        let end = text.char_indices().nth(TEXT).map_or(text.len(), |(end, _)| end);
        out.push_str(&to_html(&text[..end], 4));
        if end < text.len() {
            out.push_str("<p class=\"none\">… the rest is in context.md</p>");
        }
    }
    out.push_str("</div>");
    out
}

/// Modifiers, limits, directives, rules, and what rules have done lately.
pub(crate) fn constraints(material: &Dashboard) -> String {
    let constraints = &material.state.constraints;
    let mut out = String::new();
    if !constraints.settings.is_empty() {
        out.push_str("<table class=\"settings\"><thead><tr><th scope=\"col\">setting</th><th scope=\"col\">value</th></tr></thead><tbody>");
        for setting in &constraints.settings {
            let (name, text) =
                (&setting.written.name, setting.written.text.as_deref().unwrap_or("-"));
            let _ =
                write!(out, "<tr><td>{}</td><td>{}</td></tr>", short(name, 100), short(text, 500));
        }
        out.push_str("</tbody></table>");
    }
    let limits = &material.overview.spending.limits;
    if !limits.is_empty() {
        out.push_str("<h3>Limits</h3><ul>");
        for limit in limits {
            let class = if limit.exceeded { " class=\"notice\"" } else { "" };
            let _ = write!(out, "<li{class}>{}</li>", limit_use(limit));
        }
        out.push_str("</ul>");
    }
    for (title, lines) in [("Directives", &constraints.directives), ("Rules", &constraints.rules)] {
        if !lines.is_empty() {
            let _ = write!(out, "<h3>{title}</h3><ol>");
            for line in lines {
                let _ = write!(out, "<li>{}</li>", short(&line.text, 2000));
            }
            out.push_str("</ol>");
        }
    }
    let fired: Vec<String> = material
        .fired_rules()
        .take(20)
        .map(|fired| {
            let why = fired.because.map(|values| format!(" because {}", short(values, 300)));
            format!(
                "<li>{} <b>{}</b>{}<br>{}</li>",
                moment(fired.time),
                short(fired.rule, 500),
                why.unwrap_or_default(),
                short(fired.did, 300)
            )
        })
        .collect();
    if !fired.is_empty() {
        let _ = write!(out, "<h3>Rules that fired</h3><ul class=\"fired\">{}</ul>", fired.concat());
    }
    if out.is_empty() {
        out.push_str("<p class=\"none\">Nothing is constrained.</p>");
    }
    out
}

/// Questions to a person, the open ones first.
pub(crate) fn reviews(dashboard: &Dashboard, actions: Option<&Actions<'_>>) -> String {
    match dashboard.reviews() {
        all if all.is_empty() => "<p class=\"none\">No reviews yet.</p>".to_owned(),
        all => review_list(&all, actions),
    }
}

/// The questions that nobody has answered yet.
#[cfg(feature = "web")]
pub(crate) fn open_reviews(dashboard: &Dashboard, actions: Option<&Actions<'_>>) -> String {
    let mut open = dashboard.reviews();
    open.retain(|review| review.decision == Decision::Open);
    review_list(&open, actions)
}

fn review_list(reviews: &[&Review], actions: Option<&Actions<'_>>) -> String {
    let mut out = String::from("<ul class=\"reviews\">");
    for review in reviews {
        let word = review.decision.word();
        let _ = write!(
            out,
            "<li class=\"review {word}\" data-review=\"{0}\"><p><b>{0}</b> <span class=\"status\">{word}</span> {1}</p>",
            short(&review.id, 40),
            prose(&review.text, 2000)
        );
        if let Some(actions) = actions.filter(|_| review.decision == Decision::Open) {
            out.push_str("<div class=\"moves\">");
            out.push_str(&actions.form("Approve", &["review", "approve", &review.id], ""));
            out.push_str(&actions.form("Reject", &["review", "reject", &review.id], ""));
            out.push_str("</div>");
        }
        out.push_str("</li>");
    }
    out.push_str("</ul>");
    out
}
