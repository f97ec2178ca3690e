//! Merging line by line, and the markers that git leaves in a file when nobody merged it by
//! meaning.

use std::ops::Range;

use super::MergeError;
use crate::domain::StateFile;
use similar::{ConflictStyle, MergeResolution, TextMerge};

/// Whether git left conflict markers at the beginning of lines, one after another.
///
/// Lines inside a code fence are a quotation, not a conflict.
pub(crate) fn has_git_markers(text: &str) -> bool {
    text.contains("<<<<<<< ")
        && regions(text).iter().any(|region| matches!(region, Region::Both(..)))
}

/// The two sides of a file that git left markers in; `None` if there are none.
pub(crate) fn split_git_markers(text: &str) -> Option<(String, String)> {
    let regions = regions(text);
    let mut sides = (String::new(), String::new());
    let mut any = false;
    for region in regions {
        match region {
            Region::Same(line) => {
                sides.0.push_str(line);
                sides.1.push_str(line);
            }
            Region::Both(Sides { ours, theirs, .. }) => {
                any = true;
                sides.0.push_str(&ours);
                sides.1.push_str(&theirs);
            }
        }
    }
    any.then_some(sides)
}

/// One conflict that git left in a text.
#[derive(Debug)]
pub(crate) struct Hunk {
    /// Where it stands, with its markers.
    pub at: Range<usize>,
    /// Its first line, from one.
    pub line: usize,
    /// What the sides say.
    pub sides: Sides,
}

/// What the sides of a conflict say.
#[derive(Debug, Default)]
pub(crate) struct Sides {
    /// Before both changes; empty where git does not tell.
    pub base: String,
    pub ours: String,
    pub theirs: String,
    /// How many bytes and lines they take in the text, with their markers.
    len: usize,
    lines: usize,
}

/// The conflicts that git left in a text, in order.
pub(crate) fn hunks(text: &str) -> Vec<Hunk> {
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    for region in regions(text) {
        let (len, lines) = match region {
            Region::Same(same) => (same.len(), 1),
            Region::Both(sides) => {
                let (len, lines) = (sides.len, sides.lines);
                found.push(Hunk { at: at..at + len, line, sides });
                (len, lines)
            }
        };
        at += len;
        line += lines;
    }
    found
}

enum Region<'t> {
    Same(&'t str),
    Both(Sides),
}

#[derive(PartialEq)]
enum In {
    Ours,
    Base,
    Theirs,
}

fn regions(text: &str) -> Vec<Region<'_>> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut out = Vec::new();
    let mut at = 0;
    let mut fence: Option<&str> = None;
    while let Some(line) = lines.get(at) {
        let mark = line.trim_start().get(..3).filter(|mark| matches!(*mark, "```" | "~~~"));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        let is_start = line.starts_with("<<<<<<< ") && fence.is_none();
        match is_start.then(|| conflict(&lines[at..])).flatten() {
            Some((region, width)) => {
                out.push(region);
                at += width;
            }
            None => {
                out.push(Region::Same(line));
                at += 1;
            }
        }
    }
    out
}

fn conflict<'t>(lines: &[&'t str]) -> Option<(Region<'t>, usize)> {
    let mut sides = Sides::default();
    let mut part = In::Ours;
    for (at, line) in lines.iter().enumerate().skip(1) {
        let bare = line.trim_end();
        match part {
            In::Ours if line.starts_with("||||||| ") || bare == "|||||||" => part = In::Base,
            In::Ours | In::Base if bare == "=======" => part = In::Theirs,
            In::Theirs if line.starts_with(">>>>>>> ") || bare == ">>>>>>>" => {
                sides.lines = at + 1;
                sides.len = lines[..=at].iter().map(|line| line.len()).sum();
                return Some((Region::Both(sides), at + 1));
            }
            In::Ours => sides.ours.push_str(line),
            In::Base => sides.base.push_str(line),
            In::Theirs => sides.theirs.push_str(line),
        }
    }
    None
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sides_are_distinguished() {
        let text = "a\n<<<<<<< HEAD\nb\n||||||| x\nq\n=======\nc\n>>>>>>> other\nd\n";
        assert!(has_git_markers(text));
        let (ours, theirs) = split_git_markers(text).unwrap();
        assert_eq!((ours.as_str(), theirs.as_str()), ("a\nb\nd\n", "a\nc\nd\n"));
    }

    #[test]
    fn a_quotation_is_not_a_conflict() {
        let quoted = "~~~\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n~~~\n";
        assert!(!has_git_markers(quoted));
        assert!(!has_git_markers("<<<<<<< HEAD\nb\n"));
    }
}
