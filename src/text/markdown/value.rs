//! Values: how they are read, and how one is written so that it reads back identical.

use super::{Document, ItemId, line};

/// The quotes around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quote {
    /// None.
    None,
    /// `'…'`
    Single,
    /// `"…"`
    Double,
}

/// A value in the form in which it will stand in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Source on the line of its key.
    Inline(String),
    /// Lines of a quotation below the key: they stay markdown.
    Quote(String),
    /// Lines of a fenced block below the key.
    Fence(String),
}

impl Written {
    /// The block that says the value, all but its first line indented by `indent`; `None` for
    /// what is on the line of the key.
    pub(crate) fn block(&self, indent: &str, newline: &str) -> Option<String> {
        match self {
            Self::Inline(_) => None,
            Self::Quote(text) => Some(quote(text, indent, newline)),
            Self::Fence(text) => Some(fence(text, indent, newline)),
        }
    }
}

/// What the lines of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Text that people write, where it looks like it.
    Markdown,
    /// What a program printed.
    Code,
}

/// What a new item or a changed one must say afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Its decoded value.
    Value(String),
    /// The exact source of its value.
    Raw(String),
    /// Its whole text, key included.
    Text(String),
}

impl Reading {
    /// Whether `item` says so.
    pub(crate) fn holds(&self, document: &Document, item: ItemId) -> bool {
        match self {
            Self::Value(value) => document.value(item) == *value,
            Self::Raw(raw) => {
                document.raw_value(item) == raw && document.item(item).block.is_none()
            }
            Self::Text(text) => document.text(item) == *text,
        }
    }
}

/// The meaning of the source `raw` of a value, and the quotes it was written in.
///
/// Double quotes hold a JSON string; where they do not, they are stripped like single ones, if
/// the pair is all there is.
pub(crate) fn decode(raw: &str) -> (String, Quote) {
    let joined = join_lines(line::trim(raw));
    if let Some(inner) = between(&joined, '"') {
        if let Ok(text) = serde_json::from_str::<String>(&joined) {
            return (text, Quote::Double);
        }
        if !inner.contains('"') {
            return (inner.to_owned(), Quote::Double);
        }
    }
    match between(&joined, '\'') {
        Some(inner) if !inner.contains('\'') => (inner.to_owned(), Quote::Single),
        _ => (joined, Quote::None),
    }
}

/// The end of `source[start..end]` without trailing comments, ` <!-- … -->`.
pub(crate) fn without_comments(source: &str, start: usize, end: usize) -> usize {
    let mut end = line::trim_end(source, start, end);
    while let Some(body) = source.get(start..end).and_then(|text| text.strip_suffix("-->")) {
        let Some(open) = body.rfind("<!--") else { break };
        let before = &body[..open];
        let apart = before.is_empty() || before.bytes().last().is_some_and(line::is_space);
        if !apart || body[open + 4..].contains("-->") {
            break;
        }
        end = line::trim_end(source, start, start + open);
    }
    end
}

/// The first form of `value` for which `reads_back` holds: plain if possible, in the quotes
/// that were there before, as a quotation or a fenced block if it has several lines, else as a JSON
/// string.
pub(crate) fn write(
    value: &str,
    keep: Quote,
    lines: Lines,
    reads_back: impl Fn(&Written) -> bool,
) -> Option<Written> {
    let clean = |allowed: &[char]| !value.chars().any(|c| c.is_control() && !allowed.contains(&c));
    let json = || serde_json::to_string(value).ok().map(Written::Inline);
    let mut forms = Vec::with_capacity(4);
    if value.contains('\n') {
        if clean(&['\n', '\t']) {
            if lines == Lines::Markdown && is_prose(value) {
                forms.push(Some(Written::Quote(value.to_owned())));
            }
            forms.push(Some(Written::Fence(value.to_owned())));
        }
    } else if !value.is_empty() && clean(&[]) {
        forms.push(match keep {
            Quote::None => Some(Written::Inline(value.to_owned())),
            Quote::Single => Some(Written::Inline(format!("'{value}'"))),
            Quote::Double => None,
        });
    }
    forms.push(json());
    forms.into_iter().flatten().find(|form| reads_back(form))
}

