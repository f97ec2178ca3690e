//! The machine's own file system.

use std::ffi::OsStr;
use std::fs::TryLockError;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fs_err::os::unix::fs::FileExt as _;

use crate::store::disk::{
    Access, Disk, DiskFile, FileKind, Stat, directory::Directory, publish::parent_of,
};

/// The file system of the machine, as far as one state directory is concerned.
///
/// Everything below the root is reached through directory handles, and no link is followed there.
/// What is above the root was named by the user, so links on the way to it are.
#[derive(Debug)]
pub(crate) struct RealDisk {
    root: PathBuf,
    /// The directories that were opened, by their path below the root, if they are kept.
    known: Option<Mutex<Known>>,
}

type Known = Vec<(PathBuf, Arc<Directory>)>;

/// The id of the current boot, on Linux; other systems have no such file.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// ext4, XFS, Btrfs and tmpfs, as `statfs` tells them: local, so that the clock that stamps their files
/// is the one of this machine.
#[cfg(target_os = "linux")]
const EXACT: [i64; 4] = [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994];

#[derive(Debug)]
struct RealFile {
    file: fs_err::File,
    opened: Option<Stat>,
}

impl RealDisk {
    /// The file system for work on the state directory `root`.
    pub(crate) fn new(root: &Path) -> RealDisk {
        RealDisk { root: root.to_owned(), known: None }
    }

    /// The part of a path below the root; `None` for the root itself and all that is not below.
    fn below<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        // Nearly every path was joined to the root: no need to take both apart into components.
        let joined = path.as_os_str().as_bytes().strip_prefix(self.root.as_os_str().as_bytes());
        let below = match joined.and_then(|rest| rest.strip_prefix(b"/")) {
            Some(rest) => Path::new(OsStr::from_bytes(rest)),
            None => path.strip_prefix(&self.root).ok()?,
        };
        (!below.as_os_str().is_empty() && !below.is_absolute()).then_some(below)
    }

    /// The directory at a path.
    fn directory(&self, path: &Path) -> io::Result<Arc<Directory>> {
        match self.below(path) {
            Some(below) => self.directory_below(below),
            None if path == self.root => self.directory_below(Path::new("")),
            None => Directory::open(path).map(Arc::new),
        }
    }

    fn directory_below(&self, below: &Path) -> io::Result<Arc<Directory>> {
        if let Some(known) = self.known()
            && let Some((_, directory)) =
                known.iter().find(|(path, _)| path.as_os_str() == below.as_os_str())
        {
            return Ok(Arc::clone(directory));
        }
        let opened = match below.parent() {
            None => Directory::open(&self.root)?,
            Some(parent) => {
                let name = below.file_name().unwrap_or(below.as_os_str());
                let opened = self.directory_below(parent)?.open_dir(name)?;
                opened.ok_or_else(|| {
                    let absent = io::Error::from(ErrorKind::NotFound);
                    named(absent, "failed to open directory", &self.root.join(below))
                })?
            }
        };
        let opened = Arc::new(opened);
        if let Some(mut known) = self.known() {
            known.push((below.to_owned(), Arc::clone(&opened)));
        }
        Ok(opened)
    }

    /// The directory that a path is in, and its name there.
    fn place<'a>(&self, path: &'a Path) -> io::Result<(Arc<Directory>, &'a OsStr)> {
        // A path that ends in `..` or the like has no name, which the directory refuses.
        let name = path.file_name().unwrap_or_default();
        match self.below(path).and_then(Path::parent) {
            Some(parent) => Ok((self.directory_below(parent)?, name)),
            None => Ok((self.directory(parent_of(path))?, name)),
        }
    }

    fn known(&self) -> Option<MutexGuard<'_, Known>> {
        Some(self.known.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Forgets directories that have just got another place.
    fn forget(&self, moved: [&Path; 2]) {
        let moved = moved.map(|path| self.below(path));
        if let Some(mut known) = self.known() {
            known.retain(|(path, _)| !moved.iter().flatten().any(|moved| path.starts_with(moved)));
        }
    }
}

impl Disk for RealDisk {
    fn rooted(&self, root: &Path, keeping: bool) -> Option<Arc<dyn Disk>> {
        let within = root.starts_with(&self.root);
        if within && (self.known.is_some() || !keeping) {
            return None;
        }
        let root = if within { &self.root } else { root };
        Some(Arc::new(RealDisk { root: root.to_owned(), known: keeping.then(Mutex::default) }))
    }

    fn forget_directories(&self) {
        if let Some(mut known) = self.known() {
            known.retain(|(path, _)| path.components().count() <= 1);
        }
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        match self.below(path) {
            None => self.stat_by_path(path),
            Some(_) => match absent_as_none(self.place(path))? {
                Some((directory, name)) => directory.stat(name),
                None => Ok(None),
            },
        }
    }

