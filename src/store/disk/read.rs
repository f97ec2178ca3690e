//! Reading files whole and consistently, and refusing what is not a regular file.

use std::io::ErrorKind;
use std::path::Path;

use crate::store::{
    Hash, Result, StoreError,
    disk::{Access, Disk, DiskFile, FileKind, Stat},
    error::At as _,
};

/// A file's bytes with the metadata that belongs to exactly these bytes.
#[derive(Debug, Clone)]
pub(in crate::store) struct Contents {
    pub bytes: Vec<u8>,
    pub hash: Hash,
    pub stat: Stat,
    /// Whether the metadata alone said what the hash is.
    pub is_sealed: bool,
}

/// How often a file that keeps changing under the reader is read again.
const ATTEMPTS: usize = 16;

/// The metadata of a path that must be a regular file or absent.
pub(in crate::store) fn require_file(disk: &dyn Disk, path: &Path) -> Result<Option<Stat>> {
    require(disk, path, FileKind::File)
}

/// The metadata of a path that must be a directory or absent.
pub(in crate::store) fn require_dir(disk: &dyn Disk, path: &Path) -> Result<Option<Stat>> {
    require(disk, path, FileKind::Directory)
}

/// Opens a regular file that may be absent, with its metadata.
pub(in crate::store) fn open_existing(
    disk: &dyn Disk,
    path: &Path,
    access: Access,
) -> Result<Option<(Box<dyn DiskFile>, Stat)>> {
    let file = match disk.open(path, access) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.at(path)?,
    };
    let stat = file.stat_when_opened().at(path)?;
    Ok(Some((file, stat)))
}

/// Reads a file of at most `limit` bytes; `None` when it is absent.
pub(in crate::store) fn read_file(
    disk: &dyn Disk,
    path: &Path,
    limit: u64,
) -> Result<Option<Contents>> {
    read_sealed(disk, path, limit, |_| None)
}

/// The same with the hash that `sealed` knows for a file with that metadata, which then need not be
/// computed.
///
/// The metadata before and after reading must agree, so that the bytes are never half of one
/// save and half of another.
pub(in crate::store) fn read_sealed(
    disk: &dyn Disk,
    path: &Path,
    limit: u64,
    sealed: impl Fn(&Stat) -> Option<Hash>,
) -> Result<Option<Contents>> {
    for _ in 0..ATTEMPTS {
        let Some((file, before)) = open_existing(disk, path, Access::Read)? else {
            return Ok(None);
        };
        if before.len > limit {
            return Err(StoreError::TooLarge { path: path.into(), bytes: before.len, limit });
        }
        let bytes = read_range(&*file, path, 0, before.len)?;
        let after = file.stat().at(path)?;
        if after.same_content(&before) && bytes.len() as u64 == after.len {
            let known = sealed(&before).filter(|_| after.ctime == before.ctime);
            let hash = known.unwrap_or_else(|| Hash::of(&bytes));
            return Ok(Some(Contents { bytes, hash, stat: after, is_sealed: known.is_some() }));
        }
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Err(StoreError::Conflict { name })
}

/// Reads up to `len` bytes from an offset; fewer when the file ends before.
pub(in crate::store) fn read_range(
    file: &dyn DiskFile,
    path: &Path,
    offset: u64,
    len: u64,
) -> Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    let read = if bytes.is_empty() { 0 } else { file.read_at(&mut bytes, offset).at(path)? };
    bytes.truncate(read);
    Ok(bytes)
}

fn require(disk: &dyn Disk, path: &Path, kind: FileKind) -> Result<Option<Stat>> {
    match disk.stat(path).at(path)? {
        Some(stat) if stat.kind == kind => Ok(Some(stat)),
        Some(stat) if kind == FileKind::Directory => {
            let message = format!("expected a directory, found {}", stat.kind.describe());
            Err(StoreError::Damaged { path: path.into(), offset: 0, message })
        }
        Some(stat) => Err(StoreError::NotRegular { path: path.into(), what: stat.kind.describe() }),
        None => Ok(None),
    }
}
