//! From source to sections, items and fields.

pub(super) mod block;
mod code;
pub(super) mod contents;
pub(super) mod depth;
pub(super) mod field;
pub(super) mod hidden;
pub(super) mod index;
pub(super) mod item;
mod lookup;
pub(super) mod opening;
pub(super) mod parts;
pub(super) mod pieces;
