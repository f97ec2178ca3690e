//! Dropping what is old: whole segments, unused images, leftovers.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::store::{
    Checkpoint, Hash, LockHolder, Result, Store, StoreError,
    checkpoint::registry,
    disk::read::require_dir,
    error::At as _,
    lock,
    log::segment::{self, Segment},
    paths::{checkpoint_number, segment_number},
};

/// How long a collection waits for the lock.
const WAIT: Duration = Duration::from_secs(5);

/// What a collection dropped, or would drop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GcReport {
    /// Operations that are no longer in the log.
    pub operations_dropped: u64,
    /// Log segments removed.
    pub segments_dropped: u64,
    /// Full images removed.
    pub objects_dropped: u64,
    /// Automatic checkpoints removed.
    pub checkpoints_dropped: u64,
    /// Bytes given back to the file system.
    pub bytes_freed: u64,
    /// What could not be finished; the next collection does it.
    pub warnings: Vec<String>,
}

impl GcReport {
    fn free(&mut self, bytes: u64) {
        self.bytes_freed = self.bytes_freed.saturating_add(bytes);
    }
}

impl Store {
    /// Drops whole segments all of whose operations are older than `older_than`.
    ///
    /// Never drops the newest segment that has operations, a segment with an operation in `keep` or anything newer
    /// than that, nor images that a kept segment or a hash in `keep` refers to. Without a time
    /// only unused images and leftovers of interrupted commands go. With `dry_run` it only counts.
    pub(crate) fn gc(
        &self,
        older_than: Option<String>,
        keep: &[String],
        dry_run: bool,
    ) -> Result<GcReport> {
        self.session().collect(older_than.as_deref(), keep, dry_run)
    }

    fn collect(
        &self,
        older_than: Option<&str>,
        keep: &[String],
        dry_run: bool,
    ) -> Result<GcReport> {
        let (disk, paths) = (&*self.disk, &self.paths);
        let mut report = GcReport::default();
        if require_dir(disk, &paths.private)?.is_none() {
            return Ok(report);
        }
        let _lock = if dry_run {
            lock::shared(disk, &paths.lock(), WAIT)?
        } else {
            let holder = LockHolder { command: "gc".into(), ..LockHolder::default() };
            Some(lock::exclusive(disk, &paths.lock(), WAIT, &holder)?)
        };
        let (dropped, kept) = self.partition_segments(older_than, keep, &mut report)?;
        let mut used: BTreeSet<String> = keep.iter().cloned().collect();
        for segment in &kept {
            used.extend(segment.header.state.files.values().map(ToString::to_string));
        }
        let old = self.old_checkpoints(older_than, &kept, &mut used, &mut report)?;
        let log = paths.log();
        let without_images = report.clone();
        let objects = self.unused_files(&paths.objects(), &used, &mut report)?;
        report.objects_dropped = objects.len() as u64;
        // What an interrupted command took out of its place may be an editor's save: the next
        // replacement of that file looks at it.
        let taken = self.layout.rewritable.iter().map(|name| (*name).to_owned()).collect();
        let leftovers = self.unused_files(&paths.tmp(), &taken, &mut report)?;
        if dry_run {
            return Ok(report);
        }
        let touched: Vec<PathBuf> = [(&old, paths.checkpoints()), (&dropped, log)]
            .into_iter()
            .filter(|(paths, _)| !paths.is_empty())
            .map(|(_, dir)| dir)
            .collect();
        let mut doomed = old.iter().chain(&dropped);
        if let Some(oldest) = doomed.next() {
            // The newer segments must be durable before the older ones go, and what refers to
            // images must be gone before they are.
            touched.iter().try_for_each(|dir| disk.sync_dir(dir).at(dir))?;
            disk.remove(oldest).at(oldest)?;
            // From here on something is gone: what fails is a warning, and the images stay.
            let rest = doomed
                .try_for_each(|path| disk.remove(path).at(path))
                .and_then(|()| touched.iter().try_for_each(|dir| disk.sync_dir(dir).at(dir)));
            if let Err(error) = rest {
                let warning = format!(
                    "old operations were dropped, but not all of their data ({error}); the next \
                     collection drops the rest"
                );
                return Ok(GcReport { warnings: vec![warning], ..without_images });
            }
        }
        for path in objects.iter().chain(&leftovers) {
            if let Err(error) = disk.remove(path).at(path) {
                report.warnings.push(format!("{error}; the next collection will try again"));
            }
        }
        Ok(report)
    }

