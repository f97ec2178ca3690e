//! Whether the history is whole: judged by what the log and the checkpoints say of one moment.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Cursor},
};

use crate::{
    history::{
        self, EntryId, Segment, SegmentKind, Verification, WentBack, last_entries, segments,
        signed_ids, verify,
    },
    store::{AppendedReader, AppendedView, Revision, StoreError, View},
    workspace::{Error, RemovedEntry, Remover, Snapshot, Workspace, is_absent},
};

/// How far from the end of the history the newest entry is looked for.
const NEAR: u64 = 64 << 10;

/// What the log and the checkpoints say about the history of a view. Read while the lock of that
/// view is held, since a later log knows of entries that the view cannot have.
#[derive(Debug)]
pub(in crate::workspace) struct HistoryEvidence {
    /// The newest entry that the log wrote.
    newest: Option<EntryId>,
    /// The entries that checkpoints are anchored in.
    marks: Vec<EntryId>,
    /// What operations wrote before an edit which did more than add to the end.
    written: Result<Vec<(Revision, Vec<u8>)>, StoreError>,
    /// What is missing at the end, where that is known.
    tail: Vec<u8>,
}

impl HistoryEvidence {
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
    pub(in crate::workspace) fn evidence(&self, view: &View) -> HistoryEvidence {
        let checkpoints = view.checkpoints().unwrap_or_default().found;
        let marks = checkpoints.iter().flat_map(|checkpoint| &checkpoint.marks);
        let newest = self.newest_entry();
        let is_cut = newest.is_some_and(|newest| !is_near_end(view.appended(), newest));
        let tail = if is_cut { self.store.appended_missing_tail() } else { Ok(None) };
        HistoryEvidence {
            newest,
            tail: tail.ok().flatten().unwrap_or_default(),
            marks: marks.filter_map(|mark| EntryId::parse(mark).ok()).collect(),
            written: self.store.appended_before_rewrites(),
        }
    }

    /// Reads all files, and with them what a verdict on them needs; `more` is looked up at the
    /// same moment.
    pub(in crate::workspace) fn read_with_evidence<T>(
        &self,
        more: impl FnOnce(&View) -> T,
    ) -> Result<(Snapshot, HistoryEvidence, T), Error> {
        let (view, (evidence, more)) =
            self.store.read_with(self.options.wait, |view| (self.evidence(view), more(view)))?;
        let view = self.seen_whole(view)?;
        if is_absent(&view) {
            return Err(self.no_state(&view));
        }
        self.expect(&view.revision)?;
        Ok((self.snapshot(view), evidence, more))
    }

    /// Verifies every entry of the history and how they follow each other.
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
        evidence: HistoryEvidence,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verification, Error> {
        self.verify_through(snapshot, evidence, progress, |reader| reader)
    }

    /// The same, read through something that looks at it as well.
    pub(in crate::workspace) fn verify_through<R: BufRead>(
        &self,
        snapshot: &Snapshot,
        evidence: HistoryEvidence,
        progress: &mut dyn FnMut(u64),
        through: impl FnOnce(BufReader<AppendedReader>) -> R,
    ) -> Result<Verification, Error> {
        let history = snapshot.view().appended();
        let verified = verify(through(snapshot.history()?), &evidence.anchors(), progress)?;
        self.explain_missing(verified, history, evidence)
    }

    /// Tells what is missing for a good reason apart from what is damaged.
    pub(in crate::workspace) fn explain_missing(
        &self,
        mut verified: Verification,
        history: &AppendedView,
        evidence: HistoryEvidence,
    ) -> Result<Verification, Error> {
        // Another branch may be checked out than the one that the log wrote to, and an entry that was
        // picked from there may follow one that stayed there.
        verified.ignore_missing(|entry| self.is_elsewhere(history, entry));
        let mut removed = self.removed_entries(history, evidence)?;
        removed.retain(|removed| !verified.let_go.contains(&removed.entry));
        let (back, damage): (Vec<_>, Vec<_>) =
            removed.into_iter().partition(|removed| removed.went_back);
        verified.note_going_back(self.group_by_cause(back, &verified, history));
        for removed in damage {
            verified.name_remover(removed.entry, &removed.by);
        }
        Ok(verified)
    }

