//! What differs between two versions of the variables.

use super::{
    difference::{Difference, Subject},
    sections::Found,
};
use crate::{domain::StateFile, text::json::JsonDocument};

/// Compares two documents, value by value.
pub(super) fn compare(before: &JsonDocument, after: &JsonDocument) -> Found {
    let mut differences = Vec::new();
    for found in before.differences(after) {
        let path = found.path.to_string();
        let subject = match found.is_end {
            true => Subject::ArrayEnd { path },
            false => Subject::Variable { path },
        };
        let (before, after) = (found.before, found.after);
        differences.push(Difference { file: StateFile::Variables, subject, before, after });
    }
    Found { differences, layout: false }
}
