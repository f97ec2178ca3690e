//! Steps: a column for each status, and each step with all it says.

use std::fmt::Write as _;

use super::{Actions, short};
use crate::{
    graph::role_word,
    text::{html::escape, markdown::to_html},
    workspace::{Dashboard, StepOverview, state::StepState, step_actions},
};

/// How many cards a column shows.
const CARDS: usize = 60;
/// How much of a title a card shows.
const TITLE: usize = 140;
/// How much of a text is shown.
const TEXT: usize = 20_000;

/// The board. `link` is where the steps are shown, up to the number.
pub(crate) fn board(material: &Dashboard, link: &str, actions: Option<&Actions<'_>>) -> String {
    let mut out =
        String::from("<div class=\"board\" role=\"list\" aria-label=\"Steps by status\">");
    for column in material.columns() {
        let (members, role) = (column.steps, role_word(column.role));
        let _ = write!(
            out,
            "<div class=\"column {role}\" role=\"listitem\" data-status=\"{0}\"><h3>{0} <span class=\"count\">{1}</span></h3>",
            short(column.status, 40),
            members.len()
        );
        for step in members.iter().take(CARDS) {
            card(&mut out, material, step, link, actions);
        }
        if members.len() > CARDS {
            let _ = write!(out, "<p class=\"none\">and {} more</p>", members.len() - CARDS);
        }
        out.push_str("</div>");
    }
    out.push_str("</div>");
    out
}

fn card(
    out: &mut String,
    material: &Dashboard,
    step: &StepOverview,
    link: &str,
    actions: Option<&Actions<'_>>,
) {
    let number = step.number;
    let drag = if actions.is_some() { " draggable=\"true\"" } else { "" };
    let _ = write!(
        out,
        "<article class=\"card {}\" data-step=\"{number}\"{drag}><a href=\"{link}{number}\"><b>{number}</b> {}</a>",
        role_word(step.role),
        short(&step.title, TITLE)
    );
    let mut facts: Vec<String> = Vec::new();
    if step.is_running()
        && let Some(claim) = &step.claimed_by
    {
        facts.push(short(&claim.actor, 40));
    }
    if step.attempts > 1 {
        facts.push(format!("attempt {}", step.attempts));
    }
    if !step.waits_for.is_empty() {
        facts.push(short(&format!("waits for {}", step.waits_for.join(", ")), 80));
    } else if step.is_ready {
        facts.push("ready".to_owned());
    }
    if !facts.is_empty() {
        let _ = write!(out, "<p class=\"facts\">{}</p>", facts.join(" · "));
    }
    if let Some(actions) = actions {
        out.push_str("<div class=\"moves\">");
        for found in step_actions(&material.workflow, step) {
            let data = format!(" data-to=\"{}\"", escape(&found.to));
            let words: Vec<&str> = found.words.iter().map(String::as_str).collect();
            out.push_str(&actions.form(&found.label, &words, found.reason, &data));
        }
        out.push_str("</div>");
    }
    out.push_str("</article>");
}

/// The steps from `first` on, at most so many, each with all that it says.
pub(crate) fn steps(material: &Dashboard, first: usize, most: usize, is_open: bool) -> String {
    let all = &material.state.steps;
    let mut out = String::new();
    for step in all.iter().skip(first).take(most) {
        details(&mut out, step, is_open);
    }
    let left = all.len().saturating_sub(first.saturating_add(most));
    if left > 0 {
        let _ = write!(out, "<p class=\"none\">and {left} more</p>");
    }
    if all.is_empty() {
        out.push_str("<p class=\"none\">The plan has no steps yet.</p>");
    }
    out
}

fn details(out: &mut String, step: &StepState, is_open: bool) {
    let open = if is_open { " open" } else { "" };
    let _ = write!(
        out,
        "<details id=\"step-{0}\" class=\"step\"{open}><summary><b>{0}</b> {1} <span class=\"status\">{2}</span></summary><dl>",
        step.number,
        short(&step.title, 500),
        short(step.status.as_deref().unwrap_or("-"), 40)
    );
    for (name, value) in step.facts() {
        let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", short(&name, 80), short(&value, TEXT));
    }
    out.push_str("</dl>");
    if let Some(text) = &step.description {
        let end = text.char_indices().nth(TEXT).map_or(text.len(), |(end, _)| end);
        let _ = write!(out, "<div class=\"markdown\">{}</div>", to_html(&text[..end], 3));
    }
    out.push_str("</details>");
}
