//! Resetting steps, with what depends on them.

use crate::domain::{
    Decision, ErrorCode, Plan, PlanRole, StateFile, Step, StepRef, StepRole as Role,
};
use crate::workspace::change::steps::progress::{PlanProgress, status_of};
use crate::workspace::change::steps::{claim, select, step_json, transition};
use crate::workspace::{Answer, Draft, Error, Readiness};
use serde_json::json;

/// How a step is reset.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::workspace::change) struct Reset<'a> {
    /// Why.
    pub(in crate::workspace::change) note: Option<&'a str>,
    /// Even if somebody else holds it.
    pub(in crate::workspace::change) force: bool,
    /// As if it had never been tried: the counts are cleared, and its review is closed.
    pub(in crate::workspace::change) fresh: bool,
    /// With every step that was built on it.
    pub(in crate::workspace::change) dependents: bool,
}

/// Puts a step back to the beginning.
pub(in crate::workspace::change) fn reset(
    draft: &mut Draft<'_>,
    selected: Option<&StepRef>,
    how: &Reset<'_>,
) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let step = select(draft, &plan, selected, &[Role::Active, Role::Failed], "can be reset")?;
    let mut steps = vec![step];
    if how.dependents {
        steps.extend(begun(draft, built_on(draft, &plan, step)));
    }
    let from = known_or_not(draft, step);
    let open = draft.workflow().step_towards(&from, Role::Open).to_owned();
    let is_counted = step.attempts > 0 || step.failures.is_some();
    if from == open && steps.len() == 1 && !(how.fresh && is_counted) {
        return Ok(Answer::new(format!("{} is already {open}", step.name())));
    }
    if !how.force {
        for step in &steps {
            claim::refuse_others(draft, step)?;
        }
    }
    let changes = reopen_all(draft, &plan, &steps, how.fresh)?;
    let plan = draft.plan()?;
    let Some(step) = plan.steps.iter().find(|found| found.number == step.number) else {
        return Err(Error::refused(ErrorCode::NoSuchStep, "the step is gone"));
    };
    let Some(id) = step.id.clone() else {
        return Err(Error::refused(ErrorCode::NoSuchStep, "the step has no id"));
    };
    if how.fresh {
        close_reviews(draft, step)?;
    }
    let again = numbers(&steps);
    let mut fields = vec![("step".to_owned(), format!("{} ({id})", step.number))];
    fields.push((
        "state_changes".to_owned(),
        match changes.as_slice() {
            [] => "the counts of its attempts".to_owned(),
            [(_, from, to)] => format!("{from} → {to}"),
            several => said(several),
        },
    ));
    fields.extend(how.note.map(|note| ("notes".to_owned(), note.to_owned())));
    draft.log(format!("Step {} Reset", step.number), fields)?;
    let mut message = format!("step {} {open}: {}", step.number, step.title);
    if steps.len() > 1 {
        message.push_str(&format!(" (again: {again})"));
    }
    Ok(Answer::new(message)
        .with("step", step_json(step, &id, &open))
        .with("again", json!(steps.iter().map(|step| step.number).collect::<Vec<_>>())))
}

/// The status of a step; one that the lifecycle does not know, any more, as it is written. No rule says
/// where that leads, so a step can always be put back from it.
fn known_or_not(draft: &Draft<'_>, step: &Step) -> String {
    match &step.status {
        Some(written) if draft.workflow().step_status(written).is_none() => written.clone(),
        _ => status_of(draft, step),
    }
}

/// A step that was reset: its number, the status it had and the one it has.
pub(in crate::workspace::change) type Reopened = (u32, String, String);

