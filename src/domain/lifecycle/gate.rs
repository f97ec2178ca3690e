//! Gates: moves that wait for a person, and what follows from a refusal.

use serde::{Deserialize, Serialize};

use crate::domain::{Plan, Step, StepRef, Subject, nearest::same_name};
use crate::domain::{PlanRole, StepRole, Workflow};

/// A move that waits for a person's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gate {
    /// The name its review is known by.
    pub name: String,
    /// What moves.
    pub subject: Subject,
    /// The only step it is about, by title or id; any step without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The status it moves to.
    pub to: String,
    /// A condition of the rule language on the state as it would be; without one the gate is always
    /// in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Where a refusal leads: the first that fits its reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reject: Vec<Route>,
}

/// The way back from a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// A condition of the rule language, which also knows the `reason`; without one it always fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The step that is begun again, with what was built on it; by title or id.
    pub reset: String,
}

/// What happens to a step that has failed as often as it may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AtLimit {
    /// A person is asked whether it is tried again.
    #[default]
    Review,
    /// It gets this status, which means that it failed.
    Status(String),
}

impl Gate {
    /// Whether a move of that step is meant.
    pub(crate) fn concerns(&self, step: Option<&Step>) -> bool {
        match (&self.step, step) {
            (None, _) => true,
            (Some(name), Some(step)) => is_called(step, name),
            (Some(_), None) => false,
        }
    }

    /// What a person is asked.
    pub(crate) fn question(&self, step: Option<&Step>) -> String {
        let of = step.map(|step| format!(" of {}", step.name())).unwrap_or_default();
        format!("gate {}{of}: {} to {}", self.name, self.subject, self.to)
    }
}

impl Plan {
    /// The step that a workflow means by that title, id or number.
    pub(crate) fn step_called(&self, name: &str) -> Option<&Step> {
        let name = name.trim();
        let mut called = self.steps.iter().filter(|step| is_called(step, name));
        if let Some(step) = called.next() {
            return called.next().is_none().then_some(step);
        }
        let reference = StepRef::parse(name).ok()?;
        self.step(&reference).ok()
    }
}

fn is_called(step: &Step, name: &str) -> bool {
    step.id.as_ref().is_some_and(|id| id.as_str() == name) || same_name(&step.title, name)
}

impl Workflow {
    /// The status that a plan gets first where nothing can be worked on in the one it has, such as
    /// `approved`: the first move on the shortest way to one that means it is active.
    pub(crate) fn plan_move_before_work(&self, from: &str) -> Option<&str> {
        let next = |status: &str| -> Vec<&str> {
            let known = self.plan.iter().find(|known| known.name == status);
            known.map_or_else(Vec::new, |known| known.next.iter().map(String::as_str).collect())
        };
        let from = self.plan_status(from)?;
        let is_active = |status: &&str| self.plan_role(status) == Some(PlanRole::Active);
        if self.plan_role(from) != Some(PlanRole::Planning) || next(from).iter().any(is_active) {
            return None;
        }
        // Statuses on the way, each with the move that it begins with.
        let mut ways: Vec<(&str, &str)> = next(from).into_iter().map(|one| (one, one)).collect();
        let mut at = 0;
        while let Some((status, first)) = ways.get(at).copied() {
            at += 1;
            if self.plan_role(status) != Some(PlanRole::Planning) {
                continue;
            }
            if next(status).iter().any(is_active) {
                return Some(first);
            }
            let new = next(status).into_iter();
            let new = new.filter(|one| *one != from && ways.iter().all(|(known, _)| known != one));
            let new: Vec<(&str, &str)> = new.map(|one| (one, first)).collect();
            ways.extend(new);
        }
        None
    }

    /// The statuses of steps that wait to be merged, in order; while it is merged a step has the
    /// last one.
    pub fn merge_queue(&self) -> &[String] {
        &self.merge_queue
    }

    /// Whether what was done for a step in a worktree can be merged: it is done, or waits for that.
    pub(crate) fn is_mergeable(&self, step: &Step) -> bool {
        let status = step.status.as_deref().and_then(|text| self.step_status(text));
        let is_queued = |status: &str| match self.merge_queue.as_slice() {
            // Without a queue, what can be completed at once.
            [] => self.step_moves(status).iter().any(|n| self.step_role(n) == Some(StepRole::Done)),
            queue => queue.iter().any(|queued| queued == status),
        };
        match self.role_of(step) {
            Some(StepRole::Done) => true,
            Some(StepRole::Waiting) => status.is_some_and(is_queued),
            _ => false,
        }
    }

    /// The statuses that a step in the merge queue still goes through until it is the last in the
    /// queue.
    pub(crate) fn merge_moves(&self, step: &Step) -> &[String] {
        let status = step.status.as_deref().and_then(|text| self.step_status(text));
        let at = self.merge_queue.iter().position(|queued| Some(queued.as_str()) == status);
        at.map_or(&[], |at| &self.merge_queue[at + 1..])
    }
}
