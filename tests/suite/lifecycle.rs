//! The suite under a lifecycle in which every status has another name.
//!
//! `STATEDIR_TEST_LIFECYCLE=renamed cargo test --test suite` runs the same tests with the same
//! assertions. The builder gives every project a workflow.yaml with other words, puts those words
//! into whatever a test says and writes, and the built-in words into whatever it is told and reads.
//! What only works with the built-in words fails.

use std::{path::PathBuf, sync::OnceLock};

/// Every built-in status and its other name, which has as many letters, so that widths and budgets
/// stay as they are. None of these names is an alias of a built-in status.
const WORDS: [(&str, &str); 10] = [
    ("PLANNING", "SKETCHED"),
    ("IN_PROGRESS", "BEING_BUILT"),
    ("PAUSED", "PARKED"),
    ("COMPLETED_SUCCESS", "DELIVERED_AS_SOLD"),
    ("COMPLETED_FAILURE", "FORSAKEN_BY_OTHER"),
    ("PENDING", "BACKLOG"),
    ("RUNNING", "AT_WORK"),
    ("COMPLETED", "DELIVERED"),
    ("FAILED", "BROKEN"),
    ("SKIPPED", "DROPPED"),
];

/// Tests that keep the built-in lifecycle in both runs, and why.
const EXCLUDED: [(&str, &str); 0] = [];

/// Whether the test that runs on this thread uses the other names.
pub fn is_renamed() -> bool {
    static RENAMED: OnceLock<bool> = OnceLock::new();
    let wanted = || std::env::var("STATEDIR_TEST_LIFECYCLE").is_ok_and(|name| name == "renamed");
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    *RENAMED.get_or_init(wanted) && !EXCLUDED.iter().any(|(name, _)| *name == test)
}

/// The text with the other names.
pub fn renamed(text: &[u8]) -> Vec<u8> {
    replace(text, |(builtin, other)| (builtin, other))
}

/// The text with the built-in names.
pub fn builtin(text: &[u8]) -> Vec<u8> {
    replace(text, |(builtin, other)| (other, builtin))
}

/// The built-in workflow.yaml with the other names.
pub fn workflow() -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("templates/default/workflow.yaml");
    renamed(&std::fs::read(path).unwrap())
}

/// A directory of templates that holds this workflow alone.
pub fn templates() -> &'static str {
    static TEMPLATES: OnceLock<String> = OnceLock::new();
    TEMPLATES.get_or_init(|| {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("renamed-lifecycle-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("workflow.yaml"), workflow()).unwrap();
        dir.to_str().unwrap().to_owned()
    })
}

/// Replaces whole words: `COMPLETED_SUCCESS` is not `COMPLETED`.
fn replace(
    text: &[u8],
    pair: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> Vec<u8> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.iter().take_while(|byte| is_word(**byte)).count();
        let (token, other) = rest.split_at(word.max(1));
        let known = WORDS.into_iter().map(pair).find(|(from, _)| from.as_bytes() == token);
        out.extend_from_slice(known.map_or(token, |(_, to)| to.as_bytes()));
        rest = other;
    }
    out
}

#[test]
fn every_status_of_the_built_in_lifecycle_has_another_name() {
    let own = String::from_utf8(workflow()).unwrap();
    for (builtin, other) in WORDS {
        assert_eq!(builtin.len(), other.len(), "{builtin}");
        assert!(own.contains(&format!("status: {other}\n")), "{other} is no status:\n{own}");
    }
    assert_eq!(own.matches("- status: ").count(), WORDS.len());
}

#[test]
fn the_words_go_there_and_back() {
    let text = b"COMPLETED_SUCCESS COMPLETED xFAILED FAILED. \xff steps_FAILED";
    let there = renamed(text);
    assert_eq!(there, b"DELIVERED_AS_SOLD DELIVERED xFAILED BROKEN. \xff steps_FAILED");
    assert_eq!(builtin(&there), text);
}
