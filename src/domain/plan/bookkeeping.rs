//! The bookkeeping of a step in one line: `k3f9 · attempt 2 · ada since 2026-01-15T09:00:00Z`, and
//! ` · completed 2026-01-15T09:20:00Z` once it is done.
//!
//! It follows `id`, as the last field of a step. Older states have the fields `attempts`,
//! `claimed_by` and `started_at` instead, which are read and edited where they are.

use std::ops::Range;

use serde_json::Value;

use crate::domain::StepId;

/// The names of the fields that the line holds besides the id, in its order.
pub(crate) const ATTEMPTS: &str = "attempts";
pub(crate) const CLAIMED_BY: &str = "claimed_by";
pub(crate) const STARTED_AT: &str = "started_at";
pub(crate) const COMPLETED_AT: &str = "completed_at";
/// A part of the line without a known meaning.
pub(crate) const REMARK: &str = "remark";

const SEPARATOR: &str = " · ";

/// One field of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineField {
    /// The name of the field.
    pub(crate) name: &'static str,
    /// The words before the value, with the separator.
    pub(crate) prefix: Range<usize>,
    pub(crate) value: Range<usize>,
}

/// The fields of the line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bookkeeping {
    pub(crate) id: String,
    pub(crate) attempts: u32,
    pub(crate) claimed_by: Option<String>,
    pub(crate) started_at: Option<String>,
    pub(crate) completed_at: Option<String>,
    /// Parts without a known meaning.
    pub(crate) remarks: Vec<String>,
}

impl Bookkeeping {
    /// Reads the line; its first word is the id, valid or not.
    pub(crate) fn parse(text: &str) -> Self {
        let (id, pieces) = pieces(text);
        let mut read = Self { id: text[id].to_owned(), ..Self::default() };
        for piece in pieces {
            let value = &text[piece.value];
            match piece.name {
                ATTEMPTS => read.attempts = value.parse().unwrap_or_default(),
                CLAIMED_BY => read.claimed_by = Some(unquoted(value)),
                STARTED_AT => read.started_at = Some(unquoted(value)),
                COMPLETED_AT => read.completed_at = Some(unquoted(value)),
                _ => read.remarks.push(value.to_owned()),
            }
        }
        read
    }

    /// The id, if it is valid.
    pub(crate) fn step_id(&self) -> Option<StepId> {
        StepId::parse(&self.id)
    }

    /// Whether the line has a field of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        match name {
            ATTEMPTS => self.attempts > 0,
            CLAIMED_BY => self.claimed_by.is_some(),
            STARTED_AT => self.started_at.is_some(),
            COMPLETED_AT => self.completed_at.is_some(),
            _ => false,
        }
    }

    /// Sets the field of that name.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) {
        let text = value.map(str::to_owned);
        match name {
            "id" => self.id = text.unwrap_or_default(),
            ATTEMPTS => {
                self.attempts = value.and_then(|text| text.parse().ok()).unwrap_or_default()
            }
            CLAIMED_BY => self.claimed_by = text,
            STARTED_AT => self.started_at = text,
            COMPLETED_AT => self.completed_at = text,
            _ => {}
        }
    }

    /// Writes the line.
    pub(crate) fn write(&self) -> String {
        let mut line = self.id.clone();
        let mut put = |piece: String| {
            line.push_str(SEPARATOR);
            line.push_str(&piece);
        };
        if self.attempts > 0 {
            put(format!("attempt {}", self.attempts));
        }
        match (&self.claimed_by, &self.started_at) {
            (Some(claim), Some(time)) => put(format!("{} since {}", claimed(claim), quoted(time))),
            (Some(claim), None) => put(format!("by {}", quoted(claim))),
            (None, Some(time)) => put(format!("since {}", quoted(time))),
            (None, None) => {}
        }
        if let Some(time) = &self.completed_at {
            put(format!("completed {}", quoted_time(time)));
        }
        self.remarks.iter().cloned().for_each(put);
        line
    }
}

