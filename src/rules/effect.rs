//! What actions do to modifiers.

use super::{Action, ModifierChange, RuleOutcome};
use crate::domain::{FactValue, Facts, Modifier, Workflow};

/// What a list of actions does to the facts on its own, outside any rule: for context-aware
/// behaviours. The facts are changed accordingly.
pub(crate) fn apply(actions: &[Action], facts: &mut Facts, workflow: &Workflow) -> RuleOutcome {
    let mut outcome = RuleOutcome::default();
    for action in actions {
        if let Some((modifier, value)) = effect(action, facts, workflow) {
            let before = facts.insert(modifier, value.clone());
            record(&mut outcome.changes, modifier, before, value, 0);
        } else {
            outcome.request(action, 0);
        }
    }
    outcome.changes.retain(|change| change.before != change.after);
    outcome
}

/// The modifier an action changes and the value it gets; `None` for other actions.
pub(super) fn effect<'a>(
    action: &'a Action,
    facts: &Facts,
    workflow: &Workflow,
) -> Option<(&'a str, FactValue)> {
    match action {
        Action::Set { modifier, value } => Some((modifier, value.clone())),
        Action::Shift { modifier, steps } => {
            let known = workflow.modifier(modifier)?;
            let last = known.values().len().saturating_sub(1) as i64;
            let rank = rank(known, facts.get(modifier))?;
            let rank = (rank + i64::from(*steps)).clamp(0, last) as usize;
            Some((modifier, FactValue::text(known.values().get(rank)?)))
        }
        Action::Adjust { modifier, by } => {
            let known = workflow.modifier(modifier)?;
            let now =
                known.coerce(facts.get(modifier)).or_else(|| known.read(known.default()?).ok())?;
            Some((modifier, adjusted(&now, by)?))
        }
        _ => None,
    }
}

/// A modifier without a value is at its default, or in the middle.
fn rank(modifier: &Modifier, value: &FactValue) -> Option<i64> {
    let now = match value {
        FactValue::Text(text) => modifier.rank(text),
        _ => None,
    };
    let rank = now.or_else(|| modifier.starting_rank())?;
    Some(rank as i64)
}

fn adjusted(now: &FactValue, by: &FactValue) -> Option<FactValue> {
    let by = match (now, by) {
        (FactValue::Percent(_), by) => by.clone(),
        (now, FactValue::Percent(percent)) => FactValue::percent_of(*percent, now)?,
        (_, by) => by.clone(),
    };
    Some(match (now, by) {
        (FactValue::Number(now), FactValue::Number(by)) => FactValue::number((now + by).max(0.0)),
        (FactValue::Percent(now), FactValue::Percent(by)) => {
            FactValue::Percent((now + by).max(0.0))
        }
        (FactValue::Money(now), FactValue::Money(by)) => {
            FactValue::Money(now.saturating_add(by).max(0))
        }
        (FactValue::Duration(now), FactValue::Duration(by)) => {
            FactValue::Duration(now.saturating_add(by).max(0))
        }
        _ => return None,
    })
}

/// Remembers the first value before and the last one after.
pub(super) fn record(
    changes: &mut Vec<ModifierChange>,
    modifier: &str,
    before: FactValue,
    after: FactValue,
    rule: usize,
) {
    if let Some(change) = changes.iter_mut().find(|change| change.modifier == modifier) {
        change.after = after;
        change.rule = rule;
    } else {
        changes.push(ModifierChange { modifier: modifier.to_owned(), before, after, rule });
    }
}