    fn partition_segments(
        &self,
        older_than: Option<&str>,
        keep: &[String],
        report: &mut GcReport,
    ) -> Result<(Vec<PathBuf>, Vec<Segment>)> {
        let (disk, paths) = (&*self.disk, &self.paths);
        let (mut dropped, mut kept) = (Vec::new(), Vec::new());
        let mut segments = Vec::new();
        for number in segment::numbers(disk, paths)? {
            segments.extend(Segment::load(disk, paths, number)?);
        }
        // A segment just begun has no operation yet: what undo needs is in the one before.
        let newest = segments.iter().rfind(|segment: &&Segment| !segment.records.is_empty());
        let newest = newest.or(segments.last()).map(|segment| segment.number);
        for segment in segments {
            let old = |time: &str| older_than.is_some_and(|limit| time < limit);
            let droppable = kept.is_empty()
                && Some(segment.number) != newest
                && segment.records.iter().all(|placed| {
                    old(&placed.op.time) && !keep.iter().any(|id| id == placed.op.id.as_str())
                });
            if droppable {
                report.segments_dropped += 1;
                report.operations_dropped += segment.records.len() as u64;
                report.free(segment.end.saturating_add(segment.torn));
                dropped.push(paths.segment(segment.number));
            } else {
                kept.push(segment);
            }
        }
        Ok((dropped, kept))
    }

    /// The files of automatic checkpoints that are old enough to go. The images of all others,
    /// and of those that undoing a kept operation puts back, are in use.
    fn old_checkpoints(
        &self,
        older_than: Option<&str>,
        kept: &[Segment],
        used: &mut BTreeSet<String>,
        report: &mut GcReport,
    ) -> Result<Vec<PathBuf>> {
        let (disk, paths) = (&*self.disk, &self.paths);
        let is_old = |checkpoint: &Checkpoint| {
            let limit = older_than.is_some_and(|limit| checkpoint.time.as_str() < limit);
            checkpoint.automatic.is_some() && limit
        };
        let in_use = |used: &mut BTreeSet<String>, checkpoint: &Checkpoint| {
            used.extend(checkpoint.files.values().map(|image| image.hash.to_string()));
        };
        let mut old = Vec::new();
        for (number, name) in registry::names(disk, paths)? {
            match registry::load(disk, paths, number, &name) {
                Ok(Some(checkpoint)) if is_old(&checkpoint) => {
                    let path = paths.checkpoint(number, &name);
                    report.free(disk.stat(&path).at(&path)?.map_or(0, |stat| stat.len));
                    report.checkpoints_dropped += 1;
                    old.push(path);
                }
                Ok(Some(checkpoint)) => in_use(used, &checkpoint),
                Ok(None) => {}
                Err(StoreError::Damaged { .. } | StoreError::NotRegular { .. }) => {
                    // Which images it needs cannot be known, so none may go.
                    let all = self.disk.list(&paths.objects()).unwrap_or_default();
                    used.extend(all);
                    report
                        .warnings
                        .push(format!("checkpoint `{name}` is damaged, so images are kept"));
                }
                Err(error) => return Err(error),
            }
        }
        let records = kept.iter().flat_map(|segment| &segment.records);
        for change in records.flat_map(|placed| &placed.op.checkpoints) {
            if !is_old(change.checkpoint()) {
                in_use(used, change.checkpoint());
            }
        }
        Ok(old)
    }

    fn unused_files(
        &self,
        dir: &Path,
        used: &BTreeSet<String>,
        report: &mut GcReport,
    ) -> Result<Vec<PathBuf>> {
        let names = match self.disk.list(dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.at(dir)?,
        };
        let mut unused = Vec::new();
        // What has another name was not put there by the store.
        let is_ours = |name: &String| !used.contains(name) && is_name_of_ours(name);
        for name in names.into_iter().filter(is_ours) {
            let path = dir.join(name);
            if let Some(stat) = self.disk.stat(&path).at(&path)?
                && stat.kind == crate::store::disk::FileKind::File
            {
                report.free(stat.len);
                unused.push(path);
            }
        }
        Ok(unused)
    }
}

/// Whether the store gives files such a name: that of an image, a segment, a checkpoint, or of what
/// keeps the directory out of version control.
fn is_name_of_ours(name: &str) -> bool {
    name.parse::<Hash>().is_ok()
        || segment_number(name).is_some()
        || checkpoint_number(name).is_some()
        || name == ".gitignore"
}
