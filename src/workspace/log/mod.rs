//! The operation log and what uses it: checkpoints, undo, restore, differences.

pub(in crate::workspace) mod changes_since;
pub(in crate::workspace) mod checkpoint;
pub(in crate::workspace) mod diff;
pub(in crate::workspace) mod evidence;
pub(in crate::workspace) mod going_back;
pub(in crate::workspace) mod operations;
#[cfg(feature = "fleet")]
pub(in crate::workspace) mod receive;
pub(in crate::workspace) mod removed;
pub(in crate::workspace) mod restore;
mod undo_counts;
