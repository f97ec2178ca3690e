//! Lines of work that do not depend on each other: who could take what next.

use std::cmp::Reverse;

use serde_json::{Value, json};

use super::{Graph, Node, role_word};
use crate::{
    domain::{StepRole, format_duration},
    text::display::fit,
};

/// How many tracks a step that needs several is listed with.
const MOST_JOINED: usize = 20;

/// The unfinished steps by the tracks they belong to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracks {
    /// The tracks, the most important first.
    pub tracks: Vec<Track>,
    /// Steps that need several tracks, with the places of these in the list.
    pub joins: Vec<(usize, Vec<usize>)>,
    /// Steps that cannot be reached: they wait for each other or for what is not in the plan.
    pub stuck: Vec<usize>,
}

/// Steps for one after another; the first can be worked on now.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    /// The step that can be worked on now, then those that wait for nothing but this track.
    pub steps: Vec<usize>,
}

#[derive(Clone)]
enum Owner {
    Finished,
    Stuck,
    One(usize),
    Several(Vec<usize>),
}

impl Tracks {
    /// The tracks of a plan.
    pub(crate) fn new(graph: &Graph) -> Self {
        let nodes = &graph.nodes;
        let mut heads: Vec<usize> = (0..nodes.len())
            .filter(|at| !nodes[*at].is_finished() && is_actionable(&nodes[*at]))
            .collect();
        let rank = |node: &Node| (node.role != Some(StepRole::Active), !node.is_critical);
        heads.sort_by_key(|at| (rank(&nodes[*at]), Reverse(nodes[*at].unblocks), *at));
        let mut found = Self::default();
        let mut owners = vec![Owner::Stuck; nodes.len()];
        for (track, &at) in heads.iter().enumerate() {
            owners[at] = Owner::One(track);
            found.tracks.push(Track { steps: vec![at] });
        }
        for &at in &graph.order {
            if nodes[at].is_finished() {
                owners[at] = Owner::Finished;
                continue;
            }
            if matches!(owners[at], Owner::One(_)) {
                continue;
            }
            owners[at] = owner(&nodes[at], &owners);
            match &owners[at] {
                Owner::One(track) => found.tracks[*track].steps.push(at),
                Owner::Several(tracks) => found.joins.push((at, tracks.clone())),
                Owner::Stuck | Owner::Finished => found.stuck.push(at),
            }
        }
        found
    }

    /// The same for programs.
    pub(crate) fn json(&self, graph: &Graph) -> Value {
        let track = |track: &Track| {
            let first = &graph.nodes[track.steps[0]];
            json!({
                "role": role_word(first.role),
                "actor": first.actor.as_ref().filter(|_| first.role == Some(StepRole::Active)),
                "steps": graph.numbers(&track.steps),
                "critical": first.is_critical,
                "unblocks": first.unblocks,
                "command": command(first),
            })
        };
        let join = |(step, tracks): &(usize, Vec<usize>)| {
            let numbers: Vec<usize> = tracks.iter().map(|track| track + 1).collect();
            json!({ "step": graph.nodes[*step].number, "tracks": numbers })
        };
        json!({
            "tracks": self.tracks.iter().map(track).collect::<Vec<_>>(),
            "joins": self.joins.iter().map(join).collect::<Vec<_>>(),
            "stuck": graph.numbers(&self.stuck),
        })
    }

    /// The same for people, at most so many of each.
    pub(crate) fn text(&self, graph: &Graph, most: usize) -> Vec<String> {
        if self.tracks.is_empty() && self.stuck.is_empty() {
            return vec!["every step is finished".to_owned()];
        }
        let mut lines = Vec::new();
        let name = |at: usize, room: usize| {
            let node = &graph.nodes[at];
            let time = node.time_ms.map(|ms| format!(" ({})", format_duration(ms)));
            format!("{} {}{}", node.number, fit(&node.title, room), time.unwrap_or_default())
        };
        for (number, track) in self.tracks.iter().take(most).enumerate() {
            let first = &graph.nodes[track.steps[0]];
            let who = match (first.role, &first.actor) {
                (Some(StepRole::Active), Some(actor)) => fit(actor, 14),
                (Some(StepRole::Open), _) => "free".to_owned(),
                _ => role_word(first.role),
            };
            let critical = if first.is_critical { " *" } else { "" };
            let start = name(track.steps[0], 30);
            let hint = command(first).map(|hint| format!("  {hint}")).unwrap_or_default();
            lines.push(format!("track {:<3} {who:<14} {start}{critical}{hint}", number + 1));
            let then: Vec<String> =
                track.steps[1..].iter().take(3).map(|at| name(*at, 40)).collect();
            lines.extend(then.iter().map(|then| format!("{:24} then {then}", "")));
            if track.steps.len() > 4 {
                lines.push(format!("{:24} and {} more", "", track.steps.len() - 4));
            }
        }
        if self.tracks.len() > most {
            lines.push(format!(
                "… {} more tracks: statedir plan tracks --json",
                self.tracks.len() - most
            ));
        }
        for (step, tracks) in self.joins.iter().take(most) {
            let numbers: Vec<String> = tracks.iter().take(8).map(|n| (n + 1).to_string()).collect();
            let more = if tracks.len() > 8 { ", …" } else { "" };
            lines.push(format!("after tracks {}{more}: {}", numbers.join(", "), name(*step, 34)));
        }
        if self.joins.len() > most {
            lines.push(format!("… {} more steps need several tracks", self.joins.len() - most));
        }
        if !self.stuck.is_empty() {
            let numbers: Vec<String> =
                graph.numbers(&self.stuck).iter().take(10).map(u32::to_string).collect();
            let more = if self.stuck.len() > 10 { ", …" } else { "" };
            lines.push(format!("out of reach: {}{more}: statedir check", numbers.join(", ")));
        }
        lines.into_iter().map(|line| fit(&line, 100)).collect()
    }
}

/// Whether it can be acted on: it runs, failed or waits for a person, or everything before it is finished.
fn is_actionable(node: &Node) -> bool {
    node.is_free || matches!(node.role, Some(StepRole::Active | StepRole::Failed))
}

/// The command that takes a free step.
fn command(node: &Node) -> Option<String> {
    node.is_ready().then(|| format!("statedir step start {}", node.number))
}

fn owner(node: &Node, owners: &[Owner]) -> Owner {
    if !node.missing.is_empty() || !node.circular.is_empty() {
        return Owner::Stuck;
    }
    let mut tracks: Vec<usize> = Vec::new();
    for &before in &node.depends_on {
        match &owners[before] {
            Owner::Finished => {}
            Owner::Stuck => return Owner::Stuck,
            Owner::One(track) => tracks.push(*track),
            Owner::Several(several) => tracks.extend(several),
        }
    }
    tracks.sort_unstable();
    tracks.dedup();
    match tracks.as_slice() {
        [] => Owner::Stuck,
        [one] => Owner::One(*one),
        _ => {
            tracks.truncate(MOST_JOINED);
            Owner::Several(tracks)
        }
    }
}
