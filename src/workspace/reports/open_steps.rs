//! Unfinished steps for a brief, and history entries about them.

use super::material::ENTRIES;
use crate::{
    brief::{Material, OpenStep},
    domain::{Plan, Step, StepRef, StepRole},
    history::{Entry, UndoneSteps},
    workspace::{Error, Overview, Snapshot, StepOverview},
};

/// How many entries about one step are shown.
const ENTRIES_OF_STEP: usize = 5;

/// How many are shown in a brief for that step alone.
const ENTRIES_OF_ONLY_STEP: usize = 40;

/// The most unfinished steps that a brief lists: nobody works through more before the next brief.
const OPEN: usize = 100;

/// The first `most` (or [`OPEN`]) unfinished steps without `focus`, and how many more there are.
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
        // A dependency on the step above is not worth mentioning.
        let usual = |wanted: &StepRef| previous.is_some_and(|previous| previous.is(wanted));
        let unmet = readiness.unmet(step);
        let is_usual = unmet.len() == 1 && step.depends_on.iter().any(usual);
        if !unmet.is_empty() && !is_usual {
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
    /// History entries about the step in focus and, unless `only_focus`, about failed steps.
    pub(super) fn entries_about(
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
            let most = if only_focus { ENTRIES_OF_ONLY_STEP } else { ENTRIES_OF_STEP };
            let entries = self.entries_of(step, &material.entries, most).unwrap_or_default();
            let number = step.number;
            entries.into_iter().map(move |entry| (number, entry))
        };
        steps.iter().flat_map(of_step).collect()
    }

    /// Failed attempts at a step and notes about restarts, newest first. Older entries than `newest`
    /// are searched only for a step with more failures than those show.
    fn entries_of(&self, step: &Step, newest: &[Entry], most: usize) -> Result<Vec<Entry>, Error> {
        let is_relevant = |entry: &Entry| {
            let noted = entry.field("notes").or_else(|| entry.field("note")).is_some();
            is_about(entry, step) && (entry.is_failure() || (entry.outcome().is_none() && noted))
        };
        let undone = UndoneSteps::among(newest);
        let stands = newest.iter().filter(|entry| !undone.contains(&entry.offset));
        let mut found: Vec<Entry> = stands.filter(|entry| is_relevant(entry)).cloned().collect();
        let failures = found.iter().filter(|entry| entry.is_failure()).count();
        if newest.len() >= ENTRIES && failures + 1 < step.attempts as usize {
            found = self.newest(most, is_relevant)?;
        }
        found.reverse();
        found.truncate(most);
        Ok(found)
    }
}

/// Whether an entry is about a step, by its id or, if it has none, by its number.
pub(in crate::workspace) fn is_about(entry: &Entry, step: &Step) -> bool {
    match (entry.field("step"), &step.id) {
        // `k3f9`, or `3 (k3f9)`
        (Some(name), Some(own)) => name.split([' ', '(', ')']).any(|id| id == own.as_str()),
        _ => entry.step_number() == Some(u64::from(step.number)),
    }
}
