//! Migrates an older layout of plan.md and variables.json without losing anything.

use crate::{
    domain::{
        Money, Plan, StateFile, Step, StepRole,
        plan::{
            bookkeeping::{ATTEMPTS, Bookkeeping, CLAIMED_BY, COMPLETED_AT, STARTED_AT},
            dependencies,
            step::BookkeepingForm,
        },
        variables,
    },
    text::display::counted,
    text::{json::Path, markdown::ItemId},
    workspace::{Answer, Draft, Error},
};

/// The fields that are one line in the current layout.
const LINE: [&str; 5] = ["id", ATTEMPTS, CLAIMED_BY, STARTED_AT, COMPLETED_AT];
/// Copies of values that follow from the steps and the log.
const COPIES: [&str; 2] = ["current_step", "last_updated"];

/// The fields of a step in the older layout.
struct OldFields {
    line: String,
    depends_on: Option<String>,
    role: Option<StepRole>,
}

/// Rewrites both files.
pub(super) fn migrate(draft: &mut Draft<'_>) -> Result<Answer, Error> {
    let mut done = migrate_plan(draft)?;
    done.extend(migrate_variables(draft)?);
    if done.is_empty() {
        return Ok(Answer::new("the layout is already the current one"));
    }
    let message = format!("migrated: {}", done.join("; "));
    Ok(Answer::new(message).with("migrated", done))
}

fn migrate_plan(draft: &mut Draft<'_>) -> Result<Vec<String>, Error> {
    let plan = draft.plan()?;
    let mut done = Vec::new();
    let old: Vec<Option<OldFields>> =
        plan.steps.iter().map(|step| old(draft, &plan, step)).collect();
    let mut edit = plan.document.edit();
    for (step, _) in plan.steps.iter().zip(&old).filter(|(_, old)| old.is_some()) {
        for key in LINE {
            if let Some(item) = removable(&plan, step, key) {
                edit.remove_item(item);
            }
        }
    }
    let steps = old.iter().flatten().count();
    if steps > 0 {
        let all = counted(steps, "step", "steps");
        done.push(format!("{all} with marks and one line of bookkeeping"));
    }
    let section = plan.metadata_section().filter(|_| plan.metadata.goal.is_some());
    let item = |key: &str| plan.document.field(section?, key).ok().flatten();
    let copies: Vec<&str> = COPIES.into_iter().filter(|key| item(key).is_some()).collect();
    for item in copies.iter().filter_map(|key| item(key)) {
        edit.remove_item(item);
    }
    if !copies.is_empty() {
        done.push(format!("plan.md without {}", copies.join(" and ")));
    }
    // The goal and the status come first.
    let items = section.map(|section| plan.document.items(section).to_vec());
    let is_first = items.unwrap_or_default().first().copied() == item("execution_id");
    let name =
        plan.metadata.execution_id.clone().filter(|_| is_first && plan.metadata.mode.is_some());
    if name.is_some() {
        if let Some(item) = item("execution_id") {
            edit.remove_item(item);
        }
        done.push("the goal and the status first".to_owned());
    }
    if done.is_empty() {
        return Ok(done);
    }
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    let plan = draft.plan()?;
    let mut edit = plan.document.edit();
    for (step, old) in plan.steps.iter().zip(&old) {
        let Some(old) = old else { continue };
        plan.write_anew(&mut edit, step, &old.line, old.depends_on.as_deref(), old.role)?;
    }
    if let Some(name) = name {
        plan.set_metadata(&mut edit, &[("execution_id", &name)])?;
    }
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    Ok(done)
}

/// What a step says if it has the older layout.
fn old(draft: &Draft<'_>, plan: &Plan, step: &Step) -> Option<OldFields> {
    let id = step.id.as_ref().filter(|_| step.bookkeeping == BookkeepingForm::Fields)?;
    let is_plain = |key: &&str| {
        let item = plan.step_field(step, key);
        item.is_ok_and(|item| item.is_none_or(|_| removable(plan, step, key).is_some()))
    };
    if !LINE.iter().all(is_plain) {
        return None;
    }
    let line = Bookkeeping {
        id: id.to_string(),
        attempts: step.attempts,
        claimed_by: step.claimed_by.as_ref().map(ToString::to_string),
        started_at: step.started_at.clone(),
        completed_at: step.completed_at.clone(),
        remarks: Vec::new(),
    };
    let named: Option<Vec<&Step>> =
        step.depends_on.iter().map(|wanted| plan.step(wanted).ok()).collect();
    let named = named.filter(|steps| !steps.is_empty());
    let list = named.map(|steps| {
        dependencies::write(steps.iter().map(|step| (step.number, step.title.as_str())))
    });
    Some(OldFields { line: line.write(), depends_on: list, role: draft.workflow().role_of(step) })
}

/// The field, if nothing is nested in it.
fn removable(plan: &Plan, step: &Step, key: &str) -> Option<ItemId> {
    let item = plan.step_field(step, key).ok().flatten()?;
    plan.document.item(item).children.is_empty().then_some(item)
}

/// Takes out the copies. Costs stay where the history does not say the same.
fn migrate_variables(draft: &mut Draft<'_>) -> Result<Vec<String>, Error> {
    let spent = Money(draft.facts()?.history.counts.cost_micros);
    let variables = draft.variables()?;
    let mut paths = vec!["step_data.current_step", "step_data.total_steps"];
    let total = variables.total_cost();
    if total == Some(spent) {
        paths.extend(["cost_tracking.total_cost", "cost_tracking.step_costs"]);
    }
    paths.retain(|path| variables.get(path).is_some());
    let mut edit = variables.document.edit();
    for path in &paths {
        let path = path.split('.').fold(Path::root(), |path, key| path.join(key));
        edit.remove(&path).map_err(variables::refused)?;
    }
    draft.put_variables(edit.finish());
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut done = vec![format!("variables.json without {}", paths.join(", "))];
    if total.is_some_and(|total| total != spent) {
        done.push("the costs are kept, because the total in the history differs".to_owned());
    }
    Ok(done)
}
