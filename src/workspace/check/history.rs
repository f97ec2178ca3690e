//! Whether the history is whole.

use crate::{
    model::{Problem, StateFile, history},
    text::Place,
};

use super::Snapshot;

const FILE: StateFile = StateFile::History;

/// Verifies every entry and how they follow each other.
pub(super) fn check(
    snapshot: &Snapshot,
    anchors: &[history::EntryId],
    progress: &mut dyn FnMut(u64),
    found: &mut Vec<Problem>,
) {
    let verified = snapshot
        .history()
        .and_then(|reader| history::verify(reader, anchors, progress).map_err(Into::into));
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
    for problem in verified.problems {
        let mut finding = Problem::error("history_broken", FILE, problem.message);
        let line = problem.line.and_then(|line| usize::try_from(line).ok());
        finding.place = line.map(|line| Place { line, column: 1 });
        found.push(finding.hint(
            "entries are never edited: restore the file from git, or note it with `statedir history add`",
        ));
    }
}
