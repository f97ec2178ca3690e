//! Putting bytes into the state files: replace by rename, set aside, append.

use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Access, Disk, Stat};
use super::error::At as _;
use super::files::{read_file, require_file};
use super::paths::Paths;
use super::publish::{create_temporary, discard, ensure_dir};
use super::{Result, StoreError};

/// What to do when a file was saved by somebody else since it was read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meanwhile<'a> {
    /// Nothing is decided yet: refuse.
    Refuse,
    /// The operation is committed: keep a copy of what is there, named with this time.
    SetAside(&'a str),
}

/// Replaces a file, or removes it, keeping its permissions.
///
/// `known` is the file as it was read. Gives the new metadata and the copy of what somebody saved
/// meanwhile.
pub(super) fn replace(
    disk: &dyn Disk,
    paths: &Paths,
    name: &str,
    bytes: Option<&[u8]>,
    known: Option<&Stat>,
    meanwhile: Meanwhile<'_>,
) -> Result<(Option<Stat>, Option<PathBuf>)> {
    let Some(bytes) = bytes else {
        let (now, copy) = look_again(disk, paths, name, known, meanwhile)?;
        if now.is_some() {
            disk.remove(&paths.file(name)).at(&paths.file(name))?;
        }
        return Ok((None, copy));
    };
    let (temporary, file) = create_temporary(disk, paths, name)?;
    let fill = || -> io::Result<Stat> {
        file.append(bytes)?;
        if let Some(known) = known {
            file.dress_like(known)?;
        }
        file.stat()
    };
    let placed = fill().at(&temporary).and_then(|stat| {
        let (_, copy) = look_again(disk, paths, name, known, meanwhile)?;
        disk.rename(&temporary, &paths.file(name)).at(&paths.file(name))?;
        Ok((Some(stat), copy))
    });
    if placed.is_err() {
        discard(disk, &temporary);
    }
    placed
}

/// Looks whether somebody saved the file since it was read, at the last possible moment.
fn look_again(
    disk: &dyn Disk,
    paths: &Paths,
    name: &str,
    known: Option<&Stat>,
    meanwhile: Meanwhile<'_>,
) -> Result<(Option<Stat>, Option<PathBuf>)> {
    let path = paths.file(name);
    let now = require_file(disk, &path)?;
    if now.map(|stat| stat.signature()) == known.map(Stat::signature) {
        return Ok((now, None));
    }
    match meanwhile {
        Meanwhile::Refuse => Err(StoreError::Conflict { name: name.to_owned() }),
        Meanwhile::SetAside(time) => match read_file(disk, &path, u64::MAX)? {
            Some(contents) => {
                let copy = set_aside(disk, paths, time, name, &contents.bytes)?;
                Ok((now, Some(copy)))
            }
            None => Ok((None, None)),
        },
    }
}

/// Adds bytes to the end of a file, creating it when absent; gives its metadata after.
///
/// What another program appended meanwhile is never overwritten.
pub(super) fn append(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<Stat> {
    require_file(disk, path)?;
    let file = disk.open(path, Access::AppendOrCreate).at(path)?;
    if !bytes.is_empty() {
        file.append(bytes).at(path)?;
    }
    file.stat().at(path)
}

/// Keeps a durable copy of bytes that are about to be replaced.
pub(super) fn set_aside(
    disk: &dyn Disk,
    paths: &Paths,
    time: &str,
    name: &str,
    bytes: &[u8],
) -> Result<PathBuf> {
    let path = free_salvage_path(disk, paths, time, name)?;
    let dir = paths.salvage();
    let file = disk.open(&path, Access::CreateNew).at(&path)?;
    file.append(bytes).at(&path)?;
    file.sync().at(&path)?;
    disk.sync_dir(&dir).at(&dir)?;
    Ok(path)
}

/// A path below `salvage/` where nothing is yet.
pub(super) fn free_salvage_path(
    disk: &dyn Disk,
    paths: &Paths,
    time: &str,
    name: &str,
) -> Result<PathBuf> {
    let dir = paths.salvage();
    if ensure_dir(disk, &dir, true)? {
        disk.sync_dir(&paths.private).at(&paths.private)?;
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '.' };
    let stamp: String = time.chars().map(plain).collect();
    let mut path = dir.join(format!("{stamp}-{name}"));
    let mut count = 1;
    while disk.stat(&path).at(&path)?.is_some() {
        count += 1;
        path = dir.join(format!("{stamp}-{count}-{name}"));
    }
    Ok(path)
}
