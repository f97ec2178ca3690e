//! Three-way merge of the state files by meaning.
//!
//! Each file is taken apart into the things it says: entries, steps and their fields, settings,
//! paragraphs, keys. They are paired by identity, never by line (a markdown file by the
//! [outline](crate::domain::outline) that comparisons use, too), and what only one side changed is
//! taken from that side, bytes and all. A field that both sides changed differently is a
//! [`Conflict`]: a value of its own, written into the file so that the file can still be read.
//!
//! - `merge(x, x, x) = x`, `merge(b, a, b) = a`, `merge(b, b, a) = a`, `merge(b, a, a) = a`
//! - swapping the sides gives the same state, apart from the labels of conflicts
//! - no entry of a history is lost, changed or put before one that it follows

mod checklist;
mod compose;
mod conflict;
mod field;
mod git_markers;
mod history;
mod ids;
mod markdown;
mod moves;
mod needs;
mod plan;
mod references;
mod resolve;
mod step;
mod variables;

#[cfg(test)]
mod tests;

use crate::domain::{StateFile, Workflow};

pub(crate) use checklist::merge_checklist;
pub(crate) use conflict::{Conflict, conflicts, may_conflict};
pub(crate) use git_markers::{has_git_markers, hunks, split_git_markers};
pub(crate) use plan::copy_step_data;
pub(crate) use resolve::{ResolveError, Side, choose_side};

/// The outcome of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The new content of the file.
    pub bytes: Vec<u8>,
    /// What a person has to decide; written into the bytes too.
    pub conflicts: Vec<Conflict>,
}

/// A side that cannot be understood, so that nothing can be merged by meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{side} of `{file}` cannot be read: {message}")]
pub struct MergeError {
    pub file: StateFile,
    /// `the base`, `our side` or `their side`.
    pub side: &'static str,
    /// Why.
    pub message: String,
}

/// Merges what `ours` and `theirs` made of `base`.
///
/// A side that lacks the file is `None`; a base that is empty, or no JSON, counts as absent. `None` is returned
/// when the file is gone from both, or gone from one and unchanged on the other. A file that was
/// removed on one side and changed on the other stays. `workflow` says what the statuses mean.
///
/// # Errors
/// A side cannot be read.
pub fn merge(
    file: StateFile,
    base: Option<&[u8]>,
    ours: Option<&[u8]>,
    theirs: Option<&[u8]>,
    workflow: &Workflow,
) -> Result<Option<Merged>, MergeError> {
    // Where branches crossed without the driver, git's own base may hold markers.
    let split = base
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .filter(|text| has_git_markers(text))
        .and_then(split_git_markers);
    let split = split.map(|(one, _)| one.into_bytes());
    let base = split.as_deref().or(base);
    let (ours, theirs) = match (ours, theirs) {
        (None, None) => return Ok(None),
        (Some(only), None) | (None, Some(only)) => {
            return Ok((base != Some(only)).then(|| as_merged(file, only)));
        }
        (Some(ours), Some(theirs)) => (ours, theirs),
    };
    if ours == theirs || base == Some(theirs) {
        return Ok(Some(as_merged(file, ours)));
    }
    if base == Some(ours) {
        return Ok(Some(as_merged(file, theirs)));
    }
    let base = base.filter(|bytes| !bytes.is_empty());
    let bytes = match file {
        StateFile::History => history::merge(base.unwrap_or_default(), ours, theirs),
        StateFile::Variables => variables::merge(base, ours, theirs)?,
        StateFile::Plan | StateFile::Context | StateFile::Constraints => {
            markdown::merge(file, base.unwrap_or_default(), ours, theirs, workflow)?
        }
        StateFile::Workflow | StateFile::Log => git_markers::merge(file, base, ours, theirs)?,
    };
    Ok(Some(Merged { conflicts: conflicts(file, &bytes), bytes }))
}

fn as_merged(file: StateFile, bytes: &[u8]) -> Merged {
    Merged { bytes: bytes.to_vec(), conflicts: conflicts(file, bytes) }
}
