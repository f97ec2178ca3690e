//! Contradictions between an agent's own task list and the plan.

use crate::{
    domain::{ErrorCode, Problem, StateFile, StepRef, StepRole},
    workspace::{Snapshot, Workspace, capture::ListComparison},
};

/// How many differences of one list are reported.
const MOST: usize = 20;

impl Workspace {
    /// The differences between the plan and the task lists of active sessions.
    pub(super) fn task_list_problems(&self, snapshot: &Snapshot) -> Vec<Problem> {
        let (Ok(plan), Ok(workflow)) = (snapshot.plan(), snapshot.workflow()) else {
            return Vec::new();
        };
        let problems = |list: &ListComparison| -> Vec<Problem> {
            let differences = list.differences().take(MOST).map(|task| {
                let shown = match task.role {
                    StepRole::Done => "as done",
                    StepRole::Active => "as started",
                    _ => "as open",
                };
                let session = &list.session;
                let (what, hint) = match &task.step {
                    Some((number, status, _)) => (
                        format!("step {number} is {status}"),
                        format!("`statedir step show {number}` shows the step; update the agent's list or the step"),
                    ),
                    None => (
                        "there is no step for it".to_owned(),
                        "the next change of the agent's list adds it, unless its step was removed".to_owned(),
                    ),
                };
                let message = format!("the task list of session {session} shows `{}` {shown}, but {what}", task.text);
                let found = Problem::warning(ErrorCode::ListDiffers, StateFile::Plan, message).hint(hint);
                let step = task.step.as_ref().and_then(|(number, ..)| plan.step(&StepRef::Number(*number)).ok());
                match step {
                    Some(step) => found.at(plan.place(step)),
                    None => found,
                }
            });
            differences.collect()
        };
        self.compare_lists(&plan, &workflow).iter().flat_map(problems).collect()
    }
}
