//! Restores a checkpoint or an earlier operation, as one operation that can be undone.

use crate::{
    domain::{ErrorCode, FilesByName, ModelError, Plan, StateFile, nearest},
    store::{ChangeKind, FileChange, NewOperation, Revision, StoreError, View},
    text::markdown::Document,
    workspace::{
        Answer, DiffSide, Draft, Error, FileDiff, Outcome, Workspace, change, is_absent,
        log::checkpoint::files_of, transact::Proposal,
    },
};

/// Options of a restore.
#[derive(Clone, Debug, Default)]
pub struct RestoreOptions {
    /// The files to restore; all of them if empty.
    pub only: Vec<StateFile>,
    /// Whether steps that were unfinished then are reset.
    pub rewind: bool,
}

/// A state to restore.
#[derive(Debug)]
pub(in crate::workspace) struct Past {
    /// `checkpoint x` or `operation 8f3a…`, for people.
    pub label: String,
    /// The name of the checkpoint, if it is one.
    pub checkpoint: Option<String>,
    pub revision: String,
    /// The rewritable files.
    pub files: FilesByName,
}

impl Workspace {
    /// Restores the exact bytes that the files had at a checkpoint or right after an operation.
    ///
    /// The state as it is now becomes an automatic checkpoint first. history.md is never
    /// shortened: it says what was done. This also works with damaged files.
    ///
    /// # Errors
    /// There is no such checkpoint or operation, its images are gone, or nothing can be rewound.
    pub fn restore(&self, target: &str, options: &RestoreOptions) -> Result<Outcome, Error> {
        self.restore_noting(target, options, None, &[])
    }

    /// The same from an expected revision, with further fields for the history entry.
    pub(in crate::workspace) fn restore_noting(
        &self,
        target: &str,
        options: &RestoreOptions,
        from: Option<&Revision>,
        noted: &[(String, String)],
    ) -> Result<Outcome, Error> {
        let still = |found: &Revision| match from.filter(|from| *from != found) {
            Some(from) => Err(self.moved(from.as_str(), found)),
            None => Ok(()),
        };
        let mut saved = None;
        let mut outcome = self.transact(self.options.dry_run, |opened| {
            let view = opened.view();
            still(&view.revision)?;
            self.refuse_unmerged(view, "restore")?;
            let proposal;
            (proposal, saved) = self.propose_restore(view, target, options, noted)?;
            Ok(proposal)
        })?;
        if outcome.committed {
            outcome.notices.extend(self.no_undo(saved.as_deref()));
        }
        Ok(outcome)
    }

    /// The state that a text names: a checkpoint, an operation's id, `@` or `@-2`.
    pub(in crate::workspace) fn past(&self, view: &View, text: &str) -> Result<Past, Error> {
        if let Some(found) = view.checkpoint(text)? {
            return Ok(Past {
                label: format!("checkpoint {text}"),
                files: files_of(self, &found)?,
                checkpoint: Some(found.name.into()),
                revision: found.revision.as_str().to_owned(),
            });
        }
        let operation = match DiffSide::parse(text) {
            DiffSide::Back(count) => self.operation_back(count)?,
            DiffSide::Operation(id) => match self.store.operation(&id) {
                Err(StoreError::NotFound { .. }) => return Err(not_found(view, text)),
                other => other?,
            },
            _ => return Err(not_found(view, text)),
        };
        let revision = operation.id.as_str().to_owned();
        Ok(Past {
            label: format!("operation {revision}"),
            files: self.native_files(self.store.files_at(&revision)?)?,
            checkpoint: None,
            revision,
        })
    }

