//! Adds many consecutive steps with one edit.

use super::super::{Answer, Change, Draft, Error, Readiness, StepShape, change::add_steps};
use super::{Event, rules};
use crate::{
    domain::{FactValue, PlanRole, Workflow},
    rules::{Rule, WrittenRule},
};

/// Makes the additions at the beginning of `changes` with one edit, up to the first that a rule reacts
/// to; none if there are too few.
///
/// The first addition of an operation can reopen the plan, change the current step and let time pass;
/// the others only change counts. So it is included only if no rule depends on that.
///
/// # Errors
/// One of them is refused; nothing was changed.
pub(in super::super) fn add_in_a_row(
    draft: &mut Draft<'_>,
    changes: &[Change],
    place: InOperation,
) -> Result<Vec<Answer>, Error> {
    let mut shapes: Vec<&StepShape> = Vec::new();
    for change in changes {
        match change {
            Change::StepAdd(shape) if shape.after.is_none() && shape.description.is_none() => {
                shapes.push(shape);
            }
            _ => break,
        }
    }
    if shapes.len() > 1 {
        shapes.truncate(quiet(draft, &shapes, place)?);
    }
    if shapes.len() > 1 { add_steps(draft, &shapes) } else { Ok(Vec::new()) }
}

/// Where additions are among the changes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum InOperation {
    /// Nothing comes before them.
    First,
    /// Another addition comes before them.
    BehindAddition,
}

/// Whether the first addition of an operation has no other effects than the others.
fn is_like_the_others(draft: &Draft<'_>, rules: &[WrittenRule]) -> Result<bool, Error> {
    let workflow = draft.workflow();
    let is_told = |entry: &WrittenRule| entry.parsed.is_err() && !entry.is_prose(workflow);
    let looks_at_current = |rule: &Rule| rule.facts().into_iter().any(|fact| fact == "attempts");
    let mut read = rules.iter().filter_map(|entry| entry.parsed.as_ref().ok());
    if draft.watches_time() || rules.iter().any(is_told) || read.any(looks_at_current) {
        return Ok(false);
    }
    let plan = draft.plan()?;
    let role = workflow.role_of_plan(&plan.metadata);
    let is_ended = matches!(role, Some(PlanRole::Succeeded | PlanRole::Failed));
    // The section of the steps is made with the first one.
    Ok(!is_ended && (!plan.steps.is_empty() || plan.steps_section().is_some()))
}

/// How many of these steps can be added one after another before a rule fires.
fn quiet(draft: &mut Draft<'_>, shapes: &[&StepShape], place: InOperation) -> Result<usize, Error> {
    // If the constraints cannot be read, the first addition reports it.
    let constraints = match (draft.constraints(), place) {
        (Err(_), InOperation::First) => return Ok(0),
        (constraints, _) => constraints?,
    };
    let rules = rules(draft, &constraints);
    if place == InOperation::First && !is_like_the_others(draft, &rules)? {
        return Ok(0);
    }
    let read = || rules.iter().filter_map(|entry| entry.parsed.as_ref().ok());
    let looks = |fact: &str| fact == "event.step_id" || fact.starts_with("variables.");
    if read().flat_map(|rule| rule.facts()).any(looks) {
        return Ok(0);
    }
    // Nothing else changes, and only a rule that sees a change begins to hold.
    let changes =
        |fact: &str| ["total_steps", "progress"].contains(&fact) || fact.starts_with("event.");
    let watching: Vec<_> = read().filter(|rule| rule.facts().into_iter().any(changes)).collect();
    if watching.is_empty() {
        return Ok(shapes.len());
    }
    // Where only the kind of the event counts, all of them are alike.
    let differs = |fact: &str| changes(fact) && fact != "event.type";
    let are_alike = !watching.iter().any(|rule| rule.facts().into_iter().any(differs));
    let mut before = super::facts(draft, &constraints, &rules)?;
    let mut after = before.clone();
    let plan = draft.plan()?;
    let workflow: &Workflow = draft.workflow();
    let counts = Readiness::new(&plan, workflow).counts();
    let highest = plan.steps.iter().map(|step| step.number).max().unwrap_or(0);
    for (added, shape) in (1..).zip(shapes) {
        let total = counts.total + added;
        let percent = counts.finished() as f64 * 100.0 / total as f64;
        let now = [
            ("total_steps", FactValue::number(total as f64)),
            ("progress", FactValue::Percent(percent)),
        ];
        for (name, value) in &now {
            after.insert(*name, value.clone());
        }
        let mut payload = serde_json::Map::new();
        payload.insert("step".to_owned(), (highest as usize + added).into());
        payload.insert("title".to_owned(), shape.title.clone().unwrap_or_default().trim().into());
        Event { kind: "step.add".to_owned(), payload }.add_to(&mut after);
        let fires = |rule: &&Rule| rule.condition.holds(&after) && !rule.condition.holds(&before);
        if watching.iter().any(fires) {
            return Ok(added - 1);
        }
        if are_alike {
            break;
        }
        for (name, value) in now {
            before.insert(name, value);
        }
    }
    Ok(shapes.len())
}
