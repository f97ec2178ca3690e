//! A state as HTML: the parts that `report` puts on one page and `web` on several.
//!
//! Everything that comes from a state is escaped or goes through the markdown renderer, which
//! passes no HTML on. Nothing here writes, and no part needs a script to be read.

mod attempts;
mod board;
#[cfg(feature = "web")]
mod differences;
mod files;
mod log;
mod numbers;
mod report;

use std::fmt::Write as _;

pub(crate) use self::{
    attempts::timeline,
    board::{board, steps},
    files::{constraints, context, reviews},
    log::{history, operations},
    numbers::{header, numbers},
    report::report,
};
#[cfg(feature = "web")]
pub(crate) use self::{
    board::{address, plan_moves, step},
    differences::differences,
    files::open_reviews,
    log::operation_line,
};
use crate::{
    adapters::offers::Ask,
    graph::svg,
    text::{display::shorten, html::escape},
    workspace::Dashboard,
};

/// The style of all pages.
pub(crate) const STYLE: &str = include_str!("style.css");

/// Where the parts of a page lead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links<'a> {
    /// Where a step is shown, up to its number.
    pub steps: &'a str,
    /// Where the steps of one status are listed, up to the status; nowhere on a single page.
    pub status: Option<&'a str>,
    pub reviews: &'a str,
    /// Whether the next move is shown: not for an earlier moment.
    pub says_next: bool,
}

/// Where changes go, for a page that offers them: the same commands as on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Actions<'a> {
    /// The address that forms are sent to.
    pub to: &'a str,
    /// The revision that the page shows.
    pub revision: &'a str,
    /// Which page to show afterwards.
    pub back: &'a str,
}

impl Actions<'_> {
    /// A form that runs a command, with the question that has to be answered first.
    pub(crate) fn form(&self, label: &str, words: &[&str], data: &str) -> String {
        let mut fields = String::new();
        for word in words {
            let _ =
                write!(fields, "<input type=\"hidden\" name=\"word\" value=\"{}\">", escape(word));
        }
        for (name, value) in [("revision", self.revision), ("back", self.back)] {
            let _ = write!(
                fields,
                "<input type=\"hidden\" name=\"{name}\" value=\"{}\">",
                escape(value)
            );
        }
        let command = escape(&format!("statedir {}", words.join(" ")));
        let (to, label) = (escape(self.to), escape(label));
        match Ask::of(words).and_then(Ask::needed) {
            None => format!(
                "<form method=\"post\" action=\"{to}\"{data}>{fields}<button title=\"{command}\">{label}</button></form>"
            ),
            Some(question) => {
                let question = escape(question);
                format!(
                    "<details class=\"ask\"><summary>{label}</summary><form method=\"post\" action=\"{to}\"{data}>\
                     {fields}<label>{question}<input name=\"reason\" required maxlength=\"2000\"></label>\
                     <button title=\"{command}\">{label}</button></form></details>"
                )
            }
        }
    }
}

/// The graph with what it says in words.
pub(crate) fn graph(material: &Dashboard) -> String {
    let graph = &material.graph;
    if graph.nodes.is_empty() {
        return "<p class=\"none\">The plan has no steps yet.</p>".to_owned();
    }
    let lines: Vec<String> = crate::graph::summary(graph).iter().map(|line| escape(line)).collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Graph\">{}</div><pre class=\"summary\">{}</pre>",
        svg(graph, false),
        lines.join("\n")
    )
}

/// A section of a page.
pub(crate) fn section(id: &str, title: &str, body: &str) -> String {
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\"><h2 id=\"{id}-title\">{}</h2>\n{body}</section>\n",
        escape(title)
    )
}

/// A time as a person reads it, with the exact one beside it.
pub(crate) fn moment(time: &str) -> String {
    let exact = match time.trim().strip_suffix(" UTC") {
        Some(bare) => format!("{}Z", bare.replacen(' ', "T", 1)),
        None => time.trim().to_owned(),
    };
    let is_exact = exact.len() >= 20 && exact.ends_with('Z') && exact.is_ascii();
    match is_exact {
        true => format!(
            "<time datetime=\"{}\">{} {}</time>",
            escape(&exact),
            escape(&exact[..10]),
            escape(&exact[11..16])
        ),
        false => format!("<time>{}</time>", short(time, 40)),
    }
}

/// A sentence with commands in backticks.
pub(crate) fn prose(text: &str, most: usize) -> String {
    let text: String = text.chars().take(most).collect();
    let mut out = String::new();
    let parts: Vec<&str> = text.split('`').collect();
    let is_paired = parts.len() % 2 == 1;
    for (place, part) in parts.iter().enumerate() {
        match place % 2 == 1 && is_paired {
            true => {
                let _ = write!(out, "<code>{}</code>", escape(part));
            }
            false => out.push_str(&escape(part)),
        }
    }
    out
}

/// At most `most` characters of a text, escaped; a cut is marked.
pub(crate) fn short(text: &str, most: usize) -> String {
    escape(&shorten(text, most))
}
