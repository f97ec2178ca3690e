//! The plan and its steps.

pub(super) mod args;
pub(in crate::adapters) mod plan;
pub(in crate::adapters) mod review;
pub(in crate::adapters) mod step;
pub(super) mod view;
