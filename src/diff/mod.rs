//! What differs between two versions of a state file, by meaning.
//!
//! [`compare`] never fails and never hides anything: where the bytes of two versions differ, it
//! has something to say, if only that the layout differs or that the text is not understood.

mod canonical;
mod difference;
mod excerpt;
mod history;
pub(crate) mod notes;
mod plan;
mod steps;
mod summary;
mod unparsed;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use canonical::canonical;
pub(crate) use difference::{Difference, Subject, Verb};
pub(crate) use summary::{lines, summary};

use crate::domain::StateFile;
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
        Err(why) => return vec![unparsed::compare(file, old, new, why)],
    };
    let mut differences = changes.differences;
    if differences.is_empty() || changes.layout {
        let detail = match differences.is_empty() {
            true => unparsed::layout(old, new),
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
