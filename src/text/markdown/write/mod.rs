//! From an edit to splices, and the proof that they change nothing else.

pub(super) mod change;
pub(super) mod edit;
pub(super) mod edit_items;
pub(super) mod passage;
pub(super) mod proof;
pub(super) mod render;
pub(super) mod style;
