//! A directory whose contents are not trusted: it may have come with a clone.

use std::ffi::OsStr;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::store::disk::{Access, FileKind, Stat};

/// An open directory. Everything in it is reached through this handle and by a name of one
/// component, and no symbolic link is ever followed: whatever the directory contains, nothing
/// outside it is read, written, listed or removed.
///
/// The handle stays with the directory when that is moved.
///
/// # Errors
/// Every method fails with `InvalidInput` for a name that is not exactly one normal component, and
/// with a [`WrongKind`] inside the error where something else is in the place of a file or a
/// directory. Every error names its path.
#[derive(Debug)]
pub(crate) struct Directory {
    handle: OwnedFd,
    path: PathBuf,
}

/// Something else is where a regular file or a directory was expected.
#[derive(Debug, thiserror::Error)]
#[error("`{}` is {}, not {}", path.display(), found.describe(), expected.describe())]
pub(crate) struct WrongKind {
    /// Where.
    pub path: PathBuf,
    /// What was expected there.
    pub expected: FileKind,
    /// What is there.
    pub found: FileKind,
}

/// A directory is locked as long as this value lives.
#[derive(Debug)]
pub(crate) struct DirectoryLock {
    file: std::fs::File,
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // The lock belongs to what was opened, not to this copy of the descriptor.
        let _ = self.file.unlock();
    }
}

/// How often a name for a new file is tried.
const ATTEMPTS: usize = 16;

