//! Reports on a state: the brief, the conversation, numbers, rules, training data.

pub(in crate::workspace) mod attempts;
mod breakdown;
pub(in crate::workspace) mod brief;
pub(in crate::workspace) mod dashboard;
pub(in crate::workspace) mod material;
pub(in crate::workspace) mod metrics;
pub(in crate::workspace) mod open_steps;
pub(in crate::workspace) mod rules;
pub(in crate::workspace) mod step_actions;
mod timeline;
pub(in crate::workspace) mod training;
