//! Rebuilding a lost log from operations that were carried out elsewhere.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::store::{
    LockHolder, Report, Result, Revision, Store, StoreError,
    disk::{Access, Disk, publish::ensure_dir, read::require_file},
    error::At as _,
    inspect::{inspect, repair::repair},
    lock,
    log::{create_directories, ensure_private, head::Head},
    paths::Paths,
    relocate::rename,
};

/// A log that was put in place.
#[derive(Debug)]
pub(crate) struct InstalledLog<T> {
    /// What `build` returned.
    pub built: T,
    /// The revision that the files have now.
    pub revision: Revision,
    /// What was found in the files; they differ from the end of the log, for example.
    pub reports: Vec<Report>,
}

/// A signature that is older than that of any real file.
const NEVER: (u64, i64, u64) = (0, i64::MIN, 0);

impl Store {
    /// Where a log is built before it is put in place: a state directory of its own, on the same
    /// file system. Whoever builds there clears it before and afterwards.
    pub(crate) fn staging_directory(&self) -> PathBuf {
        self.paths.private.join("rebuild")
    }

    /// Lets `build` make operations in a store at [`Store::staging_directory`], then puts the log of
    /// that store in place. `None` when there is a log already, so that nothing is built, or when
    /// no operation was made.
    ///
    /// The files stay as they are: where they differ from the end of the log, that is recorded as
    /// an edit made outside. The lock is held all the time.
    ///
    /// # Errors
    /// Building fails, or the log cannot be moved; there is no log then.
    pub(crate) fn install_rebuilt_log<T, E: From<StoreError>>(
        &self,
        wait: Duration,
        holder: &LockHolder,
        build: impl FnOnce(&Store) -> std::result::Result<T, E>,
    ) -> std::result::Result<Option<InstalledLog<T>>, E> {
        let this = self.session();
        let (disk, paths) = (&*this.disk, &this.paths);
        ensure_private(disk, paths)?;
        let _lock = lock::exclusive(disk, &paths.lock(), wait, holder)?;
        if this.exists()?.log {
            return Ok(None);
        }
        let site = this.at(this.staging_directory());
        let built = build(&site)?;
        if !site.exists()?.log {
            return Ok(None);
        }
        this.move_log(&site.paths)?;
        let (base, view) = repair(&this, inspect(&this, true)?, holder)?;
        let reports = view.reports().to_vec();
        Ok(Some(InstalledLog { built, revision: base.revision, reports }))
    }

    /// Takes the log over from another place: what it refers to first, the log itself last.
    fn move_log(&self, from: &Paths) -> Result<()> {
        let (disk, paths) = (&*self.disk, &self.paths);
        let Some(head) = Head::load(disk, from)? else {
            return Err(unusable(&from.head(), "the last operation was not completed"));
        };
        create_directories(disk, paths)?;
        move_objects(disk, from, paths)?;
        // Without the cache the last operation could be taken for one that did not reach the
        // files; with these signatures no file can be taken for one that was written before it.
        let signatures = head.signatures.keys().map(|name| (name.clone(), NEVER)).collect();
        let head = Head { signatures, facts: None, ..head };
        head.save(disk, paths);
        if Head::load(disk, paths)?.as_ref() != Some(&head) {
            return Err(unusable(&paths.head(), "it could not be written"));
        }
        disk.open(&paths.head(), Access::Append).at(&paths.head())?.sync().at(&paths.head())?;
        disk.sync_dir(&paths.private).at(&paths.private)?;
        rename(disk, &from.log(), &paths.log()).at(&paths.log())?;
        disk.sync_dir(&paths.private).at(&paths.private)
    }
}

fn move_objects(disk: &dyn Disk, from: &Paths, to: &Paths) -> Result<()> {
    let names = match disk.list(&from.objects()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.at(&from.objects())?,
    };
    ensure_dir(disk, &to.objects(), true)?;
    for hash in names.iter().filter_map(|name| name.parse().ok()) {
        let (old, new) = (from.object(hash), to.object(hash));
        // Of the same name are the same bytes, unless they are damaged.
        require_file(disk, &new)?;
        disk.rename(&old, &new).at(&new)?;
    }
    disk.sync_dir(&to.objects()).at(&to.objects())
}

fn unusable(path: &std::path::Path, message: &str) -> StoreError {
    StoreError::Io { path: path.into(), source: io::Error::other(message.to_owned()) }
}
