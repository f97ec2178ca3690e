//! Writing state files: replaced without losing what an editor saves meanwhile, appended to, set
//! aside.
//!
//! Looking at a file and renaming another over it are two steps, and a save can fall between
//! them. So both are exchanged in one step, and what came out is looked at afterwards.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::store::{
    Hash, Result, StoreError,
    disk::{
        Access, Disk, FileKind, Stat, WORTH_SEALING,
        publish::{create_temporary_after, discard, ensure_dir, ensure_dir_all, parent_of},
        read::{read_file, require_file},
    },
    error::At as _,
    log::segment::{self, Segment},
    name::FileName,
    paths::{Paths, Salvaged},
};

/// What to do when a file was saved by somebody else since it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Meanwhile {
    /// Nothing is decided yet: refuse.
    Refuse,
    /// The operation is committed: keep the present content under `salvage/`.
    SetAside,
}

/// Replaces state files; the lock is held.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct Replacer<'a> {
    pub disk: &'a dyn Disk,
    pub paths: &'a Paths,
    /// Names what is set aside.
    pub time: &'a str,
    pub meanwhile: Meanwhile,
}

/// How a file was replaced.
#[derive(Debug, Default)]
pub(in crate::store) struct Replaced {
    /// The new file, `None` when it was removed.
    pub stat: Option<Stat>,
    /// The time of its last change, if every later one will have another.
    pub sealed: Option<i64>,
    /// Where the versions of others are kept.
    pub copies: Vec<PathBuf>,
    /// What was there, to be given to [`Replacer::discard`].
    pub taken: Option<Taken>,
}

/// A file taken out of its place, which an editor may still have open.
#[derive(Debug)]
pub(in crate::store) struct Taken {
    pub name: FileName,
    path: PathBuf,
    known: Stat,
}

/// How often a file that keeps appearing and vanishing is tried.
const ATTEMPTS: usize = 16;

/// Segments in which a leftover is looked for: that of the interrupted operation, and the one
/// begun after it.
const RECENT: usize = 2;

