//! Entries that an edit made outside took out of the history. The log still has them, also after
//! the history has gone on without them.

use std::collections::BTreeSet;

use super::{Error, RemovedEntry, Snapshot, Workspace};
use crate::history::{EntryId, Segment, SegmentKind, segments, signed_ids};

impl Workspace {
    /// The entries that are gone from the history of this branch, whoever took them out.
    pub(super) fn removed_entries(&self, snapshot: &Snapshot) -> Result<Vec<RemovedEntry>, Error> {
        let mut removed = self.cut_out(snapshot)?;
        for by_commit in (self.options.removed)(self.directory()) {
            match removed.iter_mut().find(|known| known.entry == by_commit.entry) {
                Some(known) => *known = by_commit,
                None => removed.push(by_commit),
            }
        }
        removed.sort_by_key(|removed| removed.entry);
        Ok(removed)
    }

    /// Those that the log wrote before an edit which did more than add to the end.
    fn cut_out(&self, snapshot: &Snapshot) -> Result<Vec<RemovedEntry>, Error> {
        let written = self.store.appended_before_rewrites()?;
        if written.is_empty() || !snapshot.view().appended().exists() {
            return Ok(Vec::new());
        }
        let present: BTreeSet<EntryId> = signed_ids(snapshot.history()?).collect();
        let mut removed: Vec<RemovedEntry> = Vec::new();
        for edit in written.chunk_by(|(one, _), (other, _)| one == other) {
            let by = format!("an edit outside statedir, operation {}", edit[0].0);
            let gone: Vec<RemovedEntry> =
                edit.iter().flat_map(|(_, bytes)| missing(bytes, &present, &by)).collect();
            // A switch of branches takes out all of them; the newest tells for the others.
            let Some(newest) = gone.iter().map(|gone| gone.entry).max() else { continue };
            if !(self.options.is_elsewhere)(self.directory(), &newest.to_string()) {
                removed.extend(gone);
            }
        }
        removed.sort_by_key(|removed| removed.entry);
        removed.dedup_by_key(|removed| removed.entry);
        Ok(removed)
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
