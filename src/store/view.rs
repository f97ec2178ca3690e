//! One consistent picture of all files, as a reader or a transaction sees it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::store::{
    Hash, Report, Result, Revision, Tally,
    checkpoint::registry::Registry,
    derived::{self, DerivedPlace},
    disk::{Access, Disk, DiskFile},
    error::At as _,
    log::{head::DerivedData, tail::Tail},
};

/// All files at one revision, pending recovery included.
#[derive(Debug)]
pub(crate) struct View {
    /// The revision: what the next mutating open will find or produce before its own change.
    pub revision: Revision,
    pub(super) files: BTreeMap<String, Content>,
    pub(super) late: Option<LazyFile>,
    /// The hashes of these files, where they are those on disk.
    pub(super) hashes: BTreeMap<String, Hash>,
    /// Where it is kept what was derived from a file.
    pub(super) derived: PathBuf,
    pub(super) appended: AppendedView,
    pub(super) facts: Option<DerivedData>,
    pub(super) reports: Vec<Report>,
    pub(super) tally: Tally,
    pub(super) adopted: bool,
    pub(super) has_log: bool,
    pub(super) damage: Option<LogDamage>,
    pub(super) registry: Registry,
}

/// The bytes of a file, which nobody has to copy to keep them or to have them as text.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    bytes: ContentBytes,
    /// Their hash, once somebody has asked for it.
    hash: Arc<OnceLock<Hash>>,
}

#[derive(Clone, Debug)]
enum ContentBytes {
    /// They are UTF-8.
    Text(Arc<String>),
    /// They are not.
    Other(Arc<Vec<u8>>),
}

/// From this size on, hashing takes so long that a thread of its own is worth it.
const WORTH_A_THREAD: usize = 1024 * 1024;

impl Content {
    /// Their hash.
    pub(crate) fn hash(&self) -> Hash {
        *self.hash.get_or_init(|| Hash::of(self))
    }

    /// Begins to work out the hash of a long file that is about to be written, while the caller goes on.
    /// Whoever asks for it waits for it.
    pub(crate) fn hash_ahead(&self) {
        if self.len() >= WORTH_A_THREAD {
            let content = self.clone();
            // Without a thread it is worked out when it is asked for.
            let _ = std::thread::Builder::new().spawn(move || content.hash());
        }
    }
}

impl From<ContentBytes> for Content {
    fn from(bytes: ContentBytes) -> Content {
        Content { bytes, hash: Arc::default() }
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Content {
        match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => ContentBytes::Other(Arc::new(error.into_bytes())).into(),
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Content {
        Arc::new(text).into()
    }
}

impl From<Arc<String>> for Content {
    fn from(text: Arc<String>) -> Content {
        ContentBytes::Text(text).into()
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Content) -> bool {
        **self == **other
    }
}

impl Eq for Content {}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            ContentBytes::Text(text) => text.as_bytes(),
            ContentBytes::Other(bytes) => bytes,
        }
    }
}

/// A file that is worked out only if somebody asks for it.
pub(crate) struct LazyFile {
    /// Its name.
    pub name: &'static str,
    /// What it comes to.
    pub make: Arc<dyn Fn() -> MadeFile + Send + Sync>,
    /// What it came to.
    pub made: OnceLock<MadeFile>,
}

/// A file that was worked out. What it is made of may be part of something larger, and is not copied.
pub(crate) struct MadeFile {
    /// Its bytes.
    pub bytes: SharedBytes,
    /// What was derived from them before.
    pub derived: Option<SharedBytes>,
}

/// Bytes that somebody else has, too.
pub(crate) type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

impl fmt::Debug for LazyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyFile").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Where the operation log is damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogDamage {
    /// The segment.
    pub path: PathBuf,
    /// Where the damage begins.
    pub offset: u64,
    /// What is wrong there.
    pub message: String,
}

impl View {
    /// The bytes of a rewritable file, `None` when it is absent.
    pub(crate) fn bytes(&self, name: &str) -> Option<&[u8]> {
        match &self.late {
            Some(late) if late.name == name => {
                Some((*late.made.get_or_init(|| (late.make)()).bytes).as_ref())
            }
            _ => self.files.get(name).map(|content| &**content),
        }
    }

    /// The same as text, if it is UTF-8; one that is shared already is not copied.
    pub(crate) fn text(&self, name: &str) -> Option<Arc<String>> {
        let is_late = self.late.as_ref().is_some_and(|late| late.name == name);
        match self.files.get(name).filter(|_| !is_late).map(|content| &content.bytes) {
            Some(ContentBytes::Text(text)) => Some(Arc::clone(text)),
            Some(ContentBytes::Other(_)) => None,
            None => Some(Arc::new(std::str::from_utf8(self.bytes(name)?).ok()?.to_owned())),
        }
    }

