//! Operations: listed, compared, taken back.

pub(in crate::adapters) mod checkpoint;
pub(in crate::adapters) mod diff;
pub(in crate::adapters) mod op;
pub(in crate::adapters) mod undo;
