//! The graph as a picture that needs nothing from elsewhere.

use super::{Graph, role_word};
use crate::domain::{StepRole, format_duration};
use crate::text::display::fit;
use crate::text::html::escape;
use std::fmt::Write as _;

/// How many steps a picture has at most.
const MOST: usize = 400;

const BOX_WIDTH: usize = 220;
const BOX_HEIGHT: usize = 46;
const COLUMN: usize = BOX_WIDTH + 56;
const ROW: usize = BOX_HEIGHT + 18;
const MARGIN: usize = 12;

/// How the picture looks, for a file of its own and for a page that contains it.
pub(crate) const STYLE: &str = "\
.graph text{font:12px system-ui,sans-serif;fill:#1f2328}.graph .sub{font-size:10px;fill:#57606a}\
.graph rect{stroke-width:1;rx:6}.graph .critical rect{stroke-width:3}\
.graph path{fill:none;stroke:#8c959f;stroke-width:1.2}.graph path.critical{stroke:#1f2328;stroke-width:2.4}\
.graph path.circular{stroke:#cf222e;stroke-dasharray:5 4}.graph marker path{fill:#8c959f;stroke:none}\
.graph .open rect{fill:#f6f8fa;stroke:#57606a}.graph .active rect{fill:#ddf4ff;stroke:#0969da}\
.graph .waiting rect{fill:#fff8c5;stroke:#9a6700}.graph .done rect{fill:#dafbe1;stroke:#1a7f37}\
.graph .failed rect{fill:#ffebe9;stroke:#cf222e}.graph .skipped rect{fill:#eaeef2;stroke:#8c959f}\
.graph .unknown rect{fill:#fff;stroke:#8250df}.graph.lineage g[data-step]:not(.on){opacity:.25}";

/// A picture of the graph. A `standalone` one carries its style; a page has [`STYLE`] itself.
pub(crate) fn svg(graph: &Graph, standalone: bool) -> String {
    let focus = Focus::new(graph, MOST);
    let places = positions(graph, &focus);
    let shown = || focus.shown.iter().map(|at| places[*at]);
    let note = usize::from(focus.left_out() > 0) * 24;
    let width = shown().map(|(x, _)| x + BOX_WIDTH).max().unwrap_or(BOX_WIDTH) + MARGIN;
    let height = shown().map(|(_, y)| y + BOX_HEIGHT).max().unwrap_or(BOX_HEIGHT) + MARGIN + note;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"graph\" role=\"img\" \
         aria-label=\"Graph of the plan: {}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n",
        escape(&fit(&graph.title, 100))
    );
    if standalone {
        let _ = writeln!(
            out,
            "<style>{STYLE}</style>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"
        );
    }
    out.push_str(
        "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\"/></marker></defs>\n",
    );
    for (before, after, is_circular) in focus.arrows(graph) {
        let ((x, y), (to_x, to_y)) = (places[before], places[after]);
        let (x, y, to_y) = (x + BOX_WIDTH, y + BOX_HEIGHT / 2, to_y + BOX_HEIGHT / 2);
        let (bend, to_bend) = (x + 28, to_x.saturating_sub(28));
        let nodes = &graph.nodes;
        let class = match (is_circular, nodes[before].is_critical && nodes[after].is_critical) {
            (true, _) => " class=\"circular\"",
            (false, true) => " class=\"critical\"",
            (false, false) => "",
        };
        let _ = writeln!(
            out,
            "<path{class} marker-end=\"url(#arrow)\" d=\"M{x} {y}C{bend} {y} {to_bend} {to_y} {to_x} {to_y}\"/>"
        );
    }
    for &at in &focus.shown {
        step(&mut out, graph, at, places[at]);
    }
    if note > 0 {
        let (left_out, y) = (focus.left_out(), height - MARGIN);
        let _ = writeln!(out, "<text x=\"{MARGIN}\" y=\"{y}\">… {left_out} more steps</text>");
    }
    out.push_str("</svg>\n");
    out
}

