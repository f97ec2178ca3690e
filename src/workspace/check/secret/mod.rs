//! Finds text that looks like a secret. State is read by agents, people and git, so it must have none.

pub(super) mod mask;
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
    text::{Place, display::byte_prefix},
};

const PRIVATE_KEY: &str = "a private key";
/// What the first and the last line of a private key contain, also in PGP's format.
const KEY_LABEL: &str = "PRIVATE KEY";

/// How many findings in the history are listed.
const MOST: usize = 20;

/// Checks the files other than the history.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<Problem>) {
    for file in StateFile::REWRITABLE {
        let Some(bytes) = snapshot.view().bytes(file.name()) else { continue };
        let text = String::from_utf8_lossy(bytes);
        for (at, line) in text.lines().enumerate() {
            check_line(file, at, line, found);
        }
    }
}

/// Checks the lines of the history while it is verified, so that a long history is read only once.
#[derive(Default)]
pub(super) struct HistoryScan {
    found: Vec<Problem>,
    /// The beginning of a line whose end was not read yet.
    partial_line: Vec<u8>,
    line_index: usize,
}

impl HistoryScan {
    /// What was found in all lines.
    pub(super) fn finish(mut self) -> Vec<Problem> {
        let rest = std::mem::take(&mut self.partial_line);
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
            if self.partial_line.is_empty() && part.ends_with(b"\n") {
                self.line(part);
                continue;
            }
            self.partial_line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let whole = std::mem::take(&mut self.partial_line);
                self.line(&whole);
                self.partial_line = whole;
                self.partial_line.clear();
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        if self.found.len() < MOST {
            match std::str::from_utf8(line) {
                Ok(text) => check_line(StateFile::History, self.line_index, text, &mut self.found),
                Err(error) => self.found.push(not_utf8(self.line_index, error.valid_up_to())),
            }
        }
        self.line_index += 1;
    }
}

/// A reader that scans what is read from it.
pub(super) struct ScanningReader<'s, R> {
    pub(super) reader: R,
    pub(super) scan: &'s mut HistoryScan,
}

impl<R: BufRead> io::Read for ScanningReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.scan.read(&buffer[..read]);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for ScanningReader<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // The consumed bytes are in the buffer, so this does not read.
        if let Some(bytes) = self.reader.fill_buf().ok().and_then(|buffer| buffer.get(..amount)) {
            self.scan.read(bytes);
        }
        self.reader.consume(amount);
    }
}

fn not_utf8(at: usize, column: usize) -> Problem {
    let place = Place { line: at + 1, column: column + 1 };
    Problem::error(ErrorCode::Unreadable, StateFile::History, "this line is not valid UTF-8")
        .at(place)
        .hint("`statedir op log` shows edits made outside statedir; if git has the file, restore it from there")
}

fn check_line(file: StateFile, at: usize, line: &str, found: &mut Vec<Problem>) {
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
struct SecretMatch {
    /// Where it is; a private key continues on the next lines.
    range: Range<usize>,
    what: &'static str,
}

/// Where the first secret of a line begins, and what it looks like.
pub(crate) fn secret_in(line: &str) -> Option<(usize, &'static str)> {
    let first = matcher::secrets_in(line).into_iter().next()?;
    Some((first.range.start, first.what))
}

/// Where a private key ends: at its last line, or at the end of the text.
fn end_of_key(text: &str) -> usize {
    const LAST: &str = "-----END ";
    let end = text.match_indices(LAST).find_map(|(at, _)| {
        let label = at + LAST.len();
        let words = byte_prefix(&text[label..], matcher::LONGEST_LABEL);
        let key = words.find(KEY_LABEL)?;
        let dashes = words[key..].find("-----").map_or(KEY_LABEL.len(), |dashes| dashes + 5);
        Some(label + key + dashes)
    });
    end.unwrap_or(text.len())
}
