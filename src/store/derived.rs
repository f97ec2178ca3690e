//! What a caller derived from a file, kept for as long as the file has exactly these bytes.
//!
//! It is one file below `.statedir/`, written in place without a sync as the head cache is: it may be
//! missing, torn, or about another content. So it begins with a checksum of all that follows, which is
//! the hash of the content that it was derived from, a length, and the derived bytes. Readers write
//! nothing.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::store::{
    Hash,
    disk::{
        Access, Disk,
        read::{open_existing, read_range},
    },
};

/// Below this size, reading the file is as fast as reading what was derived from it.
pub(crate) const WORTHWHILE: usize = 1024;

/// The most bytes that are read.
const LIMIT: u64 = 64 * 1024 * 1024;

/// What is not longer is read and written in one call.
const SHORT: usize = 16 * 1024;

const SUM: usize = 8;
const HASH: usize = 16;
const HEADER: usize = SUM + HASH + 8;

/// Where data that was derived from files with exactly these bytes is cached.
#[derive(Clone, Debug)]
pub(crate) struct DerivedPlace {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) path: PathBuf,
    pub(super) source: Hash,
}

impl DerivedPlace {
    /// What was derived, if it was kept.
    pub(crate) fn load(&self) -> Option<Vec<u8>> {
        load(&*self.disk, &self.path, self.source)
    }

    /// Whether something is cached; it may be damaged.
    pub(crate) fn is_filled(&self) -> bool {
        is_about(&*self.disk, &self.path, self.source)
    }
}

/// The key for the content of these files: the hash of one, or a hash of all their hashes, missing
/// files included.
pub(super) fn source<N: AsRef<str>>(files: &BTreeMap<String, Hash>, names: &[N]) -> Option<Hash> {
    if let [one] = names {
        return files.get(one.as_ref()).copied();
    }
    let mut all = Vec::with_capacity(names.len() * 64);
    for name in names.iter().map(AsRef::as_ref) {
        all.extend_from_slice(name.as_bytes());
        all.push(0);
        all.extend(files.get(name).map(Hash::as_bytes).unwrap_or_default());
        all.push(0);
    }
    Some(Hash::of(&all))
}

/// What was derived from the content with that hash.
pub(super) fn load(disk: &dyn Disk, path: &Path, source: Hash) -> Option<Vec<u8>> {
    let (file, stat) = open_existing(disk, path, Access::Read).ok()??;
    let is_short = stat.len <= SHORT as u64;
    let first = if is_short { stat.len } else { HEADER as u64 };
    let mut header = read_range(&*file, path, 0, first).ok()?;
    let mut derived = header.split_off(HEADER.min(header.len()));
    let (sum, covered) = header.split_first_chunk()?;
    let (hash, len) = covered.split_at_checked(HASH)?;
    // A longer one may have been there before.
    let len = u64::from_le_bytes(*len.first_chunk()?);
    if hash != source.as_bytes() || len > stat.len.min(LIMIT) {
        return None;
    }
    match is_short {
        true => derived.truncate(usize::try_from(len).ok()?),
        false => derived = read_range(&*file, path, HEADER as u64, len).ok()?,
    }
    (*sum == checksum(covered, &derived) && derived.len() as u64 == len).then_some(derived)
}

/// Whether something was derived from the content with that hash; it may be damaged.
pub(super) fn is_about(disk: &dyn Disk, path: &Path, source: Hash) -> bool {
    let begin = || {
        let (file, _) = open_existing(disk, path, Access::Read).ok()??;
        read_range(&*file, path, SUM as u64, HASH as u64).ok()
    };
    begin().is_some_and(|hash| hash == source.as_bytes())
}

