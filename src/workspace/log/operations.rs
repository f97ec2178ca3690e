//! Reads the operation log; undo and redo.

use crate::{
    domain::{ErrorCode, StateFile},
    store::{
        CheckpointChange, FileChange, GcReport, NewOperation, Operation, OperationSummary, Report,
        Revision, StoreError, Transaction, View,
    },
    workspace::{
        DiffSide, Draft, Error, Outcome, Workspace,
        change::refuse_withdrawing,
        error::ErrorKind,
        is_absent,
        log::changes_since::NOT_YET_RECORDED,
        state,
        transact::{OpenedState, Proposal},
    },
};

/// What `undo` or `redo` did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UndoOutcome {
    /// The operation that was undone or redone.
    pub operation: OperationSummary,
    /// The result.
    pub outcome: Outcome,
}

impl Workspace {
    /// Undoes the last operation that has not been undone yet.
    ///
    /// # Errors
    /// There is none, or the state has moved on.
    pub fn undo(&self) -> Result<UndoOutcome, Error> {
        self.undo_or_redo("undo").map_err(|error| self.with_way_back(error))
    }

    /// Redoes the operation that was undone last.
    ///
    /// # Errors
    /// There is none, or the state has moved on.
    pub fn redo(&self) -> Result<UndoOutcome, Error> {
        self.undo_or_redo("redo").map_err(|error| self.with_way_back(error))
    }

