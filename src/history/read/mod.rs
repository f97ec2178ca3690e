//! Reading a log: lines, sections, entries, from either end.

pub(in crate::history) mod block;
pub(in crate::history) mod entry_body;
pub(in crate::history) mod fence_content;
pub(in crate::history) mod fields;
pub(in crate::history) mod heading;
pub(in crate::history) mod lines;
pub(in crate::history) mod scan;
pub(in crate::history) mod search;
pub(in crate::history) mod segment;
pub(in crate::history) mod tail;