    fn stat_by_path(&self, path: &Path) -> io::Result<Option<Stat>> {
        absent_as_none(fs_err::symlink_metadata(path).map(|meta| stat_of(&meta)))
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let (directory, name) = self.place(path)?;
        let (file, opened) = directory.open_with_stat(name, access)?;
        Ok(Box::new(RealFile { file, opened }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let ((old, from_name), (new, to_name)) = (self.place(from)?, self.place(to)?);
        old.rename(from_name, &new, to_name)?;
        self.forget([from, to]);
        Ok(())
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool> {
        let ((old, one_name), (new, other_name)) = (self.place(one)?, self.place(other)?);
        let exchanged = old.exchange(one_name, &new, other_name)?;
        self.forget([one, other]);
        Ok(exchanged)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<bool> {
        let ((old, from_name), (new, to_name)) = (self.place(from)?, self.place(to)?);
        let renamed = old.rename_new(from_name, &new, to_name)?;
        self.forget([from, to]);
        Ok(renamed)
    }

    fn link(&self, existing: &Path, new: &Path) -> io::Result<()> {
        let ((old, old_name), (directory, name)) = (self.place(existing)?, self.place(new)?);
        old.link(old_name, &directory, name)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        directory.remove(name)
    }

    fn create_dir(&self, path: &Path, private: bool) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        directory.create_dir(name, if private { 0o700 } else { 0o777 })
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.directory(path)?.list()
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.directory(path)?.sync()
    }

    fn boot_id(&self) -> io::Result<Option<String>> {
        // One read instead of the several of `read_to_string`: this is on every command's path.
        let Some(file) = absent_as_none(fs_err::File::open(BOOT_ID))? else {
            return Ok(None);
        };
        let mut buf = [0; 64];
        let read = file.read_at(&mut buf, 0)?;
        let text = String::from_utf8_lossy(buf.get(..read).unwrap_or_default());
        let id = text.trim();
        Ok((!id.is_empty()).then(|| id.to_owned()))
    }

    fn boot_time(&self) -> io::Result<Option<i64>> {
        let text = absent_as_none(fs_err::read_to_string("/proc/stat"))?;
        Ok(text.and_then(|text| {
            let seconds: i64 =
                text.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
            seconds.checked_mul(1_000_000_000)
        }))
    }

    fn process_alive(&self, pid: u32) -> Option<bool> {
        let processes = Path::new("/proc");
        processes.join("self").exists().then(|| processes.join(pid.to_string()).exists())
    }
}

impl DiskFile for RealFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.file).write_all(bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn stat(&self) -> io::Result<Stat> {
        Ok(stat_of(&self.file.metadata()?))
    }

    fn stat_when_opened(&self) -> io::Result<Stat> {
        self.opened.map_or_else(|| self.stat(), Ok)
    }

    /// On Linux 6.13 and later these file systems stamp a change with the exact time once somebody has
    /// asked for the time of the one before, and else with that of a clock that ticks every few
    /// milliseconds. So a time that this clock has not reached yet is exact, and as it has been asked
    /// for, every later change gets another one. On other kernels there is never such a time.
    #[cfg(target_os = "linux")]
    #[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
    fn seal(&self) -> io::Result<Option<Stat>> {
        use rustix::time::{ClockId, clock_gettime};
        let kind = rustix::fs::fstatfs(self.file.file())?.f_type;
        if !EXACT.contains(&(kind as i64)) {
            return Ok(None);
        }
        // Asking for the time and then changing anything makes the time exact, unless the clock ticks
        // meanwhile; then the file is not sealed.
        let mode = self.stat()?.mode;
        self.file.set_permissions(std::fs::Permissions::from_mode(mode))?;
        let stat = self.stat()?;
        let clock = clock_gettime(ClockId::RealtimeCoarse);
        let reached = clock.tv_sec.saturating_mul(1_000_000_000).saturating_add(clock.tv_nsec);
        Ok((stat.ctime > reached).then_some(stat))
    }

    fn copy_permissions(&self, model: &Stat) -> io::Result<Stat> {
        let now = self.stat()?;
        if now.owner == model.owner && now.mode == model.mode {
            return Ok(now);
        }
        if now.owner != model.owner {
            // Only a privileged process may give files away; for others the owner changes, as it
            // does with every editor that saves by renaming.
            let _ = std::os::unix::fs::fchown(
                self.file.file(),
                Some(model.owner.0),
                Some(model.owner.1),
            );
        }
        self.file.set_permissions(std::fs::Permissions::from_mode(model.mode))?;
        self.stat()
    }

    fn try_lock(&self, exclusive: bool) -> io::Result<bool> {
        let file = self.file.file();
        match if exclusive { file.try_lock() } else { file.try_lock_shared() } {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => {
                Err(named(error, "failed to lock file", self.file.path()))
            }
        }
    }

    fn lock(&self, exclusive: bool) -> io::Result<()> {
        let file = self.file.file();
        loop {
            match if exclusive { file.lock() } else { file.lock_shared() } {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(named(error, "failed to lock file", self.file.path())),
                Ok(()) => return Ok(()),
            }
        }
    }
}

fn absent_as_none<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn named(error: io::Error, what: &str, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{what} `{}`: {error}", path.display()))
}

fn stat_of(meta: &std::fs::Metadata) -> Stat {
    let kind = if meta.is_file() {
        FileKind::File
    } else if meta.is_dir() {
        FileKind::Directory
    } else if meta.is_symlink() {
        FileKind::Link
    } else {
        FileKind::Other
    };
    let nanos =
        |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Stat {
        kind,
        len: meta.len(),
        mtime: nanos(meta.mtime(), meta.mtime_nsec()),
        ctime: nanos(meta.ctime(), meta.ctime_nsec()),
        ino: meta.ino(),
        mode: meta.mode() & 0o7777,
        owner: (meta.uid(), meta.gid()),
    }
}
