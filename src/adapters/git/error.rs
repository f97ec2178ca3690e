//! Why something could not be read out of git.

use std::path::PathBuf;

use crate::store::StoreError;

/// A failed look into git. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no `git` program.
    #[error("`git` cannot be run: {0}")]
    NoProgram(std::io::Error),
    /// The directory is in no repository.
    #[error("`{}` is not inside a git repository", .0.display())]
    NoRepository(PathBuf),
    /// No commit has that name.
    #[error("git knows no revision `{0}`")]
    NoRevision(String),
    /// The commit has no state files at that place.
    #[error("there is no state in `{}` at git revision `{revision}`", directory.display())]
    NoState {
        /// The state directory.
        directory: PathBuf,
        /// The revision.
        revision: String,
    },
    /// A state file is a link or a directory there.
    #[error("`{file}` at git revision `{revision}` is not a regular file")]
    NotRegular {
        /// The file.
        file: String,
        /// The revision.
        revision: String,
    },
    /// A state file is larger than is read.
    #[error("`{file}` at git revision `{revision}` has {bytes} bytes, more than is read")]
    TooLarge {
        /// The file.
        file: String,
        /// The revision.
        revision: String,
        /// Its size.
        bytes: u64,
    },
    /// Git failed in a way of its own.
    #[error("git failed: {0}")]
    Failed(String),
    /// What was found could not be put into the state directory.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl GitError {
    /// A stable word for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoProgram(_) => "no_git",
            Self::NoRepository(_) => "no_repository",
            Self::NoRevision(_) => "not_found",
            Self::NoState { .. } => "not_in_revision",
            Self::NotRegular { .. } => "not_regular",
            Self::TooLarge { .. } => "too_large",
            Self::Failed(_) => "git_failed",
            Self::Store(_) => "io",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoProgram(_) => Some("install git, or compare operations: `statedir op log`"),
            Self::NoRepository(_) => {
                Some("`statedir op log` lists what can be compared without git")
            }
            Self::NoRevision(_) => Some("`git log --oneline` lists commits"),
            Self::NoState { .. } => {
                Some("`git log --oneline -- plan.md` in that directory lists commits that have it")
            }
            _ => None,
        }
    }
}