impl Directory {
    /// Opens a directory that the user named: links in this path are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Directory> {
        // As everywhere else, no path at all means the working directory.
        let named = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let handle = open_handle(CWD, named.as_os_str(), OFlags::empty())
            .map_err(|error| failed("failed to open directory", path, error))?;
        Ok(Directory { handle, path: path.to_owned() })
    }

    /// Opens a directory `name` in one that the user named, in one step; `None` where that takes more
    /// to say what is wrong.
    pub(in crate::store) fn open_in(parent: &Path, name: &str) -> Option<Directory> {
        let path = parent.join(name);
        let handle = open_handle(CWD, path.as_os_str(), OFlags::NOFOLLOW).ok()?;
        Some(Directory { handle, path })
    }

    /// Reads a file of at most `limit` bytes in a directory that the user named, which is not opened
    /// for it where there is none.
    pub(crate) fn read_in(parent: &Path, name: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let found = rustix::fs::statat(CWD, parent.join(name), AtFlags::SYMLINK_NOFOLLOW);
        match found {
            Err(Errno::NOENT) => Ok(None),
            _ => Directory::open(parent)?.read(name, limit),
        }
    }

    /// Where the directory was when it was opened, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a directory in this one; `None` when nothing has that name.
    pub(crate) fn open_dir(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Directory>> {
        let name = component(name.as_ref())?;
        let path = self.path.join(name);
        match open_handle(self.handle.as_fd(), name, OFlags::NOFOLLOW) {
            Ok(handle) => Ok(Some(Directory { handle, path })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => {
                Err(self.refusal(name, FileKind::Directory, "failed to open directory", error))
            }
        }
    }

    /// What has a name in this directory, a link itself and not its target; `None` when nothing.
    pub(crate) fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Stat>> {
        let name = component(name.as_ref())?;
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Stat::from(stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(failed("failed to query metadata of", &self.path.join(name), error)),
        }
    }

    /// Opens a regular file, creating it when `access` says so. Nothing else is opened, and a
    /// pipe without anybody at its other end does not make this wait.
    pub(crate) fn open_file(
        &self,
        name: impl AsRef<OsStr>,
        access: Access,
    ) -> io::Result<fs_err::File> {
        self.open_with_stat(name, access).map(|(file, _)| file)
    }

    /// The same, with the metadata that it had then; `None` for one that was just created.
    pub(in crate::store) fn open_with_stat(
        &self,
        name: impl AsRef<OsStr>,
        access: Access,
    ) -> io::Result<(fs_err::File, Option<Stat>)> {
        let name = component(name.as_ref())?;
        let doing = match access {
            Access::CreateNew => "failed to create file",
            _ => "failed to open file",
        };
        let open = |more: OFlags| {
            let flags = flags_of(access) | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(0o666);
            retry_on_intr(|| rustix::fs::openat(&self.handle, name, flags | more, mode))
        };
        let opened = match open(OFlags::NONBLOCK) {
            // Another program has a lease on the file and is asked to give it back.
            Err(Errno::AGAIN)
                if self.stat(name)?.is_some_and(|stat| stat.kind == FileKind::File) =>
            {
                open(OFlags::empty())
            }
            other => other,
        };
        let handle = opened.map_err(|error| self.refusal(name, FileKind::File, doing, error))?;
        let path = self.path.join(name);
        let mut opened = None;
        if access != Access::CreateNew {
            let stat = rustix::fs::fstat(&handle).map_err(|error| failed(doing, &path, error))?;
            let stat = Stat::from(stat);
            if stat.kind != FileKind::File {
                return Err(wrong_kind(path, FileKind::File, stat.kind));
            }
            opened = Some(stat);
        }
        Ok((fs_err::File::from_parts(handle.into(), path), opened))
    }

    /// Reads a regular file of at most `limit` bytes (a longer one is `FileTooLarge`); `None` when
    /// nothing has that name.
    pub(crate) fn read(&self, name: impl AsRef<OsStr>, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let (file, stat) = match self.open_with_stat(name, Access::Read) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let len = stat.map_or(0, |stat| stat.len);
        if len > limit {
            let message = format!("`{}` has more than {limit} bytes", file.path().display());
            return Err(io::Error::new(ErrorKind::FileTooLarge, message));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or_default());
        // Bytes that are added meanwhile are left to the next read.
        (&file).take(len).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// The names in this directory in any order, without those that are not UTF-8.
    pub(crate) fn list(&self) -> io::Result<Vec<String>> {
        let fail = |error| failed("failed to read directory", &self.path, error);
        let mut names = Vec::new();
        // This opens the directory anew, so that every listing begins at the beginning.
        for entry in Dir::read_from(&self.handle).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            match entry.file_name().to_str() {
                Ok("." | "..") | Err(_) => {}
                Ok(name) => names.push(name.to_owned()),
            }
        }
        Ok(names)
    }

    /// Adds bytes to the end of a regular file, which is created when absent.
    pub(crate) fn append(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> io::Result<()> {
        self.open_file(name, Access::AppendOrCreate)?.write_all(bytes)
    }

    /// Gives a name new content in one step. What had the name before is not touched, a link's
    /// target neither; only a directory is refused. Nothing is synced.
    pub(crate) fn replace(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> io::Result<()> {
        let name = component(name.as_ref())?;
        let (temporary, mut file) = self.create_temporary()?;
        let placed = file.write_all(bytes).and_then(|()| self.rename(&temporary, self, name));
        if placed.is_err() {
            let _ = self.remove(&temporary);
        }
        placed
    }

    /// Opens a directory in it, and makes it first where there is none.
    ///
    /// # Errors
    /// The disk fails, or something else has that name.
    pub(crate) fn open_or_create_dir(&self, name: &str) -> io::Result<Self> {
        if let Some(dir) = self.open_dir(name)? {
            return Ok(dir);
        }
        match self.create_dir(name, 0o777) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            other => other?,
        }
        Ok(self.open_dir(name)?.ok_or(ErrorKind::NotFound)?)
    }

    /// Creates a directory with these permissions, less what the process' mask takes away.
    pub(crate) fn create_dir(&self, name: impl AsRef<OsStr>, mode: u32) -> io::Result<()> {
        let name = component(name.as_ref())?;
        rustix::fs::mkdirat(&self.handle, name, mode_of(mode))
            .map_err(|error| failed("failed to create directory", &self.path.join(name), error))
    }

    /// Removes anything but a directory; of a link, the link.
    pub(crate) fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = component(name.as_ref())?;
        rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())
            .map_err(|error| failed("failed to remove file", &self.path.join(name), error))
    }

    /// Removes what has a name, a directory with everything in it; of links, the links. Nothing
    /// having that name is fine.
    pub(crate) fn remove_all(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = component(name.as_ref())?;
        match self.stat(name)?.map(|stat| stat.kind) {
            None => Ok(()),
            Some(FileKind::Directory) => {
                if let Some(dir) = self.open_dir(name)? {
                    dir.list()?.iter().try_for_each(|inner| dir.remove_all(inner))?;
                }
                self.remove_dir(name)
            }
            Some(_) => self.remove(name),
        }
    }

    /// Removes an empty directory.
    pub(crate) fn remove_dir(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = component(name.as_ref())?;
        rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR)
            .map_err(|error| failed("failed to remove directory", &self.path.join(name), error))
    }

    /// Gives what has a name here a name in `to`, in the place of what may have it there.
    pub(crate) fn rename(
        &self,
        from: impl AsRef<OsStr>,
        to: &Directory,
        name: impl AsRef<OsStr>,
    ) -> io::Result<()> {
        let (from, name) = (component(from.as_ref())?, component(name.as_ref())?);
        rustix::fs::renameat(&self.handle, from, &to.handle, name)
            .map_err(|error| failed("failed to put in place", &to.path.join(name), error))
    }

    /// As [`Directory::rename`], but nothing may have the name in `to` (else `AlreadyExists`);
    /// `false` where the system cannot do that in one step.
    pub(crate) fn rename_new(
        &self,
        from: impl AsRef<OsStr>,
        to: &Directory,
        name: impl AsRef<OsStr>,
    ) -> io::Result<bool> {
        let (from, name) = (component(from.as_ref())?, component(name.as_ref())?);
        rename_with((self, from), (to, name), Rename::New)
    }

    /// Gives each of two names what the other has; `false` where the system cannot do that in one
    /// step.
    pub(crate) fn exchange(
        &self,
        one: impl AsRef<OsStr>,
        with: &Directory,
        other: impl AsRef<OsStr>,
    ) -> io::Result<bool> {
        let (one, other) = (component(one.as_ref())?, component(other.as_ref())?);
        rename_with((self, one), (with, other), Rename::Exchange)
    }

    /// Gives a file a second name; of a link, the link.
    pub(crate) fn link(
        &self,
        existing: impl AsRef<OsStr>,
        to: &Directory,
        name: impl AsRef<OsStr>,
    ) -> io::Result<()> {
        let (existing, name) = (component(existing.as_ref())?, component(name.as_ref())?);
        rustix::fs::linkat(&self.handle, existing, &to.handle, name, AtFlags::empty())
            .map_err(|error| failed("failed to link", &to.path.join(name), error))
    }

    /// Inode number and moment of birth in nanoseconds, which tell this directory from every other
    /// of its file system; `None` where the file system knows no moment of birth.
    #[cfg(target_os = "linux")]
    pub(crate) fn identity(&self) -> io::Result<Option<(u64, u128)>> {
        use rustix::fs::{StatxFlags, statx};
        let wanted = StatxFlags::BTIME | StatxFlags::INO;
        let stat = match statx(&self.handle, c"", AtFlags::EMPTY_PATH, wanted) {
            Err(Errno::NOSYS) => return Ok(None),
            other => {
                other.map_err(|error| failed("failed to query metadata of", &self.path, error))?
            }
        };
        let born = &stat.stx_btime;
        let is_known = stat.stx_mask & StatxFlags::BTIME.bits() != 0 && born.tv_sec > 0;
        let seconds = u128::try_from(born.tv_sec).unwrap_or_default();
        let nanos = seconds * 1_000_000_000 + u128::from(born.tv_nsec);
        Ok(is_known.then_some((stat.stx_ino, nanos)))
    }

    /// Inode number and moment of birth in nanoseconds, which tell this directory from every other
    /// of its file system; `None` where the file system knows no moment of birth.
    #[cfg(not(target_os = "linux"))]
    pub fn identity(&self) -> io::Result<Option<(u64, u128)>> {
        let meta = std::fs::File::from(self.handle.try_clone()?).metadata()?;
        let born = meta.created().ok();
        let born = born.and_then(|born| born.duration_since(std::time::UNIX_EPOCH).ok());
        let born = born.map(|born| born.as_nanos()).filter(|nanos| *nanos > 0);
        Ok(born.map(|born| (std::os::unix::fs::MetadataExt::ino(&meta), born)))
    }

    /// What is known about this directory itself.
    pub(crate) fn own_stat(&self) -> io::Result<Stat> {
        let stat = rustix::fs::fstat(&self.handle);
        let stat =
            stat.map_err(|error| failed("failed to query metadata of", &self.path, error))?;
        Ok(Stat::from(stat))
    }

    /// Gives this directory these permissions.
    pub(in crate::store) fn set_mode(&self, mode: u32) -> io::Result<()> {
        rustix::fs::fchmod(&self.handle, mode_of(mode))
            .map_err(|error| failed("failed to set permissions of", &self.path, error))
    }

    /// Keeps others who lock this directory waiting until the value is dropped.
    pub(crate) fn lock(&self) -> io::Result<DirectoryLock> {
        let file = std::fs::File::from(self.handle.try_clone()?);
        file.lock()?;
        Ok(DirectoryLock { file })
    }

    /// Makes creations, renames and removals in this directory durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let synced = match retry_on_intr(|| rustix::fs::fsync(&self.handle)) {
            // The handle is one that can only be passed through.
            Err(Errno::BADF) => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                rustix::fs::openat(&self.handle, ".", flags, Mode::empty())
                    .and_then(rustix::fs::fsync)
            }
            other => other,
        };
        synced.map_err(|error| failed("failed to sync directory", &self.path, error))
    }

    /// A new file under an unpredictable name, so that no link can be waiting there.
    pub(crate) fn create_temporary(&self) -> io::Result<(String, fs_err::File)> {
        for _ in 0..ATTEMPTS {
            let random = std::hash::RandomState::new().build_hasher().finish();
            let name = format!(".{random:016x}.new");
            match self.open_file(&name, Access::CreateNew) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                other => return Ok((name, other?)),
            }
        }
        let message = format!("there is no free name in `{}`", self.path.display());
        Err(io::Error::new(ErrorKind::AlreadyExists, message))
    }

    /// The error for something that could not be opened: it has another type, or the system's own
    /// error.
    fn refusal(&self, name: &OsStr, expected: FileKind, doing: &str, error: Errno) -> io::Error {
        let path = self.path.join(name);
        if matches!(error, Errno::NOENT | Errno::EXIST | Errno::ACCESS) {
            return failed(doing, &path, error);
        }
        match self.stat(name) {
            Ok(Some(stat)) if stat.kind != expected => wrong_kind(path, expected, stat.kind),
            _ => failed(doing, &path, error),
        }
    }
}

