//! Steps: a column for each status, and each step with all it says.

use std::fmt::Write as _;

use super::{Actions, Links, short};
#[cfg(feature = "web")]
use crate::adapters::offers::plan_command;
use crate::{
    adapters::offers::can_be_taken,
    domain::StepRole,
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

/// The board.
pub(crate) fn board(
    dashboard: &Dashboard,
    links: &Links<'_>,
    actions: Option<&Actions<'_>>,
) -> String {
    let mut out =
        String::from("<div class=\"board\" role=\"list\" aria-label=\"Steps by status\">");
    for column in dashboard.columns() {
        let (members, role) = (column.steps, role_word(column.role));
        let _ = write!(
            out,
            "<div class=\"column {role}\" role=\"listitem\" data-status=\"{0}\"><h3>{0} <span class=\"count\">{1}</span></h3>",
            short(column.status, 40),
            members.len()
        );
        for step in members.iter().take(CARDS) {
            card(&mut out, dashboard, step, links, actions);
        }
        let left = members.len().saturating_sub(CARDS);
        match links.status {
            _ if left == 0 => {}
            Some(link) => {
                let _ = write!(
                    out,
                    "<p><a href=\"{link}{}\">and {left} more</a></p>",
                    address(column.status)
                );
            }
            None => {
                let _ = write!(out, "<p class=\"none\">and {left} more</p>");
            }
        }
        out.push_str("</div>");
    }
    out.push_str("</div>");
    out
}

/// A text as a part of an address.
pub(crate) fn address(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes()
        .map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

fn card(
    out: &mut String,
    dashboard: &Dashboard,
    step: &StepOverview,
    links: &Links<'_>,
    actions: Option<&Actions<'_>>,
) {
    let number = step.number;
    let drag = if actions.is_some() { " draggable=\"true\"" } else { "" };
    let _ = write!(
        out,
        "<article class=\"card {}{}\" data-step=\"{number}\"{drag}><a href=\"{}{number}\"><b>{number}</b> {}</a>",
        role_word(step.role),
        if step.is_ready { " ready" } else { "" },
        links.steps,
        short(&step.title, TITLE)
    );
    let facts = facts(step, links);
    if !facts.is_empty() {
        let _ = write!(out, "<p class=\"facts\">{}</p>", facts.join(" · "));
    }
    if let Some(actions) = actions {
        moves(out, dashboard, step, actions);
    }
    out.push_str("</article>");
}

/// What else is to be said of a step on its card.
fn facts(step: &StepOverview, links: &Links<'_>) -> Vec<String> {
    let mut facts: Vec<String> = Vec::new();
    if step.is_running()
        && let Some(claim) = &step.claimed_by
    {
        let is_silent = links.says_next && step.holder.as_ref().is_some_and(|one| one.stale);
        let silent = if is_silent { ", silent" } else { "" };
        facts.push(format!("{}{silent}", short(&claim.actor, 40)));
    }
    if step.attempts > 1 {
        facts.push(format!("attempt {}", step.attempts));
    }
    if !step.waits_for.is_empty() {
        let names: Vec<&str> =
            step.waits_for.iter().map(|name| name.split(' ').next().unwrap_or(name)).collect();
        facts.push(short(&format!("waits for {}", names.join(", ")), 80));
    } else if step.is_ready {
        facts.push("<b>ready</b>".to_owned());
    }
    facts
}

/// The moves that a step can make: the forward ones as buttons, the others in a menu.
fn moves(out: &mut String, dashboard: &Dashboard, step: &StepOverview, actions: &Actions<'_>) {
    let others = forms(dashboard, step, actions, false);
    if !others.is_empty() {
        let number = step.number;
        let _ = write!(
            out,
            "<details class=\"more\" id=\"more-{number}\"><summary aria-label=\"More moves of step {number}\">⋯</summary>\
             <div class=\"moves\">{others}</div></details>"
        );
    }
    let onward = forms(dashboard, step, actions, true);
    if !onward.is_empty() {
        let _ = write!(out, "<div class=\"moves\">{onward}</div>");
    }
}

/// The moves of a step that lead on, or the others.
fn forms(
    dashboard: &Dashboard,
    step: &StepOverview,
    actions: &Actions<'_>,
    leading_on: bool,
) -> String {
    let mut out = String::new();
    for found in step_actions(&dashboard.workflow, step) {
        let role = dashboard.workflow.step_role(&found.to);
        let leads_on =
            matches!(role, Some(StepRole::Active | StepRole::Done)) && !step.is_finished();
        if leads_on == leading_on {
            let data = format!(" data-to=\"{}\"", escape(&found.to));
            let words: Vec<&str> = found.words.iter().map(String::as_str).collect();
            out.push_str(&actions.form(&found.label, &words, &data));
        }
    }
    if !leading_on && can_be_taken(step) {
        let number = step.number.to_string();
        out.push_str(&actions.form("Take over", &["step", "take", &number], ""));
    }
    out
}

/// What can be done with the plan as a whole.
#[cfg(feature = "web")]
pub(crate) fn plan_moves(dashboard: &Dashboard, actions: &Actions<'_>) -> String {
    let mut out = String::from("<div class=\"moves plan\">");
    match plan_command(&dashboard.overview) {
        Some("resume") => out.push_str(&actions.form("Resume", &["resume"], "")),
        Some(word) => out.push_str(&actions.form("Pause", &[word], "")),
        None => {}
    }
    out.push_str(&actions.form("Note", &["history", "add"], ""));
    out.push_str("</div>");
    out
}

/// One step with what it waits for, what waits for it, and what can be done.
#[cfg(feature = "web")]
pub(crate) fn step(
    dashboard: &Dashboard,
    number: u32,
    links: &Links<'_>,
    actions: Option<&Actions<'_>>,
) -> String {
    let all = &dashboard.state.steps;
    let Some(at) = all.iter().position(|step| step.number == number) else {
        return "<p class=\"none\">There is no such step.</p>".to_owned();
    };
    let mut out = String::new();
    details(&mut out, &all[at], links, true);
    let overview = dashboard.overview.steps.iter().find(|step| step.number == number);
    if let (Some(actions), Some(overview)) = (actions, overview) {
        let _ = write!(
            out,
            "<div class=\"moves\" data-step=\"{number}\">{}{}{}</div>",
            forms(dashboard, overview, actions, true),
            forms(dashboard, overview, actions, false),
            actions.form("Note", &["history", "add", &format!("step={number}")], "")
        );
    }
    let nodes = &dashboard.graph.nodes;
    if let Some(own) = nodes.iter().position(|node| node.number == number) {
        let before: Vec<usize> = nodes[own].depends_on.clone();
        let direct = |at: usize| {
            nodes.iter().enumerate().filter(move |(_, node)| node.depends_on.contains(&at))
        };
        let after: Vec<usize> = direct(own).map(|(at, _)| at).collect();
        let mut all_after = after.clone();
        let mut next = 0;
        while let Some(&at) = all_after.get(next) {
            for (found, _) in direct(at) {
                if !all_after.contains(&found) && found != own {
                    all_after.push(found);
                }
            }
            next += 1;
        }
        let list = |steps: &[usize]| {
            let one = |at: &usize| {
                let node = &nodes[*at];
                format!(
                    "<a href=\"{}{}\">{1} {}</a> <span class=\"status\">{}</span>",
                    links.steps,
                    node.number,
                    short(&node.title, 80),
                    short(&node.status, 40)
                )
            };
            let lines: String =
                steps.iter().take(50).map(|at| format!("<li>{}</li>", one(at))).collect();
            match steps.is_empty() {
                true => "<p class=\"none\">nothing</p>".to_owned(),
                false => format!("<ul>{lines}</ul>"),
            }
        };
        let _ = write!(
            out,
            "<h3>It waits for</h3>{}<h3>What waits for it</h3>{}",
            list(&before),
            list(&after)
        );
        if all_after.len() > after.len() {
            let _ = write!(
                out,
                "<p class=\"none\">{} steps in all, through these.</p>",
                all_after.len()
            );
        }
        let begun: Vec<String> = all_after
            .iter()
            .filter(|at| matches!(nodes[**at].role, Some(StepRole::Active | StepRole::Done)))
            .map(|at| nodes[*at].number.to_string())
            .collect();
        if nodes[own].role == Some(StepRole::Done) && !begun.is_empty() {
            let _ = write!(
                out,
                "<p class=\"notice\">Already started or finished, but depending on it: {}. If it is done again, they may have to be, too.</p>",
                short(&begun.join(", "), 200)
            );
        }
    }
    let place = |to: usize, text: &str| match all.get(to) {
        Some(step) => format!("<a href=\"{}{}\">{text}</a> ", links.steps, step.number),
        None => String::new(),
    };
    let (previous, next) = (place(at.wrapping_sub(1), "Previous step"), place(at + 1, "Next step"));
    let _ = write!(out, "<p class=\"ways\">{previous}{next}</p>");
    out
}

/// Some steps, each with all that it says.
pub(crate) fn steps<'s>(
    chosen: impl Iterator<Item = &'s StepState>,
    links: &Links<'_>,
    is_open: bool,
) -> String {
    let mut out = String::new();
    for step in chosen {
        details(&mut out, step, links, is_open);
    }
    if out.is_empty() {
        out.push_str("<p class=\"none\">There are no steps.</p>");
    }
    out
}

fn details(out: &mut String, step: &StepState, links: &Links<'_>, is_open: bool) {
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
    if links.status.is_some() && !is_open {
        let _ =
            write!(out, "<p><a href=\"{}{}\">What waits for it</a></p>", links.steps, step.number);
    }
    if let Some(text) = &step.description {
        let end = text.char_indices().nth(TEXT).map_or(text.len(), |(end, _)| end);
        let _ = write!(out, "<div class=\"markdown\">{}</div>", to_html(&text[..end], 3));
    }
    out.push_str("</details>");
}
