//! Putting bytes at the end of the appended file, and aside.

use std::path::{Path, PathBuf};

use crate::store::{
    Result,
    disk::{Access, Disk, Stat, publish::ensure_dir},
    error::At as _,
    name::FileName,
    paths::{Paths, Salvaged},
};

/// Adds bytes to the end of a file, creating it when absent; gives its metadata after.
///
/// What another program appended meanwhile is never overwritten.
pub(in crate::store) fn append(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<Stat> {
    let file = disk.open(path, Access::AppendOrCreate).at(path)?;
    if !bytes.is_empty() {
        file.append(bytes).at(path)?;
    }
    file.stat().at(path)
}

/// Keeps a durable copy of bytes that are about to be replaced.
pub(in crate::store) fn set_aside(
    disk: &dyn Disk,
    paths: &Paths,
    time: &str,
    name: FileName,
    bytes: &[u8],
) -> Result<PathBuf> {
    let path = free_salvage_path(disk, paths, time, Salvaged::File(name))?;
    let dir = paths.salvage();
    let file = disk.open(&path, Access::CreateNew).at(&path)?;
    file.append(bytes).at(&path)?;
    file.sync().at(&path)?;
    disk.sync_dir(&dir).at(&dir)?;
    Ok(path)
}

/// A path below `salvage/` where nothing is yet.
pub(in crate::store) fn free_salvage_path(
    disk: &dyn Disk,
    paths: &Paths,
    time: &str,
    what: Salvaged<'_>,
) -> Result<PathBuf> {
    let dir = paths.salvage();
    if ensure_dir(disk, &dir, true)? {
        disk.sync_dir(&paths.private).at(&paths.private)?;
    }
    let mut path = paths.salvaged(time, what);
    let mut count = 1;
    while disk.stat(&path).at(&path)?.is_some() {
        count += 1;
        path = paths.salvaged(&format!("{time}-{count}"), what);
    }
    Ok(path)
}
