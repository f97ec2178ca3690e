//! From source to sections, items and fields.

pub(super) mod block;
pub(super) mod body_blocks;
mod code;
pub(super) mod contents;
pub(super) mod depth;
pub(super) mod field;
pub(super) mod hidden;
pub(super) mod index;
pub(super) mod item;
mod lookup;
pub(super) mod preamble;
pub(super) mod reparse;
