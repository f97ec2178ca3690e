//! Counts the steps of a plan by role.

use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::domain::{Plan, PlanRole, Step, StepRole, Workflow, current_step_number};

/// Steps by what their status means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepCounts {
    /// All steps.
    pub total: usize,
    /// Done.
    pub done: usize,
    /// Left out.
    pub skipped: usize,
    /// Failed and not retried since.
    pub failed: usize,
    /// Running.
    pub running: usize,
    /// Neither being worked on nor finished.
    pub waiting: usize,
    /// Not begun.
    pub open: usize,
    /// With a status that the workflow does not have.
    pub unknown: usize,
    /// The number of the current step; zero without steps.
    pub current_step: u32,
}

impl StepCounts {
    /// Counts steps, each given by its number and the role of its status.
    pub(crate) fn of(steps: &[(u32, Option<StepRole>)]) -> Self {
        let mut counts = Self {
            total: steps.len(),
            current_step: current_step_number(steps),
            ..Self::default()
        };
        for (_, role) in steps {
            *match role {
                Some(StepRole::Done) => &mut counts.done,
                Some(StepRole::Skipped) => &mut counts.skipped,
                Some(StepRole::Failed) => &mut counts.failed,
                Some(StepRole::Active) => &mut counts.running,
                Some(StepRole::Waiting) => &mut counts.waiting,
                Some(StepRole::Open) => &mut counts.open,
                None => &mut counts.unknown,
            } += 1;
        }
        counts
    }

    /// Steps that need no more work: done or left out.
    pub fn finished(&self) -> usize {
        self.done + self.skipped
    }

    /// Steps that can still be worked on.
    pub fn unfinished(&self) -> usize {
        self.open + self.running + self.waiting + self.failed
    }

    /// Finished steps in percent of all, rounded down.
    pub fn percent(&self) -> u32 {
        let percent = (self.finished() * 100).checked_div(self.total).unwrap_or(0);
        u32::try_from(percent).unwrap_or(100)
    }
}

impl Plan {
    /// Whether the plan is still active although all its steps are finished, as after a merge.
    pub(crate) fn is_left_active(&self, workflow: &Workflow) -> bool {
        let Some(from) = self.metadata.status.as_deref() else { return false };
        let is_finished = |step: &Step| workflow.role_of(step).is_some_and(StepRole::is_finished);
        workflow.plan_role(from) == Some(PlanRole::Active)
            && workflow.auto_complete()
            && !self.steps.is_empty()
            && self.steps.iter().all(is_finished)
            && self.open_reviews().next().is_none()
            && workflow.check_plan(from, workflow.plan_towards(from, PlanRole::Succeeded)).is_ok()
    }
}

impl Serialize for StepCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields =
            serializer.serialize_struct("StepCounts", 8 + usize::from(self.waiting > 0))?;
        fields.serialize_field("current_step", &self.current_step)?;
        fields.serialize_field("total_steps", &self.total)?;
        fields.serialize_field("completed", &self.done)?;
        fields.serialize_field("skipped", &self.skipped)?;
        fields.serialize_field("failed", &self.failed)?;
        fields.serialize_field("running", &self.running)?;
        if self.waiting > 0 {
            fields.serialize_field("waiting", &self.waiting)?;
        }
        fields.serialize_field("pending", &self.open)?;
        fields.serialize_field("percent", &self.percent())?;
        fields.end()
    }
}
