//! Unfinished steps, and what the history says about them.

use super::material::ENTRIES;
use crate::{
    brief::{Material, OpenStep},
    domain::{Plan, Step, StepRef},
    history::Entry,
    workspace::{Error, Overview, Snapshot},
};

/// How many entries about one step a brief tells.
const TOLD: usize = 5;

/// How many a brief for that step tells, as far as they fit.
const TOLD_OF_ONE: usize = 40;

/// The steps that are not finished, without the one at hand.
pub(super) fn open_steps(plan: &Plan, overview: &Overview, focus: Option<&Step>) -> Vec<OpenStep> {
    let mut open = Vec::new();
    let mut before = None;
    for (step, seen) in plan.steps.iter().zip(&overview.steps) {
        if seen.is_finished() {
            continue;
        }
        let previous = before.replace(step);
        if focus.is_some_and(|focus| focus.offset == step.offset) {
            continue;
        }
        let mut state = Vec::new();
        if seen.is_running() {
            let by = seen.holder.as_ref().filter(|holder| holder.claimed_by.is_some());
            state.push(match by {
                Some(holder) if holder.own => "running, yours".to_owned(),
                Some(holder) => format!("running by {}", holder.phrase()),
                None => "running, claimed by nobody".to_owned(),
            });
        } else if seen.is_failed() {
            state.push("failed".to_owned());
        }
        // That a step comes after the one above it goes without saying.
        let usual = |wanted: &StepRef| previous.is_some_and(|previous| previous.is(wanted));
        let unmet = &seen.waits_for;
        let goes_without_saying = unmet.len() == 1 && step.depends_on.iter().any(usual);
        if !unmet.is_empty() && !goes_without_saying {
            let numbers: Vec<&str> =
                unmet.iter().map(|name| name.split(' ').next().unwrap_or(name)).collect();
            state.push(format!("after {}", numbers.join(", ")));
        }
        if let Some(group) = &seen.held_by {
            state.push(format!("after {group}"));
        }
        let (title, prose) = (step.title.clone(), plan.prose(step));
        open.push(OpenStep { number: step.number, title, state, prose });
    }
    open
}

impl Snapshot {
    /// What the history says about the current step and, unless that was asked for, about failed
    /// ones.
    pub(super) fn told(
        &self,
        failed: &[Step],
        only_focus: bool,
        material: &Material,
    ) -> Vec<(u32, Entry)> {
        let focus = material.focus.as_ref().map(|focus| &focus.step);
        let is_other = |step: &&Step| focus.is_none_or(|focus| focus.offset != step.offset);
        let others = failed.iter().filter(is_other).filter(|_| !only_focus);
        let steps: Vec<&Step> = focus.into_iter().chain(others).collect();
        let of_step = |step: &&Step| {
            let most = if only_focus { TOLD_OF_ONE } else { TOLD };
            let told = self.told_of(step, &material.entries, most).unwrap_or_default();
            let number = step.number;
            told.into_iter().map(move |entry| (number, entry))
        };
        steps.iter().flat_map(of_step).collect()
    }

    /// What the history says about a step, newest first: attempts that failed, and notes when it
    /// was begun again. Only a step with more failures than `newest` shows is looked for further
    /// up.
    fn told_of(&self, step: &Step, newest: &[Entry], most: usize) -> Result<Vec<Entry>, Error> {
        let is_told = |entry: &Entry| {
            let noted = entry.field("notes").or_else(|| entry.field("note")).is_some();
            is_about(entry, step) && (entry.is_failure() || (entry.outcome().is_none() && noted))
        };
        let mut told: Vec<Entry> = newest.iter().filter(|entry| is_told(entry)).cloned().collect();
        let failures = told.iter().filter(|entry| entry.is_failure()).count();
        if newest.len() >= ENTRIES && failures + 1 < step.attempts as usize {
            told = self.newest(most, is_told)?;
        }
        told.reverse();
        told.truncate(most);
        Ok(told)
    }
}

/// Whether an entry is about a step, by its id or, where it has none, by its number.
fn is_about(entry: &Entry, step: &Step) -> bool {
    match (entry.field("step"), &step.id) {
        // `k3f9`, or `3 (k3f9)`
        (Some(name), Some(own)) => name.split([' ', '(', ')']).any(|id| id == own.as_str()),
        _ => entry.step_number() == Some(u64::from(step.number)),
    }
}
