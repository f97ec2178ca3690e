//! Looking at the state.

pub(in crate::adapters) mod board;
pub(in crate::adapters) mod brief;
pub(in crate::adapters) mod graph;
pub(in crate::adapters) mod metrics;
pub(in crate::adapters) mod report;
pub(in crate::adapters) mod show;
pub(in crate::adapters) mod state;
pub(in crate::adapters) mod status;
pub(in crate::adapters) mod watch;
pub(in crate::adapters) mod web;