impl Replacer<'_> {
    /// Replaces a file, or removes it, keeping its permissions; `known` is the file as it was read.
    pub(in crate::store) fn replace(
        &self,
        name: FileName,
        bytes: Option<&[u8]>,
        known: Option<&Stat>,
    ) -> Result<Replaced> {
        let mut done = Replaced::default();
        let Some(bytes) = bytes else {
            self.remove_file(name, known, &mut done)?;
            return Ok(done);
        };
        if name.contains('/') {
            ensure_dir_all(self.disk, parent_of(&self.paths.file(name)))?;
        }
        let (temporary, file) =
            create_temporary_after(self.disk, self.paths, &self.paths.file(name), |path| {
                done.copies.extend(self.clear_temporary(name, path, bytes)?);
                Ok(())
            })?;
        let fill = || -> io::Result<Stat> {
            file.append(bytes)?;
            match known {
                Some(known) => file.copy_permissions(known),
                None => file.stat(),
            }
        };
        let new = fill().at(&temporary).inspect_err(|_| discard(self.disk, &temporary))?;
        if let Err(error) = self.put(name, &temporary, &new, known, &mut done) {
            // After a failure in the middle it may be somebody else's file that is there.
            if matches!(self.disk.stat(&temporary), Ok(Some(stat)) if stat.ino == new.ino) {
                discard(self.disk, &temporary);
            }
            return Err(error);
        }
        if bytes.len() >= WORTH_SEALING {
            let sealed = file.seal().ok().flatten();
            // Since it was last looked at, it got another place and nothing else.
            done.sealed = sealed.filter(|stat| stat.same_content(&new)).map(|stat| stat.ctime);
        }
        done.stat = Some(new);
        Ok(done)
    }

    /// Removes what was replaced, unless somebody wrote into it since; gives where it is kept then.
    ///
    /// Called as late as possible: an editor that saves in place may have opened the file just
    /// before it was taken out.
    pub(in crate::store) fn discard(&self, taken: &Taken) -> Option<PathBuf> {
        match self.disk.stat(&taken.path) {
            Ok(Some(now)) if now.same_content(&taken.known) => {
                // A leftover is harmless: the next replacement knows it and removes it.
                let _ = self.disk.remove(&taken.path);
                None
            }
            Ok(Some(_)) => Some(self.salvage(taken.name, &taken.path)),
            Ok(None) | Err(_) => None,
        }
    }

    fn put(
        &self,
        name: FileName,
        temporary: &Path,
        new: &Stat,
        known: Option<&Stat>,
        done: &mut Replaced,
    ) -> Result<()> {
        let path = self.paths.file(name);
        self.refuse_if_changed(name, known)?;
        let mut fresh = known.is_none();
        for _ in 0..ATTEMPTS {
            let placed = if fresh {
                self.disk.rename_new(temporary, &path)
            } else {
                self.disk.exchange(temporary, &path)
            };
            match placed {
                Ok(true) if fresh => return Ok(()),
                Ok(true) => {
                    return self.examine(name, temporary, known, done, || {
                        let back = self.disk.exchange(temporary, &path);
                        let now = self.disk.stat(temporary);
                        matches!((back, now), (Ok(true), Ok(Some(now))) if now.ino == new.ino)
                    });
                }
                Ok(false) => return self.rename_over(name, temporary, known, done),
                Err(error) if fresh && error.kind() == ErrorKind::AlreadyExists => fresh = false,
                Err(error) if !fresh && error.kind() == ErrorKind::NotFound => fresh = true,
                Err(error) => return Err(error).at(&path),
            }
            if self.meanwhile == Meanwhile::Refuse {
                break;
            }
        }
        Err(StoreError::Conflict { name: name.to_string() })
    }

    /// Looks at what was taken out; without need for haste that is left to [`Replacer::discard`].
    fn examine(
        &self,
        name: FileName,
        temporary: &Path,
        known: Option<&Stat>,
        done: &mut Replaced,
        give_back: impl FnOnce() -> bool,
    ) -> Result<()> {
        let refuse = self.meanwhile == Meanwhile::Refuse;
        match known {
            Some(known) if !refuse || self.is_unchanged(temporary, known) => {
                let path = temporary.to_owned();
                done.taken = Some(Taken { name, path, known: *known });
                Ok(())
            }
            _ if refuse => {
                if !give_back() {
                    self.salvage(name, temporary);
                }
                Err(StoreError::Conflict { name: name.to_string() })
            }
            _ => {
                done.copies.push(self.salvage(name, temporary));
                Ok(())
            }
        }
    }

    /// Whether a file is as it was read; also when nobody can tell, for then it is left alone.
    fn is_unchanged(&self, path: &Path, known: &Stat) -> bool {
        !matches!(self.disk.stat(path), Ok(Some(now)) if !now.same_content(known))
    }

    /// Renames over the file, looking until nobody has saved since the last look.
    fn rename_over(
        &self,
        name: FileName,
        temporary: &Path,
        known: Option<&Stat>,
        done: &mut Replaced,
    ) -> Result<()> {
        let path = self.paths.file(name);
        let mut seen = known.map(Stat::signature);
        for _ in 0..ATTEMPTS {
            let now = require_file(self.disk, &path)?.map(|stat| stat.signature());
            if now == seen || now.is_none() {
                return self.disk.rename(temporary, &path).at(&path);
            }
            if self.meanwhile == Meanwhile::Refuse {
                break;
            }
            done.copies.extend(self.link_into_salvage(name, &path)?);
            seen = now;
        }
        Err(StoreError::Conflict { name: name.to_string() })
    }

    fn remove_file(&self, name: FileName, known: Option<&Stat>, done: &mut Replaced) -> Result<()> {
        let (path, temporary) =
            (self.paths.file(name), self.paths.temporary(&self.paths.file(name)));
        self.refuse_if_changed(name, known)?;
        if self.disk.stat(&temporary).at(&temporary)?.is_some() {
            done.copies.extend(self.clear_temporary(name, &temporary, &[])?);
        }
        match self.disk.rename(&path, &temporary) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            other => other.at(&path)?,
        }
        self.examine(name, &temporary, known, done, || {
            matches!(self.disk.rename_new(&temporary, &path), Ok(true))
        })
    }

    fn refuse_if_changed(&self, name: FileName, known: Option<&Stat>) -> Result<()> {
        if self.meanwhile == Meanwhile::SetAside {
            return Ok(());
        }
        let now = require_file(self.disk, &self.paths.file(name))?;
        if now.map(|stat| stat.signature()) == known.map(Stat::signature) {
            return Ok(());
        }
        Err(StoreError::Conflict { name: name.to_string() })
    }

    /// Moves a file to `salvage/`: the file itself, because its editor may still be writing.
    ///
    /// If that fails it stays where it is, and the next replacement tries again.
    fn salvage(&self, name: FileName, path: &Path) -> PathBuf {
        let moved = free_salvage_path(self.disk, self.paths, self.time, Salvaged::File(name))
            .and_then(|target| self.disk.rename(path, &target).at(&target).map(|()| target));
        let Ok(target) = moved else { return path.to_owned() };
        self.make_durable(&target);
        target
    }

    /// Gives the file that is in place a second name below `salvage/`.
    fn link_into_salvage(&self, name: FileName, path: &Path) -> Result<Option<PathBuf>> {
        let target = free_salvage_path(self.disk, self.paths, self.time, Salvaged::File(name))?;
        match self.disk.link(path, &target) {
            Ok(()) => {
                self.make_durable(&target);
                Ok(Some(target))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(_) => match read_file(self.disk, path, u64::MAX)? {
                Some(contents) => {
                    set_aside(self.disk, self.paths, self.time, name, &contents.bytes).map(Some)
                }
                None => Ok(None),
            },
        }
    }

    /// As far as possible: the file is kept either way.
    fn make_durable(&self, path: &Path) {
        if matches!(self.disk.stat(path), Ok(Some(stat)) if stat.kind == FileKind::File) {
            let _ = self.disk.open(path, Access::Read).and_then(|file| file.sync());
        }
        let _ = self.disk.sync_dir(&self.paths.salvage());
    }

    /// Removes what an interrupted command left in the place of a temporary file.
    ///
    /// That is the beginning of what it was about to write, or what it had just taken out: a past
    /// state, or a save that it could not look at any more, which is kept.
    fn clear_temporary(
        &self,
        name: FileName,
        path: &Path,
        bytes: &[u8],
    ) -> Result<Option<PathBuf>> {
        let foreign = match self.disk.stat(path).at(path)? {
            Some(stat) if stat.kind == FileKind::File => {
                match read_file(self.disk, path, segment::LIMIT) {
                    Ok(Some(left)) => {
                        !bytes.starts_with(&left.bytes) && !self.knows(name, left.hash)
                    }
                    Ok(None) => return Ok(None),
                    Err(_) => true,
                }
            }
            Some(_) => false,
            None => return Ok(None),
        };
        if foreign {
            let copy = self.salvage(name, path);
            if copy != path {
                return Ok(Some(copy));
            }
            let message = "it could not be moved to `salvage`";
            return Err(io::Error::other(message)).at(path);
        }
        self.disk.remove(path).at(path).map(|()| None)
    }

    /// Whether the log can give that content back.
    fn knows(&self, name: FileName, hash: Hash) -> bool {
        let numbers = segment::numbers(self.disk, self.paths).unwrap_or_default();
        numbers.into_iter().rev().take(RECENT).any(|number| {
            matches!(
                Segment::load(self.disk, self.paths, number),
                Ok(Some(segment)) if segment.knows(&name, Some(hash))
            )
        })
    }
}

