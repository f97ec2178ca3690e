use proptest::prelude::*;

use super::*;
use crate::text::{display::width, markdown::Document};

/// A plan of steps with title, status role, dependencies and minutes.
fn plan(steps: &[(&str, StepRole, &[usize], u64)]) -> Plan {
    let flow = Workflow::builtin();
    let mut text =
        String::from("# Execution Plan: Test\n\n## Metadata\n\n- **goal**: x\n\n## Steps\n");
    for (at, (title, role, before, minutes)) in steps.iter().enumerate() {
        let number = at + 1;
        text.push_str(&format!(
            "\n### Step {number}: {title}\n\n- **status**: {}\n",
            flow.step_with_role(*role)
        ));
        if !before.is_empty() {
            let list: Vec<String> = before.iter().map(usize::to_string).collect();
            text.push_str(&format!("- **depends_on**: {}\n", list.join(", ")));
        }
        if *minutes > 0 {
            text.push_str(&format!("- **estimated_time**: {minutes} minutes\n"));
        }
    }
    Plan::read(Document::from_bytes(text.into_bytes()).unwrap())
}

fn graph(steps: &[(&str, StepRole, &[usize], u64)]) -> Graph {
    Graph::new(&plan(steps), Workflow::builtin(), "group", |_| None)
}

use StepRole::{Active, Done, Failed, Open, Skipped};

fn diamond() -> Graph {
    graph(&[
        ("Collect", Done, &[], 5),
        ("Measure", Active, &[1], 30),
        ("Read", Open, &[1], 10),
        ("Compare", Open, &[1, 2, 3], 20),
        ("Write", Open, &[4, 2], 0),
    ])
}

#[test]
fn dependencies_that_follow_from_others_are_set_apart() {
    let graph = diamond();
    assert_eq!(graph.nodes[3].depends_on, [1, 2]);
    assert_eq!(graph.nodes[3].implied, [0]);
    assert_eq!(graph.nodes[4].depends_on, [3]);
    assert_eq!(graph.nodes[4].implied, [1]);
    assert_eq!(graph.nodes.iter().map(|node| node.stage).collect::<Vec<_>>(), [0, 1, 1, 2, 3]);
}

#[test]
fn the_critical_path_is_the_longest_of_what_is_left() {
    let graph = diamond();
    assert_eq!(graph.numbers(&graph.critical_path), [2, 4, 5]);
    assert_eq!(graph.critical_time(), (50 * 60_000, 1));
    let finished = graph_of_finished();
    assert_eq!(finished.numbers(&finished.critical_path), [1, 3]);
}

fn graph_of_finished() -> Graph {
    graph(&[("A", Done, &[], 5), ("B", Skipped, &[1], 1), ("C", Done, &[1], 7)])
}

#[test]
fn measured_time_replaces_the_estimate_of_a_finished_step() {
    let mut plan = plan(&[("A", Done, &[], 5), ("B", Open, &[1], 5)]);
    for (step, id) in plan.steps.iter_mut().zip(["k3f9", "b7xd"]) {
        step.id = crate::domain::StepId::parse(id);
    }
    let graph = Graph::new(&plan, Workflow::builtin(), "group", |_| Some(42));
    assert_eq!((graph.nodes[0].time_ms, graph.nodes[0].is_measured), (Some(42), true));
    assert_eq!((graph.nodes[1].time_ms, graph.nodes[1].is_measured), (Some(300_000), false));
}

#[test]
fn what_holds_up_most_and_what_can_start_are_reported() {
    let graph = diamond();
    assert_eq!(graph.numbers(&graph.ready()), [3]);
    assert_eq!(graph.numbers(&graph.bottlenecks(9)), [2, 3]);
    assert_eq!(graph.nodes[1].unblocks, 2);
}

#[test]
fn tracks_are_what_can_go_on_independently() {
    let graph = diamond();
    let tracks = Tracks::new(&graph);
    let steps: Vec<_> = tracks.tracks.iter().map(|track| graph.numbers(&track.steps)).collect();
    assert_eq!(steps, [vec![2], vec![3]]);
    assert_eq!(tracks.joins, [(3, vec![0, 1]), (4, vec![0, 1])]);
    let failed = self::graph(&[("A", Failed, &[], 0), ("B", Open, &[1], 0), ("C", Open, &[], 0)]);
    let tracks = Tracks::new(&failed);
    let steps: Vec<_> = tracks.tracks.iter().map(|track| failed.numbers(&track.steps)).collect();
    assert_eq!(steps, [vec![1, 2], vec![3]]);
}

#[test]
fn circles_and_missing_steps_are_contained() {
    let graph = graph(&[
        ("A", Open, &[3], 0),
        ("B", Open, &[1], 0),
        ("C", Open, &[2, 3], 0),
        ("D", Open, &[99], 0),
        ("E", Open, &[], 0),
    ]);
    assert!(graph.has_circle());
    assert_eq!(graph.numbers(&graph.ready()), [5]);
    assert_eq!(graph.nodes[3].missing, ["99"]);
    let tracks = Tracks::new(&graph);
    assert_eq!(graph.numbers(&tracks.stuck).len(), 4);
    let shown = text(&graph, 100).join("\n");
    assert!(shown.contains("circular") && shown.contains("99(missing)"), "{shown}");
    assert!(mermaid(&graph).contains("-.->|circular|"));
    assert!(svg(&graph, true).contains("class=\"circular\""));
}

