//! Moving a whole state directory, its log included, in one step.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::store::{
    Committed, Layout, NewOperation, Result, Store, StoreError, Transaction,
    disk::{
        Disk, FileKind,
        publish::{ensure_dir_all, parent_of},
    },
    error::At as _,
};

/// A directory that was to be moved.
#[derive(Debug)]
pub(crate) struct Relocated {
    /// The operation that records the move.
    pub committed: Committed,
    /// Why the directory is still where it was, if it is.
    pub failed: Option<StoreError>,
}

impl Store {
    /// The same kind of store in another directory on the same disk.
    #[must_use]
    pub(crate) fn at(&self, dir: PathBuf) -> Store {
        let disk = self.disk.rooted(&dir, false).unwrap_or_else(|| Arc::clone(&self.disk));
        let layout = Layout { dir, ..self.layout.clone() };
        Store { rotate_at: self.rotate_at, ..Store::with_disk(layout, disk) }
    }

    /// The names of the directories in `dir`, in order; empty when it is not there.
    pub(crate) fn directories_in(&self, dir: &Path) -> Result<Vec<String>> {
        let mut names = match self.disk.list(dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            other => other.at(dir)?,
        };
        names.sort();
        let mut directories = Vec::new();
        for name in names {
            let path = dir.join(&name);
            if self.disk.stat(&path).at(&path)?.is_some_and(|stat| stat.kind == FileKind::Directory)
            {
                directories.push(name);
            }
        }
        Ok(directories)
    }

    /// What is at a path, in words; `None` when nothing is.
    pub(crate) fn what_is_at(&self, path: &Path) -> Result<Option<&'static str>> {
        Ok(self.disk.stat(path).at(path)?.map(|stat| stat.kind.describe()))
    }
}

impl Transaction {
    /// Commits an operation, then moves the whole directory to `target`, where nothing may be
    /// but an empty directory. The lock is held until that is done, and whoever waits for it
    /// finds the directory gone.
    ///
    /// An error means that nothing has changed. Once the operation is durable the result is
    /// `Ok`, and tells whether the move succeeded.
    pub(crate) fn commit_and_move(mut self, op: NewOperation, target: &Path) -> Result<Relocated> {
        let store = self.store.clone();
        let disk = &*store.disk;
        ensure_dir_all(disk, parent_of(target))?;
        refuse_occupied(disk, target)?;
        let mut committed = self.commit_in_place(op)?;
        let source = &store.paths.dir;
        // What is moved must be whole: an archive has no next command that would complete it.
        let moved = match committed.is_applied {
            true => rename(disk, source, target),
            false => Err(io::Error::other("a file could not be written yet")),
        };
        let failed = moved.at(target).err();
        if failed.is_none() {
            for dir in [parent_of(target), parent_of(source)] {
                if let Err(error) = disk.sync_dir(dir).at(dir) {
                    committed.warnings.push(format!("a power loss may undo this ({error})"));
                }
            }
        }
        Ok(Relocated { committed, failed })
    }
}

fn refuse_occupied(disk: &dyn Disk, target: &Path) -> Result<()> {
    let empty = match disk.stat(target).at(target)? {
        None => true,
        Some(stat) if stat.kind == FileKind::Directory => disk.list(target).at(target)?.is_empty(),
        Some(_) => false,
    };
    if empty {
        return Ok(());
    }
    let source =
        io::Error::new(ErrorKind::AlreadyExists, format!("`{}` already exists", target.display()));
    Err(StoreError::Io { path: target.into(), source })
}

/// Renames a directory to where nothing or an empty directory is.
pub(super) fn rename(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    match disk.rename_new(from, to) {
        Ok(true) => Ok(()),
        // A directory only ever replaces an empty one.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => disk.rename(from, to),
        Ok(false) => disk.rename(from, to),
        Err(error) => Err(error),
    }
}
