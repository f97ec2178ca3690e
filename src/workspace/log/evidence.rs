//! Whether the history is whole: judged by what the log and the checkpoints say of one moment.

use std::{
    collections::BTreeSet,
    io::{BufReader, Cursor},
};

use crate::{
    history::{
        self, EntryId, Segment, SegmentKind, Verification, last_entries, segments, signed_ids,
        verify,
    },
    store::{AppendedView, Revision, StoreError, View},
    workspace::{Error, RemovedEntry, Snapshot, Workspace, is_absent},
};

/// How far from the end of the history the newest entry is looked for.
const NEAR: u64 = 64 << 10;

/// What the log and the checkpoints say about the history of a view. Read while the lock of that
/// view is held, since a later log knows of entries that the view cannot have.
#[derive(Debug)]
pub(in crate::workspace) struct Evidence {
    /// The newest entry that the log wrote.
    newest: Option<EntryId>,
    /// The entries that checkpoints are anchored in.
    marks: Vec<EntryId>,
    /// What operations wrote before an edit which did more than add to the end.
    written: Result<Vec<(Revision, Vec<u8>)>, StoreError>,
}

impl Evidence {
    /// Entries that must be in the history because the log or a checkpoint says that they were
    /// written.
    pub(in crate::workspace) fn anchors(&self) -> Vec<EntryId> {
        let mut anchors: Vec<EntryId> = self.newest.into_iter().collect();
        for mark in &self.marks {
            if !anchors.contains(mark) {
                anchors.push(*mark);
            }
        }
        anchors
    }
}

impl Workspace {
    /// What a verdict on a view needs. The lock of the view must still be held.
    pub(in crate::workspace) fn evidence(&self, view: &View) -> Evidence {
        let checkpoints = view.checkpoints().unwrap_or_default().found;
        let marks = checkpoints.iter().flat_map(|checkpoint| &checkpoint.marks);
        Evidence {
            newest: self.newest_entry(),
            marks: marks.filter_map(|mark| EntryId::parse(mark).ok()).collect(),
            written: self.store.appended_before_rewrites(),
        }
    }

    /// Reads all files, and with them what a verdict on them needs; `more` is looked up at the
    /// same moment.
    pub(in crate::workspace) fn read_with_evidence<T>(
        &self,
        more: impl FnOnce(&View) -> T,
    ) -> Result<(Snapshot, Evidence, T), Error> {
        let (view, (evidence, more)) =
            self.store.read_with(self.options.wait, |view| (self.evidence(view), more(view)))?;
        if is_absent(&view) {
            return Err(self.no_state(&view));
        }
        self.expect(&view.revision)?;
        Ok((Snapshot::new(view, self.options.progress), evidence, more))
    }

    /// Verifies every entry of the history and how they follow each other.
    ///
    /// # Errors
    /// There is no state, or the history cannot be read.
    pub(crate) fn verify_history(
        &self,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, Error> {
        let (snapshot, evidence, ()) = self.read_with_evidence(|_| ())?;
        self.verify(&snapshot, evidence, progress)
    }

    /// The same for a state that was read with its evidence.
    pub(in crate::workspace) fn verify(
        &self,
        snapshot: &Snapshot,
        evidence: Evidence,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, Error> {
        let history = snapshot.view().appended();
        let mut verified = verify(snapshot.history()?, &evidence.anchors(), progress)?;
        // Another branch may be checked out than the one that the log wrote to.
        verified.forgive_missing(|entry| self.is_elsewhere(history, entry));
        for removed in self.removed_entries(history, evidence)? {
            verified.name_remover(removed.entry, &removed.by);
        }
        Ok(verified)
    }

    /// The entries that are gone from the history of this branch, whoever took them out.
    pub(in crate::workspace) fn removed_entries(
        &self,
        history: &AppendedView,
        evidence: Evidence,
    ) -> Result<Vec<RemovedEntry>, Error> {
        let mut removed = self.cut_out(history, &evidence.written?)?;
        for by_commit in self.version_control().removed_entries(self.directory(), history) {
            match removed.iter_mut().find(|known| known.entry == by_commit.entry) {
                Some(known) => *known = by_commit,
                None => removed.push(by_commit),
            }
        }
        removed.sort_by_key(|removed| removed.entry);
        Ok(removed)
    }

    /// Those that the log wrote before an edit which did more than add to the end.
    fn cut_out(
        &self,
        history: &AppendedView,
        written: &[(Revision, Vec<u8>)],
    ) -> Result<Vec<RemovedEntry>, Error> {
        if written.is_empty() || !history.exists() {
            return Ok(Vec::new());
        }
        let present: BTreeSet<EntryId> = signed_ids(BufReader::new(history.reader()?)).collect();
        let mut removed: Vec<RemovedEntry> = Vec::new();
        for edit in written.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((revision, _)) = edit.first() else { continue };
            let by = format!("an edit outside statedir, operation {revision}");
            let gone: Vec<RemovedEntry> =
                edit.iter().flat_map(|(_, bytes)| missing(bytes, &present, &by)).collect();
            // A switch of branches takes out all of them; the newest tells for the others.
            let Some(newest) = gone.iter().map(|gone| gone.entry).max() else { continue };
            if !self.is_elsewhere(history, newest) {
                removed.extend(gone);
            }
        }
        removed.sort_by_key(|removed| removed.entry);
        removed.dedup_by_key(|removed| removed.entry);
        Ok(removed)
    }

    /// Whether the log wrote to the history of another branch than the one that is checked out.
    pub(in crate::workspace) fn is_history_elsewhere(
        &self,
        history: &AppendedView,
    ) -> Result<bool, Error> {
        let Some(newest) = self.newest_entry() else { return Ok(false) };
        let mut reader = BufReader::new(history.reader()?);
        let near = history::last_entries_within(&mut reader, 100, NEAR, |_| true);
        let is_near = near.unwrap_or_default().iter().any(|entry| entry.id == Some(newest));
        Ok(!is_near && self.is_elsewhere(history, newest))
    }

    /// Whether an entry that is not in the history is on another branch.
    pub(in crate::workspace) fn is_elsewhere(
        &self,
        history: &AppendedView,
        entry: EntryId,
    ) -> bool {
        let entry = entry.to_string();
        self.version_control().is_on_another_branch(self.directory(), history, &entry)
    }

    /// The newest entry that the log wrote.
    pub(in crate::workspace) fn newest_entry(&self) -> Option<EntryId> {
        let bytes = self.store.newest_append().ok()??;
        let entries = last_entries(Cursor::new(bytes), 1).unwrap_or_default();
        entries.into_iter().find_map(|entry| entry.id)
    }
}

fn missing(bytes: &[u8], present: &BTreeSet<EntryId>, by: &str) -> Vec<RemovedEntry> {
    let gone = |segment: Segment| match segment.kind {
        SegmentKind::Signed { id, intact: true } if !present.contains(&id) => {
            let text = bytes.get(segment.span).unwrap_or_default().trim_ascii().to_vec();
            Some(RemovedEntry { entry: id, by: by.to_owned(), text })
        }
        _ => None,
    };
    segments(bytes).into_iter().filter_map(gone).collect()
}
