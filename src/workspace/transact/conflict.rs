//! Conflicts that a merge left in the files: they are found, block changes, and are resolved.

use memchr::memmem;

use crate::workspace::{Answer, Draft, Error, ErrorKind, Outcome, Snapshot, Workspace};
use crate::{
    domain::{ErrorCode, Problem, StateFile},
    merge::{self, Conflict, ResolveError, Side, conflicts, may_conflict},
    store::View,
    text::Place,
};

/// The kind of the operations that resolve conflicts.
const RESOLVE: &str = "merge.take";

/// The kind of the operations that record edits made outside.
const EXTERNAL: &str = "external";

/// How much of the end of a history is searched when nothing is known about it: git puts its markers
/// around appended entries.
const TAIL: u64 = 256 << 10;

impl Workspace {
    /// Refuses every change but resolving them while there are conflicts.
    ///
    /// Where a side was removed, or the merge driver could not run, the file shows no conflict, but
    /// version control knows of one: continuing would drop what the other side did.
    pub(in crate::workspace) fn refuse_unmerged(
        &self,
        view: &View,
        kind: &str,
    ) -> Result<(), Error> {
        if kind == RESOLVE {
            return Ok(());
        }
        self.unmerged(view)?.map_or(Ok(()), Err)
    }

    /// Refuses to undo or redo an operation, given by its kind and its files, in the middle of a merge
    /// that left conflicts: what the other side did would be gone from the files, and with the next
    /// commit for good.
    ///
    /// Without a merge, conflict markers are an edit like any other. An edit from outside that changed
    /// only unmerged files may be undone: version control still has both sides.
    pub(in crate::workspace) fn refuse_unmerged_undo(
        &self,
        view: &View,
        operation: Option<(&str, &[String])>,
    ) -> Result<(), Error> {
        let dir = self.directory();
        if self.version_control().operation_under_way(dir).is_none() {
            return Ok(());
        }
        let Some(error) = self.unmerged(view)? else { return Ok(()) };
        let kept = self.version_control().unmerged_files(dir);
        let is_kept = |name: &String| kept.iter().any(|file| file.name() == name);
        match operation {
            Some((EXTERNAL, changed)) if changed.iter().all(is_kept) => Ok(()),
            _ => Err(error),
        }
    }

    /// The error to refuse a change with, if there are conflicts.
    fn unmerged(&self, view: &View) -> Result<Option<Error>, Error> {
        let mut found = conflicts_in(view)?;
        if found.is_empty() {
            let unmarked = self.version_control().unmerged_files(self.directory());
            found.extend(unmarked.into_iter().map(Conflict::of_file));
        }
        let count = found.len();
        let refusal = |first| {
            let under_way = self.version_control().operation_under_way(self.directory());
            ErrorKind::Unmerged { count, first: Box::new(first), under_way }.into()
        };
        Ok(found.into_iter().next().map(refusal))
    }
}

/// Refuses a value that would be read as a conflict: it would block every later change. There was no
/// conflict before, or the change would not have begun.
pub(in crate::workspace) fn refuse_lookalike(draft: &Draft<'_>, kind: &str) -> Result<(), Error> {
    if kind == RESOLVE {
        return Ok(());
    }
    for file in draft.changed_files() {
        let bytes = match file {
            StateFile::History => Some(draft.appended()),
            file => draft.bytes_of(file),
        };
        if let Some(first) = bytes.and_then(|bytes| conflicts(file, bytes).into_iter().next()) {
            let message = format!("`{}` would be read as a merge conflict", first.field);
            let hint = "put something before the `<<<<<<<`, such as a word or a backtick";
            return Err(Error::refused_with(ErrorCode::BadValue, message, hint));
        }
    }
    Ok(())
}

