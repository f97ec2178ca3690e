//! The numbers of an execution by group, by component, by actor, or by any field of the steps.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::metrics::StepMetrics;
use crate::{
    domain::{Money, Plan, StepOutcome, StepRole, parse_duration_ms},
    history::Entry,
};

/// The name for steps that do not have the field.
const NONE: &str = "-";

/// One row of the breakdown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct BreakdownRow {
    /// The common value of these steps, or the actor.
    pub name: String,
    /// The number of steps.
    pub steps: usize,
    /// How many of them are finished; for an actor, how many attempts completed.
    pub finished: usize,
    /// How many have failed; for an actor, how many attempts did.
    pub failed: usize,
    /// How often they were started; for an actor, how many attempts ended.
    pub attempts: u32,
    pub cost: Money,
    /// How long their attempts took.
    pub time_ms: u64,
}

/// By the value of a field, in the order of the plan.
pub(super) fn by_field(
    field: &str,
    plan: &Plan,
    roles: &[Option<StepRole>],
    steps: &[StepMetrics],
) -> Vec<BreakdownRow> {
    let mut shares: Vec<BreakdownRow> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for ((step, role), counted) in plan.steps.iter().zip(roles).zip(steps) {
        let name = step.field(field).map(str::trim).filter(|name| !name.is_empty());
        let share = share(&mut shares, &mut places, name.unwrap_or(NONE));
        share.steps += 1;
        share.finished += usize::from(role.is_some_and(StepRole::is_finished));
        share.failed += usize::from(*role == Some(StepRole::Failed));
        share.attempts += counted.attempts;
        share.cost = share.cost + counted.cost.unwrap_or_default();
        share.time_ms = share.time_ms.saturating_add(counted.time_ms.unwrap_or_default());
    }
    shares
}

/// By the actors who ended attempts, according to the history.
pub(super) fn by_actor(entries: &[Entry]) -> Vec<BreakdownRow> {
    let mut shares: Vec<BreakdownRow> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    for entry in entries {
        let (Some(step), Some(outcome)) = (entry.field("step"), entry.outcome()) else { continue };
        let actor = entry.field("actor").unwrap_or(NONE);
        let share = share(&mut shares, &mut places, actor);
        share.steps += usize::from(seen.insert((actor, step)));
        share.finished += usize::from(outcome != StepOutcome::Failed);
        share.failed += usize::from(outcome == StepOutcome::Failed);
        share.attempts += 1;
        let cost = entry.field("actual_cost").and_then(Money::parse);
        share.cost = share.cost + cost.unwrap_or_default();
        let time = entry.field("actual_time").and_then(parse_duration_ms);
        share.time_ms = share.time_ms.saturating_add(time.unwrap_or_default());
    }
    shares
}

fn share<'s, 'n>(
    shares: &'s mut Vec<BreakdownRow>,
    places: &mut BTreeMap<&'n str, usize>,
    name: &'n str,
) -> &'s mut BreakdownRow {
    let at = *places.entry(name).or_insert_with(|| {
        shares.push(BreakdownRow { name: name.to_owned(), ..BreakdownRow::default() });
        shares.len() - 1
    });
    &mut shares[at]
}