    /// The changes of a restore, and the name of the automatic checkpoint of the current state.
    fn propose_restore(
        &self,
        view: &View,
        target: &str,
        options: &RestoreOptions,
        noted: &[(String, String)],
    ) -> Result<(Proposal, Option<String>), Error> {
        if is_absent(view) && !view.has_log() {
            return Err(self.no_state(view));
        }
        let past = self.past(view, target)?;
        let chosen = chosen(&options.only)?;
        let mut files = view.files();
        for file in &chosen {
            match past.files.get(file.name()) {
                Some(bytes) => files.insert(file.name().to_owned(), bytes.clone()),
                None => files.remove(file.name()),
            };
        }
        // Computed on the restored files, because the current ones may be damaged.
        let restored = view.with_files(files);
        let mut draft = Draft::lenient(&restored, &self.env, self.options.progress);
        let mut rewound = Vec::new();
        if options.rewind {
            let then = plan_of(&past)?;
            rewound = change::rewind(&mut draft, &then, chosen.contains(&StateFile::Plan))?;
        }
        let mut changes = Vec::new();
        let mut diff = Vec::new();
        for file in StateFile::REWRITABLE {
            let (before, after) = (view.bytes(file.name()), draft.bytes_of(file));
            if before != after {
                let kind = after.map_or(ChangeKind::Remove, |new| ChangeKind::Write(new.to_vec()));
                changes.push(FileChange { name: file.name().to_owned(), kind });
                let text = Option::unwrap_or_default;
                diff.push(FileDiff::new(file, text(before), text(after)));
            }
        }
        if diff.iter().any(|diff| diff.file == StateFile::Plan) {
            let now = Draft::lenient(view, &self.env, self.options.progress);
            let after = || Ok(draft.bytes_of(StateFile::Plan).map(<[u8]>::to_vec));
            change::refuse_withdrawing(&now, after)?;
        }
        let answer = Answer::new(String::new())
            .with("restored", past.label.clone())
            .with("checkpoint", past.checkpoint.clone())
            .with("operation", past.revision.clone())
            .with("rewound", rewound.clone());
        if changes.is_empty() {
            let message = match options.rewind {
                false => format!("the files already match {}", past.label),
                true => format!(
                    "nothing to change: going back to {} and reopening unfinished \
                     steps gives the files as they are",
                    past.label
                ),
            };
            let answer = Answer { message, ..answer };
            let missing = "`history.md` is missing; `statedir check --fix` restores it";
            let notices = match draft.has_history() {
                true => Vec::new(),
                false => vec![missing.to_owned()],
            };
            return Ok((Proposal { answers: vec![answer], notices, ..Proposal::default() }, None));
        }
        let saved = change::keep_state_before(&mut draft, &format!("before restore {target}"))?;
        let names: Vec<&str> = diff.iter().map(|diff| diff.file.name()).collect();
        let names = names.join(", ");
        let numbers: Vec<String> = rewound.iter().map(ToString::to_string).collect();
        let mut notices = Vec::new();
        if draft.has_history() {
            let mut fields = vec![
                ("kind".to_owned(), "restore".to_owned()),
                ("operation".to_owned(), past.revision.clone()),
                ("saved_as".to_owned(), saved.clone()),
                ("state_changes".to_owned(), names.clone()),
                ("actor".to_owned(), self.env.actor().to_owned()),
            ];
            if let Some(name) = &past.checkpoint {
                fields.insert(1, ("checkpoint".to_owned(), name.clone()));
            }
            if !numbers.is_empty() {
                fields.push(("rewound_steps".to_owned(), numbers.join(", ")));
            }
            fields.extend_from_slice(noted);
            draft.log("Restored", fields)?;
            draft.facts()?.touches.clear();
        } else {
            notices.push("`history.md` is missing, so nothing was noted there".to_owned());
        }
        let again = match numbers.as_slice() {
            [] => String::new(),
            numbers => format!("; steps to do again: {}", numbers.join(", ")),
        };
        let message =
            format!("restored {} ({names}); before that: checkpoint {saved}{again}", past.label);
        let answer = Answer { message, ..answer }.with("saved_as", saved.clone());
        let checkpoints = draft.take_checkpoints()?;
        diff.extend(draft.diff().into_iter().filter(|diff| diff.file == StateFile::History));
        let changed = diff.iter().map(|diff| diff.file).collect();
        notices.append(&mut draft.notices);
        let (_, append, facts) = draft.into_changes();
        let operation = NewOperation {
            changes,
            append,
            facts,
            checkpoints,
            ..self.operation("restore", answer.message.clone())
        };
        let answers = vec![answer];
        let proposal =
            Proposal { operation, changed, answers, notices, diff, ..Proposal::default() };
        Ok((proposal, Some(saved)))
    }

    /// A notice of how to revert when `undo` cannot: a change reads only the end of the log, and what
    /// is before that may be damaged.
    fn no_undo(&self, saved: Option<&str>) -> Option<String> {
        // Reads only what `undo` would read.
        match self.store.undo_target() {
            Err(StoreError::Damaged { .. }) => Some(format!(
                "the log is damaged, so `undo` cannot revert this, but `statedir restore {}` can; \
                 `statedir check --fix` sets the log aside",
                saved?
            )),
            _ => None,
        }
    }
}

/// The files to restore.
fn chosen(only: &[StateFile]) -> Result<Vec<StateFile>, Error> {
    if only.is_empty() {
        return Ok(StateFile::REWRITABLE.to_vec());
    }
    if let Some(file) = only.iter().find(|file| !StateFile::REWRITABLE.contains(file)) {
        return Err(Error::refused_with(
            ErrorCode::AppendOnly,
            format!("`{file}` is append-only: it is never restored to an earlier version"),
            "`--only` takes plan, context, variables, constraints or workflow",
        ));
    }
    Ok(only.to_vec())
}

fn plan_of(past: &Past) -> Result<Plan, Error> {
    let bytes = past.files.get(StateFile::Plan.name()).cloned();
    let bytes = bytes.ok_or_else(|| {
        let message = format!("there was no plan at {}, so no step can be rewound", past.label);
        Error::refused(ErrorCode::NoPlan, message)
    })?;
    let document = Document::from_bytes(bytes)
        .map_err(|error| ModelError::markdown(StateFile::Plan, &error))?;
    Ok(Plan::read(document))
}

fn not_found(view: &View, text: &str) -> Error {
    let names = view.checkpoint_names().unwrap_or_default();
    let hint = match nearest(text, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => {
            "`statedir checkpoint list` and `statedir op log` show what is available".to_owned()
        }
    };
    let message = format!("there is no checkpoint and no operation `{text}`");
    Error::refused_with(ErrorCode::NotFound, message, hint)
}

impl Workspace {
    /// The operation whose state a checkpoint holds, if there is a checkpoint of that name.
    pub(in crate::workspace) fn checkpoint_revision(
        &self,
        name: &str,
    ) -> Result<Option<String>, Error> {
        let view = self.store.read(self.options.wait)?;
        Ok(view.checkpoint(name)?.map(|found| found.revision.as_str().to_owned()))
    }
}
