//! One step of the overview.

use serde::Serialize;

use super::super::{Environment, Error, Readiness, Snapshot, change, snapshot::liveness::Liveness};
use crate::{
    domain::{Claim, Plan, Step, StepRole, Workflow},
    recovery::{Holder, Waits},
};

/// A step, who holds it, and what it waits for.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct StepOverview {
    /// Its number.
    pub number: u32,
    /// Its id.
    pub id: Option<String>,
    /// Its title.
    pub title: String,
    /// Its status, in the lifecycle's spelling where that knows it.
    pub status: String,
    /// What that status means.
    #[serde(skip)]
    pub role: Option<StepRole>,
    /// How often it was started.
    pub attempts: u32,
    /// How often it failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// How often it may fail before a person is asked.
    #[serde(skip)]
    pub attempts_allowed: u32,
    /// Who works on it, or did last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) claimed_by: Option<Claim>,
    /// While it runs: who holds it, whether they still do, and how one can tell.
    #[serde(rename = "claim", skip_serializing_if = "Option::is_none")]
    pub(crate) holder: Option<Holder>,
    /// When it was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// Where its status means that it waits: that status, and those that may follow.
    #[serde(skip)]
    pub(crate) waits: Option<Waits>,
    /// What it still waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
    /// The group that keeps it from being started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    /// Whether it can be started now.
    #[serde(skip)]
    pub is_ready: bool,
}

impl StepOverview {
    /// The same without what only this moment tells.
    #[must_use]
    pub(crate) fn into_written(mut self) -> Self {
        (self.holder, self.failures) = (None, 0);
        self
    }

    /// Milliseconds since it was started last.
    pub fn age_ms(&self, env: &Environment) -> Option<u64> {
        env.since(self.started_at.as_deref()?)
    }

    /// Whether somebody works on it.
    pub fn is_running(&self) -> bool {
        self.role == Some(StepRole::Active)
    }

    /// Whether it has failed and was not retried.
    pub fn is_failed(&self) -> bool {
        self.role == Some(StepRole::Failed)
    }

    /// Whether it is done or left out.
    pub fn is_finished(&self) -> bool {
        self.role.is_some_and(StepRole::is_finished)
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// All steps of a plan, in order.
pub(super) fn overviews(
    plan: &Plan,
    workflow: &Workflow,
    readiness: &Readiness<'_>,
    liveness: &Liveness,
) -> Vec<StepOverview> {
    let steps = plan.steps.iter().zip(readiness.roles()).enumerate();
    let overview = |(at, (step, role)): (usize, (&Step, &Option<StepRole>))| {
        let open = || workflow.step_with_role(StepRole::Open);
        let written = workflow.status_of(step).unwrap_or_else(open);
        let unmet = readiness.unmet(step);
        let counted = || Workflow::counted_failures(step, *role);
        StepOverview {
            number: step.number,
            id: step.id.as_ref().map(ToString::to_string),
            title: step.title.clone(),
            status: workflow.step_status(written).unwrap_or(written).to_owned(),
            role: *role,
            attempts: step.attempts,
            attempts_allowed: change::attempts_allowed_by(workflow, plan, step),
            failures: step.failures.unwrap_or_else(counted),
            claimed_by: step.claimed_by.clone(),
            holder: (*role == Some(StepRole::Active)).then(|| liveness.holder(step, workflow)),
            started_at: step.started_at.clone(),
            waits: Waits::of(step, *role, workflow),
            is_ready: readiness.is_ready(at),
            held_by: (*role == Some(StepRole::Open)).then(|| readiness.held_by(at)).flatten(),
            waits_for: unmet.iter().map(|wanted| readiness.name(wanted)).collect(),
        }
    };
    steps.map(overview).collect()
}

impl Snapshot {
    /// The first step that can be started.
    ///
    /// # Errors
    /// There is none; the error says why.
    pub(crate) fn next_step(&self) -> Result<Step, Error> {
        let plan = self.plan()?;
        let workflow = self.workflow()?;
        let readiness = Readiness::new(&plan, &workflow);
        change::refuse_while_open(&plan)?;
        let first = readiness.ready().next().cloned();
        first.ok_or_else(|| match self.overview() {
            Ok(overview) => change::no_ready_step(&overview),
            Err(error) => error,
        })
    }
}
