//! One step of the overview.

use std::{borrow::Cow, ops::Index, sync::Arc};

use serde::{Serialize, Serializer};

use super::{
    super::{Environment, Error, Readiness, Snapshot, change, snapshot::liveness::Liveness},
    Overview,
};
use crate::{
    domain::{Claim, Plan, Step, StepRole, Workflow},
    recovery::{Holder, Waits},
    text::LazyList,
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

/// The steps of an overview, in order. Each is worked out when it is first asked for: those of a long
/// plan are counted, and few are looked at.
#[derive(Clone, Debug)]
pub struct StepOverviews {
    known: Arc<StepSources>,
    made: LazyList<StepOverview>,
}

/// What they are worked out from.
#[derive(Debug)]
struct StepSources {
    plan: Arc<Plan>,
    workflow: Cow<'static, Workflow>,
    readiness: Readiness<Arc<Plan>>,
}

impl StepOverviews {
    pub(super) fn new(
        plan: &Arc<Plan>,
        workflow: Cow<'static, Workflow>,
        liveness: &Liveness,
    ) -> Self {
        let readiness = Readiness::shared(plan, &workflow);
        let known = StepSources { plan: Arc::clone(plan), workflow, readiness };
        let made = LazyList::new(plan.steps.len());
        // Who holds a step is as it is now, whenever it is asked for.
        for at in known.places(|role| role == Some(StepRole::Active)) {
            let holder = Some(liveness.holder(&plan.steps[at], &known.workflow));
            made.get_or_init(at, || StepOverview { holder, ..known.overview(at) });
        }
        Self { known: Arc::new(known), made }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.made.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The step at that place of the plan.
    pub fn get(&self, at: usize) -> Option<&StepOverview> {
        (at < self.len()).then(|| &self[at])
    }

    /// All of them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &StepOverview> + ExactSizeIterator {
        (0..self.len()).map(|at| &self[at])
    }

    /// The places of those whose status means what is looked for.
    pub(crate) fn places(
        &self,
        is_meant: impl Fn(Option<StepRole>) -> bool,
    ) -> impl Iterator<Item = usize> {
        self.known.places(is_meant)
    }

    /// The place of the first step that can be started.
    pub(crate) fn first_ready(&self) -> Option<usize> {
        (0..self.len()).find(|at| self.readiness().is_ready(*at))
    }

    /// The steps of the plan that they are about.
    pub(super) fn of_plan(&self) -> &[Step] {
        &self.known.plan.steps
    }

    /// What the steps wait for.
    pub(crate) fn readiness(&self) -> &Readiness<Arc<Plan>> {
        &self.known.readiness
    }

    /// Forgets who holds them.
    pub(super) fn forget_holders(&mut self) {
        self.made.made_mut().for_each(|step| step.holder = None);
    }
}

impl Index<usize> for StepOverviews {
    type Output = StepOverview;

    fn index(&self, at: usize) -> &StepOverview {
        self.made.get_or_init(at, || self.known.overview(at))
    }
}

impl Serialize for StepOverviews {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl StepSources {
    fn places(&self, is_meant: impl Fn(Option<StepRole>) -> bool) -> impl Iterator<Item = usize> {
        let roles = self.readiness.roles().iter().enumerate();
        roles.filter(move |(_, role)| is_meant(**role)).map(|(at, _)| at)
    }

    /// The step at that place, without who holds it.
    fn overview(&self, at: usize) -> StepOverview {
        let Self { plan, workflow, readiness } = self;
        let (step, role) = (&plan.steps[at], readiness.roles()[at]);
        let open = || workflow.step_with_role(StepRole::Open);
        let written = workflow.status_of(step).unwrap_or_else(open);
        let counted = || Workflow::counted_failures(step, role);
        StepOverview {
            number: step.number,
            id: step.id.as_ref().map(ToString::to_string),
            title: step.title().to_owned(),
            status: workflow.step_status(written).unwrap_or(written).to_owned(),
            role,
            attempts: step.attempts,
            attempts_allowed: change::attempts_possible(workflow, plan, step),
            failures: step.failures.unwrap_or_else(counted),
            claimed_by: step.claimed_by.clone(),
            holder: None,
            started_at: step.started_at.clone(),
            waits: Waits::of(step, role, workflow),
            is_ready: readiness.is_ready(at),
            held_by: (role == Some(StepRole::Open)).then(|| readiness.held_by(at)).flatten(),
            waits_for: readiness.unmet(step).iter().map(|one| readiness.name(one)).collect(),
        }
    }
}

impl Snapshot {
    /// The first step that can be started, by an overview of this snapshot.
    ///
    /// # Errors
    /// There is none; the error says why.
    pub(crate) fn next_step(&self, overview: &Overview) -> Result<Step, Error> {
        change::refuse_while_open(&*self.plan()?)?;
        let first = overview.steps.first_ready().and_then(|at| overview.steps.of_plan().get(at));
        first.cloned().ok_or_else(|| change::no_ready_step(overview))
    }
}
