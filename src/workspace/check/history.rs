//! Whether the history is whole.

use std::collections::BTreeMap;

use crate::{
    domain::{ErrorCode, Problem, StateFile},
    history::{self, EntryId, ProblemKind},
    store::Revision,
    text::Place,
    text::display::counted,
};

use crate::workspace::{Error, Workspace};

const FILE: StateFile = StateFile::History;
/// How many titles of missing entries are listed.
const MOST_TITLES: usize = 5;

/// The operations that wrote entries, as far as the log knows them.
pub(super) type Writers = BTreeMap<EntryId, Revision>;

impl Workspace {
    /// The operations that wrote the entries whose text was changed.
    pub(super) fn writers_of_changed(
        &self,
        verified: &Result<history::Verification, Error>,
    ) -> Writers {
        let Ok(verified) = verified else { return Writers::new() };
        let changed = verified.problems.iter().filter(|one| one.kind == ProblemKind::Changed);
        let changed: Vec<EntryId> = changed.filter_map(|problem| problem.entry).collect();
        let trailer = |entry: &EntryId| format!("<!-- {entry} ");
        let trailers: Vec<String> = changed.iter().map(trailer).collect();
        if trailers.is_empty() {
            return Writers::new();
        }
        let written = self.store.appended_by(&trailers).unwrap_or_default();
        let writer = |entry: EntryId| Some((entry, written.get(&trailer(&entry))?.clone()));
        changed.into_iter().filter_map(writer).collect()
    }
}

/// What the verification of every entry found.
pub(super) fn check(
    verified: Result<history::Verification, Error>,
    writers: &Writers,
    found: &mut Vec<Problem>,
) {
    let verified = match verified {
        Ok(verified) => verified,
        Err(error) => {
            let problem = Problem::error(error.code(), FILE, error.to_string());
            let hint =
                error.hint().unwrap_or_else(|| "`statedir op log` shows what happened".to_owned());
            found.push(problem.hint(hint));
            return;
        }
    };
    for back in verified.went_back {
        let count = back.entries.len();
        let entries = counted(count, "entry", "entries");
        let mut titles: Vec<String> = back.titles.iter().take(MOST_TITLES).cloned().collect();
        if count > titles.len() && !titles.is_empty() {
            titles.push("…".to_owned());
        }
        let titles =
            if titles.is_empty() { String::new() } else { format!(": {}", titles.join(", ")) };
        let message = format!("{entries} lost with {}{titles}", back.by);
        let problem = Problem::warning(ErrorCode::WentBack, FILE, message).fixable();
        found.push(problem.hint(
            "`statedir history accept` accepts the loss; `statedir check --fix` restores the entries",
        ));
    }
    for problem in verified.problems {
        let mut finding = Problem::error(ErrorCode::HistoryBroken, FILE, problem.message);
        let line = problem.line.and_then(|line| usize::try_from(line).ok());
        finding.place = line.map(|line| Place { line, column: 1 });
        found.push(match problem.kind {
            ProblemKind::Removed => finding
                .fixable()
                .hint("`statedir check --fix` appends it again"),
            ProblemKind::Missing { .. } => finding
                .hint("`statedir check --fix` restores it if the log or git still has it"),
            ProblemKind::CutTail if problem.offset.is_none() => {
                finding.hint("`statedir check --fix` restores what the log or git still has")
            }
            _ => {
                let writer = problem.entry.and_then(|entry| writers.get(&entry));
                let text = match writer.filter(|_| problem.kind == ProblemKind::Changed) {
                    Some(writer) => {
                        format!("put back the text that `statedir op show {writer}` shows")
                    }
                    None => "restore the file from git".to_owned(),
                };
                finding.hint(format!(
                    "entries must not be edited: {text}, or record why with `statedir history add 'what happened'`"
                ))
            }
        });
    }
}
