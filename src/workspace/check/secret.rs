//! What looks like a secret. State is read by agents, people and git: none belongs there.

use std::{io::BufRead as _, ops::Range};

use super::Snapshot;
use crate::{
    domain::{Problem, StateFile},
    text::Place,
};

/// Prefixes of well-known keys, what follows them, and the least length of the whole.
const PREFIXES: [(&str, &str, usize); 15] = [
    ("AKIA", "an AWS access key", 20),
    ("ASIA", "an AWS access key", 20),
    ("ghp_", "a GitHub token", 36),
    ("gho_", "a GitHub token", 36),
    ("ghs_", "a GitHub token", 36),
    ("github_pat_", "a GitHub token", 40),
    ("glpat-", "a GitLab token", 20),
    ("sk-", "an API key", 24),
    ("sk_live_", "a Stripe key", 24),
    ("rk_live_", "a Stripe key", 24),
    ("xoxb-", "a Slack token", 24),
    ("xoxp-", "a Slack token", 24),
    ("AIza", "a Google API key", 39),
    ("npm_", "an npm token", 36),
    ("eyJhbGciOi", "a JSON web token", 60),
];

/// Words that name a secret when a value follows them.
const NAMES: [&str; 8] = [
    "password",
    "passwd",
    "secret",
    "api_key",
    "apikey",
    "access_token",
    "auth_token",
    "private_key",
];

/// The least length of a secret that has no prefix of its own.
const LEAST: usize = 12;

pub(super) const PRIVATE_KEY: &str = "a private key";
/// What the first and the last line of a private key end with.
pub(super) const KEY_MARK: &str = "PRIVATE KEY-----";

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
    Problem::error("unreadable", StateFile::History, "this line is not valid UTF-8")
        .at(place)
        .hint("`statedir op log` shows edits made outside; restore the file from git")
}

fn push(file: StateFile, at: usize, line: &str, found: &mut Vec<Problem>) {
    let Some((column, what)) = secret_in(line) else { return };
    let message = format!("this looks like {what}");
    let problem = Problem::warning("secret", file, message);
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
    let first = secrets_in(line).into_iter().min_by_key(|hit| hit.range.start)?;
    Some((first.range.start, first.what))
}

/// All secrets of a line, in no order; two may share bytes.
pub(super) fn secrets_in(line: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    if !may_hold_secret(line) {
        return hits;
    }
    if let Some(at) = line.find("-----BEGIN ")
        && line[at..].contains(KEY_MARK)
    {
        hits.push(Hit { range: at..line.len(), what: PRIVATE_KEY });
    }
    for (prefix, what, least) in PREFIXES {
        for (at, _) in line.match_indices(prefix) {
            // Not every script parts its words.
            let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let starts_word = !line[..at].ends_with(in_word);
            let token = token_at(&line[at..]);
            if starts_word && token.len() >= least && mixed(token) {
                hits.push(Hit { range: at..at + token.len(), what });
            }
        }
    }
    named_secrets(line, &mut hits);
    hits
}

/// A quick look, for a history of a gigabyte: every secret below is a long run of letters and
/// digits, or begins with dashes.
fn may_hold_secret(line: &str) -> bool {
    let (mut run, mut digits) = (0, 0);
    for byte in line.bytes() {
        if is_token(char::from(byte)) {
            run += 1;
            digits += usize::from(byte.is_ascii_digit());
            if run >= LEAST && digits >= 2 {
                return true;
            }
        } else {
            (run, digits) = (0, 0);
        }
    }
    line.contains("-----BEGIN ")
}

/// `password: hunter2secret`, `"api_key": "…"`; references and obvious blanks are none.
fn named_secrets(line: &str, hits: &mut Vec<Hit>) {
    // ASCII only, so that byte offsets stay those of the line.
    let lower = line.to_ascii_lowercase();
    for name in NAMES {
        for (at, _) in lower.match_indices(name) {
            let rest = &line[at + name.len()..];
            let Some(value) =
                rest.trim_start_matches(['"', '\'', '*', '`', ' ']).strip_prefix([':', '='])
            else {
                continue;
            };
            let skipped = value.trim_start_matches([' ', '"', '\'', '*', '`', '=']);
            let token = token_at(skipped);
            if token.len() >= LEAST && mixed(token) {
                let start = line.len() - skipped.len();
                hits.push(Hit { range: start..start + value_length(skipped), what: "a secret" });
            }
        }
    }
}

/// How far a value goes that somebody chose: a password has other signs than a key has.
fn value_length(text: &str) -> usize {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';');
    text.find(ends).unwrap_or(text.len())
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '=')
}

fn token_at(text: &str) -> &str {
    &text[..text.find(|c| !is_token(c)).unwrap_or(text.len())]
}

/// Letters and digits together, as chance makes them: a word or a path is not a key.
fn mixed(token: &str) -> bool {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let letters = token.bytes().filter(u8::is_ascii_alphabetic).count();
    digits >= 2 && letters >= 4 && !token.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_named_secrets_are_seen() {
        let pem = ["-----BEGIN RSA", "PRIVATE KEY-----"].join(" ");
        let aws = ["AKIA", "IOSFODNN7EXAMPLE1"].concat();
        let github = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        for line in [pem, format!("key {aws}"), github, "\"api_key\": \"a8f5f167f44f4964\"".into()]
        {
            assert!(secret_in(&line).is_some(), "{line}");
        }
    }

    #[test]
    fn the_first_secret_of_a_line_is_the_one_that_stands_first() {
        let github = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        let line = format!("use password=hunter2hunter2 and token {github}");
        assert_eq!(secret_in(&line), Some((13, "a secret")));
    }

    #[test]
    fn ordinary_text_is_not_a_secret() {
        for line in [
            "the password is kept elsewhere",
            "- **api_key**: {{secrets.name}}",
            "\"secret\": \"see the vault\"",
            "task-20 and risk-2024-report",
            "password: $DATABASE_PASSWORD",
            "execution_id: exec_20261116T080000Z_9f8e7d6c",
            "",
        ] {
            assert_eq!(secret_in(line), None, "{line}");
        }
    }
}
