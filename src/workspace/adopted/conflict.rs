//! Conflicts that git left in adopted checklists: lists them, refuses changes, resolves them.

use crate::{
    domain::{ErrorCode, StateFile},
    merge::{Conflict, Side, has_git_markers, hunks, may_conflict},
    store::{ByteSplice, ChangeKind, FileChange, NewOperation, View},
    workspace::{Answer, Error, Outcome, Workspace, transact::Proposal},
};

impl Workspace {
    /// The conflicts in the checklists, each named by its file and line.
    ///
    /// # Errors
    /// The files cannot be read.
    pub(crate) fn list_conflicts(&self) -> Result<Vec<Conflict>, Error> {
        if self.layout().is_none() {
            return Ok(Vec::new());
        }
        let view = self.store.read(self.options.wait)?;
        let said = |text: &str| (!text.is_empty()).then(|| text.trim_end().to_owned());
        let lists = self.conflicting_lists(&view).into_iter();
        let conflicts = lists.flat_map(|(name, text)| {
            hunks(&text).into_iter().map(move |hunk| Conflict {
                file: StateFile::Plan,
                field: format!("{name}:{}", hunk.line),
                base: said(&hunk.sides.base),
                ours: said(&hunk.sides.ours),
                theirs: said(&hunk.sides.theirs),
                line: Some(hunk.line),
            })
        });
        Ok(conflicts.collect())
    }

    /// The checklists in which git left a conflict, with their texts.
    fn conflicting_lists(&self, raw: &View) -> Vec<(String, String)> {
        let plan = self.layout().map(|layout| layout.plan.as_slice()).unwrap_or_default();
        let texts = plan.iter().filter_map(|one| {
            let bytes = raw.bytes(one.file.as_str()).filter(|bytes| may_conflict(bytes))?;
            Some((one.file.to_string(), String::from_utf8_lossy(bytes).into_owned()))
        });
        texts.filter(|(_, text)| has_git_markers(text)).collect()
    }

    /// Refuses a change while git's conflict markers are in a checklist.
    pub(in crate::workspace) fn refuse_unmerged_lists(&self, raw: &View) -> Result<(), Error> {
        let Some((name, text)) = self.conflicting_lists(raw).into_iter().next() else {
            return Ok(());
        };
        let line = hunks(&text).first().map_or(1, |hunk| hunk.line);
        let message = format!("a conflict of a merge is unresolved: `{name}:{line}`");
        let hint = format!(
            "edit `{name}` so that the right lines are left, without the markers of git; \
             `statedir merge --list` shows both sides"
        );
        Err(Error::refused_with(ErrorCode::Unmerged, message, hint))
    }

    /// Resolves conflicts in checklists by taking one side; a field names `FILE` or `FILE:LINE`.
    ///
    /// # Errors
    /// There is no such conflict.
    pub(crate) fn take_in_lists(&self, side: Side, fields: &[String]) -> Result<Outcome, Error> {
        self.transact(self.options.dry_run, |opened| {
            let mut proposal = Proposal { is_raw: true, ..Proposal::default() };
            let mut changes = Vec::new();
            for (name, text) in self.conflicting_lists(opened.raw()) {
                let is_meant = |line: usize| {
                    fields.iter().any(|field| *field == name || *field == format!("{name}:{line}"))
                };
                let hunks = hunks(&text).into_iter().filter(|hunk| is_meant(hunk.line));
                let splices: Vec<ByteSplice> = hunks
                    .map(|hunk| {
                        let new = match side {
                            Side::Base => hunk.sides.base,
                            Side::Ours => hunk.sides.ours,
                            Side::Theirs => hunk.sides.theirs,
                        };
                        ByteSplice { at: hunk.at, new: new.into_bytes() }
                    })
                    .collect();
                if splices.is_empty() {
                    continue;
                }
                let word = match side {
                    Side::Base => "the lines before",
                    Side::Ours => "ours",
                    Side::Theirs => "theirs",
                };
                let answer = Answer::new(format!("{name}: took {word}"));
                proposal.answers.push(answer.with("settled", splices.len()));
                changes.push(FileChange { name, kind: ChangeKind::Splice(splices) });
            }
            if changes.is_empty() {
                let message = format!("there is no conflict `{}`", fields.join("`, `"));
                let hint = "`statedir merge --list` shows them";
                return Err(Error::refused_with(ErrorCode::NotFound, message, hint));
            }
            let messages: Vec<&str> =
                proposal.answers.iter().map(|answer| answer.message.as_str()).collect();
            proposal.changed = vec![StateFile::Plan];
            proposal.operation =
                NewOperation { changes, ..self.operation("merge.take", messages.join("\n")) };
            Ok(proposal)
        })
    }
}
