//! Unfinished steps, and what the history says about them.

use super::material::ENTRIES;
use crate::{
    brief::{Material, OpenStep},
    domain::{Plan, Step, StepRef, StepRole},
    history::Entry,
    workspace::{Error, Overview, Snapshot, StepOverview},
};

/// How many entries about one step a brief tells.
const TOLD: usize = 5;

/// How many a brief for that step tells, as far as they fit.
const TOLD_OF_ONE: usize = 40;

/// How many steps a brief lists that are not finished: nobody works through more of them before the
/// next brief.
const OPEN: usize = 100;

/// The steps that are not finished, without the one at hand: the first `most` or [`OPEN`], and how many
/// more there are.
pub(super) fn open_steps(
    plan: &Plan,
    overview: &Overview,
    focus: Option<&Step>,
    most: usize,
) -> (Vec<OpenStep>, usize) {
    let readiness = overview.steps.readiness();
    let (mut open, mut more) = (Vec::new(), 0);
    let mut before = None;
    for at in overview.steps.places(|role| !role.is_some_and(StepRole::is_finished)) {
        let step = &plan.steps[at];
        let previous = before.replace(step);
        if focus.is_some_and(|focus| focus.offset == step.offset) {
            continue;
        }
        if open.len() == most.min(OPEN) {
            more += 1;
            continue;
        }
        let role = readiness.roles()[at];
        let mut state = Vec::new();
        match role {
            Some(StepRole::Active) => state.push(running(&overview.steps[at])),
            Some(StepRole::Failed) => state.push("failed".to_owned()),
            _ => {}
        }
        // That a step comes after the one above it goes without saying.
        let usual = |wanted: &StepRef| previous.is_some_and(|previous| previous.is(wanted));
        let unmet = readiness.unmet(step);
        let goes_without_saying = unmet.len() == 1 && step.depends_on.iter().any(usual);
        if !unmet.is_empty() && !goes_without_saying {
            let name = |wanted: &StepRef| readiness.name(wanted);
            let number = |name: String| name.split(' ').next().unwrap_or_default().to_owned();
            let numbers: Vec<String> = unmet.iter().map(name).map(number).collect();
            state.push(format!("after {}", numbers.join(", ")));
        }
        if role == Some(StepRole::Open) {
            state.extend(readiness.held_by(at).map(|group| format!("after {group}")));
        }
        let (title, prose) = (step.title().to_owned(), plan.prose(step));
        open.push(OpenStep { number: step.number, title, state, prose });
    }
    (open, more)
}

/// Who runs a step.
fn running(step: &StepOverview) -> String {
    let by = step.holder.as_ref().filter(|holder| holder.claimed_by.is_some());
    match by {
        Some(holder) if holder.own => "running, yours".to_owned(),
        Some(holder) => format!("running by {}", holder.phrase()),
        None => "running, claimed by nobody".to_owned(),
    }
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
