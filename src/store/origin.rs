//! Whether the private directory was made here, or came with a clone.
//!
//! A clone can bring anything, a log and checkpoints of somebody's choosing as well. So a private
//! directory is used only if it was made here. The proof is a marker in it that says which
//! directory it was written for: inode number and moment of birth, which no repository can know
//! beforehand. A directory without the right marker (a copy, or one of an earlier version) is for
//! the caller to decide about; one that is not trusted is set aside, and the files are adopted as
//! in any fresh clone.

use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use crate::store::{
    Directory, LockHolder, Report, Result, Store, StoreError,
    disk::FileKind,
    error::At as _,
    lock,
    marker::{accept, is_marked, make_marked, write_marker},
    paths::PRIVATE,
};

/// What a directory that was set aside is called, with a number behind it.
const ASIDE: &str = ".statedir.untrusted-";
/// How many directories may be set aside.
const MOST_ASIDE: u32 = 1000;

/// Where a private directory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// There is none.
    Absent,
    /// It was made here.
    Here,
    /// It has no marker, or that of another directory: a copy, an earlier version, or a clone.
    Unknown(Inode),
    /// It belongs to another user and has no marker of this place.
    OtherUser(Inode),
    /// It is closed to this user, who may still read the files.
    NoAccess(Inode),
    /// It is not a directory at all.
    NoDirectory(Inode),
}

/// What was looked at, so that nothing else is set aside for it later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inode(u64);

/// What the store may do with its private directory.
#[derive(Debug, Clone, Default)]
pub(super) enum Trust {
    /// Use it, and ask no questions: the disk is simulated, or the marker is right.
    #[default]
    Established,
    /// Use it and mark it, or make one with a marker.
    Unmarked,
    /// Do not use it.
    Denied {
        /// Whether it is closed to this user, whose changes are then refused.
        is_closed: bool,
        /// Why, as the end of a sentence.
        why: &'static str,
        /// Which directory was looked at.
        inode: Inode,
    },
}