/// The words before a field of that name, after other fields.
pub(crate) fn prefix_of(name: &str, is_behind_claim: bool) -> &'static str {
    match name {
        ATTEMPTS => " · attempt ",
        STARTED_AT if is_behind_claim => " since ",
        STARTED_AT => " · since ",
        COMPLETED_AT => " · completed ",
        _ => SEPARATOR,
    }
}

/// Where the id is, and the fields after it in order.
pub(crate) fn pieces(text: &str) -> (Range<usize>, Vec<LineField>) {
    let mut parts = split(text).into_iter();
    let id = parts.next().unwrap_or(0..text.len());
    let mut found = Vec::new();
    let mut end = id.end;
    for part in parts {
        let (start, words) = (part.start, &text[part.clone()]);
        let mut push = |name, value: Range<usize>| {
            found.push(LineField { name, prefix: end..value.start, value: value.clone() });
            end = value.end;
        };
        let attempt = words.strip_prefix("attempt ").filter(|rest| rest.parse::<u32>().is_ok());
        if let Some(rest) = attempt {
            push(ATTEMPTS, part.end - rest.len()..part.end);
        } else if let Some(rest) = words.strip_prefix("completed ").filter(|rest| is_time(rest)) {
            push(COMPLETED_AT, part.end - rest.len()..part.end);
        } else if let Some(rest) = words.strip_prefix("since ") {
            push(STARTED_AT, part.end - rest.len()..part.end);
        } else if let Some(at) = since(words) {
            let claim = words.strip_prefix("by ").map_or(0, |_| 3);
            push(CLAIMED_BY, start + claim..start + at);
            push(STARTED_AT, start + at + " since ".len()..part.end);
        } else if let Some(rest) = words.strip_prefix("by ") {
            push(CLAIMED_BY, part.end - rest.len()..part.end);
        } else {
            push(REMARK, part);
        }
    }
    (id, found)
}

/// Where ` since ` follows a name outside quotes.
fn since(words: &str) -> Option<usize> {
    let from = quoted_width(words.strip_prefix("by ").unwrap_or(words));
    let from = from + words.len() - words.strip_prefix("by ").unwrap_or(words).len();
    let at = words[from..].find(" since ")? + from;
    (at > 0).then_some(at)
}