/// Opens a directory; on Linux also one that may be passed through but not listed.
fn open_handle(at: BorrowedFd<'_>, name: &OsStr, more: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | more;
    let open = |how| retry_on_intr(|| rustix::fs::openat(at, name, flags | how, Mode::empty()));
    match open(OFlags::RDONLY) {
        #[cfg(target_os = "linux")]
        Err(Errno::ACCESS) => open(OFlags::PATH),
        other => other,
    }
}

/// What a rename does with what is at its target.
#[derive(Debug, Clone, Copy)]
enum Rename {
    Exchange,
    New,
}

/// Renames as asked; `false` where the system or the file system cannot.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_with(
    (from, old): (&Directory, &OsStr),
    (to, new): (&Directory, &OsStr),
    how: Rename,
) -> io::Result<bool> {
    let flags = match how {
        Rename::Exchange => rustix::fs::RenameFlags::EXCHANGE,
        Rename::New => rustix::fs::RenameFlags::NOREPLACE,
    };
    match rustix::fs::renameat_with(&from.handle, old, &to.handle, new, flags) {
        Ok(()) => Ok(true),
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(failed("failed to put in place", &to.path.join(new), error)),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_with(_: (&Directory, &OsStr), _: (&Directory, &OsStr), _: Rename) -> io::Result<bool> {
    Ok(false)
}

/// The name, if it is one normal component.
fn component(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_encoded_bytes();
    let is_normal = !matches!(bytes, b"" | b"." | b"..");
    if is_normal && !bytes.iter().any(|byte| matches!(byte, b'/' | 0)) {
        return Ok(name);
    }
    let message = format!("`{}` is not a file name", name.display());
    Err(io::Error::new(ErrorKind::InvalidInput, message))
}

fn flags_of(access: Access) -> OFlags {
    match access {
        Access::Read => OFlags::RDONLY,
        Access::Append => OFlags::RDWR | OFlags::APPEND,
        Access::AppendOrCreate => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE,
        Access::WriteOrCreate => OFlags::RDWR | OFlags::CREATE,
        Access::CreateNew => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
    }
}

#[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
fn mode_of(mode: u32) -> Mode {
    Mode::from_raw_mode(mode as rustix::fs::RawMode)
}

fn wrong_kind(path: PathBuf, expected: FileKind, found: FileKind) -> io::Error {
    let kind = match expected {
        FileKind::Directory => ErrorKind::NotADirectory,
        _ => ErrorKind::InvalidInput,
    };
    io::Error::new(kind, WrongKind { path, expected, found })
}

fn failed(doing: &str, path: &Path, error: Errno) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), format!("{doing} `{}`: {error}", path.display()))
}