/// Adds bytes to the end of a file, creating it when absent; gives its metadata after.
///
/// What another program appended meanwhile is never overwritten.
pub(in crate::store) fn append(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<Stat> {
    let file = match disk.open(path, Access::AppendOrCreate) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            ensure_dir_all(disk, parent_of(path))?;
            disk.open(path, Access::AppendOrCreate).at(path)?
        }
        other => other.at(path)?,
    };
    if !bytes.is_empty() {
        file.append(bytes).at(path)?;
    }
    file.stat().at(path)
}

/// Keeps a durable copy of bytes that are about to be replaced.
pub(in crate::store) fn set_aside(
    disk: &dyn Disk,
    paths: &Paths,
    time: &str,
    name: FileName,
    bytes: &[u8],
) -> Result<PathBuf> {
    let path = free_salvage_path(disk, paths, time, Salvaged::File(name))?;
    let dir = paths.salvage();
    let file = disk.open(&path, Access::CreateNew).at(&path)?;
    file.append(bytes).at(&path)?;
    file.sync().at(&path)?;
    disk.sync_dir(&dir).at(&dir)?;
    Ok(path)
}

/// A path below `salvage/` where nothing is yet.
pub(in crate::store) fn free_salvage_path(
    disk: &dyn Disk,
    paths: &Paths,
    time: &str,
    what: Salvaged<'_>,
) -> Result<PathBuf> {
    let dir = paths.salvage();
    if ensure_dir(disk, &dir, true)? {
        disk.sync_dir(&paths.private).at(&paths.private)?;
    }
    let mut path = paths.salvaged(time, what);
    let mut count = 1;
    while disk.stat(&path).at(&path)?.is_some() {
        count += 1;
        path = paths.salvaged(&format!("{time}-{count}"), what);
    }
    Ok(path)
}
