//! Which steps can be started, and what the others wait for.

use std::{
    collections::HashMap,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use crate::domain::{
    Group, Groups, Hold, Plan, Step, StepCounts, StepId, StepRef, StepRole as Role, Workflow,
};
use crate::workspace::change;

/// Answers questions about dependencies without searching the plan for each. The plan is borrowed,
/// or shared by those who ask later.
#[derive(Debug)]
pub(crate) struct Readiness<P> {
    plan: P,
    roles: Vec<Option<Role>>,
    /// Made when a step waits for another one.
    by_number: OnceLock<HashMap<u32, usize>>,
    /// The places of the steps that have an id, in the order of the ids.
    by_id: OnceLock<Vec<usize>>,
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
        let steps = self.plan.steps.iter().enumerate();
        steps.filter(|(at, _)| self.is_ready(*at)).map(|(_, step)| step)
    }

    /// The steps of one dependency cycle, if there is one, in order.
    pub(crate) fn cycle(&self) -> Option<Vec<&'p Step>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Closed,
        }
        let mut marks = vec![Mark::New; self.plan.steps.len()];
        for start in 0..marks.len() {
            // An explicit stack: a chain of ten thousand steps must not exhaust the real one.
            let mut path: Vec<(usize, usize)> = vec![(start, 0)];
            while let Some((at, next)) = path.last().copied() {
                if next == 0 {
                    if marks[at] != Mark::New {
                        path.pop();
                        continue;
                    }
                    marks[at] = Mark::Open;
                }
                let Some(wanted) = self.plan.steps[at].depends_on.get(next) else {
                    marks[at] = Mark::Closed;
                    path.pop();
                    continue;
                };
                if let Some(last) = path.last_mut() {
                    last.1 += 1;
                }
                match self.position(wanted) {
                    Some(before) if marks[before] == Mark::Open => {
                        let from = path.iter().position(|(step, _)| *step == before).unwrap_or(0);
                        return Some(
                            path[from..].iter().map(|(s, _)| &self.plan.steps[*s]).collect(),
                        );
                    }
                    Some(before) if marks[before] == Mark::New => path.push((before, 0)),
                    _ => {}
                }
            }
        }
        None
    }
}

impl<P: Deref<Target = Plan>> Readiness<P> {
    fn of(plan: P, workflow: &Workflow) -> Self {
        let roles = workflow.roles_of(&plan.steps);
        let is_final = |at: usize| change::has_failed_for_good(workflow, &plan, &plan.steps[at]);
        let groups = workflow.group().map(|field| Groups::new(field, &plan, &roles, is_final));
        Self { plan, roles, groups, by_number: OnceLock::new(), by_id: OnceLock::new() }
    }

    /// The role of each step's status, in order; `None` for an unknown status.
    pub(crate) fn roles(&self) -> &[Option<Role>] {
        &self.roles
    }

    /// The steps counted by role.
    pub(crate) fn counts(&self) -> StepCounts {
        let numbers = self.plan.steps.iter().map(|step| step.number);
        StepCounts::of(&numbers.zip(self.roles.iter().copied()).collect::<Vec<_>>())
    }

    /// Whether the step at that place of the plan can be started now.
    pub(crate) fn is_ready(&self, at: usize) -> bool {
        self.roles[at] == Some(Role::Open)
            && self.hold(at).is_none()
            && self.unmet(&self.plan.steps[at]).is_empty()
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
        let step = group.stopped_by.map(|at| self.plan.steps[at].name()).unwrap_or_default();
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
        let found = self.position(step).map(|at| &self.plan.steps[at]);
        match found.map(|found| (found.number, &found.id)) {
            Some((number, Some(id))) => format!("{number} ({id})"),
            Some((number, None)) => number.to_string(),
            None => step.to_string(),
        }
    }

    /// Where in the plan's list a step is.
    pub(crate) fn position(&self, step: &StepRef) -> Option<usize> {
        match step {
            StepRef::Number(number) => self.by_number(*number),
            StepRef::Id(id) => self.by_id(id.as_str()),
            StepRef::Label(label) => {
                let by_id = self.by_id(label);
                by_id.or_else(|| self.plan.steps.iter().position(|found| found.is(step)))
            }
        }
    }

    /// The last step with that number.
    fn by_number(&self, number: u32) -> Option<usize> {
        let steps = || self.plan.steps.iter().enumerate();
        let all = || steps().map(|(at, step)| (step.number, at)).collect();
        self.by_number.get_or_init(all).get(&number).copied()
    }

    /// The last step with that id.
    fn by_id(&self, wanted: &str) -> Option<usize> {
        let id = |at: usize| self.plan.steps[at].id.as_ref().map(StepId::as_str);
        let places = self.by_id.get_or_init(|| {
            let mut places: Vec<usize> = (0..self.plan.steps.len()).collect();
            places.retain(|at| id(*at).is_some());
            places.sort_by_key(|at| id(*at));
            places
        });
        let end = places.partition_point(|at| id(*at) <= Some(wanted));
        let last = *places.get(end.checked_sub(1)?)?;
        (id(last) == Some(wanted)).then_some(last)
    }
}
