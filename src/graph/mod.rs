//! The plan as a graph: what comes before what, what takes longest, what can run now.
//!
//! Nothing here knows a status by its word: roles say what is finished, running or open.

mod formats;
#[cfg(feature = "board")]
mod rails;
mod svg;
mod text;
mod topology;
mod tracks;

use serde_json::{Value, json};

use crate::domain::{Plan, Step, StepPositions, StepRef, StepRole, Workflow, parse_duration_ms};

#[cfg(feature = "board")]
pub(crate) use self::rails::rails;
pub(crate) use self::{
    formats::{dot, mermaid},
    svg::{STYLE, svg},
    text::{summary, text},
    topology::first_circle,
    tracks::Tracks,
};

/// The word for what a status means: `open`, `active`, `done`, …; `unknown` for none.
pub(crate) fn role_word(role: Option<StepRole>) -> String {
    let word = role.and_then(|role| serde_json::to_value(role).ok());
    word.as_ref().and_then(|word| word.as_str()).unwrap_or("unknown").to_owned()
}

/// A plan's steps with what follows from their dependencies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// The plan's title.
    pub title: String,
    /// The steps in the order of the plan; all numbers below are positions in it.
    pub nodes: Vec<Node>,
    /// Every step behind those that it waits for.
    pub order: Vec<usize>,
    /// The chain of steps that takes longest, of those that are not finished if there are any.
    pub critical_path: Vec<usize>,
    /// Whether implied dependencies are marked; not in a huge plan.
    pub marks_implied: bool,
}

/// One step.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub number: u32,
    pub id: Option<String>,
    pub title: String,
    /// Its status in the lifecycle's spelling.
    pub status: String,
    /// What that means.
    pub role: Option<StepRole>,
    /// The group it belongs to.
    pub group: Option<String>,
    /// Who works on it, or did last.
    pub actor: Option<String>,
    /// How long it takes, or took.
    pub time_ms: Option<u64>,
    /// Whether that was measured; else it is an estimate.
    pub is_measured: bool,
    /// What it waits for directly.
    pub depends_on: Vec<usize>,
    /// The dependencies that it names although they follow from others.
    pub implied: Vec<usize>,
    /// The dependencies that lead back to this step.
    pub circular: Vec<usize>,
    /// What it waits for that is not in the plan.
    pub missing: Vec<String>,
    /// Whether everything that it waits for is finished.
    pub is_free: bool,
    /// How many steps in a row come before it at least.
    pub stage: usize,
    /// How many unfinished steps wait for it, directly or not.
    pub unblocks: usize,
    /// Whether it is on the critical path.
    pub is_critical: bool,
}

impl Node {
    /// Whether it is done or left out.
    pub(crate) fn is_finished(&self) -> bool {
        self.role.is_some_and(StepRole::is_finished)
    }

    /// Whether it can be started now.
    pub(crate) fn is_ready(&self) -> bool {
        self.role == Some(StepRole::Open) && self.is_free
    }
}

impl Graph {
    /// The graph of a plan. `measured` is how long the attempts at a step took, by its id;
    /// `group_by` is the field that says which group a step belongs to.
    pub(crate) fn new(
        plan: &Plan,
        workflow: &Workflow,
        group_by: &str,
        measured: impl Fn(&str) -> Option<u64>,
    ) -> Self {
        let positions = StepPositions::new(plan);
        let steps = plan.steps.iter();
        let mut nodes: Vec<Node> =
            steps.map(|step| node(step, workflow, group_by, &measured)).collect();
        let named: Vec<Vec<usize>> =
            plan.steps.iter().map(|step| named(&positions, step)).collect();
        for (at, step) in plan.steps.iter().enumerate() {
            let is_missing = |wanted: &&StepRef| positions.find(wanted).is_none();
            nodes[at].missing =
                step.depends_on.iter().filter(is_missing).map(ToString::to_string).collect();
            let is_met = |before: &usize| nodes[*before].is_finished();
            nodes[at].is_free = nodes[at].missing.is_empty() && named[at].iter().all(is_met);
        }
        let (order, circular) = topology::order(&named);
        for (at, back) in circular.into_iter().enumerate() {
            nodes[at].depends_on =
                named[at].iter().copied().filter(|before| !back.contains(before)).collect();
            nodes[at].circular = back;
        }
        let marks_implied = topology::mark_implied(&mut nodes, &order);
        for &at in &order {
            let before = nodes[at].depends_on.iter().map(|before| nodes[*before].stage + 1);
            nodes[at].stage = before.max().unwrap_or(0);
        }
        let critical_path = topology::critical_path(&nodes, &order);
        for &at in &critical_path {
            nodes[at].is_critical = true;
        }
        Self { title: plan.title.clone(), nodes, order, critical_path, marks_implied }
    }

