//! Where things are inside the state directory.
//!
//! Nothing here takes text: a path is made of a name that was checked, a hash or a number.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::{
    Hash, Layout,
    disk::directory::Directory,
    name::{CheckpointName, FileName},
};

/// The name of the store's own directory in the state directory.
pub(super) const PRIVATE: &str = ".statedir";

/// The store's own directory in the state directory `state`, for those who keep something beside
/// the log; `None` where the state is not in use.
pub(crate) fn private_directory(state: &Path) -> io::Result<Option<Directory>> {
    if let Some(private) = Directory::open_in(state, PRIVATE) {
        return Ok(Some(private));
    }
    match Directory::open(state) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other?.open_dir(PRIVATE),
    }
}

/// The paths of the store.
#[derive(Debug, Clone)]
pub(super) struct Paths {
    /// The state directory.
    pub dir: PathBuf,
    /// The store's own directory in it.
    pub private: PathBuf,
    /// The files in it, which is all that records may speak of.
    pub layout: Layout,
}

/// What is kept below `salvage/`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Salvaged<'a> {
    File(FileName),
    Log,
    Checkpoint(&'a CheckpointName),
}

impl Paths {
    pub(super) fn new(layout: &Layout) -> Paths {
        let (dir, private) = (layout.dir.clone(), layout.dir.join(PRIVATE));
        Paths { dir, private, layout: layout.clone() }
    }

    pub(super) fn file(&self, name: FileName) -> PathBuf {
        self.dir.join(name.as_str())
    }

    pub(super) fn appended(&self) -> PathBuf {
        self.file(self.layout.appended_file())
    }

    /// The directories that the files are in.
    pub(super) fn directories(&self) -> Vec<PathBuf> {
        let parents = self.layout.files().map(|name| self.file(name));
        let parents = parents.filter_map(|path| path.parent().map(Path::to_owned));
        let mut found: Vec<PathBuf> = parents.collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.private.join("lock")
    }

    pub(super) fn head(&self) -> PathBuf {
        self.private.join("head")
    }

    pub(super) fn derived(&self) -> PathBuf {
        self.private.join("derived")
    }

    pub(super) fn tally(&self) -> PathBuf {
        self.private.join("tally")
    }

    pub(super) fn ignore(&self) -> PathBuf {
        self.private.join(".gitignore")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.private.join("log")
    }

    pub(super) fn segment(&self, number: u64) -> PathBuf {
        self.log().join(segment_name(number))
    }

    pub(super) fn tmp(&self) -> PathBuf {
        self.private.join("tmp")
    }

    /// Where a file is written before it is put in its place.
    pub(super) fn temporary(&self, target: &Path) -> PathBuf {
        // Two files in different folders may have one name.
        match target.strip_prefix(&self.dir).ok().and_then(Path::to_str) {
            Some(below) if !target.starts_with(&self.private) => self.tmp().join(flattened(below)),
            _ => self.tmp().join(target.file_name().unwrap_or_default()),
        }
    }

    pub(super) fn objects(&self) -> PathBuf {
        self.private.join("objects")
    }

    pub(super) fn object(&self, hash: Hash) -> PathBuf {
        self.objects().join(hash.to_string())
    }

    pub(super) fn checkpoints(&self) -> PathBuf {
        self.private.join("checkpoints")
    }

    pub(super) fn checkpoint(&self, number: u64, name: &CheckpointName) -> PathBuf {
        self.checkpoints().join(checkpoint_file(number, name))
    }

    pub(super) fn salvage(&self) -> PathBuf {
        self.private.join("salvage")
    }

    /// A place below `salvage/`; `stamp` tells it from others of the same.
    pub(super) fn salvaged(&self, stamp: &str, what: Salvaged<'_>) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '.' };
        let stamp: String = stamp.chars().map(plain).take(96).collect();
        self.salvage().join(match what {
            Salvaged::File(name) => format!("{stamp}-{}", flattened(&name)),
            Salvaged::Log => format!("{stamp}-log"),
            Salvaged::Checkpoint(name) => format!("{stamp}-checkpoint-{name}"),
        })
    }
}

/// A path below the state directory as one name.
fn flattened(below: &str) -> String {
    below.replace('/', "~")
}

/// The number in a segment's file name.
pub(super) fn segment_number(name: &str) -> Option<u64> {
    let number: u64 = name.strip_suffix(".log")?.parse().ok()?;
    (number <= crate::store::log::validate::MOST && segment_name(number) == name).then_some(number)
}

/// Number and name in a checkpoint's file name.
pub(super) fn checkpoint_number(file: &str) -> Option<(u64, CheckpointName)> {
    let (number, name) = file.split_once('-')?;
    let (number, name) = (number.parse().ok()?, CheckpointName::parse(name).ok()?);
    (number <= crate::store::log::validate::MOST && checkpoint_file(number, &name) == file)
        .then_some((number, name))
}

fn segment_name(number: u64) -> String {
    format!("{number:08}.log")
}

fn checkpoint_file(number: u64, name: &CheckpointName) -> String {
    format!("{number:08}-{name}")
}
