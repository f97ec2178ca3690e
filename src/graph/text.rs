//! The graph as lines for a terminal of 80 columns.

use super::{Graph, Node};
use crate::{
    domain::{StepRole, format_duration},
    text::display::{fit, width},
};

/// How wide a line may be.
const WIDTH: usize = 80;

/// A line for each step, at most `most`; then the critical path, what can run now, and the
/// bottlenecks.
pub(crate) fn text(graph: &Graph, most: usize) -> Vec<String> {
    let count = graph.nodes.len();
    if count == 0 {
        return vec!["the plan has no steps".to_owned()];
    }
    let finished = graph.nodes.iter().filter(|node| node.is_finished()).count();
    let title = fit(&graph.title, 50);
    let mut lines = vec![format!("{title}: {finished} of {count} steps finished"), String::new()];
    // If not all fit, finished steps are left out first.
    let folds = count > most;
    let rows = (0..count).filter(|at| !folds || !graph.nodes[*at].is_finished());
    let mut group: Option<&str> = None;
    let mut shown = 0;
    for at in rows.take(most) {
        let node = &graph.nodes[at];
        if node.group.as_deref() != group {
            group = node.group.as_deref();
            lines.push(format!("{}:", fit(group.unwrap_or("no group"), WIDTH - 1)));
        }
        lines.push(row(graph, node));
        shown += 1;
    }
    if folds {
        let open = count - finished - shown;
        let folded = if finished > 0 { format!("{finished} finished") } else { String::new() };
        let open = if open > 0 { format!("{open} more") } else { String::new() };
        let parts: Vec<String> =
            [folded, open].into_iter().filter(|part| !part.is_empty()).collect();
        lines
            .push(format!("… {} not shown: statedir plan graph --limit {count}", parts.join(", ")));
    }
    lines.push(String::new());
    lines.extend(summary(graph));
    lines
}

/// ` 3 ▶ Compare   ← 1 2   30m`, with `*` on the critical path.
fn row(graph: &Graph, node: &Node) -> String {
    let mark =
        node.role.and_then(StepRole::mark).unwrap_or(if node.is_ready() { '·' } else { ' ' });
    let critical = if node.is_critical && graph.critical_path.len() > 1 { '*' } else { ' ' };
    let mut before = graph.numbers(&node.depends_on).iter().map(u32::to_string).collect::<Vec<_>>();
    before.extend(graph.numbers(&node.circular).iter().map(|number| format!("{number}(circular)")));
    before.extend(node.missing.iter().map(|name| format!("{}(missing)", fit(name, 12))));
    let before = match before.is_empty() {
        true => String::new(),
        false => fit(&format!("← {}", before.join(" ")), 24),
    };
    let time = node.time_ms.map(format_duration).unwrap_or_default();
    let mut end = before;
    if !time.is_empty() {
        end = format!("{end}{}{time}", if end.is_empty() { "" } else { "  " });
    }
    if let Some(actor) = node.actor.as_deref().filter(|_| node.role == Some(StepRole::Active)) {
        end = format!("{end}  {}", fit(actor, 14));
    }
    let start = format!("{critical}{:>4} {mark} ", node.number);
    let room = WIDTH - width(&start) - width(&end) - 2;
    let title = fit(&node.title, room.min(44));
    let gap = room.min(44) - width(&title);
    format!("{start}{title}{}  {end}", " ".repeat(gap)).trim_end().to_owned()
}

/// What follows from the graph, in a few lines.
pub(crate) fn summary(graph: &Graph) -> Vec<String> {
    let mut lines = Vec::new();
    let list = |positions: &[usize], between: &str, most: usize| {
        let mut numbers: Vec<String> =
            graph.numbers(positions).iter().take(most).map(u32::to_string).collect();
        if positions.len() > most {
            numbers.push(format!("… ({} in all)", positions.len()));
        }
        numbers.join(between)
    };
    if graph.critical_path.len() > 1 {
        let (time, unknown) = graph.critical_time();
        let took = match (time, unknown) {
            (0, _) => format!(" ({} steps)", graph.critical_path.len()),
            (time, 0) => format!(" ({})", format_duration(time)),
            (time, unknown) => {
                format!(" ({}, {unknown} without a time)", format_duration(time))
            }
        };
        lines.push(format!("critical path*  {}{took}", list(&graph.critical_path, " → ", 8)));
    }
    let running: Vec<usize> = (0..graph.nodes.len())
        .filter(|at| graph.nodes[*at].role == Some(StepRole::Active))
        .collect();
    if !running.is_empty() {
        lines.push(format!("running         {}", list(&running, ", ", 12)));
    }
    let ready = graph.ready();
    if !ready.is_empty() {
        lines.push(format!("can start now   {}", list(&ready, ", ", 12)));
    }
    let held: Vec<String> = graph
        .bottlenecks(3)
        .into_iter()
        .map(|at| format!("{} ({} wait for it)", graph.nodes[at].number, graph.nodes[at].unblocks))
        .collect();
    if !held.is_empty() {
        lines.push(format!("bottlenecks     {}", held.join(", ")));
    }
    if graph.has_circle() {
        lines.push("some steps wait for each other: statedir check".to_owned());
    }
    if !graph.marks_implied {
        lines.push("the plan is too large: implied dependencies are shown, too".to_owned());
    }
    lines.into_iter().map(|line| fit(&line, WIDTH)).collect()
}
