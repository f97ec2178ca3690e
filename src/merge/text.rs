//! Files without parts that we know: lines, and ordinary conflict markers.

use similar::{ConflictStyle, TextMerge};

use super::MergeError;
use crate::domain::StateFile;

/// Merges line by line, with git's own markers where both sides changed the same lines.
pub(super) fn merge(
    file: StateFile,
    base: Option<&[u8]>,
    ours: &[u8],
    theirs: &[u8],
) -> Result<Vec<u8>, MergeError> {
    let read = |side, bytes| {
        let text = std::str::from_utf8(bytes);
        text.map_err(|error| MergeError { file, side, message: error.to_string() })
    };
    let base = read("the base", base.unwrap_or_default())?;
    let mut merge =
        TextMerge::from_lines(base, read("our side", ours)?, read("their side", theirs)?);
    merge.conflict_style(ConflictStyle::Diff3).labels("base", "ours", "theirs");
    let mut out = Vec::new();
    let written = merge.to_writer(&mut out);
    written.map_err(|error| MergeError { file, side: "our side", message: error.to_string() })?;
    Ok(out)
}
