//! The one door to the file system: a trait small enough to simulate.

pub(in crate::store) mod directory;
pub(in crate::store) mod publish;
pub(in crate::store) mod read;
pub(in crate::store) mod real;
#[cfg(test)]
pub(crate) mod sim;

use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Below this size, hashing a file or a record again is as fast as [sealing](DiskFile::seal) it.
pub(crate) const WORTH_SEALING: usize = 16 * 1024;

/// Everything the store asks of a file system.
///
/// Only an error of kind `NotFound` means "absent"; callers report every other error.
pub(crate) trait Disk: Send + Sync + Debug {
    /// The same disk for work on the state directory `root`; `None` when this one will do.
    ///
    /// A disk that is `keeping` keeps the directories below the root that it has found, for one
    /// session, so that all of it happens in the same directory even if that is moved.
    fn rooted(&self, _root: &Path, _keeping: bool) -> Option<Arc<dyn Disk>> {
        None
    }
    /// Forgets directories that were found before the lock was taken: they may be others now.
    fn forget_directories(&self) {}
    /// What is at a path, links not followed; `None` when nothing is.
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>>;
    /// As `stat`, but by the path alone, whatever was found there before. Only to compare: links
    /// on the way are followed.
    fn stat_by_path(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.stat(path)
    }
    /// Opens a regular file, creating it when `access` says so.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>>;
    /// Puts a file in the place of another, or of none, in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives two existing paths each other's file in one step; `false` where that is not possible.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool>;
    /// Renames to a path where nothing may be (else `AlreadyExists`) in one step; `false` where
    /// that is not possible.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<bool>;
    /// Gives a file a second name.
    fn link(&self, existing: &Path, new: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Creates a directory; `private` keeps other users out.
    fn create_dir(&self, path: &Path, private: bool) -> io::Result<()>;
    /// The names in a directory, in any order.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Makes creations, renames and removals in a directory durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Identifies the machine's current boot, where that is possible.
    fn boot_id(&self) -> io::Result<Option<String>>;
    /// When the current boot began, in nanoseconds of the clock that stamps files.
    fn boot_time(&self) -> io::Result<Option<i64>>;
    /// Whether a process with that id is alive; `None` when that cannot be known.
    fn process_alive(&self, pid: u32) -> Option<bool>;
}

/// An open file.
pub(crate) trait DiskFile: Send + Sync + Debug {
    /// Reads at an offset; fewer bytes than asked only at the end of the file.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all bytes at an offset.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Writes all bytes at the end; the file was opened for appending.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;
    /// Cuts the file.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes content and length durable.
    fn sync(&self) -> io::Result<()>;
    /// The file's metadata.
    fn stat(&self) -> io::Result<Stat>;
    /// The file's metadata when it was opened, where that is known without asking again.
    fn stat_when_opened(&self) -> io::Result<Stat> {
        self.stat()
    }
    /// The file's metadata with a time of its last change that no later change will have, where
    /// the file system can promise that: see [`Stat::ctime`].
    fn seal(&self) -> io::Result<Option<Stat>> {
        Ok(None)
    }
    /// Gives the file the permissions, and where allowed the owner, of another; its metadata then.
    fn copy_permissions(&self, model: &Stat) -> io::Result<Stat>;
    /// Takes the lock if it is free.
    fn try_lock(&self, exclusive: bool) -> io::Result<bool>;
    /// Takes the lock, waiting in the kernel's queue.
    fn lock(&self, exclusive: bool) -> io::Result<()>;
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// For reading; it must exist.
    Read,
    /// For reading and appending; it must exist.
    Append,
    /// For reading and appending; created when absent.
    AppendOrCreate,
    /// For reading and writing in place; created when absent.
    WriteOrCreate,
    /// For writing; it must not exist.
    CreateNew,
}

/// What the file system says about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    /// File, directory, link or something else.
    pub kind: FileKind,
    /// Length in bytes.
    pub len: u64,
    /// Time of the last change of content, in nanoseconds.
    pub mtime: i64,
    /// Time of the last change of content or metadata, in nanoseconds. Nobody can set it back.
    pub ctime: i64,
    /// The file's number, zero where there is none.
    pub ino: u64,
    /// Permission bits.
    pub mode: u32,
    /// Owner and group.
    pub owner: (u32, u32),
}

impl From<rustix::fs::Stat> for Stat {
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    fn from(stat: rustix::fs::Stat) -> Stat {
        let kind = match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
            rustix::fs::FileType::RegularFile => FileKind::File,
            rustix::fs::FileType::Directory => FileKind::Directory,
            rustix::fs::FileType::Symlink => FileKind::Link,
            _ => FileKind::Other,
        };
        let nanos =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Stat {
            kind,
            len: stat.st_size as u64,
            mtime: nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime: nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            ino: stat.st_ino as u64,
            mode: (stat.st_mode & 0o7777) as u32,
            owner: (stat.st_uid, stat.st_gid),
        }
    }
}

impl Stat {
    /// Whether both describe the same content, as far as metadata can tell.
    pub(crate) fn same_content(&self, other: &Stat) -> bool {
        self.signature() == other.signature()
    }

    /// Length, time and number: what changes when somebody saves the file.
    pub(crate) fn signature(&self) -> (u64, i64, u64) {
        (self.len, self.mtime, self.ino)
    }
}

/// The kind of thing at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

impl FileKind {
    /// The kind with its article, for messages.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            FileKind::File => "a file",
            FileKind::Directory => "a directory",
            FileKind::Link => "a symbolic link",
            FileKind::Other => "a special file",
        }
    }
}
