//! What commits hold of the state, and committing it.

pub(super) mod append_only;
pub(super) mod commit;
pub(super) mod earlier_version;
pub(super) mod range;
pub(super) mod removed;
pub(super) mod revision;
pub(super) mod version;
