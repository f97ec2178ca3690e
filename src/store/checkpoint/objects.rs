//! Full images of files, named by their hash.

use crate::store::{
    Hash, Result, StoreError,
    disk::{
        Access, Disk,
        publish::{ensure_dir, publish},
        read::read_file,
    },
    error::At as _,
    log::segment,
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
            message: "the image does not match the hash in its name".into(),
        }),
        Ok(None) => Err(StoreError::NotFound { what: format!("image `{hash}`") }),
        Err(error) => Err(error),
    }
}

/// Whether an image is there and as it should be.
pub(in crate::store) fn is_sound(disk: &dyn Disk, paths: &Paths, hash: Hash) -> Result<bool> {
    match load(disk, paths, hash) {
        Ok(_) => Ok(true),
        Err(error) if segment::is_image_lost(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Stores images durably; sound ones that are already there are kept, others replaced.
pub(in crate::store) fn store<'a>(
    disk: &dyn Disk,
    paths: &Paths,
    images: impl Iterator<Item = (Hash, &'a [u8])>,
) -> Result<()> {
    let dir = paths.objects();
    ensure_dir(disk, &dir, true)?;
    for (hash, bytes) in images {
        let path = paths.object(hash);
        if is_sound(disk, paths, hash)? {
            // The process that wrote it may have stopped before the sync.
            disk.open(&path, Access::Append).at(&path)?.sync().at(&path)?;
        } else {
            publish(disk, paths, &path, bytes)?;
        }
    }
    disk.sync_dir(&dir).at(&dir)
}