    /// The newest operations, newest first.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn operations(&self, limit: Option<usize>) -> Result<Vec<OperationSummary>, Error> {
        self.read()?;
        Ok(self.store.operations(limit)?)
    }

    /// Refuses a user who may not read the log, for whom it would look empty.
    ///
    /// # Errors
    /// `.statedir/` is closed to this user.
    pub(crate) fn require_log(&self) -> Result<(), Error> {
        Ok(self.store.require_access()?)
    }

    /// All files as they were right after an operation, given by its id or the beginning of it.
    ///
    /// The history has its length of then, taken from the current file.
    ///
    /// # Errors
    /// The operation is not in the log.
    #[cfg(feature = "web")]
    pub(crate) fn read_at(&self, id: &str) -> Result<crate::workspace::Snapshot, Error> {
        let now = self.read()?;
        let operation = self.store.operation(id)?;
        let id = operation.id.as_str().to_owned();
        let files = self.native_files(self.store.files_at(&id)?)?;
        let history = self.store.appended_at(&id, now.view())?;
        Ok(self.snapshot(now.view().at_operation(operation.id, files, history.len)))
    }

    /// The operations after `last`, oldest first; all of them if the log does not contain `last`,
    /// because it was started anew or `last` was dropped.
    ///
    /// Reads only the log, without the lock. If there is no log yet, there are no operations.
    pub(crate) fn operations_after(
        &self,
        last: Option<&Revision>,
    ) -> Result<Vec<OperationSummary>, Error> {
        Ok(self.store.operations_after(last)?)
    }

    /// One operation by its id or the beginning of it, or by `@` and `@-2`.
    ///
    /// # Errors
    /// There is none, or several.
    pub(crate) fn operation_named(&self, id: &str) -> Result<Operation, Error> {
        match DiffSide::parse(id) {
            DiffSide::Back(count) => self.operation_back(count),
            _ => match self.checkpoint_revision(id)? {
                Some(revision) => Ok(self.store.operation(&revision)?),
                None => Ok(self.store.operation(id)?),
            },
        }
    }

    /// The operation `count` before the newest.
    pub(in crate::workspace) fn operation_back(&self, count: usize) -> Result<Operation, Error> {
        let newest = self.store.operations(Some(count + 1))?;
        let operation = newest.get(count).ok_or_else(|| {
            let message = format!("the log has only {} operations", newest.len());
            Error::refused_with(ErrorCode::NotFound, message, "`statedir op log` lists them")
        })?;
        Ok(self.store.operation(operation.id.as_str())?)
    }

    /// Drops operations older than `older_than` milliseconds, never the newest state.
    pub(crate) fn gc(&self, older_than: u64) -> Result<GcReport, Error> {
        self.read()?;
        let limit = self.env.ago(older_than);
        Ok(self.store.gc(Some(limit), &[], self.options.dry_run)?)
    }

    fn undo_or_redo(&self, verb: &'static str) -> Result<UndoOutcome, Error> {
        let mut operation = None;
        let outcome = self.transact(self.options.dry_run, |opened| {
            if is_absent(opened.view()) {
                return Err(self.no_state(opened.view()));
            }
            let view = opened.view();
            let (target, proposal) = match opened.transaction() {
                None => self.preview_step(verb, opened)?,
                Some(transaction) => self.propose_step(verb, transaction, view)?,
            };
            operation = Some(target);
            Ok(proposal)
        })?;
        let operation = operation.ok_or_else(|| nothing_to(verb))?;
        Ok(UndoOutcome { operation, outcome })
    }

    fn propose_step(
        &self,
        verb: &str,
        transaction: &Transaction,
        view: &View,
    ) -> Result<(OperationSummary, Proposal), Error> {
        let undo = verb == "undo";
        let target = match undo {
            true => transaction.undo_target()?.map(|target| (target.seq, target)),
            false => transaction.redo_target()?.map(|(target, undo)| (undo, target)),
        };
        let Some((settles, target)) = target else {
            self.refuse_unmerged_undo(view, None)?;
            return Err(nothing_to(verb));
        };
        let changes: Vec<FileChange> =
            if undo { transaction.inverse(&target)? } else { transaction.reapply(&target)? };
        let names: Vec<String> = changes.iter().map(|change| change.name.clone()).collect();
        self.refuse_unmerged_undo(view, Some((&target.kind, &names)))?;
        let mut notices = Vec::new();
        let mut draft = Draft::lenient(view, &self.env, self.options.progress);
        if undo && names.iter().any(|name| self.role_of_file(name) == Some(StateFile::Plan)) {
            refuse_withdrawing(&draft, || self.plan_after(transaction.view(), &changes))?;
        }
        if view.appended().exists() {
            let title = if undo { "Undo" } else { "Redo" };
            let mut fields = entry(&target, &names, self.env.actor());
            match state::carried(&target, undo) {
                Some(text) => fields.push(("carried".to_owned(), text)),
                None => {
                    let of_merge = self.entries_of_merge(&target, view.appended())?;
                    fields.extend(draft.undo_counts(&target, undo, &of_merge)?);
                }
            }
            draft.log(title, fields)?;
        } else {
            let history = StateFile::History;
            notices.push(format!("`{history}` is missing, so nothing was noted there"));
        }
        let derived = match self.layout() {
            None => draft.plan_table_after(&changes),
            Some(_) => None,
        };
        let (_, append, facts) = draft.into_changes();
        let message = format!("{verb} {} ({})", target.id, target.kind);
        let id = target.id.clone();
        let (undoes, redoes) = if undo { (Some(id), None) } else { (None, Some(id)) };
        let checkpoints = transaction.checkpoint_changes(&target, undo)?;
        for change in &checkpoints {
            if let CheckpointChange::PutBack(checkpoint) = change {
                notices.push(format!("restored checkpoint `{}`", checkpoint.name));
            }
        }
        let operation = NewOperation {
            changes,
            append,
            facts,
            derived,
            undoes,
            redoes,
            settles: Some(settles),
            checkpoints,
            ..self.operation(verb, message)
        };
        let changed = names.iter().filter_map(|name| self.role_of_file(name));
        let changed = distinct(changed);
        let summary = target.summary(StateFile::History.name());
        Ok((summary, Proposal { operation, is_raw: true, changed, notices, ..Proposal::default() }))
    }

    /// Adds the last automatic checkpoint to the error of a damaged log, because it can be restored.
    fn with_way_back(&self, error: Error) -> Error {
        let notices = error.notices().to_vec();
        let kind = match error.into_kind() {
            ErrorKind::Store(source @ StoreError::Damaged { .. })
                if !Error::is_about_image(&source) =>
            {
                let view = self.store.read(self.options.wait);
                let known = view.and_then(|view| view.checkpoints()).unwrap_or_default().found;
                let automatic = known.into_iter().rfind(|one| one.automatic.is_some());
                let saved = automatic.map(|checkpoint| checkpoint.name.into());
                ErrorKind::LogDamaged { source, saved }
            }
            other => other,
        };
        Error::from(kind).noting(notices)
    }

    /// What undo or redo would do. An edit that is not recorded yet would be undone first.
    fn preview_step(
        &self,
        verb: &str,
        opened: &OpenedState,
    ) -> Result<(OperationSummary, Proposal), Error> {
        let undo = verb == "undo";
        let view = opened.view();
        let reports = view.reports();
        let edited = reports.iter().any(|report| matches!(report, Report::External { .. }));
        let head = self.operation_back(0)?;
        let (mut operation, then) = if edited && undo {
            let mut pending = head.summary(StateFile::History.name());
            pending.id = view.revision.clone();
            (pending.kind, pending.command) = ("external".to_owned(), String::new());
            pending.message = NOT_YET_RECORDED.to_owned();
            (pending, head.id.as_str().to_owned())
        } else {
            let target = match undo {
                true => self.store.undo_target()?,
                false => self.store.redo_target()?.map(|(target, _)| target),
            };
            let Some(target) = target.filter(|_| undo || !edited) else {
                self.refuse_unmerged_undo(view, None)?;
                return Err(nothing_to(verb));
            };
            let then = if undo { &target.parent } else { &target.id };
            let then = then.as_str().to_owned();
            (target.summary(StateFile::History.name()), then)
        };
        let mut diff = self.diff(&DiffSide::Working, &DiffSide::Operation(then.clone()))?.files;
        let changed: Vec<StateFile> = diff.iter().map(|file| file.file).collect();
        let names: Vec<String> = changed.iter().map(|file| file.name().to_owned()).collect();
        self.refuse_unmerged_undo(view, Some((&operation.kind, &names)))?;
        if let Some(plan) = diff.iter().find(|diff| undo && diff.file == StateFile::Plan) {
            let draft = Draft::lenient(view, &self.env, self.options.progress);
            refuse_withdrawing(&draft, || Ok(Some(plan.after.clone().into_bytes())))?;
        }
        if self.layout().is_some() {
            diff = self.diff_of_adopted_files(opened.raw(), &self.store.files_at(&then)?);
        }
        if edited && undo {
            operation.files = diff.iter().map(|file| file.name.clone()).collect();
        }
        Ok((operation, Proposal { changed, diff, ..Proposal::default() }))
    }
}

/// The files without repetitions, in order.
fn distinct(files: impl Iterator<Item = StateFile>) -> Vec<StateFile> {
    let mut found: Vec<StateFile> = Vec::new();
    for file in files {
        if !found.contains(&file) {
            found.push(file);
        }
    }
    found
}

fn nothing_to(verb: &str) -> Error {
    Error::refused_with(
        ErrorCode::NothingToDo,
        format!("there is nothing to {verb}"),
        "`statedir op log` shows what happened",
    )
}

fn entry(target: &Operation, changed: &[String], actor: &str) -> Vec<(String, String)> {
    let what = if target.command.is_empty() { &target.kind } else { &target.command };
    let files = if changed.is_empty() { "none".to_owned() } else { changed.join(", ") };
    vec![
        ("kind".to_owned(), "restore".to_owned()),
        ("operation".to_owned(), target.id.as_str().to_owned()),
        ("command".to_owned(), what.clone()),
        ("state_changes".to_owned(), files),
        ("actor".to_owned(), actor.to_owned()),
    ]
}
