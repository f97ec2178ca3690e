//! Which steps wait to be merged, and what they go through meanwhile.

use super::{Step, StepRole, Workflow};

impl Workflow {
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