    /// What went, by what it went with; with it anchors of which nothing else is known.
    fn group_by_cause(
        &self,
        back: Vec<RemovedEntry>,
        verified: &Verification,
        history: &AppendedView,
    ) -> Vec<WentBack> {
        let mut causes: Vec<WentBack> = Vec::new();
        for removed in back {
            let title = removed.title();
            match causes.iter_mut().find(|cause| cause.by == removed.by) {
                Some(cause) => {
                    cause.entries.push(removed.entry);
                    cause.titles.push(title);
                }
                None => causes.push(WentBack {
                    by: removed.by,
                    entries: vec![removed.entry],
                    titles: vec![title],
                }),
            }
        }
        let known = |entry: &EntryId| causes.iter().any(|cause| cause.entries.contains(entry));
        let is_back =
            |entry: &EntryId| self.version_control().went_back(self.directory(), history, *entry);
        let others: Vec<EntryId> =
            verified.missing_anchors().filter(|entry| !known(entry) && is_back(entry)).collect();
        if !others.is_empty() {
            causes.push(WentBack {
                by: GOING_BACK.to_owned(),
                entries: others,
                titles: Vec::new(),
            });
        }
        causes
    }

    /// The entries that are gone from the history of this branch, whoever took them out.
    pub(in crate::workspace) fn removed_entries(
        &self,
        history: &AppendedView,
        evidence: HistoryEvidence,
    ) -> Result<Vec<RemovedEntry>, Error> {
        let tail = (!evidence.tail.is_empty()).then_some((None, evidence.tail));
        let written = evidence.written?.into_iter().map(|(edit, bytes)| (Some(edit), bytes));
        let written: Vec<_> = written.chain(tail).collect();
        let mut removed = self.cut_out(history, &written)?;
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
        written: &[(Option<Revision>, Vec<u8>)],
    ) -> Result<Vec<RemovedEntry>, Error> {
        if written.is_empty() || !history.exists() {
            return Ok(Vec::new());
        }
        let present: BTreeSet<EntryId> = signed_ids(BufReader::new(history.reader()?)).collect();
        let mut removed: Vec<RemovedEntry> = Vec::new();
        for edit in written.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((revision, _)) = edit.first() else { continue };
            let mut gone: Vec<RemovedEntry> =
                edit.iter().flat_map(|(_, bytes)| missing(bytes, &present, revision)).collect();
            // A switch of branches takes out all of them; the newest tells for the others.
            let Some(newest) = gone.iter().map(|gone| gone.entry).max() else { continue };
            if self.is_elsewhere(history, newest) {
                continue;
            }
            if self.version_control().went_back(self.directory(), history, newest) {
                for gone in &mut gone {
                    gone.went_back = true;
                    gone.by = match revision {
                        Some(revision) => format!("{GOING_BACK}, operation {revision}"),
                        None => GOING_BACK.to_owned(),
                    };
                }
            }
            removed.extend(gone);
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
        Ok(!is_near_end(history, newest) && self.is_elsewhere(history, newest))
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

/// What people call a way back that git took.
const GOING_BACK: &str = "a checkout, a reset or a stash";

/// Whether an entry is among the last ones.
fn is_near_end(history: &AppendedView, entry: EntryId) -> bool {
    let Ok(reader) = history.reader() else { return false };
    let near = history::last_entries_within(&mut BufReader::new(reader), 100, NEAR, |_| true);
    near.unwrap_or_default().iter().any(|near| near.id == Some(entry))
}

fn missing(
    bytes: &[u8],
    present: &BTreeSet<EntryId>,
    edit: &Option<Revision>,
) -> Vec<RemovedEntry> {
    let by = match edit {
        Some(revision) => format!("an edit outside statedir, operation {revision}"),
        None => "an edit outside statedir".to_owned(),
    };
    let gone = |segment: Segment| match segment.kind {
        SegmentKind::Signed { id, intact: true } if !present.contains(&id) => {
            let text = bytes.get(segment.span).unwrap_or_default().trim_ascii().to_vec();
            let remover = Remover::Edit(edit.clone());
            Some(RemovedEntry { entry: id, remover, by: by.clone(), went_back: false, text })
        }
        _ => None,
    };
    segments(bytes).into_iter().filter_map(gone).collect()
}
