//! How steps and their fields are found in plan.md, and kept for the next command.

pub(crate) mod boxes;
pub(crate) mod follow;
pub(crate) mod locate;
pub(crate) mod loose;
pub(crate) mod row;
pub(crate) mod table;
pub(crate) mod unread;
