//! Merging two sides: by the driver while git merges, or afterwards.

pub(super) mod driver;
pub(super) mod resolve;
mod sibling;