fn step(out: &mut String, graph: &Graph, at: usize, (x, y): (usize, usize)) {
    let node = &graph.nodes[at];
    let critical = if node.is_critical { " critical" } else { "" };
    let role = role_word(node.role);
    let mark =
        node.role.and_then(StepRole::mark).map(|mark| format!(" {mark}")).unwrap_or_default();
    let title = escape(&fit(&node.title, 28 - node.number.to_string().len()));
    let mut below = vec![fit(&node.status, 16)];
    below.extend(node.time_ms.map(format_duration));
    below.extend(node.group.as_ref().map(|group| fit(group, 14)));
    let before: Vec<String> =
        node.depends_on.iter().map(|before| graph.nodes[*before].number.to_string()).collect();
    let whole = escape(&fit(&node.title, 300));
    let _ = writeln!(
        out,
        "<g class=\"{role}{critical}\" data-step=\"{}\" data-after=\"{}\"><title>{} {whole}</title>\
         <rect x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\"/>\
         <text x=\"{}\" y=\"{}\">{} {title}{mark}</text><text class=\"sub\" x=\"{}\" y=\"{}\">{}</text></g>",
        node.number,
        before.join(" "),
        node.number,
        x + 10,
        y + 19,
        node.number,
        x + 10,
        y + 36,
        escape(&below.join(" · ")),
    );
}

/// The upper left corner of each box: a column for each stage, and in a column the order of what
/// its steps wait for.
fn positions(graph: &Graph, focus: &Focus) -> Vec<(usize, usize)> {
    let mut stages: Vec<usize> = focus.shown.iter().map(|at| graph.nodes[*at].stage).collect();
    stages.sort_unstable();
    stages.dedup();
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); stages.len()];
    for &at in &focus.shown {
        if let Ok(column) = stages.binary_search(&graph.nodes[at].stage) {
            columns[column].push(at);
        }
    }
    let mut places = vec![(MARGIN, MARGIN); graph.nodes.len()];
    for (column, mut members) in columns.into_iter().enumerate() {
        members.sort_by_key(|&at| {
            let before = graph.nodes[at].depends_on.iter().filter(|at| focus.is_shown[**at]);
            let (count, sum) = before.fold((0, 0), |(n, sum), at| (n + 1, sum + places[*at].1));
            (sum.checked_div(count).unwrap_or(0), at)
        });
        for (row, at) in members.into_iter().enumerate() {
            places[at] = (MARGIN + column * COLUMN, MARGIN + row * ROW);
        }
    }
    places
}

/// Some of the steps.
pub(super) struct Focus {
    /// Their positions, in the order of the plan.
    pub(super) shown: Vec<usize>,
    /// Which steps are shown, by position.
    pub(super) is_shown: Vec<bool>,
}

impl Focus {
    /// At most `most` steps: first those on the critical path and those that run, failed or can be
    /// started, then what waits for them, then finished ones, newest first.
    pub(super) fn new(graph: &Graph, most: usize) -> Self {
        let count = graph.nodes.len();
        let mut is_shown = vec![count <= most; count];
        if count > most {
            let mut ranked: Vec<usize> = (0..count).collect();
            let mut place = vec![0; count];
            for (bit, &at) in graph.order.iter().enumerate() {
                place[at] = bit;
            }
            ranked.sort_by_key(|&at| {
                let node = &graph.nodes[at];
                match node.is_finished() {
                    false => (u8::from(!node.is_free), u8::from(!node.is_critical), place[at]),
                    true => (2, 0, count - place[at]),
                }
            });
            for at in ranked.into_iter().take(most) {
                is_shown[at] = true;
            }
        }
        let shown = (0..count).filter(|at| is_shown[*at]).collect();
        Self { shown, is_shown }
    }

    /// How many steps are not shown.
    pub(super) fn left_out(&self) -> usize {
        self.is_shown.len() - self.shown.len()
    }

    /// The dependencies between steps that are shown: before, after, whether they go in a circle.
    pub(super) fn arrows<'g>(
        &'g self,
        graph: &'g Graph,
    ) -> impl Iterator<Item = (usize, usize, bool)> + 'g {
        self.shown.iter().flat_map(move |&at| {
            let node = &graph.nodes[at];
            let plain = node.depends_on.iter().map(move |&before| (before, at, false));
            let round = node.circular.iter().map(move |&before| (before, at, true));
            plain.chain(round).filter(|(before, _, _)| self.is_shown[*before])
        })
    }
}
