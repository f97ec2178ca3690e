//! After git replaced the history with an earlier version: accepting that, or reverting it.

use crate::{
    domain::{FilesByName, StateFile},
    history::{LET_GO, verify},
    merge::{Merged, merge},
    text::display::counted,
    workspace::{
        Answer, Draft, Error, Fixed, Outcome, RemovedEntry, Remover, Workspace, snapshot::buffered,
    },
};

impl Workspace {
    /// Accepts the earlier version: a new entry names the removed ones, so that they no longer count
    /// as missing.
    ///
    /// # Errors
    /// There is no state, it cannot be read, or something else is wrong with the history.
    pub fn accept_history(&self, why: Option<&str>) -> Result<Outcome, Error> {
        self.change("history.accept", |draft| {
            let view = draft.view();
            let evidence = self.evidence(view);
            let verified = verify(buffered(view.appended())?, &evidence.anchors(), &mut |_| {})?;
            let verified = self.explain_missing(verified, view.appended(), evidence)?;
            let entries = verified.went_back.iter().flat_map(|back| &back.entries);
            let entries: Vec<String> = entries.map(ToString::to_string).collect();
            if entries.is_empty() {
                let message = match verified.problems.first() {
                    None => "nothing is missing from the history".to_owned(),
                    Some(problem) => format!("no entry was removed by git; {}", problem.message),
                };
                return Ok(vec![Answer::new(message).with("entries", entries)]);
            }
            let by: Vec<&str> = verified.went_back.iter().map(|back| back.by.as_str()).collect();
            let mut fields = vec![
                ("kind".to_owned(), "restore".to_owned()),
                ("went_with".to_owned(), by.join("; ")),
                (LET_GO.to_owned(), entries.join(" ")),
            ];
            fields.extend(why.map(|why| ("notes".to_owned(), why.to_owned())));
            fields.push(("actor".to_owned(), self.environment().actor().to_owned()));
            draft.log("Went Back", fields)?;
            let gone = counted(entries.len(), "entry", "entries");
            let message = format!("accepted without {gone}; the history continues from here");
            Ok(vec![Answer::new(message).with("entries", entries)])
        })
    }

    /// Restores the other files to the version of the removed entries, merged with changes since then
    /// if there is no conflict.
    pub(in crate::workspace) fn bring_files_back(
        &self,
        draft: &mut Draft<'_>,
        removed: &[RemovedEntry],
    ) -> Result<Vec<Fixed>, Error> {
        let mut fixed = Vec::new();
        let mut seen: Vec<&Remover> = Vec::new();
        for one in removed.iter().rev().filter(|removed| removed.went_back) {
            if seen.contains(&&one.remover) {
                continue;
            }
            seen.push(&one.remover);
            let Some([before, after]) = self.files_around(one) else { continue };
            for file in StateFile::REWRITABLE {
                let (old, new) = (before.get(file.name()), after.get(file.name()));
                let now = draft.bytes_of(file).map(<[u8]>::to_vec);
                if old == new || old == now.as_ref() {
                    continue;
                }
                let (base, theirs) = (new.map(Vec::as_slice), old.map(Vec::as_slice));
                let merged = merge(file, base, now.as_deref(), theirs, draft.workflow());
                let message = match merged {
                    Ok(Some(Merged { bytes, conflicts })) if conflicts.is_empty() => {
                        draft.put_bytes(file, bytes);
                        format!("restored to before {}", one.by)
                    }
                    Ok(None) => continue,
                    _ => "changed since, so it was left as it is".to_owned(),
                };
                fixed.push(Fixed { file, message });
            }
        }
        Ok(fixed)
    }

    fn files_around(&self, removed: &RemovedEntry) -> Option<[FilesByName; 2]> {
        match &removed.remover {
            Remover::Commit(commit) => {
                let version_control = self.version_control();
                version_control.files_around(self.directory(), commit, removed.entry)
            }
            Remover::Edit(Some(revision)) => {
                let edit = self.store().operation(revision.as_str()).ok()?;
                let files = |id: &str| self.native_files(self.store().files_at(id).ok()?).ok();
                Some([files(edit.parent.as_str())?, files(revision.as_str())?])
            }
            Remover::Edit(None) => None,
        }
    }
}