    /// The steps that can be started now, those that unblock most first.
    pub(crate) fn ready(&self) -> Vec<usize> {
        let mut ready: Vec<usize> =
            (0..self.nodes.len()).filter(|at| self.nodes[*at].is_ready()).collect();
        ready.sort_by_key(|at| (std::cmp::Reverse(self.nodes[*at].unblocks), *at));
        ready
    }

    /// The unfinished steps that most others wait for, at most `most`.
    pub(crate) fn bottlenecks(&self, most: usize) -> Vec<usize> {
        let holds_up = |at: &usize| !self.nodes[*at].is_finished() && self.nodes[*at].unblocks > 1;
        let mut found: Vec<usize> = (0..self.nodes.len()).filter(holds_up).collect();
        found.sort_by_key(|at| (std::cmp::Reverse(self.nodes[*at].unblocks), *at));
        found.truncate(most);
        found
    }

    /// How long the critical path takes, and how many of its steps do not say.
    pub(crate) fn critical_time(&self) -> (u64, usize) {
        let times = self.critical_path.iter().map(|at| self.nodes[*at].time_ms);
        let unknown = times.clone().filter(Option::is_none).count();
        (times.flatten().fold(0, u64::saturating_add), unknown)
    }

    /// Whether some steps wait for each other.
    pub(crate) fn has_circle(&self) -> bool {
        self.nodes.iter().any(|node| !node.circular.is_empty())
    }

    fn numbers(&self, positions: &[usize]) -> Vec<u32> {
        positions.iter().map(|at| self.nodes[*at].number).collect()
    }

    /// Everything, for programs.
    pub(crate) fn json(&self) -> Value {
        let step = |node: &Node| {
            json!({
                "number": node.number,
                "id": node.id,
                "title": node.title,
                "status": node.status,
                "role": node.role,
                "group": node.group,
                "actor": node.actor,
                "time_ms": node.time_ms,
                "measured": node.is_measured,
                "depends_on": self.numbers(&node.depends_on),
                "implied": self.numbers(&node.implied),
                "circular": self.numbers(&node.circular),
                "missing": node.missing,
                "ready": node.is_ready(),
                "stage": node.stage,
                "unblocks": node.unblocks,
                "critical": node.is_critical,
            })
        };
        let (time_ms, without_time) = self.critical_time();
        let bottlenecks = self.bottlenecks(10).into_iter().map(|at| {
            let node = &self.nodes[at];
            json!({ "number": node.number, "title": node.title, "unblocks": node.unblocks })
        });
        json!({
            "title": self.title,
            "steps": self.nodes.iter().map(step).collect::<Vec<_>>(),
            "critical_path": {
                "steps": self.numbers(&self.critical_path),
                "time_ms": time_ms,
                "without_time": without_time,
            },
            "ready": self.numbers(&self.ready()),
            "bottlenecks": bottlenecks.collect::<Vec<_>>(),
            "folded": self.marks_implied,
        })
    }
}

fn node(
    step: &Step,
    workflow: &Workflow,
    group_by: &str,
    measured: &impl Fn(&str) -> Option<u64>,
) -> Node {
    let role = workflow.role_of(step);
    let open = || workflow.step_with_role(StepRole::Open).to_owned();
    let written = step.status.clone().unwrap_or_else(open);
    let estimated = step.details().estimated_time.as_deref().and_then(parse_duration_ms);
    let took = step.id.as_ref().and_then(|id| measured(id.as_str()));
    let (time_ms, is_measured) = match role.is_some_and(StepRole::is_finished) {
        true => (took.or(estimated), took.is_some()),
        false => (estimated.or(took), estimated.is_none() && took.is_some()),
    };
    Node {
        number: step.number,
        id: step.id.as_ref().map(ToString::to_string),
        title: step.title.clone(),
        status: workflow.step_status(&written).map(str::to_owned).unwrap_or(written),
        role,
        group: group(step, group_by),
        actor: step.claimed_by.as_ref().map(|claim| claim.actor.clone()),
        time_ms,
        is_measured,
        depends_on: Vec::new(),
        implied: Vec::new(),
        circular: Vec::new(),
        missing: Vec::new(),
        is_free: false,
        stage: 0,
        unblocks: 0,
        is_critical: false,
    }
}

fn group(step: &Step, key: &str) -> Option<String> {
    if key.eq_ignore_ascii_case("component") {
        return step.details().component.clone();
    }
    let own = step.details().other.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
    own.map(|(_, value)| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// The steps that a step names, each once.
fn named(positions: &StepPositions<&Plan>, step: &Step) -> Vec<usize> {
    let mut named: Vec<usize> =
        step.depends_on.iter().filter_map(|wanted| positions.find(wanted)).collect();
    named.sort_unstable();
    named.dedup();
    named
}

#[cfg(test)]
mod tests;