/// Whether lines are text that people write rather than code or data, so that they are worth
/// being shown as markdown.
///
/// What defines a link would do so for the whole document, HTML would be hidden, and a fence that is
/// not closed belongs to no text.
fn is_prose(value: &str) -> bool {
    let lines = || value.split('\n');
    let is_blank = |line: Option<&str>| line.is_none_or(|line| line.trim().is_empty());
    let is_item = |line: &str| {
        let text = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = text.strip_prefix(['-', '*', '+', '.', ')']);
        rest.is_some_and(|rest| rest.starts_with(' '))
    };
    let (mut is_in_list, mut fences) = (false, 0);
    let is_code = lines().any(|line| {
        let text = line.trim_start();
        is_in_list |= is_item(line);
        fences += usize::from(text.starts_with("```") || text.starts_with("~~~"));
        let is_indented = line.starts_with('\t') || line.starts_with("    ");
        text.starts_with('<') || (is_indented && !is_in_list && fences % 2 == 0)
    });
    let is_data = value.starts_with(['{', '[']) || value.contains("]:");
    !is_blank(lines().next())
        && !is_blank(lines().next_back())
        && !is_code
        && !is_data
        && fences % 2 == 0
}

/// A quotation that says `value`, all but its first line indented by `indent`.
fn quote(value: &str, indent: &str, newline: &str) -> String {
    let mut out = String::with_capacity(value.len() + 16);
    for (at, text) in value.split('\n').enumerate() {
        if at > 0 {
            out.extend([newline, indent]);
        }
        out.push_str(if text.is_empty() { ">" } else { "> " });
        out.push_str(text);
    }
    out
}

/// What the source of a quotation says; `None` if one of its lines has no mark.
pub(crate) fn unquote_block(source: &str) -> Option<String> {
    let text = |line: &str| {
        let line = line.trim_start_matches([' ', '\t']).strip_prefix('>')?;
        Some(line.strip_prefix(' ').unwrap_or(line).to_owned())
    };
    Some(line::lines(source).map(text).collect::<Option<Vec<_>>>()?.join("\n"))
}

/// A fenced block that says `value`, all but its first line indented by `indent`.
pub(crate) fn fence(value: &str, indent: &str, newline: &str) -> String {
    let ticks = "`".repeat(3.max(longest_run(value, b'`') + 1));
    let mut out = format!("{ticks}text{newline}");
    for text in value.split('\n') {
        if !text.is_empty() {
            out.push_str(indent);
            out.push_str(text);
        }
        out.push_str(newline);
    }
    out.push_str(indent);
    out.push_str(&ticks);
    out
}

fn longest_run(text: &str, byte: u8) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for b in text.bytes() {
        run = if b == byte { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn join_lines(text: &str) -> String {
    // One search for each: a search for either looks at every character.
    if !text.contains('\n') && !text.contains('\r') {
        return text.to_owned();
    }
    line::lines(text).map(line::trim).collect::<Vec<_>>().join(" ")
}

fn between(text: &str, quote: char) -> Option<&str> {
    text.strip_prefix(quote)?.strip_suffix(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_decoded_only_when_they_are_a_pair_around_everything() {
        let read = |raw| decode(raw).0;
        assert_eq!(read(r#""a\n\"b\"""#), "a\n\"b\"");
        assert_eq!(read(r#""C:\path""#), r"C:\path");
        assert_eq!(read(r#""low" | "medium""#), r#""low" | "medium""#);
        assert_eq!(read("'it is'"), "it is");
        assert_eq!(read("'it's'"), "'it's'");
        assert_eq!(read("\""), "\"");
        assert_eq!(read("\"\""), "");
    }

    #[test]
    fn wrapped_lines_are_joined_with_one_space() {
        assert_eq!(decode("a  \r\n   b\rc").0, "a b c");
    }

    #[test]
    fn trailing_comments_are_no_part_of_a_value() {
        let cut = |text: &str| without_comments(text, 0, text.len());
        assert_eq!(cut("v <!-- a --> <!-- b -->"), 1);
        assert_eq!(cut("<!-- a -->"), 0);
        assert_eq!(cut("v<!-- a -->"), 11);
        assert_eq!(cut("a --> b -->"), 11);
        assert_eq!(cut("v <!-- a --> b -->"), 18);
    }

    #[test]
    fn text_is_quoted_and_code_is_fenced() {
        for text in ["a\nb", "- a\n    - b", "# a\n\n> b", "a:\n```\n    b\n```\nc", "1. a\n2. b"] {
            assert!(is_prose(text), "{text}");
            assert_eq!(unquote_block(&quote(text, "  ", "\n")).as_deref(), Some(text));
        }
        let code = [
            "a\n    b", "a\n\tb", "{\n}", "[\n]", "a\n<!-- b", "a\n```", "\na", "a\n", "a\n[b]: c",
        ];
        for text in code {
            assert!(!is_prose(text), "{text}");
        }
        assert_eq!(unquote_block("> a\nb"), None);
    }

    #[test]
    fn a_fence_is_longer_than_any_run_in_it() {
        assert_eq!(fence("a\n\n````", "  ", "\n"), "`````text\n  a\n\n  ````\n  `````");
    }
}
