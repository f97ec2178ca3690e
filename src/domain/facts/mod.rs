//! Facts: named values of a state that rules refer to.

pub(crate) mod value;

use std::collections::BTreeMap;

use serde::Serialize;

use super::{FactValue, nearest::same_name};

/// What kind of value a built-in fact has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactKind {
    /// A number of things.
    Count,
    /// An amount of money.
    Money,
    Duration,
    Percent,
    Text,
    PlanStatus,
}

/// The facts besides modifiers, variables and the event, each with a description.
pub(crate) const BUILTIN: [(&str, FactKind, &str); 17] = [
    ("consecutive_failures", FactKind::Count, "failed steps since the last success"),
    ("failed_steps", FactKind::Count, "steps that are failed now"),
    ("failures", FactKind::Count, "failed attempts so far, at any step"),
    ("step_failures", FactKind::Count, "failed attempts at one unfinished step, the most of them"),
    ("completed_steps", FactKind::Count, "steps that are done"),
    ("skipped_steps", FactKind::Count, "steps that were left out"),
    ("total_steps", FactKind::Count, "all steps of the plan"),
    ("progress", FactKind::Percent, "the share of steps that need no more work"),
    ("attempts", FactKind::Count, "attempts at the current step"),
    ("cost", FactKind::Money, "what was spent so far"),
    ("budget", FactKind::Money, "what may be spent"),
    ("execution_time", FactKind::Duration, "time spent on steps so far"),
    ("file_operations", FactKind::Count, "file operations so far"),
    ("web_requests", FactKind::Count, "web requests so far"),
    ("task_type", FactKind::Text, "the kind of task, such as `legal_tasks`"),
    ("plan_status", FactKind::PlanStatus, "the status of the plan"),
    ("reason", FactKind::Text, "why a review was rejected, in the `reject` of a gate"),
];

/// Whether a name is that of a built-in fact or begins one.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTIN.iter().any(|(fact, ..)| same_name(fact, name))
        || ["event", "variables", "sentiment"].iter().any(|word| same_name(word, name))
}

/// Facts by name. Names of variables and event fields are dotted: `variables.a.b`, `event.type`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Facts {
    values: BTreeMap<String, FactValue>,
}

impl Facts {
    /// No facts.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of a fact; `Missing` if it is not there.
    pub fn get(&self, name: &str) -> &FactValue {
        self.values.get(name).unwrap_or(&FactValue::Missing)
    }

    /// Gives a fact a value and returns the value it had.
    pub fn insert(&mut self, name: impl Into<String>, value: FactValue) -> FactValue {
        self.values.insert(name.into(), value).unwrap_or(FactValue::Missing)
    }

    /// Forgets a fact and returns the value it had.
    pub fn remove(&mut self, name: &str) -> FactValue {
        self.values.remove(name).unwrap_or(FactValue::Missing)
    }

    /// The same facts and one more.
    #[must_use]
    pub fn with(mut self, name: &str, value: FactValue) -> Self {
        self.insert(name, value);
        self
    }

    /// Every fact, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &FactValue)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }
}