    /// Whether nobody has asked for a file yet that has to be worked out.
    pub(crate) fn is_lazy(&self, name: &str) -> bool {
        self.late.as_ref().is_some_and(|late| late.name == name && late.made.get().is_none())
    }

    /// What a caller derived from exactly the bytes that a file has, if that was kept.
    pub(crate) fn derived(&self, name: &str) -> Option<Vec<u8>> {
        if let Some(late) = self.late.as_ref().filter(|late| late.name == name) {
            let derived = late.made.get_or_init(|| (late.make)()).derived.as_ref();
            return derived.map(|derived| (**derived).as_ref().to_vec());
        }
        let hash = self.hashes.get(name)?;
        let is_worthwhile = self.bytes(name)?.len() >= derived::WORTHWHILE;
        is_worthwhile.then(|| derived::load(&*self.appended.disk, &self.derived, *hash))?
    }

    /// Whether something was kept that was derived from the bytes of a file; it may be damaged.
    pub(crate) fn has_derived(&self, name: &str) -> bool {
        let hash = self.hashes.get(name);
        hash.is_some_and(|hash| derived::is_about(&*self.appended.disk, &self.derived, *hash))
    }

    /// Where it is kept what was derived from several files as they are.
    pub(crate) fn derived_place(&self, names: &[&str]) -> Option<DerivedPlace> {
        if self.hashes.is_empty() {
            return None;
        }
        let source = derived::source(&self.hashes, names)?;
        let disk = Arc::clone(&self.appended.disk);
        Some(DerivedPlace { disk, path: self.derived.clone(), source })
    }

    /// The names of the rewritable files that exist.
    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The same picture with other rewritable files, to work out a change on.
    #[must_use]
    pub(crate) fn with_files(&self, files: BTreeMap<String, Vec<u8>>) -> View {
        View {
            revision: self.revision.clone(),
            files: files.into_iter().map(|(name, bytes)| (name, bytes.into())).collect(),
            late: None,
            hashes: BTreeMap::new(),
            derived: self.derived.clone(),
            appended: self.appended.clone(),
            facts: self.facts.clone(),
            reports: self.reports.clone(),
            tally: self.tally.clone(),
            adopted: self.adopted,
            has_log: self.has_log,
            damage: self.damage.clone(),
            registry: self.registry.clone(),
        }
    }

    /// The same picture with more files, the appended one perhaps among them, which are made when
    /// they are first written to.
    #[must_use]
    pub(crate) fn with_unwritten(
        mut self,
        files: BTreeMap<String, Vec<u8>>,
        appended: bool,
    ) -> View {
        self.files.extend(files.into_iter().map(|(name, bytes)| (name, bytes.into())));
        self.appended.exists |= appended;
        self
    }

    /// The same picture with more at the end of the appended file.
    #[must_use]
    pub(crate) fn with_appended(mut self, bytes: &[u8]) -> View {
        self.appended = self.appended.with_added(bytes);
        self
    }

    /// The same picture as one of other files that stand for these; the appended file is made when
    /// it is first written to.
    #[must_use]
    pub(crate) fn shown_as(&self, files: BTreeMap<String, Vec<u8>>, late: LazyFile) -> View {
        let mut view = self.with_files(files);
        view.appended.exists = true;
        view.late = Some(late);
        view
    }

    /// The picture right after an earlier operation, when the appended file was so long.
    #[cfg(feature = "web")]
    #[must_use]
    pub(crate) fn at_operation(
        &self,
        revision: Revision,
        files: BTreeMap<String, Vec<u8>>,
        appended: u64,
    ) -> View {
        let mut view = self.with_files(files);
        view.revision = revision;
        view.facts = None;
        view.reports = Vec::new();
        view.appended.cut(appended);
        view
    }

    /// All rewritable files with their bytes.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let copied = |(name, content): (&String, &Content)| (name.clone(), content.to_vec());
        let mut files: BTreeMap<_, _> = self.files.iter().map(copied).collect();
        if let Some(late) = &self.late {
            files.extend(self.bytes(late.name).map(|bytes| (late.name.to_owned(), bytes.to_vec())));
        }
        files
    }

    /// The appended file.
    pub(crate) fn appended(&self) -> &AppendedView {
        &self.appended
    }

    /// The caller's derived data and the length of the appended file that it is valid for.
    pub(crate) fn facts(&self) -> Option<(&[u8], u64)> {
        self.facts.as_ref().map(|facts| (facts.bytes.as_slice(), facts.len))
    }

    /// What was found and repaired on opening (for a reader: what will be).
    pub(crate) fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// What was counted and no operation has recorded yet.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Whether the files were there before the log (a clone).
    pub(crate) fn adopted(&self) -> bool {
        self.adopted
    }

    /// Whether the directory had a log when it was opened, readable or not.
    ///
    /// With no file there, this tells "the files are gone" from "nothing was ever here": then
    /// [`Store::last_known_files`](crate::store::Store::last_known_files) has them.
    pub(crate) fn has_log(&self) -> bool {
        self.has_log
    }

    /// Why the log could not be read, for readers: the view then shows the files as they are.
    ///
    /// Changing the state fails with `Damaged` until
    /// [`Store::set_damaged_log_aside`](super::Store::set_damaged_log_aside).
    pub(crate) fn log_damage(&self) -> Option<&LogDamage> {
        self.damage.as_ref()
    }
}

