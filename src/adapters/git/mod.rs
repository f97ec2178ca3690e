//! Reading state out of git, by calling `git` with an argument vector.

mod error;
mod program;
mod revision;

pub use error::GitError;
pub use revision::{Revision, read_revision};
