//! What was found in the directory, and the plan that reconciles files and log.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::{
    AppendedView, CheckpointRecord, Content, LogDamage, Operation, Report, Revision, Store, Tally,
    View,
    checkpoint::registry::Registry,
    disk::{DiskFile, Stat, read::Contents},
    inspect::appended::AppendedPlan,
    log::{
        head::{DerivedData, Head},
        operation::ADOPT,
        segment::{Segment, Tracked},
    },
    name::FileName,
};

/// Everything known about the directory and what has to be done with it.
#[derive(Debug)]
pub(in crate::store) struct Inspection {
    pub boot: Option<String>,
    pub place: LogPosition,
    /// The rewritable files as they are on disk.
    pub files: BTreeMap<String, Contents>,
    pub appended: Option<Stat>,
    pub revision: Revision,
    pub seq: u64,
    /// What the files will be when the plan is done.
    pub state: Tracked,
    pub restores: Vec<Restore>,
    pub append: AppendedPlan,
    /// An operation that records what was found, lacking time and actor.
    pub pending: Option<Operation>,
    pub facts: Option<DerivedData>,
    /// The last logged operation, when files have to be written because of it.
    pub interrupted: Option<Revision>,
    /// Why the log could not be read.
    pub damage: Option<LogDamage>,
}

/// Where the log stands.
#[derive(Debug)]
pub(in crate::store) enum LogPosition {
    /// There is none.
    Nowhere,
    /// The head cache fits the log and the files: nothing to do.
    Known { head: Box<Head>, file: Box<dyn DiskFile> },
    /// The newest segment was read; `current` when the head cache needs no writing.
    Read { segment: Box<Segment>, current: bool },
}

/// A file to be brought to the state the log says.
#[derive(Debug)]
pub(in crate::store) struct Restore {
    pub name: FileName,
    /// Its bytes, `None` to remove it.
    pub bytes: Option<Vec<u8>>,
    /// Whether the present content is kept under `salvage/`.
    pub set_aside: bool,
}

/// What helps to tell an interrupted operation, an outside edit and a torn file apart.
#[derive(Debug)]
pub(in crate::store) struct Evidence<'a> {
    pub segment: &'a Segment,
    /// The head cache, if it is about the last operation of the log.
    pub head: Option<&'a Head>,
    pub same_boot: bool,
    /// Whether the platform tells boots apart at all.
    pub boots_known: bool,
    pub boot_time: Option<i64>,
    /// The last operation, if it may not have been applied.
    pub unapplied: Option<&'a Operation>,
    pub appended_name: &'a str,
}

impl Evidence<'_> {
    /// Whether a file was written during the current boot.
    pub(in crate::store) fn is_written_since_boot(&self, stat: &Stat) -> bool {
        self.boot_time.is_some_and(|boot| stat.mtime >= boot)
    }

    /// Whether a file was written after the last operation was applied to it.
    pub(in crate::store) fn is_written_since_last_operation(
        &self,
        name: &str,
        stat: &Stat,
    ) -> bool {
        self.head.is_some_and(|head| head.predates(name, stat))
    }
}

impl Inspection {
    /// The view that results when the plan is done.
    pub(in crate::store) fn into_view(self, store: &Store, reports: Vec<Report>) -> View {
        let registry = Registry::new(store, self.unapplied_checkpoints().to_vec());
        let content = |(name, contents): (String, Contents)| (name, contents.bytes.into());
        let mut files: BTreeMap<String, Content> = self.files.into_iter().map(content).collect();
        for restore in self.restores {
            match restore.bytes {
                Some(bytes) => files.insert(restore.name.to_string(), bytes.into()),
                None => files.remove(restore.name.as_str()),
            };
        }
        let has_log = self.damage.is_some() || !matches!(self.place, LogPosition::Nowhere);
        let exists = self.appended.is_some() || !self.append.add.is_empty();
        View {
            revision: self.revision,
            late: None,
            adopted: self.pending.as_ref().is_some_and(|op| op.kind == ADOPT),
            files,
            hashes: self.state.files,
            derived: store.paths.derived(),
            appended: AppendedView {
                disk: Arc::clone(&store.disk),
                path: store.paths.appended(),
                exists,
                keep: self.append.keep,
                add: self.append.add,
            },
            facts: self.facts,
            reports,
            tally: Tally::load(&*store.disk, &store.paths.tally()),
            has_log,
            damage: self.damage,
            registry,
        }
    }

    /// What the last operation did to the checkpoints, if that may not have been written yet.
    pub(in crate::store) fn unapplied_checkpoints(&self) -> &[CheckpointRecord] {
        match &self.place {
            LogPosition::Read { segment, .. } => {
                segment.records.last().map_or(&[], |placed| &placed.op.checkpoints)
            }
            _ => &[],
        }
    }

    /// The reports about the plan; for the operation that records what was found, see
    /// [`Inspection::pending_report`].
    pub(in crate::store) fn reports(&self) -> Vec<Report> {
        let mut reports = Vec::new();
        if let LogPosition::Read { segment, .. } = &self.place
            && segment.torn > 0
        {
            reports.push(Report::TornTail { bytes: segment.torn });
        }
        if let Some(op) = &self.interrupted {
            let behind = self.restores.iter().filter(|restore| !restore.set_aside);
            let files: Vec<String> = behind.map(|restore| restore.name.to_string()).collect();
            if !files.is_empty() {
                reports.push(Report::RolledForward { op: op.clone(), files });
            }
        }
        if !self.append.add.is_empty() {
            reports.push(Report::CompletedAppend { bytes: self.append.add.len() as u64 });
        }
        reports
    }

    /// The report about the operation that records what was found.
    pub(in crate::store) fn pending_report(&self, appended: &str) -> Option<Report> {
        let op = self.pending.as_ref()?;
        let files = op.summary(appended).files;
        let op_id = op.id.clone();
        Some(match op.kind.as_str() {
            ADOPT => Report::Adopted { op: op_id, files },
            _ => Report::External { op: op_id, files },
        })
    }

    /// Whether nothing at all has to be written.
    pub(in crate::store) fn is_settled(&self) -> bool {
        let place = match &self.place {
            LogPosition::Nowhere | LogPosition::Known { .. } => true,
            LogPosition::Read { segment, current } => *current && segment.torn == 0,
        };
        place && self.restores.is_empty() && !self.append.needs_write() && self.pending.is_none()
    }
}
