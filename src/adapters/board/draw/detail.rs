//! Details of the selected row.

use ratatui::text::{Line, Span};

use super::rows;
use crate::{
    adapters::board::{
        lists::{self, RuleRow},
        model::{Model, View},
        source::Loaded,
        theme::Theme,
    },
    graph::{Graph, summary},
    history::Entry,
    workspace::StepOverview,
};

/// How wide the names of facts are at most.
const NAME: usize = 16;

/// The lines of the detail, broken at `width`.
pub(super) fn lines(model: &Model, theme: Theme, width: usize) -> Vec<Line<'static>> {
    let mut page = Page { theme, width: width.max(20), lines: Vec::new() };
    let Some(loaded) = model.loaded.as_deref() else { return page.lines };
    let item = model.item();
    let drawn = match model.view {
        View::Steps | View::Board => item.and_then(|at| page.step(loaded, at)),
        View::Graph => item.and_then(|at| page.node(loaded, lists::node(loaded, at)?)),
        View::Timeline => item.and_then(|at| page.entry(loaded.attempt(at)?)),
        View::History => {
            item.and_then(|at| page.entry(lists::entry(loaded, model.found.as_ref(), at)?))
        }
        View::Operations => item.and_then(|at| page.operation(model, loaded, at)),
        View::Rules => item.and_then(|at| page.rule(loaded, at)),
        View::Reviews => item.and_then(|at| page.review(loaded, at)),
    };
    if drawn.is_none() {
        page.overview(loaded);
    }
    page.lines
}

struct Page {
    theme: Theme,
    width: usize,
    lines: Vec<Line<'static>>,
}

impl Page {
    fn title(&mut self, text: &str) {
        for line in self.theme.charset.wrap(text, self.width).into_iter().take(4) {
            self.lines.push(Line::styled(line, self.theme.title()));
        }
    }

    fn text(&mut self, text: &str) {
        let broken = self.theme.charset.wrap(text, self.width);
        self.lines.extend(broken.into_iter().map(Line::raw));
    }

    /// A fact with its name before it; what does not fit goes on below.
    fn fact(&mut self, name: &str, value: &str) {
        let charset = self.theme.charset;
        let name = charset.line(name, NAME * 2);
        let gap = NAME.max(name.chars().count() + 1);
        let broken = charset.wrap(value.trim_end(), self.width.saturating_sub(gap).max(10));
        for (nth, line) in broken.into_iter().enumerate() {
            let before = if nth == 0 { charset.cell(&name, gap) } else { " ".repeat(gap) };
            self.lines
                .push(Line::from(vec![Span::styled(before, self.theme.label()), Span::raw(line)]));
        }
    }

