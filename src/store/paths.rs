//! Where things are inside the state directory.

use std::io;
use std::path::{Path, PathBuf};

use super::directory::Directory;

/// The name of the store's own directory in the state directory.
pub(super) const PRIVATE: &str = ".statedir";

/// The store's own directory in the state directory `state`, for those who keep something beside
/// the log; `None` where the state is not in use.
///
/// # Errors
/// Something else is in its place, or it cannot be opened.
pub fn private_directory(state: &Path) -> io::Result<Option<Directory>> {
    match Directory::open(state) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other?.open_dir(PRIVATE),
    }
}

/// The paths of the store.
#[derive(Debug, Clone)]
pub(super) struct Paths {
    /// The state directory.
    pub dir: PathBuf,
    /// The store's own directory in it.
    pub private: PathBuf,
}

impl Paths {
    pub fn new(dir: &Path) -> Paths {
        Paths { dir: dir.to_owned(), private: dir.join(PRIVATE) }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub fn lock(&self) -> PathBuf {
        self.private.join("lock")
    }

    pub fn head(&self) -> PathBuf {
        self.private.join("head")
    }

    pub fn tally(&self) -> PathBuf {
        self.private.join("tally")
    }

    pub fn ignore(&self) -> PathBuf {
        self.private.join(".gitignore")
    }

    pub fn log(&self) -> PathBuf {
        self.private.join("log")
    }

    pub fn segment(&self, number: u64) -> PathBuf {
        self.log().join(format!("{number:08}.log"))
    }

    pub fn tmp(&self) -> PathBuf {
        self.private.join("tmp")
    }

    pub fn temporary(&self, name: &str) -> PathBuf {
        self.tmp().join(name)
    }

    pub fn objects(&self) -> PathBuf {
        self.private.join("objects")
    }

    pub fn object(&self, hash: super::Hash) -> PathBuf {
        self.objects().join(hash.to_string())
    }

    pub fn checkpoints(&self) -> PathBuf {
        self.private.join("checkpoints")
    }

    pub fn checkpoint(&self, number: u64, name: &str) -> PathBuf {
        self.checkpoints().join(format!("{number:08}-{name}"))
    }

    pub fn salvage(&self) -> PathBuf {
        self.private.join("salvage")
    }
}

/// The number in a segment's file name.
pub(super) fn segment_number(name: &str) -> Option<u64> {
    name.strip_suffix(".log").filter(|digits| digits.len() >= 8)?.parse().ok()
}
