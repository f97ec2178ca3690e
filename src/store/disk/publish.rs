//! Creating whole files: temporary file, sync, rename.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::store::{
    Result, StoreError,
    disk::{Access, Disk, DiskFile, FileKind},
    error::At as _,
    paths::Paths,
};

/// Writes a private file durably under its final name; its directory is not synced.
pub(in crate::store) fn publish(
    disk: &dyn Disk,
    paths: &Paths,
    path: &Path,
    bytes: &[u8],
) -> Result<()> {
    let (temporary, file) = create_temporary(disk, paths, path)?;
    let placed = file
        .append(bytes)
        .and_then(|()| file.sync())
        .at(&temporary)
        .and_then(|()| disk.rename(&temporary, path).at(path));
    if placed.is_err() {
        discard(disk, &temporary);
    }
    placed
}

/// Gives back the space of a temporary file that could not be used.
pub(in crate::store) fn discard(disk: &dyn Disk, temporary: &Path) {
    let _ = disk.remove(temporary);
}

/// A fresh file in the directory for temporary files, which is created when missing.
///
/// The name may be fixed because only the holder of the lock writes. What an interrupted process
/// left there is unlinked and not truncated: after a power loss on a file system without a journal
/// the leftover can be the same file as the one it was renamed to.
fn create_temporary(
    disk: &dyn Disk,
    paths: &Paths,
    target: &Path,
) -> Result<(PathBuf, Box<dyn DiskFile>)> {
    create_temporary_after(disk, paths, target, |path| disk.remove(path).at(path))
}

/// A fresh file to be put in the place of `target`; `clear` makes room for it when there is a leftover.
pub(in crate::store) fn create_temporary_after(
    disk: &dyn Disk,
    paths: &Paths,
    target: &Path,
    clear: impl FnOnce(&Path) -> Result<()>,
) -> Result<(PathBuf, Box<dyn DiskFile>)> {
    let path = paths.temporary(target);
    let file = match disk.open(&path, Access::CreateNew) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            ensure_dir(disk, &paths.tmp(), true)?;
            disk.open(&path, Access::CreateNew)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            clear(&path)?;
            disk.open(&path, Access::CreateNew)
        }
        other => other,
    };
    let file = file.at(&path)?;
    Ok((path, file))
}

/// Creates a directory unless it is there; says whether it did.
pub(in crate::store) fn ensure_dir(disk: &dyn Disk, path: &Path, private: bool) -> Result<bool> {
    match disk.stat(path).at(path)? {
        Some(stat) if stat.kind == FileKind::Directory => Ok(false),
        Some(stat) => Err(StoreError::Damaged {
            path: path.into(),
            offset: 0,
            message: format!("expected a directory, found {}", stat.kind.describe()),
        }),
        None => match disk.create_dir(path, private) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            other => other.at(path).map(|()| true),
        },
    }
}

/// Creates a directory with all its missing ancestors, each durable in its parent.
pub(in crate::store) fn ensure_dir_all(disk: &dyn Disk, path: &Path) -> Result<()> {
    // A link to a directory on the way is the user's business; only the missing is created.
    match disk.stat(path).at(path)? {
        Some(stat) if matches!(stat.kind, FileKind::Directory | FileKind::Link) => return Ok(()),
        _ => {}
    }
    let parent = parent_of(path);
    if parent != path {
        ensure_dir_all(disk, parent)?;
    }
    if ensure_dir(disk, path, false)? {
        disk.sync_dir(parent).at(parent)?;
    }
    Ok(())
}

/// The directory that a path is in.
pub(in crate::store) fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
