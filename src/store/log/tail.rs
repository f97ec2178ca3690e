//! The appended file, described by its length and the hash of its last bytes.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::store::{
    Hash, Result,
    disk::{DiskFile, read::read_range},
};

/// A length and the hash of the bytes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct Tail {
    pub len: u64,
    pub hash: Hash,
}

impl Default for Tail {
    fn default() -> Tail {
        Tail { len: 0, hash: Hash::of(b"") }
    }
}

impl Tail {
    /// How much of the end is hashed.
    pub(in crate::store) const WINDOW: u64 = 16 * 1024;

    /// The tail of the first `len` bytes of a file; `None` when it is shorter.
    pub(in crate::store) fn of(
        file: Option<&dyn DiskFile>,
        path: &Path,
        len: u64,
    ) -> Result<Option<Tail>> {
        let bytes = window(file, path, len, Tail::WINDOW)?;
        Ok((bytes.len() as u64 == len.min(Tail::WINDOW))
            .then(|| Tail { len, hash: Hash::of(&bytes) }))
    }

    /// The tail at `len`, of which `bytes` are the last; `None` when they are too few to tell.
    pub(in crate::store) fn of_bytes(bytes: &[u8], len: u64) -> Option<Tail> {
        let wanted = usize::try_from(len.min(Tail::WINDOW)).ok()?;
        let window = bytes.get(bytes.len().checked_sub(wanted)?..)?;
        Some(Tail { len, hash: Hash::of(window) })
    }

    /// The tail after `bytes` are added to the first `len` bytes of a file.
    pub(in crate::store) fn after(
        file: Option<&dyn DiskFile>,
        path: &Path,
        len: u64,
        bytes: &[u8],
    ) -> Result<Tail> {
        let room = Tail::WINDOW.saturating_sub(bytes.len() as u64);
        let before = window(file, path, len, room)?;
        let skip = bytes.len().saturating_sub(Tail::WINDOW as usize);
        let hash = Hash::of_all(&[&before, &bytes[skip..]]);
        Ok(Tail { len: len + bytes.len() as u64, hash })
    }
}

/// At most `most` of the bytes before `len`.
fn window(file: Option<&dyn DiskFile>, path: &Path, len: u64, most: u64) -> Result<Vec<u8>> {
    let wanted = len.min(most);
    match file {
        Some(file) => read_range(file, path, len - wanted, wanted),
        None => Ok(Vec::new()),
    }
}
