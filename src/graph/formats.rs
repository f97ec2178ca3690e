//! The graph for Mermaid and Graphviz.

use std::fmt::Write as _;

use super::svg::Focus;
use super::{Graph, role_word};
use crate::{
    domain::StepRole,
    text::display::{counted, fit},
};

/// How many steps and arrows a Mermaid graph has at most: GitHub refuses large ones.
const MERMAID_STEPS: usize = 120;
const MERMAID_ARROWS: usize = 400;

/// How many characters of a title are shown.
const TITLE: usize = 60;

/// Which colours a role has in both.
const COLOURS: [(&str, &str, &str); 7] = [
    ("open", "#f6f8fa", "#57606a"),
    ("active", "#ddf4ff", "#0969da"),
    ("waiting", "#fff8c5", "#9a6700"),
    ("done", "#dafbe1", "#1a7f37"),
    ("failed", "#ffebe9", "#cf222e"),
    ("skipped", "#eaeef2", "#8c959f"),
    ("unknown", "#ffffff", "#8250df"),
];

/// A flowchart, as GitHub shows it in a block marked `mermaid`.
pub(crate) fn mermaid(graph: &Graph) -> String {
    let focus = Focus::new(graph, MERMAID_STEPS);
    let mut out = String::from("flowchart LR\n");
    let mut groups: Vec<&str> = Vec::new();
    for &at in &focus.shown {
        let group = graph.nodes[at].group.as_deref();
        if let Some(group) = group.filter(|group| !groups.contains(group)) {
            groups.push(group);
        }
    }
    let lines = |out: &mut String, group: Option<&str>, indent: &str| {
        let members = focus.shown.iter().filter(|at| graph.nodes[**at].group.as_deref() == group);
        for &at in members {
            let node = &graph.nodes[at];
            let label = mermaid_text(&label(graph, at));
            let _ = writeln!(out, "{indent}n{at}[\"{label}\"]:::{}", role_word(node.role));
        }
    };
    lines(&mut out, None, "    ");
    for (number, group) in groups.iter().enumerate() {
        let _ = writeln!(out, "    subgraph g{number}[\"{}\"]", mermaid_text(&fit(group, TITLE)));
        lines(&mut out, Some(group), "        ");
        out.push_str("    end\n");
    }
    let mut arrows = focus.arrows(graph);
    for (before, after, is_circular) in arrows.by_ref().take(MERMAID_ARROWS) {
        let nodes = &graph.nodes;
        let arrow = match (is_circular, nodes[before].is_critical && nodes[after].is_critical) {
            (true, _) => "-.->|circular|",
            (false, true) => "==>",
            (false, false) => "-->",
        };
        let _ = writeln!(out, "    n{before} {arrow} n{after}");
    }
    let hidden = arrows.count();
    if focus.left_out() > 0 || hidden > 0 {
        let steps = counted(focus.left_out(), "more step", "more steps");
        let arrows = if hidden > 0 {
            format!(", {}", counted(hidden, "more arrow", "more arrows"))
        } else {
            String::new()
        };
        let _ = writeln!(out, "    more[\"… {steps}{arrows}\"]:::skipped");
    }
    let is_used = |role: &str| out.contains(&format!(":::{role}\n"));
    let used: Vec<_> = COLOURS.iter().filter(|(role, ..)| is_used(role)).collect();
    for (role, fill, stroke) in used {
        let _ = writeln!(out, "    classDef {role} fill:{fill},stroke:{stroke},color:#1f2328");
    }
    let critical: Vec<String> = graph
        .critical_path
        .iter()
        .filter(|at| focus.is_shown[**at])
        .map(|at| format!("n{at}"))
        .collect();
    if critical.len() > 1 {
        out.push_str("    classDef critical stroke-width:3px\n");
        let _ = writeln!(out, "    class {} critical", critical.join(","));
    }
    out
}

/// A directed graph for Graphviz, with all steps.
pub(crate) fn dot(graph: &Graph) -> String {
    let focus = Focus::new(graph, usize::MAX);
    let mut out = format!("digraph \"{}\" {{\n", dot_text(&fit(&graph.title, 200)));
    out.push_str("    rankdir=LR;\n    node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n");
    for (at, node) in graph.nodes.iter().enumerate() {
        let word = role_word(node.role);
        let colours = COLOURS.iter().find(|(role, _, _)| *role == word).unwrap_or(&COLOURS[6]);
        let wide = if node.is_critical { ", penwidth=3" } else { "" };
        let _ = writeln!(
            out,
            "    n{at} [label=\"{}\", fillcolor=\"{}\", color=\"{}\"{wide}];",
            dot_text(&label(graph, at)),
            colours.1,
            colours.2,
        );
    }
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        if let Some(group) = node.group.as_deref() {
            let place = *places.entry(group).or_insert_with(|| {
                groups.push((group, Vec::new()));
                groups.len() - 1
            });
            groups[place].1.push(at);
        }
    }
    for (number, (group, members)) in groups.iter().enumerate() {
        let members: Vec<String> = members.iter().map(|at| format!("n{at};")).collect();
        let label = dot_text(&fit(group, TITLE));
        let _ = writeln!(
            out,
            "    subgraph cluster_{number} {{ label=\"{label}\"; {} }}",
            members.join(" ")
        );
    }
    for (before, after, is_circular) in focus.arrows(graph) {
        let style = if is_circular { " [style=dashed, color=\"#cf222e\"]" } else { "" };
        let _ = writeln!(out, "    n{before} -> n{after}{style};");
    }
    out.push_str("}\n");
    out
}

/// `3 Compare ✓`.
fn label(graph: &Graph, at: usize) -> String {
    let node = &graph.nodes[at];
    let mark = node.role.and_then(StepRole::mark).map(|mark| format!(" {mark}"));
    format!("{} {}{}", node.number, fit(&node.title, TITLE), mark.unwrap_or_default())
}

/// Only letters, digits and a few signs as they are; everything else by its number, so that nothing
/// ends the label, becomes markup or opens a link.
fn mermaid_text(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c.is_alphanumeric() || matches!(c, ' ' | ',' | '-' | '✓' | '✗' | '▶' | '–' | '…')
        {
            true => out.push(c),
            false => {
                let _ = write!(out, "#{};", u32::from(c));
            }
        }
    }
    out
}

fn dot_text(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
