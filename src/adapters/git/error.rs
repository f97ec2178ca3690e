//! Why something could not be read out of git.

use std::path::PathBuf;

use crate::{domain::ErrorCode, store::StoreError};

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
    #[error("git has no revision `{0}`")]
    NoRevision(String),
    /// The commit has no state files at that place.
    #[error("there is no state in `{}` at git revision `{revision}`", directory.display())]
    NoState {
        /// The state directory.
        directory: PathBuf,
        revision: String,
    },
    /// A state file is a link or a directory there.
    #[error("`{file}` at git revision `{revision}` is not a regular file")]
    NotRegular { file: String, revision: String },
    /// A state file is larger than is read.
    #[error("`{file}` at git revision `{revision}` has {bytes} bytes, more than is read")]
    TooLarge {
        file: String,
        revision: String,
        /// Its size.
        bytes: u64,
    },
    /// Git failed in a way of its own.
    #[error("git failed: {0}")]
    Failed(String),
    /// Another git is at work in the repository, or was killed there.
    #[error("the repository is locked: {0}")]
    Locked(String),
    /// The request makes no sense here; git did not fail.
    #[error("{message}")]
    Refused {
        /// Which kind of error it is, for programs.
        code: ErrorCode,
        /// Why.
        message: String,
        /// What can be done instead.
        hint: Option<String>,
    },
    /// A file could not be read or written.
    #[error("{0}")]
    Io(std::io::Error),
    /// What was found could not be put into the state directory.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl GitError {
    /// A refusal of our own with a way out.
    pub(super) fn refused(
        code: ErrorCode,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::Refused { code, message: message.into(), hint: Some(hint.into()) }
    }

    /// Whether git was not even asked, or has no commit to answer with.
    pub(crate) fn is_about_nothing_there(&self) -> bool {
        matches!(self, Self::NoProgram(_) | Self::NoRepository(_) | Self::NoRevision(_))
    }

    /// Which kind of error it is, for programs.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoProgram(_) => ErrorCode::NoGit,
            Self::NoRepository(_) => ErrorCode::NoRepository,
            Self::NoRevision(_) => ErrorCode::NotFound,
            Self::NoState { .. } => ErrorCode::NotInRevision,
            Self::NotRegular { .. } => ErrorCode::NotRegular,
            Self::TooLarge { .. } => ErrorCode::TooLarge,
            Self::Failed(_) => ErrorCode::GitFailed,
            Self::Locked(_) => ErrorCode::GitLocked,
            Self::Refused { code, .. } => *code,
            Self::Io(_) | Self::Store(_) => ErrorCode::Io,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::NoProgram(_) => Some("install git; the state itself does not need it"),
            Self::NoRepository(_) => {
                Some("`git init` creates one; the state itself does not need it")
            }
            Self::NoRevision(_) => Some("`git log --oneline` lists commits"),
            Self::NoState { .. } => {
                Some("`git log --oneline -- plan.md` in that directory lists commits that have it")
            }
            Self::Locked(_) => Some(
                "try again; if no git is running in this repository, one was killed, and the lock \
                 file can be removed",
            ),
            Self::Refused { hint, .. } => hint.as_deref(),
            _ => None,
        }
    }
}
