//! Looking at the operation log, and going back and forth in it.

use super::{Draft, Error, Workspace, is_absent, notice::notices};
use crate::{
    model::StateFile,
    store::{FileChange, GcReport, NewOperation, Operation, OperationSummary, Revision},
};

/// What `undo` or `redo` did.
#[derive(Clone, Debug)]
pub struct Stepped {
    /// The operation that was taken back or done again.
    pub operation: OperationSummary,
    /// The revision it produced.
    pub revision: Revision,
    /// The files it changed.
    pub changed: Vec<String>,
    /// What else happened.
    pub notices: Vec<String>,
}

impl Workspace {
    /// Takes the last operation back that has not been taken back yet.
    ///
    /// # Errors
    /// There is none, or the state has moved on.
    pub fn undo(&self) -> Result<Stepped, Error> {
        self.step_through("undo")
    }

    /// Does the operation again that was taken back last.
    ///
    /// # Errors
    /// There is none, or the state has moved on.
    pub fn redo(&self) -> Result<Stepped, Error> {
        self.step_through("redo")
    }

    /// The newest operations, newest first.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn operations(&self, limit: Option<usize>) -> Result<Vec<OperationSummary>, Error> {
        self.read()?;
        Ok(self.store.operations(limit)?)
    }

    /// One operation by its id, or the beginning of it.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn operation_named(&self, id: &str) -> Result<Operation, Error> {
        Ok(self.store.operation(id)?)
    }

    /// Drops operations older than `older_than` milliseconds, never the newest state.
    ///
    /// # Errors
    /// The log cannot be read or written.
    pub fn gc(&self, older_than: u64) -> Result<GcReport, Error> {
        self.read()?;
        let limit = self.env.ago(older_than);
        Ok(self.store.gc(Some(limit), &[], self.options.dry_run)?)
    }

    fn step_through(&self, verb: &'static str) -> Result<Stepped, Error> {
        let transaction = self.begin()?;
        if is_absent(transaction.view()) {
            return Err(self.no_state());
        }
        let undo = verb == "undo";
        let target = if undo { transaction.undo_target()? } else { transaction.redo_target()? };
        let Some(target) = target else {
            return Err(Error::refused_with(
                "nothing_to_do",
                format!("there is nothing to {verb}"),
                "`statedir op log` shows what happened",
            ));
        };
        let changes: Vec<FileChange> =
            if undo { transaction.inverse(&target)? } else { transaction.reapply(&target)? };
        let changed: Vec<String> = changes.iter().map(|change| change.name.clone()).collect();
        let summary = target.summary(StateFile::History.name());
        let mut seen = notices(transaction.view().reports());
        if self.options.dry_run {
            let revision = transaction.view().revision.clone();
            return Ok(Stepped { operation: summary, revision, changed, notices: seen });
        }
        let mut draft = Draft::new(transaction.view(), &self.env)?;
        if transaction.view().appended().exists() {
            let title = if undo { "Undo" } else { "Redo" };
            draft.log(title, entry(&target, &changed, self.env.actor()))?;
        } else {
            seen.push(format!("`{}` is missing, so nothing was noted there", StateFile::History));
        }
        let (_, append, facts) = draft.into_changes();
        let message = format!("{verb} {} ({})", target.id, target.kind);
        let id = target.id.as_str().to_owned();
        let (undoes, redoes) = if undo { (Some(id), None) } else { (None, Some(id)) };
        let operation = NewOperation {
            changes,
            append,
            facts,
            undoes,
            redoes,
            ..self.operation(verb, message)
        };
        let committed = transaction.commit(operation)?;
        seen.extend(committed.warnings);
        Ok(Stepped { operation: summary, revision: committed.revision, changed, notices: seen })
    }
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
