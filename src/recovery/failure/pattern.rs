//! Patterns in a series of attempts.

use super::{ErrorClass, classify};
use crate::text::display::mask_numbers;
use serde::Serialize;
use std::collections::BTreeMap;

/// One attempt at a step, as the history tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// The step's id, or its number or title where it has none.
    pub step: String,
    /// Whether it failed.
    pub failed: bool,
    /// What went wrong.
    pub error: String,
    /// The class as recorded; else it is read from the error.
    pub class: Option<ErrorClass>,
}

impl Attempt {
    /// The class of the error.
    pub(crate) fn class(&self) -> ErrorClass {
        self.class.unwrap_or_else(|| classify(&self.error).class)
    }
}

/// What sort of repetition it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PatternKind {
    /// The newest attempts all failed in the same way.
    SameClass,
    /// The same message again and again, numbers and places aside.
    SameMessage,
    /// A step that fails and succeeds by turns.
    Alternating,
}

/// Something that repeats itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Pattern {
    /// What sort of repetition it is.
    pub kind: PatternKind,
    /// The class, the message or the step.
    pub what: String,
    /// How often.
    pub count: usize,
    /// The steps it happened in.
    pub steps: Vec<String>,
}

/// How many repetitions of one sort are listed.
const MOST: usize = 5;

/// The repetitions in `attempts`, which come oldest first.
pub(crate) fn patterns(attempts: &[Attempt]) -> Vec<Pattern> {
    let mut found: Vec<Pattern> = same_class(attempts).into_iter().collect();
    found.extend(same_message(attempts));
    found.extend(alternating(attempts));
    found
}

/// The run of failures of one class at the end.
fn same_class(attempts: &[Attempt]) -> Option<Pattern> {
    let class = attempts.last().filter(|last| last.failed)?.class();
    let newest = attempts.iter().rev();
    let run: Vec<&Attempt> =
        newest.take_while(|attempt| attempt.failed && attempt.class() == class).collect();
    let steps = distinct(run.iter().rev().map(|attempt| attempt.step.clone()));
    (run.len() > 1).then(|| Pattern {
        kind: PatternKind::SameClass,
        what: class.word().to_owned(),
        count: run.len(),
        steps,
    })
}

fn same_message(attempts: &[Attempt]) -> Vec<Pattern> {
    let mut shapes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for attempt in attempts.iter().filter(|attempt| attempt.failed) {
        let shape = shape(&attempt.error);
        if !shape.is_empty() {
            shapes.entry(shape).or_default().push(attempt.step.clone());
        }
    }
    let repeated = shapes.into_iter().filter(|(_, steps)| steps.len() > 1);
    let mut found: Vec<Pattern> = repeated
        .map(|(what, steps)| Pattern {
            kind: PatternKind::SameMessage,
            what,
            count: steps.len(),
            steps: distinct(steps),
        })
        .collect();
    found.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.what.cmp(&b.what)));
    found.truncate(MOST);
    found
}

/// Steps whose outcome changed at least three times.
fn alternating(attempts: &[Attempt]) -> Vec<Pattern> {
    let mut outcomes: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
    for attempt in attempts {
        outcomes.entry(&attempt.step).or_default().push(attempt.failed);
    }
    let turns = |outcomes: &[bool]| outcomes.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let mut found: Vec<Pattern> = outcomes
        .iter()
        .map(|(step, outcomes)| (*step, turns(outcomes)))
        .filter(|(_, turns)| *turns > 2)
        .map(|(step, turns)| Pattern {
            kind: PatternKind::Alternating,
            what: step.to_owned(),
            count: turns,
            steps: vec![step.to_owned()],
        })
        .collect();
    found.truncate(MOST);
    found
}

fn distinct(steps: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for step in steps {
        if !seen.contains(&step) {
            seen.push(step);
        }
    }
    seen
}

/// The longest shape.
const LONGEST_SHAPE: usize = 160;

/// The first line of an error with `#` for numbers and `…` for paths, addresses and ids, so that
/// two errors of the same cause look the same.
pub(crate) fn shape(error: &str) -> String {
    let line = error.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut shape = String::new();
    for word in line.split_whitespace() {
        if shape.len() >= LONGEST_SHAPE {
            break;
        }
        if !shape.is_empty() {
            shape.push(' ');
        }
        let bare = word.trim_matches(|c: char| "()[]{}<>\"'`,;:.!?".contains(c));
        let (head, tail) = match word.find(bare) {
            Some(at) if !bare.is_empty() => (&word[..at], &word[at + bare.len()..]),
            _ => (word, ""),
        };
        if bare.is_empty() {
            shape.push_str(word);
            continue;
        }
        shape.push_str(head);
        if is_place(bare) || is_id(bare) {
            shape.push('…');
        } else {
            shape.push_str(&mask_numbers(bare));
        }
        shape.push_str(tail);
    }
    shape.chars().take(LONGEST_SHAPE).collect()
}

fn is_place(word: &str) -> bool {
    word.contains("://") || word.matches(['/', '\\']).count() >= 2 || word.starts_with('/')
}

/// Hexadecimal digits and dashes with a digit among them, and long: a hash, a UUID.
fn is_id(word: &str) -> bool {
    let word = word.strip_prefix("0x").unwrap_or(word);
    let fits = word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    fits && word.len() >= 8
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| !byte.is_ascii_digit())
}
