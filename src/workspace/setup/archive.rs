//! Archives finished executions next to the state, and restores and prunes them.

use std::path::{Path, PathBuf};

use crate::{
    domain::{ErrorCode, PlanRole, StateFile, nearest},
    store::{Directory, NewOperation, View},
    workspace::{
        Answer, Draft, Error, Outcome, Overview, Workspace, environment::millis_between, is_absent,
        transact::Proposal,
    },
};

/// The most characters of the name of an archived state.
const LONGEST: usize = 80;

/// The prefix of an archived state that is being deleted.
const PRUNED: &str = ".pruned-";

/// What `archive` did.
#[derive(Debug)]
pub(crate) struct Archived {
    /// Its name in the archive.
    pub id: String,
    pub from: PathBuf,
    pub to: PathBuf,
    /// Revision, answer and notices.
    pub outcome: Outcome,
}

/// One archived state.
#[derive(Debug)]
pub(crate) struct ArchivedState {
    /// Its name in the archive.
    pub id: String,
    pub directory: PathBuf,
    /// Where the execution is.
    pub overview: Result<Overview, Error>,
    /// When the plan was last changed, according to the plan.
    pub last_updated: Option<String>,
}

impl Workspace {
    /// Moves a finished execution, log and all, to `archive/<execution_id>/` beside the state.
    ///
    /// # Errors
    /// It is not finished and not forced, there is no state, or the directory cannot be moved.
    pub(crate) fn archive(&self, force: bool) -> Result<Archived, Error> {
        let (from, mut id, mut to) = (self.directory(), String::new(), PathBuf::new());
        let outcome = self.transact(self.options.dry_run, |opened| {
            (id, to) = self.archive_place(opened.view(), force)?;
            self.propose_move(opened.view(), "archive", "Archived", &id, (from, &to))
        });
        let outcome =
            outcome.map_err(|error| self.note_unmoved(error, "archive", "Archived", &id))?;
        Ok(Archived { id, from: from.to_owned(), to, outcome })
    }

    /// The archived states beside this one, by name.
    pub(crate) fn archived(&self) -> Result<Vec<ArchivedState>, Error> {
        let mut found = Vec::new();
        for id in self.archived_names()? {
            found.push(self.archived_state(&id)?);
        }
        Ok(found)
    }

