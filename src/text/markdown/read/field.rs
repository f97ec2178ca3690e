//! Recognising the key of a list item: `**key**: value`, `**key:** value`, `key: value`.

use std::ops::Range;

use crate::text::markdown::line;

/// A key at the beginning of an item's text.
pub(crate) struct Key {
    /// Its text, unescaped.
    pub text: String,
    /// Where that text is, without markers and colon.
    pub span: Range<usize>,
    /// Where the value may begin: after the colon and the markers.
    pub end: usize,
}

/// The longest key that is recognised without bold markers.
const MAX_PLAIN: usize = 41;

/// The key written in bold over `strong`, if a colon belongs to it; `text` is what it says.
pub(crate) fn bold_key(source: &str, strong: Range<usize>, text: &str, end: usize) -> Option<Key> {
    let inside = strong.start + 2..strong.end.checked_sub(2)?;
    let raw = source.get(inside.clone())?;
    if raw.contains(['\n', '\r']) {
        return None;
    }
    let after = line::skip_blanks(source, strong.end).min(end);
    let outer = colon_at(&source[after..end]);
    let kept = raw.trim_end_matches([' ', '\t']);
    let inner = kept.strip_suffix([':', '：']);
    let (kept, end) = match (inner, outer) {
        (inner, Some(width)) => (inner.unwrap_or(kept), after + width),
        (Some(inner), None) => (inner, strong.end),
        (None, None) => return None,
    };
    let text = line::trim(text);
    let text = match inner {
        Some(_) => line::trim(text.strip_suffix([':', '：']).unwrap_or(text)),
        None => text,
    };
    if text.is_empty() {
        return None;
    }
    let lead = kept.len() - kept.trim_start_matches([' ', '\t']).len();
    let width = kept.trim_end_matches([' ', '\t']).len();
    let span = inside.start + lead..inside.start + width.max(lead);
    Some(Key { text: text.to_owned(), span, end })
}

/// A key such as `**key：**value`, whose marks the parser takes literally because no space
/// follows them; scripts without spaces are written like that.
pub(crate) fn literal_key(source: &str, start: usize, end: usize) -> Option<Key> {
    let text = &source[start..end];
    let marks = text.get(..2).filter(|marks| matches!(*marks, "**" | "__"))?;
    let width = text[2..].find(['*', '_', '\\', '`', '<', '[', '\n', '\r'])?;
    let inner = &text[2..2 + width];
    if !text[2 + width..].starts_with(marks) || !inner.ends_with([':', '：']) {
        return None;
    }
    bold_key(source, start..start + width + 4, inner, end)
}

/// The key written without markers at `start`: one to a few plain words, a colon, and then a
/// space or the end of the line, so that neither `http://x` nor a sentence becomes a field.
pub(crate) fn plain_key(source: &str, start: usize, end: usize) -> Option<Key> {
    let text = &source[start..end];
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_') {
        return None;
    }
    let width = bytes.iter().take_while(|b| is_plain(**b)).count();
    if width > MAX_PLAIN {
        return None;
    }
    let rest = &text[width..];
    let colon = colon_at(rest)?;
    let spaced = rest[colon..].bytes().next().is_none_or(line::is_space);
    if colon == 1 && !spaced {
        return None;
    }
    let key = text[..width].trim_end_matches(' ');
    Some(Key { text: key.to_owned(), span: start..start + key.len(), end: start + width + colon })
}

/// Whether two keys are the same: letter case and the kind of separator do not matter.
pub(crate) fn same_key(a: &str, b: &str) -> bool {
    let fold = |c: u8| match c {
        b' ' | b'-' => b'_',
        other => other.to_ascii_lowercase(),
    };
    a.len() == b.len() && a.bytes().map(fold).eq(b.bytes().map(fold))
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ' | b'-')
}

/// The width of the colon, ASCII or full-width, that `text` begins with.
fn colon_at(text: &str) -> Option<usize> {
    text.chars().next().filter(|c| matches!(c, ':' | '：')).map(char::len_utf8)
}
