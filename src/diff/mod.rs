//! What differs between two versions of a state file, by meaning.
//!
//! [`compare`] never fails and never hides anything: where the bytes of two versions differ, it
//! has something to say, if only that the layout differs or that the text is not understood.

mod canonical;
mod difference;
mod excerpt;
mod fold;
mod history;
pub(crate) mod notes;
mod plan;
mod steps;
mod summary;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use canonical::canonical;
pub(crate) use difference::{Difference, Subject, Verb};
pub(crate) use summary::{lines, summary};

use std::{borrow::Cow, collections::HashMap};

use crate::domain::{StateFile, outline::single_spaced};
use crate::text::{json::JsonDocument, markdown::Document};
use walk::Changes;

/// What differs in `file` from `before` to `after`; `None` is a file that is not there.
///
/// Empty if, and only if, both are the same bytes. Takes time in proportion to the files.
pub fn compare(file: StateFile, before: Option<&[u8]>, after: Option<&[u8]>) -> Vec<Difference> {
    if before == after {
        return Vec::new();
    }
    let (Some(old), Some(new)) = (before, after) else {
        let length = |bytes: Option<&[u8]>| bytes.map(<[u8]>::len);
        return vec![Difference::new(file, Subject::File, length(before), length(after))];
    };
    let changes = match by_meaning(file, old, new) {
        Ok(changes) => changes,
        Err(why) => return vec![compare_lines(file, old, new, why)],
    };
    let mut differences = changes.differences;
    if differences.is_empty() || changes.layout {
        let detail = match differences.is_empty() {
            true => layout_detail(old, new),
            false => "elsewhere, wording or layout only".to_owned(),
        };
        differences.push(Difference::new(
            file,
            Subject::Layout { detail },
            None::<&str>,
            None::<&str>,
        ));
    }
    differences
}

/// Two histories of which only the lengths can be compared; `None` is a file that is not there.
pub(crate) fn compare_history_lengths(before: Option<u64>, after: Option<u64>) -> Vec<Difference> {
    let subject = match (before, after) {
        (Some(_), Some(_)) => Subject::HistoryLength,
        _ => Subject::File,
    };
    vec![Difference::new(StateFile::History, subject, before, after)]
}

/// The differences, or why the file can only be compared as text.
fn by_meaning(file: StateFile, before: &[u8], after: &[u8]) -> Result<Changes, String> {
    let markdown =
        |bytes: &[u8]| Document::from_bytes(bytes.to_vec()).map_err(|error| error.to_string());
    let json =
        |bytes: &[u8]| JsonDocument::from_bytes(bytes.to_vec()).map_err(|error| error.to_string());
    Ok(match file {
        StateFile::Plan => plan::compare(markdown(before)?, markdown(after)?),
        StateFile::Context | StateFile::Constraints => {
            walk::compare(file, &markdown(before)?, &markdown(after)?)
        }
        StateFile::Variables => variables(&json(before)?, &json(after)?),
        StateFile::History => history::compare(before, after),
        StateFile::Workflow | StateFile::Log => return Err("compared line by line".to_owned()),
    })
}

/// Two versions of the variables, value by value.
fn variables(before: &JsonDocument, after: &JsonDocument) -> Changes {
    let mut changes = Changes::default();
    for found in before.differences(after) {
        let path = found.path.to_string();
        let subject = match found.is_end {
            true => Subject::ArrayEnd { path },
            false => Subject::Variable { path },
        };
        changes.push(StateFile::Variables, subject, found.before, found.after);
    }
    changes
}

/// How many lines differ, in time proportional to the texts.
fn compare_lines(file: StateFile, before: &[u8], after: &[u8], why: String) -> Difference {
    fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        bytes.split_inclusive(|byte| *byte == b'\n')
    }
    let mut counts: HashMap<&[u8], i64> = HashMap::new();
    for line in lines(before) {
        *counts.entry(line).or_default() += 1;
    }
    for line in lines(after) {
        *counts.entry(line).or_default() -= 1;
    }
    let gone: i64 = counts.values().filter(|count| **count > 0).sum();
    let came: i64 = -counts.values().filter(|count| **count < 0).sum::<i64>();
    Difference::new(file, Subject::Text { why }, Some(gone), Some(came))
}

/// What is known of a difference that changes nothing in meaning.
fn layout_detail(before: &[u8], after: &[u8]) -> String {
    let (old, new) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let marked = |text: &Cow<'_, str>| text.starts_with('\u{feff}');
    let unmarked = |text: &Cow<'_, str>| text.trim_start_matches('\u{feff}').to_owned();
    let ends = |text: &Cow<'_, str>| text.replace("\r\n", "\n");
    let detail = if marked(&old) != marked(&new) && unmarked(&old) == unmarked(&new) {
        "a byte order mark only"
    } else if ends(&old) == ends(&new) {
        "line ends only"
    } else if old.trim_end() == new.trim_end() {
        "the end of the file only"
    } else if single_spaced(&old) == single_spaced(&new) {
        "white space only"
    } else {
        "wording or layout only"
    };
    detail.to_owned()
}