#[test]
fn nothing_in_a_title_becomes_markup() {
    let hostile = "a\"]; click s0 \"javascript:alert(1)\" <script>&lt; ``` #x -->|b| \\\" 'q' {{}}";
    let graph = graph(&[(hostile, Open, &[], 0), ("`end`", Open, &[1], 0)]);
    let drawn = mermaid(&graph);
    for line in drawn.lines().filter(|line| line.contains("[\"")) {
        let label = line.split("[\"").nth(1).unwrap().split("\"]").next().unwrap();
        let is_plain = |c: char| c.is_alphanumeric() || " ,-#;✓✗▶–…".contains(c);
        assert!(label.chars().all(is_plain), "{line}");
        assert_eq!(line.matches('"').count(), 2, "{line}");
    }
    assert!(!drawn.contains("```") && !drawn.contains("<script"), "{drawn}");
    let picture = svg(&graph, true);
    assert!(!picture.contains("<script") && picture.contains("&lt;script&gt;"), "{picture}");
    let graphviz = dot(&graph);
    assert!(graphviz.contains("a\\\"]; click"), "{graphviz}");
}

#[test]
fn lines_fit_into_eighty_columns() {
    let long =
        "A title of many words that goes on and on, 漢字 too, until nobody reads it any more";
    let mut steps: Vec<(&str, StepRole, &[usize], u64)> = vec![(long, Active, &[], 90); 30];
    let all: Vec<usize> = (1..=30).collect();
    steps.push((long, Open, &all, 3));
    let graph = graph(&steps);
    for line in text(&graph, 100) {
        assert!(width(&line) <= 80, "{} {line}", width(&line));
    }
    let short = text(&graph, 5).join("\n");
    assert!(short.contains("26 more not shown: statedir plan graph --limit 31"), "{short}");
}

#[test]
fn ten_thousand_steps_are_contained() {
    let count: usize = 10_000;
    let before: Vec<Vec<usize>> =
        (1..=count).map(|n| (n.saturating_sub(4).max(1)..n).collect()).collect();
    let steps: Vec<(&str, StepRole, &[usize], u64)> =
        before.iter().map(|before| ("Do a part", Open, before.as_slice(), 1)).collect();
    let graph = graph(&steps);
    assert_eq!(graph.critical_path.len(), count);
    assert_eq!(graph.nodes[0].unblocks, count - 1);
    assert_eq!(graph.nodes[9_999].depends_on, [9_998]);
    assert!(mermaid(&graph).len() < 50_000, "GitHub shows no more than that");
    assert!(svg(&graph, true).len() < 500_000);
    assert!(text(&graph, 100).len() < 120);
}

proptest! {
    #[test]
    fn folding_keeps_what_can_be_reached(
        lists in prop::collection::vec(prop::collection::vec(1..14usize, 0..6), 1..14),
    ) {
        let steps: Vec<(&str, StepRole, &[usize], u64)> =
            lists.iter().map(|list| ("x", Open, list.as_slice(), 0)).collect();
        let graph = graph(&steps);
        let reach = |all: bool| -> Vec<Vec<bool>> {
            let count = graph.nodes.len();
            let mut reach = vec![vec![false; count]; count];
            for &at in &graph.order {
                let node = &graph.nodes[at];
                let implied: &[usize] = if all { &node.implied } else { &[] };
                for &before in node.depends_on.iter().chain(implied) {
                    let further = reach[before].clone();
                    for (own, more) in reach[at].iter_mut().zip(further) {
                        *own |= more;
                    }
                    reach[at][before] = true;
                }
            }
            reach
        };
        prop_assert_eq!(reach(true), reach(false));
        let reach = reach(true);
        for (at, node) in graph.nodes.iter().enumerate() {
            prop_assert!(!reach[at][at], "a circle is left");
            for &before in &node.depends_on {
                let others = node.depends_on.iter().filter(|other| **other != before);
                prop_assert!(!others.into_iter().any(|other| reach[*other][before]), "{} is implied", before);
            }
        }
        let tracks = Tracks::new(&graph);
        let listed: usize = tracks.tracks.iter().map(|track| track.steps.len()).sum();
        prop_assert_eq!(listed + tracks.joins.len() + tracks.stuck.len(), graph.nodes.len());
    }
}

#[cfg(feature = "board")]
#[test]
fn lines_lead_from_every_step_to_those_that_wait_for_it() {
    assert_eq!(rails(&diamond()), ["●─╮", "● │", "│ ●", "●─╯", "●"]);
    let apart = graph(&[("a", Open, &[], 0), ("b", Open, &[], 0), ("c", Open, &[1], 0)]);
    // Lanes that cross are drawn as crossing.
    assert_eq!(rails(&apart), ["●", "│ ●", "●"]);
    let crossing = graph(&[
        ("a", Open, &[], 0),
        ("b", Open, &[1], 0),
        ("c", Open, &[1], 0),
        ("d", Open, &[1], 0),
        ("e", Open, &[2, 4], 0),
        ("f", Open, &[3, 5], 0),
    ]);
    assert_eq!(rails(&crossing), ["●─┬─╮", "● │ │", "│ ● │", "│ │ ●", "●─┼─╯", "●─╯"]);
}

#[cfg(feature = "board")]
#[test]
fn a_plan_of_many_lanes_stays_narrow() {
    let wide: Vec<(&str, StepRole, &[usize], u64)> = std::iter::once(("root", Open, &[][..], 0))
        .chain((0..60).map(|_| ("leaf", Open, &[1][..], 0)))
        .collect();
    let drawn = rails(&graph(&wide));
    assert_eq!(drawn.len(), 61);
    assert!(drawn.iter().all(|row| row.chars().count() < 30 && row.matches('●').count() == 1));
}
