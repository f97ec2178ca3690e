//! Commands on a state directory as a whole: create, check, collect, archive.

pub(in crate::adapters) mod adopt;
pub(in crate::adapters) mod archive;
pub(in crate::adapters) mod check;
pub(in crate::adapters) mod gc;
pub(in crate::adapters) mod init;
pub(in crate::adapters) mod migrate;
pub(in crate::adapters) mod trust;
