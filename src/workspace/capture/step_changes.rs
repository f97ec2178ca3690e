//! What has to be done to a step so that it matches its task.

use super::task_list::TrackedTask;
use crate::{
    domain::{StepRef, StepRole as Role},
    workspace::{Change, Draft, Error, StepResult, StepShape},
};

/// What the client changed and the plan does not have yet. Nothing for a step that somebody
/// else holds, and nothing that would turn back what was done in another way.
pub(super) fn step_changes(
    draft: &Draft<'_>,
    task: &TrackedTask,
    step: &StepRef,
) -> Result<Vec<Change>, Error> {
    let plan = draft.plan()?;
    let found = plan.step(step)?;
    let holder = draft.holder(found);
    let role = draft.workflow().role_of(found);
    if role == Some(Role::Active) && holder.is_held() {
        return Ok(Vec::new());
    }
    let mut changes = Vec::new();
    if task.renamed && task.made {
        let (step, title) = (Some(step.clone()), Some(task.text.clone()));
        let shape = StepShape { step, title, ..StepShape::default() };
        changes.push(Change::StepSet(Box::new(shape)));
    }
    let (Some(role), false) = (role, task.agreed == Some(task.role)) else {
        return Ok(changes);
    };
    let waits = plan.open_reviews().next().is_some();
    let is_foreign = role == Role::Active && holder.is_foreign();
    let was = |role: Role| task.agreed == Some(role);
    use TaskAction::{Done, Reset, Retry, Skip, Start, Take};
    let actions: &[TaskAction] = match (task.role, role) {
        // Work waits for a person; what was finished nevertheless is told.
        (Role::Active, _) if waits => &[],
        (Role::Done, Role::Open | Role::Failed) if waits => &[],
        (Role::Active, Role::Open) => &[Start],
        (Role::Active, Role::Failed) => &[Retry],
        (Role::Active, Role::Active) if is_foreign => &[Take],
        (Role::Active, Role::Done | Role::Skipped) if was(role) => &[Reset, Start],
        (Role::Done, Role::Open) => &[Start, Done],
        (Role::Done, Role::Failed) => &[Retry, Done],
        (Role::Done, Role::Active) if is_foreign => &[Take, Done],
        (Role::Done, Role::Active) => &[Done],
        (Role::Done, Role::Skipped) if was(role) => &[Reset, Start, Done],
        (Role::Open, Role::Active) if was(role) && !is_foreign => &[Reset],
        (Role::Open, Role::Done | Role::Skipped) if was(role) => &[Reset],
        (Role::Skipped, Role::Open) if task.made => &[Skip],
        (Role::Skipped, Role::Active) if task.made && !is_foreign => &[Skip],
        _ => &[],
    };
    changes.extend(actions.iter().map(|action| action.change(step, task)));
    Ok(changes)
}
#[derive(Clone, Copy)]
enum TaskAction {
    Start,
    Retry,
    Take,
    Done,
    Skip,
    Reset,
}

impl TaskAction {
    fn change(self, step: &StepRef, task: &TrackedTask) -> Change {
        let step = Some(step.clone());
        let result = |note: Option<&str>| {
            let note = note.map(str::to_owned);
            Box::new(StepResult { step: step.clone(), note, ..StepResult::default() })
        };
        match self {
            Self::Start => Change::StepStart { step },
            Self::Retry => Change::StepRetry { step, note: None },
            Self::Take => Change::StepTake { step, force: false, why: None },
            Self::Done => Change::StepDone(result(task.note.as_deref())),
            Self::Skip => Change::StepSkip(result(Some("dropped by the agent from its own list"))),
            Self::Reset => {
                let note = Some("reopened by the agent in its own list".to_owned());
                Change::StepReset { step, note, force: false, fresh: false, dependents: false }
            }
        }
    }
}