/// The appended file's consistent content, bytes of the log not yet applied included.
#[derive(Debug, Clone)]
pub struct AppendedView {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) path: PathBuf,
    pub(super) exists: bool,
    /// How many bytes of the file count.
    pub(super) keep: u64,
    /// What follows them.
    pub(super) add: Vec<u8>,
}

impl AppendedView {
    /// Whether the file is there, or will be.
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// Its length.
    pub fn len(&self) -> u64 {
        self.keep + self.add.len() as u64
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same with more at its end.
    #[must_use]
    pub(crate) fn with_added(&self, bytes: &[u8]) -> AppendedView {
        let mut longer = self.clone();
        longer.exists |= !bytes.is_empty();
        longer.add.extend_from_slice(bytes);
        longer
    }

    /// Truncates it to `len` bytes.
    #[cfg(feature = "web")]
    fn cut(&mut self, len: u64) {
        let more = len.saturating_sub(self.keep);
        self.add.truncate(usize::try_from(more).unwrap_or(usize::MAX));
        self.keep = self.keep.min(len);
    }

    /// The last `n` bytes, or all when there are fewer.
    pub(crate) fn read_tail(&self, n: u64) -> Result<Vec<u8>> {
        self.read_from(self.len().saturating_sub(n))
    }

    /// All bytes from an offset on.
    pub(crate) fn read_from(&self, offset: u64) -> Result<Vec<u8>> {
        self.read_between(offset, self.len())
    }

    /// The bytes from one offset to another, or to the end.
    pub(crate) fn read_between(&self, from: u64, to: u64) -> Result<Vec<u8>> {
        let (from, to) = (from.min(self.len()), to.min(self.len()));
        let mut reader = self.reader()?;
        let wanted = to.saturating_sub(from);
        // Room for all of it, so that it comes in one read.
        let mut bytes = Vec::with_capacity(usize::try_from(wanted).unwrap_or_default());
        reader.position = from;
        reader.take(wanted).read_to_end(&mut bytes).at(&self.path)?;
        Ok(bytes)
    }

    /// Whether the content begins with what `tail` describes.
    pub(super) fn begins_with(&self, tail: Tail) -> Result<bool> {
        if tail.len > self.len() {
            return Ok(false);
        }
        let bytes = self.read_between(tail.len.saturating_sub(Tail::WINDOW), tail.len)?;
        Ok(Tail::of_bytes(&bytes, tail.len) == Some(tail))
    }

    /// Reads the content from its beginning, and nothing that is appended later.
    pub(crate) fn reader(&self) -> Result<AppendedReader> {
        let file = if self.keep > 0 {
            Some(self.disk.open(&self.path, Access::Read).at(&self.path)?)
        } else {
            None
        };
        Ok(AppendedReader { file, keep: self.keep, add: self.add.clone(), position: 0 })
    }
}

/// Reads an [`AppendedView`].
#[derive(Debug)]
pub(crate) struct AppendedReader {
    file: Option<Box<dyn DiskFile>>,
    keep: u64,
    add: Vec<u8>,
    position: u64,
}

impl Read for AppendedReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = match &self.file {
            Some(file) if self.position < self.keep => {
                let left = usize::try_from(self.keep - self.position).unwrap_or(usize::MAX);
                let wanted = buf.len().min(left);
                let read = match buf.get_mut(..wanted) {
                    Some(part) if wanted > 0 => file.read_at(part, self.position)?,
                    _ => 0,
                };
                if read < wanted {
                    let message = "the file was cut by another program while being read";
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
                }
                read
            }
            _ => {
                let done = usize::try_from(self.position - self.keep).unwrap_or(usize::MAX);
                let mut rest = self.add.get(done..).unwrap_or_default();
                rest.read(buf)?
            }
        };
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for AppendedReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let len = self.keep + self.add.len() as u64;
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => len.checked_add_signed(by),
        };
        self.position = target.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_that_was_begun_ahead_is_that_of_the_bytes() {
        for bytes in [b"short".to_vec(), vec![b'x'; WORTH_A_THREAD], vec![0xff; WORTH_A_THREAD + 1]]
        {
            let content = Content::from(bytes.clone());
            let shared = content.clone();
            content.hash_ahead();
            assert_eq!(shared.hash(), Hash::of(&bytes), "{} bytes", bytes.len());
        }
    }
}