/// The trimmed parts between separators outside quotes.
fn split(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < text.len() {
        let is_word_start = text[..at].ends_with(' ') || at == start;
        let quoted = if is_word_start { quoted_width(&text[at..]) } else { 0 };
        if quoted > 0 {
            at += quoted;
        } else if text[at..].starts_with('·') {
            parts.push(trimmed(text, start..at));
            at += '·'.len_utf8();
            start = at;
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    parts.push(trimmed(text, start..text.len()));
    parts
}

fn trimmed(text: &str, part: Range<usize>) -> Range<usize> {
    let words = &text[part.clone()];
    let start = part.start + words.len() - words.trim_start().len();
    start..start + words.trim().len()
}

/// The length in bytes of the quoted text at the beginning of `text`.
fn quoted_width(text: &str) -> usize {
    if !text.starts_with('"') {
        return 0;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
    match values.next() {
        Some(Ok(_)) => values.byte_offset(),
        _ => 0,
    }
}

/// The value, in quotes if it would not read back otherwise.
fn quoted(value: &str) -> String {
    let is_plain = value.trim() == value
        && !value.is_empty()
        && !value.contains(['"', '·', '\n', '\r', '\t', '\\', '`', '<', '&'])
        && !value.contains(" since ");
    if is_plain { value.to_owned() } else { Value::from(value).to_string() }
}

/// Whether a text begins like a time: `completed by hand` is a remark.
fn is_time(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '"')
}

/// A time after a word that can also begin a remark.
fn quoted_time(time: &str) -> String {
    let quoted = quoted(time);
    if is_time(&quoted) { quoted } else { Value::from(time).to_string() }
}

/// The name before ` since `.
fn claimed(claim: &str) -> String {
    let words = ["attempt ", "since ", "by ", "completed "];
    let is_word = words.iter().any(|word| claim.starts_with(word));
    if is_word { Value::from(claim).to_string() } else { quoted(claim) }
}

fn unquoted(text: &str) -> String {
    match quoted_width(text) == text.len() && !text.is_empty() {
        true => serde_json::from_str(text).unwrap_or_else(|_| text.to_owned()),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::markdown::{Document, render_field};

    #[test]
    fn the_line_reads_as_people_would_read_it() {
        let text = "k3f9 · attempt 2 · ada@build7 (session 3f2a) since 2026-01-15T09:00:00Z";
        let read = Bookkeeping::parse(text);
        assert_eq!((read.id.as_str(), read.attempts), ("k3f9", 2));
        assert_eq!(read.claimed_by.as_deref(), Some("ada@build7 (session 3f2a)"));
        assert_eq!(read.started_at.as_deref(), Some("2026-01-15T09:00:00Z"));
        assert_eq!(read.write(), text);
        assert_eq!(Bookkeeping::parse("k3f9").write(), "k3f9");
    }

    #[test]
    fn a_typed_line_is_read_as_far_as_it_can_be() {
        let read = Bookkeeping::parse("k3f9·attempt 3 ·  by bob · waiting for Eve · since 9:00");
        assert_eq!((read.attempts, read.claimed_by.as_deref()), (3, Some("bob")));
        assert_eq!(read.started_at.as_deref(), Some("9:00"));
        assert_eq!(read.remarks, ["waiting for Eve"]);
        assert_eq!(Bookkeeping::parse("k3f9 · attempt many").remarks, ["attempt many"]);
        let read = Bookkeeping::parse("k3f9 · completed by Eve · completed 2026-01-15");
        assert_eq!(read.remarks, ["completed by Eve"]);
        assert_eq!(read.completed_at.as_deref(), Some("2026-01-15"));
    }

    #[test]
    fn the_pieces_are_the_whole_line() {
        let text = "k3f9 · attempt 2 · ada since 9:00 · completed 9:20 · x";
        let (id, pieces) = pieces(text);
        let mut whole = text[id].to_owned();
        for piece in &pieces {
            whole.push_str(&text[piece.prefix.clone()]);
            whole.push_str(&text[piece.value.clone()]);
        }
        assert_eq!(whole, text);
        let names: Vec<&str> = pieces.iter().map(|piece| piece.name).collect();
        assert_eq!(names, [ATTEMPTS, CLAIMED_BY, STARTED_AT, COMPLETED_AT, REMARK]);
        assert_eq!(&text[pieces[2].prefix.clone()], prefix_of(STARTED_AT, true));
        assert_eq!(&text[pieces[3].prefix.clone()], prefix_of(COMPLETED_AT, false));
    }

    proptest! {
        #[test]
        fn any_line_reads_back_through_the_file(
            attempts in 0u32..5,
            claim in prop::option::of("[a-z@()·\" \\\\<&`*:since-]{1,12}|attempt 3|since x|by y|a since b|completed 3"),
            time in prop::option::of("[0-9TZ:. ·\"-]{1,12}|2026-01-15T09:00:00Z"),
            end in prop::option::of("[0-9TZ:. ·\"-]{1,12}|2026-01-15T09:20:00Z"),
        ) {
            let wanted = Bookkeeping {
                id: "k3f9".to_owned(),
                attempts,
                claimed_by: claim,
                started_at: time,
                completed_at: end,
                remarks: Vec::new(),
            };
            prop_assert_eq!(&Bookkeeping::parse(&wanted.write()), &wanted);
            let field = render_field("\n", 0, true, "id", &wanted.write()).unwrap();
            let document = Document::parse(field).unwrap();
            let item = document.items(document.root())[0];
            prop_assert_eq!(&Bookkeeping::parse(&document.value(item)), &wanted);
        }
    }
}
