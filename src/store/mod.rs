//! Bytes, lock, operation log, objects, recovery: the only place that writes state.
//!
//! The operation log is the journal. An operation is committed when its record is synced; the
//! files are then replaced without a sync of their own, and whatever a crash leaves undone is
//! completed from the log at the next opening.
//!
//! ```text
//! begin:  lock → inspect (verdict, appended) → repair → Transaction
//! commit: prepare → log (append, sync: the commit point) → replace, append → head
//! read:   shared lock → inspect → View
//! ```

mod cancellation;
mod checkpoint;
mod derived;
mod disk;
mod error;
mod gc;
mod inspect;
mod lock;
mod log;
mod marker;
mod name;
mod origin;
mod paths;
mod query;
mod relocate;
mod session_files;
mod sign_of_life;
mod tally;
mod transaction;
mod view;

#[cfg(test)]
pub(crate) use disk::sim as sim_disk;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use cancellation::Cancellation;
pub(crate) use checkpoint::{
    Checkpoint, CheckpointChange, CheckpointRecord, Image, Moment, NewCheckpoint,
};
pub(crate) use derived::{DerivedPlace, WORTHWHILE};

pub(crate) use disk::directory::Directory;
pub(crate) use disk::real::RealDisk;
pub(crate) use disk::{Disk, FileKind, WORTH_SEALING};
pub(crate) use error::{Result, StoreError};
pub(crate) use gc::GcReport;
pub(crate) use inspect::report::Report;
pub(crate) use log::hash::Hash;
pub(crate) use log::losses::LogLoss;
pub(crate) use log::operation::{AppendRecord, FileRecord, Operation, SpliceRecord};
pub use log::operation::{OperationSummary, Revision};
pub(crate) use name::CheckpointName;
pub(crate) use origin::{Origin, Trusted};
pub(crate) use paths::private_directory;
pub(crate) use query::{AppendedThen, Author};
pub(crate) use session_files::SessionFiles;
pub(crate) use sign_of_life::{Process, SignOfLife};
pub(crate) use tally::Tally;
pub(crate) use transaction::Transaction;
pub(crate) use transaction::change::{
    ByteSplice, ChangeKind, Committed, FileChange, LockHolder, NewOperation,
};
pub use view::AppendedView;
pub(crate) use view::{AppendedReader, Content, LazyFile, LogDamage, MadeFile, SharedBytes, View};

use disk::read::{require_dir, require_file};
use error::At as _;
use paths::{Paths, Salvaged};

/// Which files the store keeps, and where.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The state directory.
    pub dir: PathBuf,
    /// Names of the small files that are replaced as a whole; each may be absent.
    pub rewritable: &'static [&'static str],
    /// Name of the file that only grows.
    pub appended: &'static str,
    /// The largest rewritable file that is read or written.
    pub max_bytes: u64,
    /// Whether the log may refer to files that used to belong to the state.
    pub keeps_former: bool,
}

/// What exists before anything is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Presence {
    /// The tracked files that exist, in the layout's order, the appended file last.
    pub files: Vec<String>,
    /// Whether there is an operation log.
    pub log: bool,
}

/// The state directory with its log.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    layout: Layout,
    paths: Paths,
    disk: Arc<dyn Disk>,
    rotate_at: Option<u64>,
    trust_level: origin::Trust,
}

/// Reads bytes as an operation log, for the fuzzer.
#[cfg(fuzzing)]
pub(crate) fn fuzz_log(bytes: &[u8]) {
    log::segment::Segment::fuzz(bytes);
}

/// A segment smaller than this is never closed.
const SEGMENT_BYTES: u64 = 256 * 1024;

impl Store {
    /// A store on the machine's file system.
    pub(crate) fn new(layout: Layout) -> Store {
        let disk = RealDisk::new(&layout.dir);
        Store::with_disk(layout, Arc::new(disk))
    }

    /// A store on any disk.
    pub(crate) fn with_disk(layout: Layout, disk: Arc<dyn Disk>) -> Store {
        let paths = Paths::new(&layout);
        Store { layout, paths, disk, rotate_at: None, trust_level: origin::Trust::default() }
    }

