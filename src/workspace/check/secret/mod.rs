//! Finds text that looks like a secret. State is read by agents, people and git, so it must have none.

mod matcher;
mod patterns;
mod value;

#[cfg(test)]
mod tests;

use std::{
    io::{self, BufRead},
    ops::Range,
};

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

/// Checks the lines of the history while it is verified, so that a long history is read only once.
#[derive(Default)]
pub(super) struct HistoryLines {
    found: Vec<Problem>,
    /// The beginning of a line whose end was not read yet.
    begun: Vec<u8>,
    at: usize,
}

impl HistoryLines {
    /// What was found in all lines.
    pub(super) fn finish(mut self) -> Vec<Problem> {
        let rest = std::mem::take(&mut self.begun);
        if !rest.is_empty() {
            self.line(&rest);
        }
        self.found
    }

    fn read(&mut self, bytes: &[u8]) {
        if self.found.len() >= MOST {
            return;
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.begun.is_empty() && part.ends_with(b"\n") {
                self.line(part);
                continue;
            }
            self.begun.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let whole = std::mem::take(&mut self.begun);
                self.line(&whole);
                self.begun = whole;
                self.begun.clear();
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        if self.found.len() < MOST {
            match std::str::from_utf8(line) {
                Ok(text) => push(StateFile::History, self.at, text, &mut self.found),
                Err(error) => self.found.push(not_text(self.at, error.valid_up_to())),
            }
        }
        self.at += 1;
    }
}

/// A reader that passes the lines it reads to a check.
pub(super) struct Watched<'l, R> {
    pub(super) reader: R,
    pub(super) lines: &'l mut HistoryLines,
}

impl<R: BufRead> io::Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.lines.read(&buffer[..read]);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Watched<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // The consumed bytes are in the buffer, so this does not read.
        if let Some(bytes) = self.reader.fill_buf().ok().and_then(|buffer| buffer.get(..amount)) {
            self.lines.read(bytes);
        }
        self.reader.consume(amount);
    }
}

fn not_text(at: usize, column: usize) -> Problem {
    let place = Place { line: at + 1, column: column + 1 };
    Problem::error(ErrorCode::Unreadable, StateFile::History, "this line is not valid UTF-8")
        .at(place)
        .hint("`statedir op log` shows edits made outside statedir; if git has the file, restore it from there")
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

/// All secrets of a line, in order, without overlaps.
pub(super) fn secrets_in(line: &str) -> Vec<Hit> {
    matcher::secrets_in(line)
}

/// Where a private key ends: at its last line, or at the end of the text.
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
