//! What is needed to start a step: description, resolved inputs, expected outputs, earlier errors.

use serde_json::{Map, Value};

use crate::{
    domain::{Plan, Step, StepRef, StepRole},
    history::{self, UndoneSteps},
    recovery::Holder,
    workspace::{Draft, Error, Resolver, reports::open_steps::is_about, snapshot::buffered},
};

/// What is needed to start a step.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct Needed {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its inputs, with references resolved as far as possible.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub inputs: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub expected_outputs: Map<String, Value>,
    /// Why it failed before, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier_errors: Vec<String>,
    /// Running steps that their holders have abandoned, if the next step was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_running: Vec<Holder>,
}

/// The most of the newest entries that are searched for earlier errors, and that are shown.
const ENTRIES: usize = 200;
const ERRORS: usize = 3;

impl Needed {
    /// What is needed to start step `number` of a draft, which was asked for by name unless `is_next`.
    pub(in crate::workspace) fn of(
        draft: &Draft<'_>,
        number: u32,
        is_next: bool,
    ) -> Result<Self, Error> {
        let (plan, variables) = (draft.plan()?, draft.variables()?);
        let step = plan.step(&StepRef::Number(number))?;
        let resolver = Resolver::new(Some(&plan), Some(&variables), draft.workflow());
        let resolved = |(name, text): &(String, String)| (name.clone(), resolver.lenient(text));
        let details = step.details();
        Ok(Self {
            description: details.description.clone(),
            inputs: details.inputs.iter().map(resolved).collect(),
            expected_outputs: details.expected_outputs.iter().map(resolved).collect(),
            earlier_errors: if step.attempts > 1 { errors(draft, step)? } else { Vec::new() },
            left_running: if is_next { left_running(draft, &plan, step) } else { Vec::new() },
        })
    }
}

/// The holders of other running steps that are abandoned.
fn left_running(draft: &Draft<'_>, plan: &Plan, step: &Step) -> Vec<Holder> {
    let runs_too = |other: &&Step| {
        other.number != step.number && draft.workflow().role_of(other) == Some(StepRole::Active)
    };
    let holders = plan.steps.iter().filter(runs_too).map(|other| draft.holder(other));
    holders.filter(|holder| holder.is_foreign() && holder.stale).collect()
}

/// Why a step failed before.
fn errors(draft: &Draft<'_>, step: &Step) -> Result<Vec<String>, Error> {
    let history = draft.view().appended();
    if !history.exists() {
        return Ok(Vec::new());
    }
    let entries = history::last_entries(&mut buffered(history)?, ENTRIES)?;
    let undone = UndoneSteps::among(&entries);
    let own = entries.iter().filter(|entry| entry.is_failure() && is_about(entry, step));
    let stands = own.filter(|entry| !undone.contains(&entry.offset));
    let mut errors: Vec<String> =
        stands.filter_map(|entry| entry.error().map(str::to_owned)).collect();
    errors.drain(..errors.len().saturating_sub(ERRORS));
    Ok(errors)
}
