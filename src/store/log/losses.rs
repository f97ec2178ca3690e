//! What the log has lost: found by reading all of it, restored where possible.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::store::{
    Hash, LockHolder, Result, Store,
    checkpoint::objects,
    error::At as _,
    lock,
    log::segment::{Segment, is_image_lost},
    query::Segments,
};

/// Something that is missing from the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LogLoss {
    /// A segment is missing although older ones exist, so nothing before it can be restored.
    Segment(u64),
    /// The image of a file that segments begin with is missing or damaged.
    Image {
        /// The newest such segment.
        segment: u64,
        /// The file.
        name: String,
        /// Its bytes, where an older segment still has them.
        bytes: Option<Vec<u8>>,
    },
}

impl Store {
    /// Reads every record of the log, and the image of every file that a segment begins with.
    ///
    /// Reads without the lock.
    ///
    /// # Errors
    /// `Damaged` when a record is not sound.
    pub(crate) fn log_losses(&self) -> Result<Vec<LogLoss>> {
        let this = self.session();
        let (disk, paths) = (&*this.disk, &this.paths);
        let mut segments = Segments::new(&this)?;
        let mut losses: BTreeMap<Hash, LogLoss> = BTreeMap::new();
        for segment in segments.by_ref() {
            let segment = segment?;
            // What a newer segment begins with is what an older one ends with.
            for (hash, loss) in &mut losses {
                let LogLoss::Image { name, bytes: bytes @ None, .. } = loss else { continue };
                if segment.state.files.get(name) == Some(hash) {
                    *bytes = this.end_of(&segment, name)?;
                }
            }
            for (name, hash) in &segment.header.state.files {
                if !losses.contains_key(hash) && !objects::is_sound(disk, paths, *hash)? {
                    let (segment, name) = (segment.number, name.clone());
                    losses.insert(*hash, LogLoss::Image { segment, name, bytes: None });
                }
            }
        }
        Ok(losses.into_values().chain(segments.missing.map(LogLoss::Segment)).collect())
    }

    /// A file as a segment leaves it, if that is still known.
    fn end_of(&self, segment: &Segment, name: &str) -> Result<Option<Vec<u8>>> {
        match segment.image(&*self.disk, &self.paths, name, segment.records.len(), None) {
            Err(error) if is_image_lost(&error) => Ok(None),
            other => other,
        }
    }

    /// Restores the images that can be restored, and returns how many.
    ///
    /// # Errors
    /// The log cannot be read or an image not be written.
    pub(crate) fn restore_images(&self, wait: Duration, holder: &LockHolder) -> Result<usize> {
        let this = self.session();
        let (disk, paths) = (&*this.disk, &this.paths);
        let _lock = lock::exclusive(disk, &paths.lock(), wait, holder)?;
        let mut found = Vec::new();
        for loss in this.log_losses()? {
            if let LogLoss::Image { bytes: Some(bytes), .. } = loss {
                found.push((Hash::of(&bytes), bytes));
            }
        }
        if !found.is_empty() {
            objects::store(disk, paths, found.iter().map(|(hash, bytes)| (*hash, &bytes[..])))?;
            disk.sync_dir(&paths.private).at(&paths.private)?;
        }
        Ok(found.len())
    }
}
