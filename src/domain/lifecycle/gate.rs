//! Gates: transitions that need a person's approval; and the merge queue.

use serde::{Deserialize, Serialize};

use crate::domain::{LifecycleSubject, Plan, Step, StepRef, nearest::same_name};
use crate::domain::{PlanRole, StepRole, Workflow};

/// A transition that needs a person's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gate {
    /// The name of its reviews.
    pub name: String,
    /// What changes its status.
    pub subject: LifecycleSubject,
    /// The only step that it applies to, by title or id; all steps if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The status that it guards.
    pub to: String,
    /// A condition in the rule language on the resulting state; without one the gate always applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// What a rejection leads to: the first route whose condition holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reject: Vec<Route>,
}

/// What follows a rejection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// A condition in the rule language, which may use `reason`; without one it always holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The step to reset with its dependents, by title or id.
    pub reset: String,
}

/// What happens to a step that has used all its attempts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AtLimit {
    /// A person is asked whether to try again.
    #[default]
    Review,
    /// It gets this failed status.
    Status(String),
}

impl Gate {
    /// Whether it applies to a step.
    pub(crate) fn concerns(&self, step: Option<&Step>) -> bool {
        match (&self.step, step) {
            (None, _) => true,
            (Some(name), Some(step)) => is_called(step, name),
            (Some(_), None) => false,
        }
    }

    /// The question of its review.
    pub(crate) fn question(&self, step: Option<&Step>) -> String {
        let of = step.map(|step| format!(" of {}", step.name())).unwrap_or_default();
        format!("gate {}{of}: {} to {}", self.name, self.subject, self.to)
    }
}

impl Plan {
    /// The step with that title, id or number.
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
    /// The first of several moves that a plan in planning needs until it is active, such as to
    /// `approved`; `None` if one move is enough.
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
        // Reachable statuses, each with the first move towards it.
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

    /// The statuses of steps that wait to be merged, in order; the last one is that of the step being
    /// merged.
    pub fn merge_queue(&self) -> &[String] {
        &self.merge_queue
    }

    /// Whether the work for a step in a worktree can be merged: it is done or in the merge queue.
    pub(crate) fn is_mergeable(&self, step: &Step) -> bool {
        let status = step.status().and_then(|text| self.step_status(text));
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

    /// The remaining statuses of the merge queue for a step.
    pub(crate) fn merge_moves(&self, step: &Step) -> &[String] {
        let status = step.status().and_then(|text| self.step_status(text));
        let at = self.merge_queue.iter().position(|queued| Some(queued.as_str()) == status);
        at.map_or(&[], |at| &self.merge_queue[at + 1..])
    }
}