/// The conflicts in the files. Where there are none, this costs a search for one word.
fn conflicts_in(view: &View) -> Result<Vec<Conflict>, Error> {
    let mut found = Vec::new();
    for file in StateFile::REWRITABLE {
        // It was searched when its parts were read.
        if view.is_lazy(file.name()) {
            continue;
        }
        if let Some(bytes) = view.bytes(file.name()).filter(|bytes| may_conflict(bytes)) {
            found.extend(conflicts(file, bytes));
        }
    }
    if may_be_in_history(view)? {
        found.extend(conflicts(StateFile::History, &view.appended().read_from(0)?));
    }
    Ok(found)
}

fn may_be_in_history(view: &View) -> Result<bool, Error> {
    let appended = view.appended();
    if !appended.exists() {
        return Ok(false);
    }
    if let Some((bytes, _)) = view.facts().filter(|(_, valid)| *valid == appended.len()) {
        let flagged = |text: &str| text.contains("\"may_be_unmerged\":true");
        return Ok(std::str::from_utf8(bytes).map_or(true, flagged));
    }
    let tail = appended.read_tail(TAIL)?;
    Ok(may_conflict(&tail) || memmem::find(&tail, b"\n>>>>>>> ").is_some())
}

impl Snapshot {
    /// The conflicts that a merge left in the files.
    pub(crate) fn conflicts(&self) -> Result<Vec<Conflict>, Error> {
        conflicts_in(self.view())
    }

    /// The conflicts as findings, each with its place.
    pub(in crate::workspace) fn conflict_problems(&self) -> Vec<Problem> {
        let problem = |conflict: Conflict| {
            let message = format!("the merge conflict in `{}` is unresolved", conflict.field);
            let problem = Problem::error(ErrorCode::Unmerged, conflict.file, message)
                .hint("`statedir merge --list` shows both sides");
            match conflict.line {
                Some(line) => problem.at(Place { line, column: 1 }),
                None => problem,
            }
        };
        self.conflicts().unwrap_or_default().into_iter().map(problem).collect()
    }
}

impl Workspace {
    /// Resolves conflicts by taking one side of each; a field stands for all below it. history.md is
    /// a set of entries and has no sides to take.
    ///
    /// # Errors
    /// There is no such conflict.
    pub(crate) fn take_side(&self, side: Side, fields: &[String]) -> Result<Outcome, Error> {
        self.change(RESOLVE, |draft| {
            let mut answers = Vec::new();
            for field in fields {
                let file = file_of(field)?;
                let bytes = draft.text_of(file)?.as_bytes().to_vec();
                let (bytes, count) =
                    merge::choose_side(file, &bytes, field, side).map_err(refused)?;
                draft.put_whole(file, String::from_utf8_lossy(&bytes).into_owned());
                let word = match side {
                    Side::Base => "the value before",
                    Side::Ours => "ours",
                    Side::Theirs => "theirs",
                };
                let left = conflicts(file, &bytes).len();
                let rest =
                    if left > 0 { format!(", {left} left in {file}") } else { String::new() };
                let answer = Answer::new(format!("{field}: took {word}{rest}"));
                answers.push(answer.with("settled", count).with("left", left));
            }
            let is_resolved = |file: StateFile| {
                draft.text_of(file).is_ok_and(|text| conflicts(file, text.as_bytes()).is_empty())
            };
            if is_resolved(StateFile::Plan) && is_resolved(StateFile::Variables) {
                // The current step depends on the statuses that were just chosen.
                crate::workspace::check::update_derived(draft)?;
            }
            Ok(answers)
        })
    }
}

/// The file that a field is in: the word before the first dot.
fn file_of(field: &str) -> Result<StateFile, Error> {
    let stem = field.split(['.', '[']).next().unwrap_or_default();
    StateFile::from_name(stem).ok_or_else(|| refused(ResolveError::NotFound(field.to_owned())))
}

fn refused(error: ResolveError) -> Error {
    let message = error.to_string();
    match error {
        ResolveError::NotFound(_) => {
            Error::refused_with(ErrorCode::NotFound, message, "`statedir merge --list` shows them")
        }
        ResolveError::Unreadable { .. } => Error::refused(ErrorCode::Unreadable, message),
    }
}
