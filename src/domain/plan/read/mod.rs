//! How steps and their fields are found in plan.md, and kept for the next command.

pub(crate) mod checkbox_steps;
pub(crate) mod field_lines;
pub(crate) mod incremental;
pub(crate) mod locate;
pub(crate) mod row;
pub(crate) mod table;
pub(crate) mod unrecognised;