impl Store {
    /// Where the private directory comes from. Writes nothing.
    pub(crate) fn origin(&self) -> io::Result<Origin> {
        let private = match Directory::open_in(&self.layout.dir, PRIVATE) {
            Some(private) => private,
            None => match self.find_private()? {
                Ok(private) => private,
                Err(origin) => return Ok(origin),
            },
        };
        let stat = private.own_stat()?;
        let inode = Inode(stat.ino);
        match is_marked(&private) {
            Ok(true) => return Ok(Origin::Here),
            // To open it takes no permission; to read what is in it does.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                return Ok(Origin::NoAccess(inode));
            }
            other => other?,
        };
        let user = rustix::process::geteuid();
        let is_other = !user.is_root() && stat.owner.0 != user.as_raw();
        Ok(if is_other { Origin::OtherUser(inode) } else { Origin::Unknown(inode) })
    }

    /// The private directory, looked for step by step; where there is none, what is there instead.
    fn find_private(&self) -> io::Result<std::result::Result<Directory, Origin>> {
        let state = match Directory::open(&self.layout.dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Err(Origin::Absent)),
            other => other?,
        };
        match state.open_dir(PRIVATE) {
            Ok(private) => Ok(private.ok_or(Origin::Absent)),
            Err(error) => match state.stat(PRIVATE)? {
                Some(stat) if stat.kind != FileKind::Directory => {
                    Ok(Err(Origin::NoDirectory(Inode(stat.ino))))
                }
                Some(stat) if error.kind() == ErrorKind::PermissionDenied => {
                    Ok(Err(Origin::NoAccess(Inode(stat.ino))))
                }
                _ => state.open_dir(PRIVATE).map(|_| Err(Origin::Absent)),
            },
        }
    }

    /// The store that marks its private directory as made here with the next change.
    #[must_use]
    pub(crate) fn mark_on_next_change(mut self) -> Store {
        self.trust_level = Trust::Unmarked;
        self
    }

    /// The store without its private directory: reading shows the files as they are, the next
    /// change sets the directory aside and begins a log of its own.
    #[must_use]
    pub(crate) fn distrust(mut self, inode: Inode, why: &'static str) -> Store {
        self.trust_level = Trust::Denied { is_closed: false, why, inode };
        // A name that cannot exist, so that no lock, no log and no object is found there.
        let random = std::hash::RandomState::new().build_hasher().finish();
        self.paths.private = self.layout.dir.join(format!("{PRIVATE}.none-{random:016x}"));
        self
    }

    /// The store without a private directory that is closed to this user: reading shows the files as
    /// they are, and a change is refused.
    #[must_use]
    pub(crate) fn without_access(self, inode: Inode) -> Store {
        let mut store = self.distrust(inode, "it is closed to this user");
        if let Trust::Denied { is_closed, .. } = &mut store.trust_level {
            *is_closed = true;
        }
        store
    }

    /// Whether the private directory is closed to this user.
    pub(super) fn lacks_access(&self) -> bool {
        matches!(self.trust_level, Trust::Denied { is_closed: true, .. })
    }

    /// Refuses what cannot be answered without the private directory.
    pub(crate) fn require_access(&self) -> Result<()> {
        if !self.lacks_access() {
            return Ok(());
        }
        let path = self.layout.dir.join(PRIVATE);
        let message = format!("`{}` is closed to this user: permission denied", path.display());
        Err(io::Error::new(ErrorKind::PermissionDenied, message)).at(&path)
    }

    /// Whether the private directory is used.
    pub(crate) fn uses_private_directory(&self) -> bool {
        !matches!(self.trust_level, Trust::Denied { .. })
    }

    /// The report, for readers, of a private directory that is not used.
    pub(super) fn distrust_report(&self) -> Option<Report> {
        match self.trust_level {
            Trust::Denied { is_closed: false, why, .. } => {
                Some(Report::Distrusted { why, copy: None })
            }
            Trust::Denied { .. } | Trust::Established | Trust::Unmarked => None,
        }
    }

    /// The store for a change: a private directory that is not trusted is set aside first.
    pub(crate) fn for_change(&self) -> Result<(Store, Option<Report>)> {
        let Trust::Denied { why, inode, .. } = self.trust_level else {
            return Ok((self.clone(), None));
        };
        self.require_access()?;
        let path = self.layout.dir.join(PRIVATE);
        let state = Directory::open(&self.layout.dir).at(&path)?;
        let guard = state.lock().at(&path)?;
        let found = state.stat(PRIVATE).at(&path)?.map(|stat| stat.ino);
        // Another process may have done it meanwhile.
        let copy = match found.map(Inode) == Some(inode) {
            true => Some(set_aside(&state).at(&path)?),
            false => None,
        };
        if state.stat(PRIVATE).at(&path)?.is_none() {
            make_marked(&state).at(&path)?;
        }
        drop(guard);
        let mut store = self.clone();
        store.paths = crate::store::paths::Paths::new(&self.layout);
        store.trust_level = Trust::Established;
        Ok((store, copy.map(|copy| Report::Distrusted { why, copy: Some(copy) })))
    }

    /// Makes the private directory where there is none, with a marker where markers are kept.
    pub(super) fn make_private(&self) -> Result<()> {
        let path = &self.paths.private;
        if matches!(self.trust_level, Trust::Established) {
            crate::store::disk::publish::ensure_dir(&*self.disk, path, true)?;
            return Ok(());
        }
        let state = Directory::open(&self.layout.dir).at(path)?;
        let _guard = state.lock().at(path)?;
        make_marked(&state).at(path)
    }

    /// The permissions of the private directory, if others than its owner have any.
    pub(crate) fn access_of_others(&self) -> io::Result<Option<u32>> {
        let Some(private) = Directory::open(&self.layout.dir)?.open_dir(PRIVATE)? else {
            return Ok(None);
        };
        let mode = private.own_stat()?.mode;
        Ok((mode & 0o077 != 0).then_some(mode))
    }

    /// Leaves the private directory to its owner alone.
    pub(crate) fn deny_others(&self) -> Result<()> {
        let path = &self.paths.private;
        let private = Directory::open(&self.layout.dir).and_then(|state| state.open_dir(PRIVATE));
        private
            .and_then(|private| private.map_or(Ok(()), |private| private.set_mode(0o700)))
            .at(path)
    }

    /// Marks the private directory as made here, if it is to be marked and there is one. A change may
    /// ignore that this fails: the origin is checked again.
    pub(super) fn mark(&self) -> io::Result<()> {
        if !matches!(self.trust_level, Trust::Unmarked) {
            return Ok(());
        }
        match Directory::open(&self.layout.dir)?.open_dir(PRIVATE)? {
            Some(private) => write_marker(&private),
            None => Ok(()),
        }
    }

    /// Accepts a private directory that is not trusted: the one that is there, or the one that was
    /// set aside last, which then takes the place of the one in use. Says what was done.
    ///
    /// # Errors
    /// There is nothing to accept, it is not a directory, or its log is damaged.
    pub(crate) fn trust(
        &self,
        wait: std::time::Duration,
        holder: &LockHolder,
        dry_run: bool,
    ) -> Result<Trusted> {
        let path = self.layout.dir.join(PRIVATE);
        let state = Directory::open(&self.layout.dir).at(&path)?;
        let not_found = || StoreError::NotFound { what: "private directory to trust".to_owned() };
        // It could not be looked at before, which says nothing about where it comes from.
        let unseen = || io::Error::other("it could not be looked at; try again");
        let is_established = matches!(self.trust_level, Trust::Established);
        if is_established && !matches!(self.origin().at(&path)?, Origin::Here) {
            return Err(unseen()).at(&path);
        }
        if matches!(self.trust_level, Trust::Denied { .. }) {
            let found = state.open_dir(PRIVATE).at(&path)?;
            let private = found.ok_or_else(not_found)?;
            if is_marked(&private).at(&path)? {
                return Err(unseen()).at(&path);
            }
            if !dry_run {
                accept(&private).at(&path)?;
            }
            return Ok(Trusted { from: None, replaced: None });
        }
        let Some(from) = newest_aside(&state).at(&path)? else {
            // Not now, but when git cannot be asked one day, only the mark tells that it was made here.
            if !dry_run {
                self.mark().at(&path)?;
            }
            return Ok(Trusted { from: None, replaced: None });
        };
        let found = state.open_dir(&from).at(&path)?;
        let private = found.ok_or_else(not_found)?;
        if dry_run {
            return Ok(Trusted { from: Some(from), replaced: None });
        }
        // No command may be working in the directory that is replaced.
        let in_use = self.paths.lock();
        let _lock = match state.stat(PRIVATE).at(&path)? {
            Some(_) => Some(lock::exclusive(&*self.disk, &in_use, wait, holder)?),
            None => None,
        };
        let _guard = state.lock().at(&path)?;
        accept(&private).at(&path)?;
        let is_replaced = state.stat(PRIVATE).at(&path)?.is_some();
        // In one step: a command that is killed between two would leave no log in use, and the next
        // `trust` would take the one that was in use for the one to be accepted.
        let replaced = match is_replaced && state.exchange(&from, &state, PRIVATE).at(&path)? {
            true => Some(self.layout.dir.join(&from)),
            false => {
                let aside = is_replaced.then(|| set_aside(&state)).transpose().at(&path)?;
                state.rename(&from, &state, PRIVATE).at(&path)?;
                aside
            }
        };
        // It is done; a power loss that comes first leaves the one or the other, each of them whole.
        let _ = state.sync();
        Ok(Trusted { from: Some(from), replaced })
    }
}

