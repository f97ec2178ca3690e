//! Commands on operations: list, compare, undo.

pub(in crate::adapters) mod checkpoint;
pub(in crate::adapters) mod diff;
pub(in crate::adapters) mod op;
pub(in crate::adapters) mod undo;
