//! Whether the history is whole.

use crate::{
    domain::{ErrorCode, Problem, StateFile},
    history::{self, ProblemKind},
    text::Place,
    text::display::counted,
};

use crate::workspace::Error;

const FILE: StateFile = StateFile::History;
/// How many titles of missing entries are listed.
const TOLD: usize = 5;

/// What the verification of every entry found.
pub(super) fn check(verified: Result<history::Verification, Error>, found: &mut Vec<Problem>) {
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
        let mut titles: Vec<String> = back.titles.iter().take(TOLD).cloned().collect();
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
            _ => finding.hint(
                "entries must not be edited: restore the file from git, or record why with `statedir history add 'what happened'`",
            ),
        });
    }
}
