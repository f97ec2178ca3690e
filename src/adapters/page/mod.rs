//! A state as HTML: the parts that `report` puts on one page and `web` on several.
//!
//! Everything that comes from a state is escaped or goes through the markdown renderer, which
//! passes no HTML on. Nothing here writes, and no part needs a script to be read.

mod attempts;
mod board;
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
use crate::{
    domain::{StepRole, Workflow},
    graph::{Graph, svg},
    history::Entry,
    store::OperationSummary,
    text::html::escape,
    workspace::{Error, Overview, StateDocument, StepOverview, Workspace},
};

/// The style of all pages.
pub(crate) const STYLE: &str = include_str!("style.css");

/// How much of the long lists is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The newest entries of the history.
    pub entries: usize,
    /// They are looked for in so many bytes at its end.
    pub bytes: u64,
    /// The newest operations.
    pub operations: usize,
}

/// What pages are made from, all of one revision.
#[derive(Debug)]
pub(crate) struct Material {
    pub overview: Overview,
    pub state: StateDocument,
    pub graph: Graph,
    pub workflow: Workflow,
    /// The newest entries, oldest first.
    pub entries: Vec<Entry>,
    /// The newest operations, newest first.
    pub operations: Vec<OperationSummary>,
}

impl Material {
    /// Reads a state.
    ///
    /// # Errors
    /// There is none, or its plan or lifecycle cannot be read.
    pub(crate) fn read(workspace: &Workspace, extent: Extent) -> Result<Self, Error> {
        let snapshot = workspace.read()?;
        let entries = snapshot.recent_entries(extent.entries, extent.bytes).unwrap_or_default();
        let operations = match extent.operations {
            0 => Vec::new(),
            most => workspace.operations(Some(most)).unwrap_or_default(),
        };
        Ok(Self {
            overview: snapshot.overview()?,
            state: snapshot.state(false),
            graph: snapshot.graph(None)?,
            workflow: snapshot.workflow()?.into_owned(),
            entries,
            operations,
        })
    }
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
    /// A form that runs a command; `reason` is the question that has to be answered first.
    pub(crate) fn form(
        &self,
        label: &str,
        words: &[&str],
        reason: Option<&str>,
        data: &str,
    ) -> String {
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
        match reason {
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

/// A move of a step that the lifecycle allows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StepMove {
    /// The status it leads to.
    pub to: String,
    /// What a button says.
    pub label: String,
    /// The words of the command.
    pub words: Vec<String>,
    /// What is asked first.
    pub reason: Option<&'static str>,
}

/// The moves that a step can make now.
pub(crate) fn moves(workflow: &Workflow, step: &StepOverview) -> Vec<StepMove> {
    let is_legal = |to: &&str| workflow.check_step(&step.status, to).is_ok();
    let mut found = Vec::new();
    for to in workflow.step_statuses().filter(is_legal) {
        let Some(role) = workflow.step_role(to) else { continue };
        // A step that waits for others cannot be begun.
        if role == StepRole::Active && !step.waits_for.is_empty() {
            continue;
        }
        let is_usual = workflow.step_with_role(role) == to;
        let known = match (role, step.role) {
            _ if !is_usual => None,
            (StepRole::Active, Some(StepRole::Open)) => Some(("Start", "start", None)),
            (StepRole::Active, Some(StepRole::Failed)) => Some(("Retry", "retry", None)),
            (StepRole::Done, _) => Some(("Done", "done", None)),
            (StepRole::Failed, _) => Some(("Fail", "fail", Some("What went wrong?"))),
            (StepRole::Skipped, _) => Some(("Skip", "skip", Some("Why?"))),
            (StepRole::Open, _) => Some(("Reset", "reset", None)),
            _ => None,
        };
        let number = step.number.to_string();
        found.push(match known {
            Some((label, verb, reason)) => StepMove {
                to: to.to_owned(),
                label: label.to_owned(),
                words: ["step", verb, &number].map(str::to_owned).to_vec(),
                reason,
            },
            None => StepMove {
                to: to.to_owned(),
                label: to.to_owned(),
                words: ["step", "move", &number, to].map(str::to_owned).to_vec(),
                reason: None,
            },
        });
    }
    found
}

/// The graph with what it says in words.
pub(crate) fn graph(material: &Material) -> String {
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

/// At most so many characters of a text, escaped; what is cut off is marked.
fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", escape(&text[..end])),
        None => escape(text),
    }
}
