//! What is told of a state: the brief, the conversation, numbers, rules, training data.

pub(in crate::workspace) mod active_rules;
mod breakdown;
pub(in crate::workspace) mod brief;
mod graph;
pub(in crate::workspace) mod material;
pub(in crate::workspace) mod memory;
pub(in crate::workspace) mod metrics;
mod open_steps;
pub(in crate::workspace) mod rules;
mod timeline;
pub(in crate::workspace) mod training;
