//! State in git: read out of commits, merged by meaning, committed; by calling `git` with an
//! argument vector.

mod attributes;
mod commit;

mod driver;
mod error;
mod growth;
mod hook;
mod install;
mod program;

mod repository;
mod resolve;
mod revision;

pub use commit::{CommitOptions, Committed, commit};
pub use driver::{Driven, drive};
pub use error::GitError;
pub use growth::{Shrunk, check_staged};
pub use install::{InstallOptions, Installed, install, status, uninstall};
pub use resolve::{Resolved, mark_resolved, resolve, unite_history};
pub use revision::{Revision, read_revision};
