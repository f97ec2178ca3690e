//! The calls of the simulated disk, each of which can be the one that goes wrong.

use std::io;
use std::path::Path;
use std::sync::Mutex;

use super::{Entry, Extent, Inode, SimDisk, SimFile};
use crate::store::disk::{Access, Disk, DiskFile, FileKind, Stat, publish::parent_of};

impl Disk for SimDisk {
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        let mut inner = self.lock_inner();
        inner.whole(false)?;
        Ok(match inner.names.get(path) {
            Some(Entry::File(ino)) => Some(inner.stat(*ino)),
            Some(Entry::Dir) => Some(Stat {
                kind: FileKind::Directory,
                len: 0,
                mtime: 0,
                ctime: 0,
                ino: 0,
                mode: 0o755,
                owner: (1, 1),
            }),
            None => None,
        })
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let mut inner = self.lock_inner();
        let creates = !matches!(access, Access::Read | Access::Append);
        inner.whole(creates)?;
        let ino = match inner.file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && creates => {
                if inner.names.get(parent_of(path)) != Some(&Entry::Dir) {
                    return Err(error);
                }
                let mtime = inner.tick();
                let ino = mtime as u64;
                inner.inodes.insert(ino, Inode { mtime, mode: 0o644, ..Inode::default() });
                inner.change(vec![(path.to_owned(), Some(Entry::File(ino)))]);
                ino
            }
            Ok(_) if access == Access::CreateNew => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            other => other?,
        };
        let generation = inner.generation;
        inner.leave(())?;
        Ok(Box::new(SimFile { disk: self.clone(), ino, generation, locked: Mutex::new(None) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut inner = self.lock_inner();
        inner.whole(true)?;
        let entry = *inner.names.get(from).ok_or(io::ErrorKind::NotFound)?;
        inner.relocate(from, to, entry);
        inner.leave(())
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool> {
        let mut inner = self.lock_inner();
        if !inner.knows_exchange {
            return Ok(false);
        }
        inner.whole(true)?;
        let first = *inner.names.get(one).ok_or(io::ErrorKind::NotFound)?;
        let second = *inner.names.get(other).ok_or(io::ErrorKind::NotFound)?;
        inner.change(vec![(one.to_owned(), Some(second)), (other.to_owned(), Some(first))]);
        inner.leave(true)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<bool> {
        let mut inner = self.lock_inner();
        if !inner.knows_exchange {
            return Ok(false);
        }
        inner.whole(true)?;
        let entry = *inner.names.get(from).ok_or(io::ErrorKind::NotFound)?;
        if inner.names.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        inner.relocate(from, to, entry);
        inner.leave(true)
    }

    fn link(&self, existing: &Path, new: &Path) -> io::Result<()> {
        let mut inner = self.lock_inner();
        inner.whole(true)?;
        let ino = inner.file(existing)?;
        if inner.names.contains_key(new) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        inner.change(vec![(new.to_owned(), Some(Entry::File(ino)))]);
        inner.leave(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut inner = self.lock_inner();
        inner.whole(true)?;
        inner.file(path)?;
        inner.change(vec![(path.to_owned(), None)]);
        inner.leave(())
    }

    fn create_dir(&self, path: &Path, _private: bool) -> io::Result<()> {
        let mut inner = self.lock_inner();
        inner.whole(true)?;
        if inner.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        inner.change(vec![(path.to_owned(), Some(Entry::Dir))]);
        inner.leave(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut inner = self.lock_inner();
        inner.whole(false)?;
        if inner.names.get(path) != Some(&Entry::Dir) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let children = inner.names.keys().filter(|child| child.parent() == Some(path));
        Ok(children.filter_map(|child| Some(child.file_name()?.to_str()?.to_owned())).collect())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut inner = self.lock_inner();
        inner.whole(true)?;
        let (synced, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut inner.pending)
            .into_iter()
            .partition(|change| change.dirs.iter().any(|dir| dir == path));
        inner.pending = rest;
        synced.into_iter().for_each(|change| inner.make_durable(change));
        inner.leave(())
    }

    fn boot_id(&self) -> io::Result<Option<String>> {
        let mut inner = self.lock_inner();
        inner.whole(false)?;
        Ok(inner.knows_boots.then(|| format!("boot-{}", inner.boot)))
    }

    fn boot_time(&self) -> io::Result<Option<i64>> {
        let mut inner = self.lock_inner();
        inner.whole(false)?;
        Ok(inner.knows_boots.then_some(inner.boot_time))
    }

    fn process_alive(&self, _pid: u32) -> Option<bool> {
        Some(true)
    }
}

impl SimFile {
    fn write(&self, bytes: &[u8], offset: Option<u64>) -> io::Result<()> {
        let mut inner = self.disk.lock_inner();
        let step = inner.enter(true)?;
        let (bytes, result) = match step {
            Extent::Whole => (bytes, Ok(())),
            Extent::Half(error) => (&bytes[..bytes.len() / 2], Err(error)),
        };
        let mtime = inner.tick();
        if let Some(inode) = inner.inodes.get_mut(&self.ino) {
            let start = offset.map_or(inode.data.len(), |offset| offset as usize);
            let end = start + bytes.len();
            if inode.data.len() < end {
                inode.data.resize(end, 0);
            }
            inode.data[start..end].copy_from_slice(bytes);
            inode.mtime = mtime;
        }
        result?;
        inner.leave(())
    }
}

impl DiskFile for SimFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut inner = self.disk.lock_inner();
        inner.whole(false)?;
        let data = &inner.inodes[&self.ino].data;
        let rest = data.get(offset as usize..).unwrap_or_default();
        let len = rest.len().min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        inner.bytes_read += len as u64;
        Ok(len)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write(bytes, Some(offset))
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes, None)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut inner = self.disk.lock_inner();
        inner.whole(true)?;
        let mtime = inner.tick();
        if let Some(inode) = inner.inodes.get_mut(&self.ino) {
            inode.data.resize(len as usize, 0);
            inode.mtime = mtime;
        }
        inner.leave(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut inner = self.disk.lock_inner();
        inner.whole(true)?;
        let lies = inner.syncs_lie;
        if let Some(inode) = inner.inodes.get_mut(&self.ino)
            && !lies
        {
            inode.durable = inode.data.clone();
        }
        inner.leave(())
    }

    fn stat(&self) -> io::Result<Stat> {
        let mut inner = self.disk.lock_inner();
        inner.whole(false)?;
        Ok(inner.stat(self.ino))
    }

    fn copy_permissions(&self, model: &Stat) -> io::Result<Stat> {
        let mut inner = self.disk.lock_inner();
        inner.whole(true)?;
        if let Some(inode) = inner.inodes.get_mut(&self.ino) {
            inode.mode = model.mode;
        }
        inner.leave(())?;
        drop(inner);
        self.stat()
    }

    fn try_lock(&self, exclusive: bool) -> io::Result<bool> {
        let mut inner = self.disk.lock_inner();
        inner.whole(false)?;
        let Some(inode) = inner.inodes.get_mut(&self.ino) else { return Ok(false) };
        let free = !inode.locks.iter().any(|held| *held || exclusive);
        if free {
            inode.locks.push(exclusive);
            *self.locked.lock().unwrap() = Some(exclusive);
        }
        Ok(free)
    }

    fn lock(&self, exclusive: bool) -> io::Result<()> {
        while !self.try_lock(exclusive)? {
            let inner = self.disk.lock_inner();
            let wait = std::time::Duration::from_millis(1);
            drop(self.disk.0.unlocked.wait_timeout(inner, wait).unwrap());
        }
        Ok(())
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        let Some(exclusive) = *self.locked.lock().unwrap() else { return };
        let mut inner = self.disk.lock_inner();
        if inner.generation == self.generation
            && let Some(inode) = inner.inodes.get_mut(&self.ino)
            && let Some(at) = inode.locks.iter().position(|held| *held == exclusive)
        {
            inode.locks.remove(at);
        }
        drop(inner);
        self.disk.0.unlocked.notify_all();
    }
}