/// What [`Store::trust`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trusted {
    /// The name under which the directory had been set aside, unless it was still in its place.
    pub from: Option<String>,
    /// Where the one that was in use until now is kept.
    pub replaced: Option<PathBuf>,
}

/// Renames the private directory, and returns the new name.
fn set_aside(state: &Directory) -> io::Result<PathBuf> {
    for number in 1..=MOST_ASIDE {
        let name = format!("{ASIDE}{number}");
        if state.stat(&name)?.is_some() {
            continue;
        }
        match state.rename_new(PRIVATE, state, &name) {
            Ok(true) => {}
            Ok(false) => state.rename(PRIVATE, state, &name)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        }
        return Ok(state.path().join(name));
    }
    let message = format!("there are {MOST_ASIDE} directories `{ASIDE}…` already");
    Err(io::Error::new(ErrorKind::AlreadyExists, message))
}

/// The name of the directory that was set aside last.
fn newest_aside(state: &Directory) -> io::Result<Option<String>> {
    let number = |name: &String| name.strip_prefix(ASIDE)?.parse::<u32>().ok();
    Ok(state.list()?.into_iter().filter(|name| number(name).is_some()).max_by_key(number))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::store::Layout;

    fn store(dir: &Path) -> Store {
        Store::new(Layout {
            dir: dir.to_owned(),
            rewritable: &["plan.md"],
            appended: "history.md",
            max_bytes: 1000,
            keeps_former: false,
        })
    }

    #[test]
    fn a_directory_made_here_is_known_wherever_it_is_moved_and_a_copy_is_not() {
        let root = tempfile::tempdir().unwrap();
        let (here, moved, copy) =
            (root.path().join("a"), root.path().join("b"), root.path().join("c"));
        std::fs::create_dir(&here).unwrap();
        assert_eq!(store(&here).origin().unwrap(), Origin::Absent);
        store(&here).mark_on_next_change().make_private().unwrap();
        assert_eq!(store(&here).origin().unwrap(), Origin::Here);
        std::fs::rename(&here, &moved).unwrap();
        assert_eq!(store(&moved).origin().unwrap(), Origin::Here);
        std::fs::create_dir_all(copy.join(PRIVATE)).unwrap();
        std::fs::copy(moved.join(PRIVATE).join("origin"), copy.join(PRIVATE).join("origin"))
            .unwrap();
        assert!(matches!(store(&copy).origin().unwrap(), Origin::Unknown(_)));
    }

    #[test]
    fn a_private_directory_that_is_not_a_directory_is_never_used() {
        let root = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), root.path().join(PRIVATE)).unwrap();
        let Origin::NoDirectory(inode) = store(root.path()).origin().unwrap() else { panic!() };
        let distrusting = store(root.path()).distrust(inode, "it is a link");
        let (used, report) = distrusting.for_change().unwrap();
        assert!(matches!(report, Some(Report::Distrusted { copy: Some(_), .. })));
        assert_eq!(used.origin().unwrap(), Origin::Here);
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }

    #[test]
    fn of_two_that_distrust_the_same_directory_one_sets_it_aside() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join(PRIVATE)).unwrap();
        let Origin::Unknown(inode) = store(root.path()).origin().unwrap() else { panic!() };
        let (one, two) = (store(root.path()), store(root.path()));
        let (one, two) = (one.distrust(inode, "x"), two.distrust(inode, "x"));
        assert!(one.for_change().unwrap().1.is_some());
        assert!(two.for_change().unwrap().1.is_none());
        assert_eq!(store(root.path()).origin().unwrap(), Origin::Here);
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 2);
    }
}