    fn facts<'a>(&mut self, facts: impl IntoIterator<Item = (&'a str, Option<String>)>) {
        for (name, value) in facts {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                self.fact(name, &value);
            }
        }
    }

    fn blank(&mut self) {
        self.lines.push(Line::default());
    }

    fn overview(&mut self, loaded: &Loaded) {
        let overview = &loaded.dashboard.overview;
        let next = overview.next_move();
        self.facts([
            ("goal", overview.goal.clone()),
            ("paused", overview.paused_because.clone()),
            ("next", Some(next.text)),
        ]);
    }

    fn step(&mut self, loaded: &Loaded, at: usize) -> Option<()> {
        let step = loaded.dashboard.overview.steps.get(at)?;
        let fields = loaded.dashboard.state.steps.get(at)?;
        self.title(&format!("{} {}", step.number, step.title));
        self.standing(step);
        if let Some(text) = fields.description.as_deref().filter(|text| !text.trim().is_empty()) {
            self.blank();
            self.text(text.trim());
            self.blank();
        }
        for (name, value) in fields.facts() {
            self.fact(&name, &value);
        }
        let outputs = step.id.as_ref().and_then(|id| loaded.dashboard.state.results.get(id));
        if let Some(serde_json::Value::Object(outputs)) = outputs {
            for (name, value) in outputs {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                self.fact(&format!("output {name}"), &text);
            }
        }
        Some(())
    }

    /// Status, holder, and what it waits for.
    fn standing(&mut self, step: &StepOverview) {
        let holder = step.holder.as_ref();
        let take = holder.and_then(|holder| holder.take.clone());
        self.facts([
            ("status", Some(step.status.clone())),
            ("held", holder.map(|holder| holder.evidence.clone())),
            ("take it over", take),
            ("waits for", Some(step.waits_for.join(", "))),
            ("held by group", step.held_by.clone()),
        ]);
    }

    fn node(&mut self, loaded: &Loaded, at: usize) -> Option<()> {
        let graph = &loaded.dashboard.graph;
        let node = graph.nodes.get(at)?;
        self.title(&format!("{} {}", node.number, node.title));
        let named = |list: &[usize]| -> Option<String> {
            let names = list.iter().filter_map(|at| graph.nodes.get(*at));
            let names: Vec<String> =
                names.take(20).map(|node| format!("{} {}", node.number, node.title)).collect();
            (!names.is_empty()).then(|| names.join("\n"))
        };
        let time = node.time_ms.map(crate::domain::format_duration);
        self.facts([
            ("status", Some(node.status.clone())),
            ("group", node.group.clone()),
            (if node.is_measured { "took" } else { "estimated" }, time),
            ("after", named(&node.depends_on)),
            ("circular with", named(&node.circular)),
            ("missing", Some(node.missing.join(", "))),
            ("before", named(&followers(graph, at))),
        ]);
        self.blank();
        for line in summary(graph) {
            self.text(&line);
        }
        Some(())
    }

    fn entry(&mut self, entry: &Entry) -> Option<()> {
        let summary = entry.summary();
        self.title(&summary.heading);
        let (mark, style) = rows::proof_mark(self.theme, entry.proof());
        let (word, why) = entry.proof().words();
        self.lines.push(Line::styled(format!("{mark} {word}: {why}"), style));
        self.facts([
            ("time", entry.time.clone()),
            ("id", entry.id.as_ref().map(ToString::to_string)),
        ]);
        for (name, value) in &entry.fields {
            self.fact(name, value);
        }
        Some(())
    }

    fn operation(&mut self, model: &Model, loaded: &Loaded, at: usize) -> Option<()> {
        let operation = loaded.dashboard.operations.get(at)?;
        self.title(&operation.message);
        self.facts([
            ("operation", Some(operation.id.as_str().to_owned())),
            ("kind", Some(operation.kind.clone())),
            ("command", Some(operation.command.clone())),
            ("actor", Some(operation.actor.clone())),
            ("undoes", operation.undoes.as_ref().map(|id| id.as_str().to_owned())),
            ("redoes", operation.redoes.as_ref().map(|id| id.as_str().to_owned())),
            ("files", Some(operation.files.join(", "))),
        ]);
        let lines = model.differences.get(operation.id.as_str())?;
        self.blank();
        for line in lines {
            let style = match line.trim_start().chars().next() {
                Some('+') => self.theme.good(),
                Some('-') => self.theme.warning(),
                _ => ratatui::style::Style::new(),
            };
            let broken = self.theme.charset.wrap(line, self.width);
            self.lines.extend(broken.into_iter().map(|line| Line::styled(line, style)));
        }
        Some(())
    }

    fn rule(&mut self, loaded: &Loaded, at: usize) -> Option<()> {
        let constraints = &loaded.dashboard.state.constraints;
        match lists::rule_row(loaded, at) {
            RuleRow::Setting(nth) => {
                let setting = &constraints.settings.get(nth)?.written;
                self.title(&setting.name);
                self.fact("value", setting.text.as_deref().unwrap_or("-"));
                let limits = &loaded.dashboard.overview.spending.limits;
                for limit in limits.iter().filter(|limit| limit.limit == setting.name) {
                    self.fact("used", &limit.to_string());
                }
            }
            RuleRow::Directive(nth) => {
                self.title(&constraints.directives.get(nth)?.text);
                self.meaning(loaded, "directive", nth);
            }
            RuleRow::Rule(nth) => {
                let text = &constraints.rules.get(nth)?.text;
                self.title(text);
                self.meaning(loaded, "rule", nth);
                let fired =
                    loaded.dashboard.fired_rules().filter(|fired| fired.rule == text.as_str());
                for fired in fired.take(10) {
                    let why = fired.because.map(|why| format!(", because {why}"));
                    let text = format!("{}{}", fired.did, why.unwrap_or_default());
                    self.fact("fired", &format!("{}: {text}", fired.time));
                }
            }
            RuleRow::Fired(nth) => {
                let fired = loaded.dashboard.fired_rules().nth(nth)?;
                self.title(fired.rule);
                self.facts([
                    ("fired", Some(fired.time.to_owned())),
                    ("because", fired.because.map(str::to_owned)),
                    ("did", Some(fired.did.to_owned())),
                ]);
            }
        }
        Some(())
    }

    fn meaning(&mut self, loaded: &Loaded, list: &str, nth: usize) {
        let Some(line) = rows::rule_line(loaded, list, nth) else { return };
        let (means, executes) = &line.readable;
        self.facts([
            ("means", Some(means.clone())),
            ("executes", Some(executes.join("\n"))),
            ("advises", Some(line.advises.join("\n"))),
            ("not understood", line.error.clone()),
            ("nearest", line.nearest.clone()),
        ]);
    }

    fn review(&mut self, loaded: &Loaded, at: usize) -> Option<()> {
        let reviews = loaded.dashboard.reviews();
        let review = reviews.get(at)?;
        self.title(&format!("{} {}", review.id, review.decision.word()));
        self.text(&review.text);
        let about = |entry: &&Entry| entry.field("review") == Some(review.id.as_str());
        for entry in loaded.dashboard.entries.iter().rev().filter(about).take(10) {
            let summary = entry.summary();
            self.fact(entry.time.as_deref().unwrap_or("-"), &summary.heading);
            for key in ["decision", "why", "reason", "actor"] {
                if let Some(value) = entry.field(key) {
                    self.fact(&format!("  {key}"), value);
                }
            }
        }
        Some(())
    }
}

/// The steps that wait for one directly.
fn followers(graph: &Graph, at: usize) -> Vec<usize> {
    let waits = |other: &usize| graph.nodes[*other].depends_on.contains(&at);
    (0..graph.nodes.len()).filter(waits).collect()
}
