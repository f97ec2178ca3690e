//! What can go wrong while reading or changing the state directory.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::store::disk::{FileKind, directory::WrongKind};

/// A failure of the store; nothing was changed unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused; the message of `source` names the path.
    #[error("{source}")]
    Io {
        /// The file or directory concerned.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Another process kept the lock for longer than the caller was ready to wait.
    #[error("the state is locked by {holder}; waited {waited:.0?}")]
    LockTimeout {
        /// Who has the lock: process id, actor, command and since when, as far as known.
        holder: String,
        /// How long this call waited.
        waited: Duration,
    },
    /// Whoever asked does not want it any more; nothing was written.
    #[error("the call was cancelled; nothing was done")]
    Cancelled,
    /// A file was saved by somebody else between reading it and committing; nothing was written.
    #[error("`{name}` was changed by another program in the meantime; nothing was written")]
    Conflict {
        /// The file that changed.
        name: String,
    },
    /// The directory was moved away while this call was waiting for it; nothing was written.
    #[error("`{}` was moved in the meantime; nothing was written", path.display())]
    Moved {
        /// Where it was.
        path: PathBuf,
    },
    /// A state file is a link, a directory, a pipe: anything but a regular file.
    #[error("`{}` is {what}, not a regular file", path.display())]
    NotRegular {
        /// The offending path.
        path: PathBuf,
        /// What it is instead, with an article.
        what: &'static str,
    },
    /// A file is larger than its cap.
    #[error("`{}` has {bytes} bytes; the limit is {limit}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The cap.
        limit: u64,
    },
    /// The log or an object does not pass its checksum; state files are untouched.
    #[error("`{}` is damaged at byte {offset}: {message}", path.display())]
    Damaged {
        /// The damaged file.
        path: PathBuf,
        /// Where the damage begins.
        offset: u64,
        /// What is wrong there.
        message: String,
    },
    /// No operation or image of that name.
    #[error("there is no {what}")]
    NotFound {
        /// What was looked for, with names in backticks.
        what: String,
    },
    /// An id prefix is ambiguous.
    #[error("`{prefix}` is ambiguous; it matches the operations {}", candidates.join(", "))]
    Ambiguous {
        /// The prefix given.
        prefix: String,
        /// Some of the operations that it matches.
        candidates: Vec<String>,
    },
    /// The directory cannot be written to.
    #[error("`{}` is read-only", path.display())]
    ReadOnly {
        /// The directory or file.
        path: PathBuf,
    },
    /// The caller asked for a change that does not fit the current bytes.
    #[error("`{name}` cannot be changed as asked: {message}")]
    BadChange {
        /// The file named in the change.
        name: String,
        /// Why not.
        message: String,
    },
    /// An operation cannot be undone or redone because later changes overlap it.
    #[error("operation `{id}` no longer applies to `{name}`, which has changed since")]
    Overlap {
        /// The operation.
        id: String,
        /// The file in which later changes overlap.
        name: String,
    },
}

impl StoreError {
    fn wrong_kind(wrong: &WrongKind) -> StoreError {
        let (path, what) = (wrong.path.clone(), wrong.found.describe());
        match wrong.expected {
            FileKind::Directory => {
                let message = format!("expected a directory, found {what}");
                StoreError::Damaged { path, offset: 0, message }
            }
            _ => StoreError::NotRegular { path, what },
        }
    }
}

/// The store's result type.
pub(crate) type Result<T> = std::result::Result<T, StoreError>;

/// Adds the path to an I/O result.
pub(super) trait At<T> {
    fn at(self, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|source| {
            let wrong = source.get_ref().and_then(|inner| inner.downcast_ref::<WrongKind>());
            match (source.kind(), wrong) {
                (io::ErrorKind::ReadOnlyFilesystem, _) => {
                    StoreError::ReadOnly { path: path.into() }
                }
                (_, Some(wrong)) => StoreError::wrong_kind(wrong),
                _ => StoreError::Io { path: path.into(), source },
            }
        })
    }
}