/// Puts steps back to their beginning; those that have not begun stay as they are.
pub(in crate::workspace::change) fn reopen_all(
    draft: &mut Draft<'_>,
    plan: &Plan,
    steps: &[&Step],
    fresh: bool,
) -> Result<Vec<Reopened>, Error> {
    let mut changes = Vec::new();
    for step in steps {
        let from = known_or_not(draft, step);
        let open = draft.workflow().step_towards(&from, Role::Open).to_owned();
        if from != open {
            if draft.workflow().step_status(&from).is_some() {
                transition(draft, step, &from, &open)?;
            }
            changes.push((step.number, from, open));
        }
    }
    let mut ids = Vec::new();
    let mut progress = PlanProgress::new(draft, plan)?;
    for step in steps {
        let change = changes.iter().find(|(number, ..)| *number == step.number);
        ids.push(match change {
            Some((_, _, open)) => progress.reopen(step, open),
            None => progress.identify(step),
        });
        if fresh {
            let update = progress.step(step);
            update.clear("attempts");
            update.clear("failures");
        }
    }
    progress.reopen_plan()?;
    progress.finish(&[])?;
    for id in ids {
        draft.facts()?.touches.remove(id.as_str());
    }
    Ok(changes)
}

/// What happened to steps that were reset, in a line.
pub(in crate::workspace::change) fn said(changes: &[Reopened]) -> String {
    let one = |(number, from, to): &Reopened| format!("step {number} {from} → {to}");
    changes.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The numbers of steps, in a line.
pub(in crate::workspace::change) fn numbers(steps: &[&Step]) -> String {
    steps.iter().map(|step| step.number.to_string()).collect::<Vec<_>>().join(", ")
}

/// The steps that depend on a step, directly or through others, in order.
pub(in crate::workspace::change) fn built_on<'p>(
    draft: &Draft<'_>,
    plan: &'p Plan,
    step: &Step,
) -> Vec<&'p Step> {
    let readiness = Readiness::new(plan, draft.workflow());
    let Some(first) = plan.steps.iter().position(|known| known.offset == step.offset) else {
        return Vec::new();
    };
    let mut reached = vec![false; plan.steps.len()];
    reached[first] = true;
    // A step may stand before one that it depends on.
    loop {
        let mut found = false;
        for (at, later) in plan.steps.iter().enumerate() {
            let needs = |wanted: &StepRef| readiness.position(wanted).is_some_and(|on| reached[on]);
            if !reached[at] && later.depends_on.iter().any(needs) {
                reached[at] = true;
                found = true;
            }
        }
        if !found {
            break;
        }
    }
    let behind = plan.steps.iter().enumerate();
    behind.filter(|(at, _)| reached[*at] && *at != first).map(|(_, step)| step).collect()
}

/// Those of the steps that have begun.
pub(in crate::workspace::change) fn begun<'p>(
    draft: &Draft<'_>,
    steps: Vec<&'p Step>,
) -> Vec<&'p Step> {
    let workflow = draft.workflow();
    steps.into_iter().filter(|step| workflow.role_of(step) != Some(Role::Open)).collect()
}

/// Closes what was asked about more attempts at a step that is begun as if for the first time.
fn close_reviews(draft: &mut Draft<'_>, step: &Step) -> Result<(), Error> {
    let plan = draft.plan()?;
    let Some(id) = &step.id else { return Ok(()) };
    let is_its = |review: &&crate::domain::Review| {
        let counts = matches!(review.decision, Decision::Open | Decision::Approved);
        counts && !review.used && review.is_about(id) && review.asks_for_attempts()
    };
    let reviews: Vec<_> = plan.reviews.iter().filter(is_its).collect();
    if reviews.is_empty() {
        return Ok(());
    }
    let mut edit = plan.document.edit();
    for review in &reviews {
        match review.decision {
            Decision::Approved => plan.use_review(&mut edit, review),
            _ => plan.close_review(&mut edit, review, draft.env.actor()),
        }
    }
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    Ok(())
}

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
    let mut progress = PlanProgress::new(draft, &plan)?;
    for step in &behind {
        progress.reopen(step, &open);
    }
    if finished {
        progress.set_plan_status(&active);
    }
    progress.finish(&[])?;
    Ok(behind.iter().map(|step| step.number).collect())
}
