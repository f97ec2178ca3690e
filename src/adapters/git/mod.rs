//! Reading state out of git, by calling `git` with an argument vector.

mod error;
mod program;
mod revision;
mod work_tree;

pub use error::GitError;
pub use revision::{Revision, read_revision};
pub(super) use work_tree::look;