    /// The same store with another size at which log segments are closed.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn rotating_at(mut self, bytes: u64) -> Store {
        self.rotate_at = Some(bytes);
        self
    }

    /// The files and their place.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// This store for one call from its beginning to its end, all of which happens in the
    /// directory that is there now.
    fn session(&self) -> Cow<'_, Store> {
        match self.disk.rooted(&self.paths.dir, true) {
            Some(disk) => Cow::Owned(Store { disk, ..self.clone() }),
            None => Cow::Borrowed(self),
        }
    }

    /// Which tracked files are there, and whether there is a log.
    pub(crate) fn exists(&self) -> Result<Presence> {
        let this = self.session();
        let mut presence = Presence::default();
        for name in self.layout.files() {
            if require_file(&*this.disk, &this.paths.file(name))?.is_some() {
                presence.files.push(name.to_string());
            }
        }
        if require_dir(&*this.disk, &this.paths.private)?.is_some() {
            presence.log = !log::segment::numbers(&*this.disk, &this.paths)?.is_empty();
        }
        Ok(presence)
    }

    /// A consistent view under a shared lock; writes nothing.
    ///
    /// An interrupted operation is seen whole, and an edit made outside is included in the
    /// revision, exactly as the next mutating command will make them.
    pub(crate) fn read(&self, wait: Duration) -> Result<View> {
        self.read_with(wait, |_| ()).map(|(view, ())| view)
    }

    /// The same, with more that is looked up while the lock is held: what `more` reads of the log
    /// is of the same moment as the view.
    ///
    /// `more` must not change the state. Nobody else can until it returns.
    pub(crate) fn read_with<T>(
        &self,
        wait: Duration,
        more: impl FnOnce(&View) -> T,
    ) -> Result<(View, T)> {
        let this = self.session();
        let disk = &*this.disk;
        let _lock = lock::shared(disk, &self.paths.lock(), wait)?;
        let found = inspect::inspect(&this, false)?;
        let mut reports = found.reports();
        let torn = found.restores.iter().filter(|restore| restore.set_aside);
        let mut torn: Vec<String> = torn.map(|restore| restore.name.to_string()).collect();
        if found.append.cut {
            torn.push(self.layout.appended.to_owned());
        }
        reports.extend(torn.into_iter().map(|file| Report::Salvaged { file, copy: None }));
        reports.extend(found.pending_report(self.layout.appended));
        reports.extend(self.distrust_report());
        if self.lacks_access() {
            // There is a log, but this user has no access to it.
            reports.retain(|report| !matches!(report, Report::Adopted { .. }));
        }
        let view = found.into_view(&this, reports);
        let more = more(&view);
        Ok((view, more))
    }

    /// Takes the lock and brings files and log together.
    ///
    /// What that takes is made durable at once, whether or not the transaction is committed:
    /// interrupted operations are completed, edits made outside are recorded.
    pub(crate) fn begin(&self, wait: Duration, holder: &LockHolder) -> Result<Transaction> {
        Transaction::begin(&self.session(), wait, holder)
    }

    /// Sets the log aside, so that the next mutating command adopts the files as they are.
    ///
    /// Nothing is deleted: the old log stays below `.statedir/salvage/`, whose path is returned.
    #[cfg(test)]
    pub(crate) fn set_log_aside(&self, wait: Duration, holder: &LockHolder) -> Result<PathBuf> {
        let this = self.session();
        let _lock = lock::exclusive(&*this.disk, &this.paths.lock(), wait, holder)?;
        this.move_log_aside(holder)
    }

    /// The same if the log is damaged once the lock is held: somebody else may have begun a new one
    /// since it was looked at. `None` if it is sound.
    pub(crate) fn set_damaged_log_aside(
        &self,
        wait: Duration,
        holder: &LockHolder,
    ) -> Result<Option<PathBuf>> {
        let this = self.session();
        let _lock = lock::exclusive(&*this.disk, &this.paths.lock(), wait, holder)?;
        let is_sound = inspect::inspect(&this, false)?.damage.is_none()
            && !matches!(this.operations(None), Err(StoreError::Damaged { .. }));
        match is_sound {
            true => Ok(None),
            false => this.move_log_aside(holder).map(Some),
        }
    }

    fn move_log_aside(&self, holder: &LockHolder) -> Result<PathBuf> {
        let (disk, paths) = (&*self.disk, &self.paths);
        let target =
            transaction::replace::free_salvage_path(disk, paths, &holder.time, Salvaged::Log)?;
        disk.rename(&paths.log(), &target).at(&target)?;
        disk.sync_dir(&paths.private).at(&paths.private)?;
        disk.sync_dir(&paths.salvage()).at(&paths.salvage())?;
        Ok(target)
    }

    fn rotation_threshold(&self, total: u64) -> u64 {
        self.rotate_at.unwrap_or_else(|| SEGMENT_BYTES.max(total.saturating_mul(2)))
    }
}
