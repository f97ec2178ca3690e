//! Full images of files, named by their hash.

use crate::store::{
    Hash, Result, StoreError,
    disk::{
        Access, Disk,
        publish::{ensure_dir, publish},
        read::{read_file, require_file},
    },
    error::At as _,
    paths::Paths,
};

/// Reads an image and checks it.
pub(in crate::store) fn load(disk: &dyn Disk, paths: &Paths, hash: Hash) -> Result<Vec<u8>> {
    let path = paths.object(hash);
    match read_file(disk, &path, paths.layout.max_bytes) {
        Ok(Some(contents)) if contents.hash == hash => Ok(contents.bytes),
        Ok(Some(_)) | Err(StoreError::TooLarge { .. }) => Err(StoreError::Damaged {
            path,
            offset: 0,
            message: "the image does not have the hash it is named after".into(),
        }),
        Ok(None) => Err(StoreError::NotFound { what: format!("image `{hash}`") }),
        Err(error) => Err(error),
    }
}

/// Stores images durably; those already there are kept.
pub(in crate::store) fn store<'a>(
    disk: &dyn Disk,
    paths: &Paths,
    images: impl Iterator<Item = (Hash, &'a [u8])>,
) -> Result<()> {
    let dir = paths.objects();
    ensure_dir(disk, &dir, true)?;
    for (hash, bytes) in images {
        let path = paths.object(hash);
        let kept = require_file(disk, &path)?.is_some_and(|stat| stat.len == bytes.len() as u64);
        if kept {
            // Written by somebody who may have stopped before the sync.
            disk.open(&path, Access::Append).at(&path)?.sync().at(&path)?;
        } else {
            publish(disk, paths, &path, bytes)?;
        }
    }
    disk.sync_dir(&dir).at(&dir)
}
