//! Resetting the steps that were not finished at an earlier moment.

use crate::{
    domain::{Plan, PlanRole, Step, StepRole as Role},
    workspace::{Draft, Error, Readiness, change::steps::progress::Progress},
};

/// Resets every step that was not finished `then`; gives the numbers of those that changed.
///
/// Where the plan itself is the one of that moment (`restored`), everything after its current
/// step is reset too, finished or not.
pub(in crate::workspace) fn rewind(
    draft: &mut Draft<'_>,
    then: &Plan,
    restored: bool,
) -> Result<Vec<u32>, Error> {
    let plan = draft.plan()?;
    let workflow = draft.workflow();
    let readiness = Readiness::new(then, workflow);
    let (roles, current) = (readiness.roles(), readiness.counts().current_step);
    let was_finished = |step: &Step| {
        let same = |known: &Step| match (&known.id, &step.id) {
            (Some(known), Some(id)) => known == id,
            _ => known.number == step.number && known.title == step.title,
        };
        let role = then.steps.iter().position(same).and_then(|at| roles.get(at).copied().flatten());
        role.is_some_and(Role::is_finished)
    };
    let now = Readiness::new(&plan, workflow);
    let behind: Vec<&Step> = plan
        .steps
        .iter()
        .zip(now.roles())
        .filter(|(_, role)| **role != Some(Role::Open))
        .map(|(step, _)| step)
        .filter(|step| !was_finished(step) || (restored && step.number > current))
        .collect();
    if behind.is_empty() {
        return Ok(Vec::new());
    }
    let open = workflow.step_with_role(Role::Open).to_owned();
    let active = workflow.plan_with_role(PlanRole::Active).to_owned();
    let status = plan.metadata.status.as_deref();
    let finished = matches!(
        status.and_then(|status| workflow.plan_role(workflow.plan_status(status)?)),
        Some(PlanRole::Succeeded | PlanRole::Failed)
    );
    let mut progress = Progress::new(draft, &plan)?;
    for step in &behind {
        progress.reopen(step, &open);
    }
    if finished {
        progress.set_plan_status(&active);
    }
    progress.finish(&[])?;
    Ok(behind.iter().map(|step| step.number).collect())
}
