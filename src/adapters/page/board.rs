//! Steps: a column for each status, and each step with all it says.

use std::fmt::Write as _;

use super::{Actions, Material, moves, short};
use crate::{
    graph::role_word,
    text::{html::escape, markdown::to_html},
    workspace::{StepOverview, state::StepState},
};

/// How many cards a column shows.
const CARDS: usize = 60;
/// How much of a title a card shows.
const TITLE: usize = 140;
/// How much of a text is shown.
const TEXT: usize = 20_000;

/// The board. `link` is where the steps are shown, up to the number.
pub(crate) fn board(material: &Material, link: &str, actions: Option<&Actions<'_>>) -> String {
    let mut out =
        String::from("<div class=\"board\" role=\"list\" aria-label=\"Steps by status\">");
    let steps = &material.overview.steps;
    let mut statuses: Vec<&str> = material.workflow.step_statuses().collect();
    for step in steps {
        if !statuses.contains(&step.status.as_str()) && statuses.len() < 20 {
            statuses.push(&step.status);
        }
    }
    for status in statuses {
        let members: Vec<&StepOverview> =
            steps.iter().filter(|step| step.status == status).collect();
        let role = role_word(material.workflow.step_role(status));
        let _ = write!(
            out,
            "<div class=\"column {role}\" role=\"listitem\" data-status=\"{0}\"><h3>{0} <span class=\"count\">{1}</span></h3>",
            short(status, 40),
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
    material: &Material,
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
        for found in moves(&material.workflow, step) {
            let data = format!(" data-to=\"{}\"", escape(&found.to));
            let words: Vec<&str> = found.words.iter().map(String::as_str).collect();
            out.push_str(&actions.form(&found.label, &words, found.reason, &data));
        }
        out.push_str("</div>");
    }
    out.push_str("</article>");
}

/// The steps from `first` on, at most so many, each with all that it says.
pub(crate) fn steps(material: &Material, first: usize, most: usize, is_open: bool) -> String {
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
    let before: Vec<String> = step.depends_on.iter().map(ToString::to_string).collect();
    let attempts = (step.attempts > 0).then(|| step.attempts.to_string());
    let rows = [
        ("id", step.id.clone()),
        ("depends on", Some(before.join(", ")).filter(|text| !text.is_empty())),
        ("component", step.component.clone()),
        ("tool", step.tool_mapping.clone()),
        ("estimated cost", step.estimated_cost.clone()),
        ("estimated time", step.estimated_time.clone()),
        ("side effects", step.side_effects.clone()),
        ("attempts", attempts),
        ("claimed by", step.claimed_by.clone()),
        ("started at", step.started_at.clone()),
        ("result", step.result.clone()),
    ];
    let given = rows.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let lists =
        [("input", &step.inputs), ("expected output", &step.expected_outputs), ("", &step.other)];
    let written = lists.into_iter().flat_map(|(kind, list)| {
        list.iter().map(move |one| {
            (format!("{kind} {}", one.name).trim().to_owned(), one.text.clone().unwrap_or_default())
        })
    });
    for (name, value) in given.chain(written) {
        let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", short(&name, 80), short(&value, TEXT));
    }
    out.push_str("</dl>");
    if let Some(text) = &step.description {
        let end = text.char_indices().nth(TEXT).map_or(text.len(), |(end, _)| end);
        let _ = write!(out, "<div class=\"markdown\">{}</div>", to_html(&text[..end], 3));
    }
    out.push_str("</details>");
}
