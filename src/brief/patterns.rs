//! Patterns that recur in the history.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Turn, part::one_line};
use crate::{
    domain::StepOutcome,
    history::{Entry, EntryKind},
};

/// How many patterns are kept.
const MOST: usize = 10;

/// Something that happened more or less often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Pattern {
    /// The error, or the tool or component.
    pub pattern: String,
    /// How often.
    pub count: usize,
    /// Out of how many, for tools and components.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
}

/// Errors of steps and turns; numbers in them do not matter.
pub(super) fn error_patterns(entries: &[Entry]) -> Vec<Pattern> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries {
        let errors = match entry.kind {
            EntryKind::Turn => Turn::read(entry).errors,
            EntryKind::Step => entry.error().map(str::to_owned).into_iter().collect(),
            _ => Vec::new(),
        };
        for error in errors {
            let shape = shape(&error);
            if !shape.is_empty() && !shape.eq_ignore_ascii_case("none") {
                *counts.entry(shape).or_default() += 1;
            }
        }
    }
    sorted(counts.into_iter().map(|(pattern, count)| Pattern { pattern, count, of: None }))
}

/// Tools and components of completed steps, out of all attempts with them.
pub(super) fn success_patterns(entries: &[Entry]) -> Vec<Pattern> {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Step) {
        let used = entry.field("tool_used").or_else(|| entry.field("component_used"));
        let Some(used) = used else { continue };
        let outcome = entry.outcome();
        let (done, all) = counts.entry(one_line(used, 80)).or_default();
        *done += usize::from(outcome == Some(StepOutcome::Done));
        *all += usize::from(outcome != Some(StepOutcome::Skipped));
    }
    let worked = counts.into_iter().filter(|(_, (done, _))| *done > 0);
    sorted(worked.map(|(pattern, (count, of))| Pattern { pattern, count, of: Some(of) }))
}

fn sorted(patterns: impl Iterator<Item = Pattern>) -> Vec<Pattern> {
    let mut patterns: Vec<Pattern> = patterns.collect();
    patterns.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.pattern.cmp(&b.pattern)));
    patterns.truncate(MOST);
    patterns
}

/// The error without its numbers: `timeout after #s`.
fn shape(error: &str) -> String {
    let line = one_line(error.lines().next().unwrap_or_default(), 120);
    let mut shape = String::new();
    for c in line.chars() {
        match c {
            c if c.is_ascii_digit() && shape.ends_with('#') => {}
            c if c.is_ascii_digit() => shape.push('#'),
            c => shape.push(c),
        }
    }
    shape
}
