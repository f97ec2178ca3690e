//! The machine's own file system.

use std::fs::TryLockError;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use fs_err::os::unix::fs::FileExt as _;

use super::disk::{Access, Disk, DiskFile, Kind, Stat};

/// The file system of the machine.
#[derive(Debug, Default, Clone, Copy)]
pub struct RealDisk;

/// Where Linux tells boots apart; elsewhere there is no such file.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

#[derive(Debug)]
struct RealFile(fs_err::File);

impl Disk for RealDisk {
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        absent_as_none(fs_err::symlink_metadata(path).map(|meta| stat_of(&meta)))
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let mut options = fs_err::OpenOptions::new();
        match access {
            Access::Read => options.read(true),
            Access::Append => options.read(true).append(true),
            Access::AppendOrCreate => options.read(true).append(true).create(true),
            Access::WriteOrCreate => options.read(true).write(true).create(true),
            Access::CreateNew => options.write(true).create_new(true),
        };
        Ok(Box::new(RealFile(options.open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs_err::rename(from, to)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool> {
        rename_with(one, other, Rename::Exchange)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<bool> {
        rename_with(from, to, Rename::New)
    }

    fn link(&self, existing: &Path, new: &Path) -> io::Result<()> {
        fs_err::hard_link(existing, new)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs_err::remove_file(path)
    }

    fn create_dir(&self, path: &Path, private: bool) -> io::Result<()> {
        if private {
            std::fs::DirBuilder::new()
                .mode(0o700)
                .create(path)
                .map_err(|error| named(error, "failed to create directory", path))
        } else {
            fs_err::create_dir(path)
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs_err::read_dir(path)? {
            // A name that is not UTF-8 is none of ours.
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        fs_err::File::open(path)?.sync_all()
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
            match self.0.read_at(rest, offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.0).write_all(bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn stat(&self) -> io::Result<Stat> {
        Ok(stat_of(&self.0.metadata()?))
    }

    fn dress_like(&self, model: &Stat) -> io::Result<()> {
        let now = stat_of(&self.0.metadata()?);
        if now.owner != model.owner {
            // Only a privileged process may give files away; for others the owner changes, as it
            // does with every editor that saves by renaming.
            let _ =
                std::os::unix::fs::fchown(self.0.file(), Some(model.owner.0), Some(model.owner.1));
        }
        if now.mode != model.mode || now.owner != model.owner {
            self.0.set_permissions(std::fs::Permissions::from_mode(model.mode))?;
        }
        Ok(())
    }

    fn try_lock(&self, exclusive: bool) -> io::Result<bool> {
        let file = self.0.file();
        match if exclusive { file.try_lock() } else { file.try_lock_shared() } {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => {
                Err(named(error, "failed to lock file", self.0.path()))
            }
        }
    }

    fn lock(&self, exclusive: bool) -> io::Result<()> {
        let file = self.0.file();
        loop {
            match if exclusive { file.lock() } else { file.lock_shared() } {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(named(error, "failed to lock file", self.0.path())),
                Ok(()) => return Ok(()),
            }
        }
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
fn rename_with(from: &Path, to: &Path, how: Rename) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    let flags = match how {
        Rename::Exchange => RenameFlags::EXCHANGE,
        Rename::New => RenameFlags::NOREPLACE,
    };
    match renameat_with(CWD, from, CWD, to, flags) {
        Ok(()) => Ok(true),
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(named(error.into(), "failed to put in place", to)),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_with(_from: &Path, _to: &Path, _how: Rename) -> io::Result<bool> {
    Ok(false)
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
        Kind::File
    } else if meta.is_dir() {
        Kind::Directory
    } else if meta.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    };
    Stat {
        kind,
        len: meta.len(),
        mtime: meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec()),
        ino: meta.ino(),
        mode: meta.mode() & 0o7777,
        owner: (meta.uid(), meta.gid()),
    }
}