/// Keeps what was derived. Failing is harmless: it is derived again.
pub(super) fn save(disk: &dyn Disk, path: &Path, source: Hash, derived: &[u8]) {
    let len = (derived.len() as u64).to_le_bytes();
    let covered = [source.as_bytes(), &len].concat();
    let header = [checksum(&covered, derived).as_slice(), &covered].concat();
    let _ = disk.open(path, Access::WriteOrCreate).and_then(|file| {
        if derived.len() <= SHORT {
            return file.write_at(&[&header, derived].concat(), 0);
        }
        file.write_at(&header, 0)?;
        file.write_at(derived, HEADER as u64)
    });
}

/// Tells bytes that were written whole from others. It is quicker than a hash, as nobody has to be kept
/// from making bytes that fit: who can write here can write anything.
fn checksum(header: &[u8], derived: &[u8]) -> [u8; SUM] {
    let add = |sum: u64, word: u64| (sum.rotate_left(23) ^ word).wrapping_mul(ODD);
    // Several sums side by side do not have to wait for each other.
    let (words, _) = derived.as_chunks::<SUM>();
    let (blocks, _) = words.as_chunks::<4>();
    let [mut a, mut b, mut c, mut d] = [ODD; 4];
    for block in blocks {
        let [first, second, third, fourth] = block.map(u64::from_le_bytes);
        (a, b, c, d) = (add(a, first), add(b, second), add(c, third), add(d, fourth));
    }
    let rest = derived.get(blocks.len() * 4 * SUM..).unwrap_or_default();
    let sum = [a, b, c, d].into_iter().fold(ODD, add);
    let sum = header.iter().chain(rest).fold(sum, |sum, byte| add(sum, u64::from(*byte)));
    (sum ^ (sum >> 32)).to_le_bytes()
}

/// The odd number nearest to 2⁶⁴ divided by the golden ratio: every bit of a factor counts.
const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::RealDisk;

    #[test]
    fn what_is_kept_is_given_for_that_content_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (disk, path) = (RealDisk::new(dir.path()), dir.path().join("derived"));
        let (one, other) = (Hash::of(b"one"), Hash::of(b"other"));
        assert_eq!(load(&disk, &path, one), None);
        assert!(!is_about(&disk, &path, one));
        save(&disk, &path, one, b"a longer text");
        assert!(is_about(&disk, &path, one) && !is_about(&disk, &path, other));
        assert_eq!(load(&disk, &path, one).as_deref(), Some(&b"a longer text"[..]));
        assert_eq!(load(&disk, &path, other), None, "it is about other bytes");
        save(&disk, &path, other, b"short");
        assert_eq!(load(&disk, &path, other).as_deref(), Some(&b"short"[..]));
        assert_eq!(load(&disk, &path, one), None);
    }

    #[test]
    fn short_and_long_ones_follow_each_other_in_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let (disk, path) = (RealDisk::new(dir.path()), dir.path().join("derived"));
        for (n, len) in [SHORT - HEADER, SHORT, SHORT + 1, 7, 2 * SHORT, 0].into_iter().enumerate()
        {
            let (hash, derived) = (Hash::of(&[n as u8]), vec![n as u8; len]);
            save(&disk, &path, hash, &derived);
            assert_eq!(load(&disk, &path, hash), Some(derived), "{len} bytes");
        }
    }

    #[test]
    fn bytes_in_another_order_have_another_sum() {
        let header = [7; HASH + 8];
        let one: Vec<u8> = (0..100).collect();
        let mut other = one.clone();
        other.swap(8, 16);
        let mut blank = one.clone();
        blank[40..80].fill(0);
        let sums = [&one, &other, &blank, &one[..96].to_vec()].map(|all| checksum(&header, all));
        let distinct: std::collections::BTreeSet<_> = sums.into_iter().collect();
        assert_eq!(distinct.len(), 4);
    }

    #[test]
    fn what_is_damaged_is_not_given() {
        let dir = tempfile::tempdir().unwrap();
        let (disk, path) = (RealDisk::new(dir.path()), dir.path().join("derived"));
        let hash = Hash::of(b"one");
        save(&disk, &path, hash, b"derived");
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(load(&disk, &path, hash), None, "{at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(load(&disk, &path, hash), None, "cut at {at}");
        }
    }
}
