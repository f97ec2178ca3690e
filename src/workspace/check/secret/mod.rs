//! What looks like a secret. State is read by agents, people and git: none belongs there.

mod matcher;
mod patterns;
mod value;

#[cfg(test)]
mod tests;

use std::{io::BufRead as _, ops::Range};

use super::Snapshot;
use crate::{
    domain::{ErrorCode, Problem, StateFile},
    text::Place,
};

pub(super) const PRIVATE_KEY: &str = "a private key";
/// What the first and the last line of a private key say, of PGP's too.
pub(super) const KEY_LABEL: &str = "PRIVATE KEY";

/// How many are listed for one file.
const MOST: usize = 20;

/// Reads the files that are rewritten line by line.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<Problem>) {
    for file in StateFile::REWRITABLE {
        let Some(bytes) = snapshot.view().bytes(file.name()) else { continue };
        let text = String::from_utf8_lossy(bytes);
        for (at, line) in text.lines().enumerate() {
            push(file, at, line, found);
        }
    }
}

/// Reads the history line by line.
pub(super) fn check_history(snapshot: &Snapshot, found: &mut Vec<Problem>) {
    let Ok(mut reader) = snapshot.history() else { return };
    let mut line = Vec::new();
    let mut at = 0;
    let before = found.len();
    while found.len() < before + MOST {
        line.clear();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => match std::str::from_utf8(&line) {
                Ok(text) => push(StateFile::History, at, text, found),
                Err(error) => found.push(not_text(at, error.valid_up_to())),
            },
        }
        at += 1;
    }
}

fn not_text(at: usize, column: usize) -> Problem {
    let place = Place { line: at + 1, column: column + 1 };
    Problem::error(ErrorCode::Unreadable, StateFile::History, "this line is not valid UTF-8")
        .at(place)
        .hint("`statedir op log` shows edits made outside statedir; restore the file from git")
}

fn push(file: StateFile, at: usize, line: &str, found: &mut Vec<Problem>) {
    let Some((column, what)) = secret_in(line) else { return };
    let message = format!("this looks like {what}");
    let problem = Problem::warning(ErrorCode::Secret, file, message);
    let place = Place { line: at + 1, column: line[..column].chars().count() + 1 };
    found.push(problem.at(place).hint(
        "keep it in an environment variable and refer to its name; if it is real, revoke it",
    ));
}

/// Something in a line that looks like a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Where it is; a private key goes on in the lines that follow.
    pub(super) range: Range<usize>,
    pub(super) what: &'static str,
}

/// Where the first secret of a line begins, and what it looks like.
pub(crate) fn secret_in(line: &str) -> Option<(usize, &'static str)> {
    let first = secrets_in(line).into_iter().next()?;
    Some((first.range.start, first.what))
}

/// All secrets of a line, in order and apart from each other.
pub(super) fn secrets_in(line: &str) -> Vec<Hit> {
    matcher::secrets_in(line)
}

/// How far a private key goes: to its last line, or to the end of the text.
pub(super) fn end_of_key(text: &str) -> usize {
    const LAST: &str = "-----END ";
    let end = text.match_indices(LAST).find_map(|(at, _)| {
        let label = at + LAST.len();
        let words = value::cut(&text[label..], matcher::LONGEST_LABEL);
        let key = words.find(KEY_LABEL)?;
        let dashes = words[key..].find("-----").map_or(KEY_LABEL.len(), |dashes| dashes + 5);
        Some(label + key + dashes)
    });
    end.unwrap_or(text.len())
}
