//! Merging line by line.

use similar::{ConflictStyle, MergeResolution, TextMerge};

use super::MergeError;
use crate::domain::StateFile;

/// A file without things that we know, with git's own markers where both sides changed the same
/// lines.
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

/// The text with the changed lines of both sides, unless they changed the same ones.
pub(super) fn merge_text(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let merge = TextMerge::from_lines(base, ours, theirs);
    let mut out = String::new();
    for region in merge.regions() {
        let (range, ours) = match region.resolution() {
            MergeResolution::Conflict => return None,
            MergeResolution::Theirs => (region.theirs_range(), false),
            _ => (region.ours_range(), true),
        };
        for at in range {
            let line = if ours { merge.ours_line(at) } else { merge.theirs_line(at) };
            out.push_str(line.unwrap_or_default());
        }
    }
    Some(out)
}
