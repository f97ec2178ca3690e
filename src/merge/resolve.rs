//! Resolving a conflict by choosing a side.

use crate::text::{
    json::{JsonDocument, JsonError, Literal},
    markdown::Document,
};

use super::conflict::Version;
use super::conflict::{self, conflicts, field_of, in_markdown, stem};
use super::git_markers::split_git_markers;
use crate::domain::StateFile;

/// Whose value to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The value before both changes.
    Base,
    Ours,
    Theirs,
}

/// Why nothing was resolved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveError {
    /// The file has no such conflict.
    #[error("there is no conflict `{0}`")]
    NotFound(String),
    /// The file cannot be read.
    #[error("`{file}` cannot be read: {message}")]
    Unreadable {
        file: StateFile,
        /// Why.
        message: String,
    },
}

/// The file with a conflict resolved: `field` names one conflict, or all below it.
pub(crate) fn choose_side(
    file: StateFile,
    bytes: &[u8],
    field: &str,
    side: Side,
) -> Result<(Vec<u8>, usize), ResolveError> {
    let unreadable = |message: String| ResolveError::Unreadable { file, message };
    let source = String::from_utf8(bytes.to_vec()).map_err(|e| unreadable(e.to_string()))?;
    let wanted = |name: &str| {
        let rest = name.strip_prefix(field);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    if !conflicts(file, bytes).iter().any(|conflict| wanted(&conflict.field)) {
        return Err(ResolveError::NotFound(field.to_owned()));
    }
    if field == stem(file)
        && let Some((ours, theirs)) = split_git_markers(&source)
    {
        if file == StateFile::History {
            // A log is a set: neither side is to lose its entries.
            return Ok((super::history::merge(&[], ours.as_bytes(), theirs.as_bytes()), 1));
        }
        let text = if side == Side::Theirs { theirs } else { ours };
        return Ok((text.into_bytes(), 1));
    }
    if file == StateFile::Variables {
        return in_json(source, &wanted, side).map_err(|error| unreadable(error.to_string()));
    }
    let mut text = source;
    let mut count = 0;
    // One after the other: resolving one may remove others with their section.
    loop {
        let document = Document::parse(text.as_str()).map_err(|e| unreadable(e.to_string()))?;
        let placed = in_markdown(file, &document);
        let Some(found) = placed.into_iter().find(|placed| wanted(&placed.conflict.field)) else {
            return Ok((text.into_bytes(), count));
        };
        count += 1;
        let version = match side {
            Side::Base => &found.marker.base,
            Side::Ours => &found.marker.ours,
            Side::Theirs => &found.marker.theirs,
        };
        match version {
            Version::Text(value) => {
                text.replace_range(found.span, &value.replace('\n', document.newline()));
            }
            Version::Section => cut(&mut text, found.span, true),
            Version::Absent => cut(&mut text, found.whole, false),
        }
    }
}

/// Takes whole lines out, and the blank line behind them if there is one before them too or if
/// they are a `note` that came with it.
fn cut(text: &mut String, span: std::ops::Range<usize>, note: bool) {
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let mut end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
    let blank_before = start == 0 || text[..start].trim_end_matches(['\r', '\n']).len() + 1 < start;
    let next = text[end..].find('\n').map(|at| end + at + 1);
    if let Some(next) =
        next.filter(|next| (note || blank_before) && text[end..*next].trim().is_empty())
    {
        end = next;
    }
    text.replace_range(start..end, "");
}

fn in_json(
    source: String,
    wanted: &dyn Fn(&str) -> bool,
    side: Side,
) -> Result<(Vec<u8>, usize), JsonError> {
    let document = JsonDocument::parse(source)?;
    let mut edit = document.edit();
    let mut count = 0;
    let name = match side {
        Side::Base => "base",
        Side::Ours => "ours",
        Side::Theirs => "theirs",
    };
    loop {
        let mut found = conflict::in_json(edit.document()).into_iter();
        let Some((path, sides)) = found.find(|(path, _)| wanted(&field_of(path))) else { break };
        match sides.get(name) {
            Some(value) => edit.set_text(&path, &Literal::to_text(value))?,
            None => {
                edit.remove(&path)?;
            }
        }
        count += 1;
    }
    Ok((edit.finish().document.into_source().into_bytes(), count))
}
