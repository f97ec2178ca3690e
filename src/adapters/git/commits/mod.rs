//! What commits hold of the state, and committing it.

pub(super) mod commit;
pub(super) mod growth;
pub(super) mod range;
pub(super) mod removed;
pub(super) mod revision;
pub(super) mod version;
pub(super) mod way_back;
