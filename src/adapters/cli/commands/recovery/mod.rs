//! Continuing after an interruption.

mod from_git;
pub(in crate::adapters) mod recover;
pub(in crate::adapters) mod scan;
mod view;