    /// An archived state by its name or a prefix of it.
    ///
    /// # Errors
    /// There is none, or several.
    pub(crate) fn archived_named(&self, id: &str) -> Result<ArchivedState, Error> {
        if id.trim().is_empty() {
            return Err(Error::refused_with(
                ErrorCode::BadName,
                "the name of an archived state cannot be empty",
                "`statedir archive list` shows what is available",
            ));
        }
        let names = self.archived_names()?;
        let fitting: Vec<&String> = names.iter().filter(|name| name.starts_with(id)).collect();
        let exact = names.iter().find(|name| *name == id);
        let name = match (exact, fitting.as_slice()) {
            (Some(name), _) => name,
            (None, [name]) => *name,
            (_, []) => {
                let hint = match nearest(id, names.iter().map(String::as_str)) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "`statedir archive list` shows what is available".to_owned(),
                };
                let message = format!("there is no archived state `{id}`");
                return Err(Error::refused_with(ErrorCode::NotFound, message, hint));
            }
            (_, several) => {
                let some: Vec<&str> = several.iter().take(5).map(|name| name.as_str()).collect();
                let message = format!(
                    "`{id}` is ambiguous; it matches the archived states {}",
                    some.join(", ")
                );
                return Err(Error::refused(ErrorCode::Ambiguous, message));
            }
        };
        self.archived_state(name)
    }

    /// Moves an archived state back. Nothing is overwritten.
    ///
    /// # Errors
    /// There is a state already, or there is no such archived one.
    pub(crate) fn restore_archived(&self, id: &str) -> Result<Archived, Error> {
        let kept = self.archived_named(id)?;
        let existing = self.store.exists()?;
        if existing.log || !existing.files.is_empty() {
            return Err(Error::refused_with(
                ErrorCode::Exists,
                format!("there is already a state in `{}`", self.directory().display()),
                "`statedir archive` archives it if it is finished; `-C` chooses another \
                 directory",
            ));
        }
        let (from, to) = (kept.directory, self.directory().to_owned());
        let other = self.in_directory(from.clone());
        let (kind, title, id) = ("archive.restore", "Brought Back", kept.id);
        let outcome = other.transact(self.options.dry_run, |opened| {
            self.propose_move(opened.view(), kind, title, &id, (&from, &to))
        });
        let outcome = outcome.map_err(|error| other.note_unmoved(error, kind, title, &id))?;
        Ok(Archived { id, from, to, outcome })
    }

    /// Logs the move in the history; then the directory is moved.
    fn propose_move(
        &self,
        view: &View,
        kind: &str,
        title: &str,
        id: &str,
        (from, to): (&Path, &Path),
    ) -> Result<Proposal, Error> {
        let mut draft = Draft::lenient(view, &self.env, self.options.progress);
        if draft.has_history() && !is_logged(view, title, id) {
            let status = transaction_status(view);
            let note = status.map_or_else(|| "status unknown".to_owned(), |s| format!("plan {s}"));
            draft.log(title, self.move_fields(id, note))?;
        }
        let message = format!("moved {} to {}", from.display(), to.display());
        let (_, append, facts) = draft.into_changes();
        let operation = NewOperation { append, facts, ..self.operation(kind, message.clone()) };
        let (answers, move_to) = (vec![Answer::new(message)], Some(to.to_owned()));
        Ok(Proposal { operation, move_to, answers, ..Proposal::default() })
    }

    fn move_fields(&self, id: &str, note: String) -> Vec<(String, String)> {
        vec![
            ("kind".to_owned(), "note".to_owned()),
            ("archived_as".to_owned(), id.to_owned()),
            ("notes".to_owned(), note),
            ("actor".to_owned(), self.env.actor().to_owned()),
        ]
    }

    /// Logs that the state was not moved after all.
    fn note_unmoved(&self, error: Error, kind: &str, title: &str, id: &str) -> Error {
        if error.code() != ErrorCode::NotMoved {
            return error;
        }
        let fields = self.move_fields(id, error.to_string());
        let _ = self.change(kind, |draft| {
            draft.log(format!("{title} Failed"), fields)?;
            Ok(Vec::new())
        });
        let hint = format!(
            "it is still in `{}`; both directories must be on one file system",
            self.directory().display()
        );
        Error::refused_with(ErrorCode::NotMoved, error.to_string(), hint)
    }

    /// The name and place for the state, if it may be archived.
    fn archive_place(&self, view: &View, force: bool) -> Result<(String, PathBuf), Error> {
        if is_absent(view) {
            return Err(self.no_state(view));
        }
        self.refuse_unmerged(view, "archive")?;
        let dir = self.directory();
        let refuse = |message: String| {
            let hint = "move the five files and `.statedir` into a separate directory first";
            Err(Error::refused_with(ErrorCode::NotMovable, message, hint))
        };
        if self.store.what_is_at(dir)? != Some("a directory") {
            return refuse(format!("`{}` is a link, so it is unclear what to move", dir.display()));
        }
        if self.store.what_is_at(&dir.join(".git"))?.is_some() || dir.parent().is_none() {
            return refuse(format!("`{}` contains more than a state", dir.display()));
        }
        self.has_archive()?;
        let draft = Draft::lenient(view, &self.env, self.options.progress);
        let plan = draft.plan();
        let written = plan.as_ref().ok().and_then(|plan| plan.metadata.status.clone());
        let workflow = draft.workflow();
        let status = written.as_deref().and_then(|text| workflow.plan_status(text));
        let role = status.and_then(|status| workflow.plan_role(status));
        if !force && !matches!(role, Some(PlanRole::Succeeded | PlanRole::Failed)) {
            let is = written.map_or_else(|| "unknown".to_owned(), |status| format!("`{status}`"));
            return Err(Error::refused_with(
                ErrorCode::NotFinished,
                format!("the execution is not finished: its status is {is}"),
                "`statedir archive --force` archives it anyway; `archive restore` reverts that",
            ));
        }
        let id = plan.ok().and_then(|plan| plan.metadata.execution_id.clone());
        let id = plain(&id.unwrap_or_default());
        let mut name = id.clone();
        for number in 2.. {
            let place = self.archive_dir().join(&name);
            if self.store.what_is_at(&place)?.is_none() {
                return Ok((name, place));
            }
            name = format!("{id}-{number}");
        }
        Err(Error::refused(ErrorCode::Exists, "no name is free in the archive"))
    }

    fn archive_dir(&self) -> PathBuf {
        self.directory().parent().unwrap_or(Path::new(".")).join("archive")
    }

    /// Whether there is an archive. A symbolic link does not count, because it may lead anywhere.
    fn has_archive(&self) -> Result<bool, Error> {
        let archive = self.archive_dir();
        match self.store.what_is_at(&archive)? {
            None => Ok(false),
            Some("a directory") => Ok(true),
            Some(what) => Err(Error::refused_with(
                ErrorCode::NotADirectory,
                format!("`{}` is {what}, not a directory", archive.display()),
                "move it elsewhere; archived states are kept in a directory of that name",
            )),
        }
    }

    fn archived_names(&self) -> Result<Vec<String>, Error> {
        let archive = self.archive_dir();
        if !self.has_archive()? && self.store.what_is_at(self.directory())?.is_none() {
            return Err(Error::refused_with(
                ErrorCode::NotFound,
                format!("there is no state and no archive at `{}`", self.directory().display()),
                "`-C` chooses another directory",
            ));
        }
        let mut names = Vec::new();
        let named = self.store.directories_in(&archive)?.into_iter();
        for name in named.filter(|name| !name.starts_with(PRUNED)) {
            let presence = self.store.at(archive.join(&name)).exists();
            // Damaged states are listed, other directories are not.
            if presence.map_or(true, |found| found.log || !found.files.is_empty()) {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn archived_state(&self, id: &str) -> Result<ArchivedState, Error> {
        let directory = self.archive_dir().join(id);
        let other = self.in_directory(directory.clone());
        let snapshot = other.read();
        let overview = match &snapshot {
            Ok(snapshot) => snapshot.overview(),
            Err(error) => {
                let code = Some(error.code()).filter(|code| code.is_of_disk());
                let code = code.unwrap_or(ErrorCode::Unreadable);
                Err(Error::refused(code, error.to_string()))
            }
        };
        let last_updated = overview.as_ref().ok().and_then(|seen| seen.last_updated.clone());
        Ok(ArchivedState { id: id.to_owned(), directory, overview, last_updated })
    }

    /// The same command in another directory.
    fn in_directory(&self, dir: PathBuf) -> Workspace {
        let options = crate::workspace::Options { dry_run: false, ..self.options.clone() };
        let files = crate::workspace::adopted::FileSet::Native;
        Workspace { store: self.store.at(dir), env: self.env.again(), options, files }
    }
}

/// Whether the newest entry already records the move, because an earlier attempt was interrupted.
fn is_logged(view: &View, title: &str, id: &str) -> bool {
    let Ok(reader) = view.appended().reader() else { return false };
    let newest = crate::history::last_entries_where(reader, 1, |_| true).unwrap_or_default();
    let is_same = |entry: &crate::history::Entry| {
        entry.title == title && entry.field("archived_as") == Some(id)
    };
    newest.first().is_some_and(is_same)
}

fn transaction_status(view: &View) -> Option<String> {
    let document = crate::workspace::snapshot::markdown(view, StateFile::Plan).ok()?;
    crate::domain::Plan::read(document).metadata.status
}

/// An execution id as one path component.
fn plain(id: &str) -> String {
    let letter =
        |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = id.trim().chars().map(letter).take(LONGEST).collect();
    let name = name.trim_matches(['.', '-']);
    if name.is_empty() { "execution".to_owned() } else { name.to_owned() }
}

impl Workspace {
    /// The archived executions that have ended and were last changed longer ago than `older_than_ms`.
    pub(crate) fn prunable(&self, older_than_ms: u64) -> Result<Vec<ArchivedState>, Error> {
        let now = self.environment().timestamp();
        let is_old = |state: &ArchivedState| {
            let time = state.last_updated.as_deref();
            time.and_then(|time| millis_between(time, now)).is_some_and(|age| age >= older_than_ms)
        };
        let has_ended = |state: &ArchivedState| {
            let role = state.overview.as_ref().ok().and_then(|overview| overview.role);
            matches!(role, Some(PlanRole::Succeeded | PlanRole::Failed))
        };
        let mut found = self.archived()?;
        // An unreadable state may be one of them; another call may be able to read it.
        let unread = |state: &ArchivedState| {
            state.overview.as_ref().is_err_and(|error| error.code().is_of_disk())
        };
        if let Some(at) = found.iter().position(unread) {
            found.swap_remove(at).overview?;
        }
        found.retain(|state| has_ended(state) && is_old(state));
        Ok(found)
    }

    /// Deletes archived executions permanently. Each is renamed first, so that an interrupted deletion
    /// is never taken for an archived state; the next call continues it.
    pub(crate) fn prune(&self, states: &[ArchivedState]) -> Result<(), Error> {
        let failed = |error: std::io::Error| Error::refused(ErrorCode::Io, error.to_string());
        if !self.has_archive()? {
            return Ok(());
        }
        let archive = Directory::open(&self.archive_dir()).map_err(failed)?;
        let left = archive.list().map_err(failed)?;
        for name in left.iter().filter(|name| name.starts_with(PRUNED)) {
            archive.remove_all(name).map_err(failed)?;
        }
        for state in states {
            let aside = format!("{PRUNED}{}", state.id);
            archive.rename(&state.id, &archive, &aside).map_err(failed)?;
            archive.remove_all(&aside).map_err(failed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_id_is_one_component_of_a_path() {
        assert_eq!(plain("exec_20261116T090000Z_ab12"), "exec_20261116T090000Z_ab12");
        assert_eq!(plain("../../etc"), "etc");
        assert_eq!(plain("a/b\0c\u{202e}"), "a-b-c");
        assert_eq!(plain(" .. "), "execution");
        assert_eq!(plain(&"x".repeat(300)).len(), LONGEST);
    }
}
