//! Which steps can be started, and what the others wait for.

use std::{ops::Deref, sync::Arc};

use crate::domain::{
    Group, Groups, Hold, Plan, Step, StepCounts, StepPositions, StepRef, StepRole as Role, Workflow,
};
use crate::{graph::first_circle, workspace::change};

/// Answers questions about dependencies without searching the plan for each. The plan is borrowed,
/// or shared by those who ask later.
#[derive(Debug)]
pub(crate) struct Readiness<P> {
    positions: StepPositions<P>,
    roles: Vec<Option<Role>>,
    groups: Option<Groups>,
}

impl Readiness<Arc<Plan>> {
    /// Looks at all steps of a plan that is shared.
    pub(crate) fn shared(plan: &Arc<Plan>, workflow: &Workflow) -> Self {
        Self::of(Arc::clone(plan), workflow)
    }
}

impl<'p> Readiness<&'p Plan> {
    /// Looks at all steps of a plan.
    pub(crate) fn new(plan: &'p Plan, workflow: &Workflow) -> Self {
        Self::of(plan, workflow)
    }

    /// The steps that can be started now, in order.
    pub(crate) fn ready(&self) -> impl Iterator<Item = &'p Step> {
        let steps = self.positions.plan.steps.iter().enumerate();
        steps.filter(|(at, _)| self.is_ready(*at)).map(|(_, step)| step)
    }

    /// The steps of one dependency cycle, if there is one, in order.
    pub(crate) fn cycle(&self) -> Option<Vec<&'p Step>> {
        let steps = &self.positions.plan.steps;
        let edge = |at: usize, nth: usize| {
            let wanted = steps[at].depends_on.get(nth)?;
            Some(self.position(wanted))
        };
        let cycle = first_circle(steps.len(), edge)?;
        Some(cycle.into_iter().map(|at| &steps[at]).collect())
    }
}

impl<P: Deref<Target = Plan>> Readiness<P> {
    fn of(plan: P, workflow: &Workflow) -> Self {
        let roles = workflow.roles_of(&plan.steps);
        let is_final = |at: usize| change::has_failed_for_good(workflow, &plan, &plan.steps[at]);
        let groups = workflow.group().map(|field| Groups::new(field, &plan, &roles, is_final));
        Self { positions: StepPositions::new(plan), roles, groups }
    }

    /// The role of each step's status, in order; `None` for an unknown status.
    pub(crate) fn roles(&self) -> &[Option<Role>] {
        &self.roles
    }

    /// The steps counted by role.
    pub(crate) fn counts(&self) -> StepCounts {
        let numbers = self.positions.plan.steps.iter().map(|step| step.number);
        StepCounts::of(&numbers.zip(self.roles.iter().copied()).collect::<Vec<_>>())
    }

    /// Whether the step at that place of the plan can be started now.
    pub(crate) fn is_ready(&self, at: usize) -> bool {
        self.roles[at] == Some(Role::Open)
            && self.hold(at).is_none()
            && self.unmet(&self.positions.plan.steps[at]).is_empty()
    }

    /// The group that keeps the step at that place of the plan from being started.
    pub(crate) fn hold(&self, at: usize) -> Option<Hold<'_>> {
        self.groups.as_ref()?.hold(at)
    }

    /// The groups of the plan, if the lifecycle has any.
    pub(crate) fn groups(&self) -> Option<&Groups> {
        self.groups.as_ref()
    }

    /// Why the current group cannot go on, if a step that failed for good stops it.
    pub(crate) fn stopped(&self) -> Option<String> {
        let groups = self.groups.as_ref()?;
        groups.stopped().map(|group| self.stop(groups, group))
    }

    /// The same for a step at that place of the plan: what it waits for besides other steps.
    pub(crate) fn held_by(&self, at: usize) -> Option<String> {
        let groups = self.groups.as_ref()?;
        let group = groups.hold(at)?.group();
        if group.stopped_by.is_some() {
            return Some(self.stop(groups, group));
        }
        let (field, Group { name, finished, total, .. }) = (&groups.field, group);
        Some(format!("{field} {name} ({finished}/{total})"))
    }

    /// `layer 2-backend, stopped by step 5 (L2-003)`.
    fn stop(&self, groups: &Groups, group: &Group) -> String {
        let step =
            group.stopped_by.map(|at| self.positions.plan.steps[at].name()).unwrap_or_default();
        format!("{} {}, stopped by {step}", groups.field, group.name)
    }

    /// What a step still waits for: steps that are not finished or not there.
    pub(crate) fn unmet(&self, step: &Step) -> Vec<StepRef> {
        let met = |wanted: &&StepRef| {
            let role = self.position(wanted).and_then(|at| self.roles[at]);
            !role.is_some_and(Role::is_finished)
        };
        step.depends_on.iter().filter(met).cloned().collect()
    }

    /// A step's number and id, as far as it is there: `3 (k3f9)`.
    pub(crate) fn name(&self, step: &StepRef) -> String {
        let found = self.position(step).map(|at| &self.positions.plan.steps[at]);
        match found.map(|found| (found.number, &found.id)) {
            Some((number, Some(id))) => format!("{number} ({id})"),
            Some((number, None)) => number.to_string(),
            None => step.to_string(),
        }
    }

    /// Where in the plan's list a step is.
    pub(crate) fn position(&self, step: &StepRef) -> Option<usize> {
        self.positions.find(step)
    }
}
