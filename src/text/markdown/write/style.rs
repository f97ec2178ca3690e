//! How an item is written, so that a new one can be written the same way.

use crate::text::markdown::item::marker_width;
use crate::text::markdown::{Document, Item, ItemId, line};

/// The bullet of an item and the room around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BulletStyle {
    /// What is before the bullet on its line.
    pub indent: String,
    /// The bullet or the number.
    pub marker: String,
    /// What is between bullet and text.
    pub pad: String,
}

/// How a key is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyLook {
    /// What is on both sides of it: `**`, `__` or nothing.
    pub marks: &'static str,
    /// Whether the colon is inside the marks.
    pub inside: bool,
    /// The colon, ASCII or full-width.
    pub colon: char,
}

impl BulletStyle {
    /// `- `, indented by `columns`.
    pub(crate) fn plain(columns: usize) -> Self {
        Self { indent: " ".repeat(columns), marker: "-".to_owned(), pad: " ".to_owned() }
    }

    /// The bullet of `item`; a number stays as it is.
    pub(crate) fn of(document: &Document, item: &Item) -> Self {
        let source = document.source();
        let start = item.span.start;
        let before = &source[line::line_start(source, start)..start];
        let indent = match before.bytes().all(|b| matches!(b, b' ' | b'\t')) {
            true => before.to_owned(),
            false => " ".repeat(line::columns(before)),
        };
        let end = start + marker_width(&source[start..]);
        let text = line::skip_blanks(source, end);
        let pad = &source[end..text];
        let wide = line::columns(&source[line::line_start(source, start)..text])
            - line::columns(&source[line::line_start(source, start)..end]);
        let blank = line::text_end(source, end) == text;
        let pad = if blank || !(1..=4).contains(&wide) { " " } else { pad };
        Self { indent, marker: source[start..end].to_owned(), pad: pad.to_owned() }
    }

    /// The bullet for an item after this one: a number counts on.
    pub(crate) fn next(mut self) -> Self {
        let digits = self.marker.trim_end_matches(['.', ')']);
        if let Ok(number) = digits.parse::<u32>()
            && number < 999_999_999
        {
            let end = self.marker.split_off(digits.len());
            self.marker = format!("{}{end}", number + 1);
        }
        self
    }

    /// The bullet as it is at the beginning of a line.
    pub(crate) fn line(&self) -> String {
        [&*self.indent, &*self.marker, &*self.pad].concat()
    }

    /// The indentation of what belongs to the item on further lines; spaces only, since the
    /// parser splits a tab when a block begins in the middle of it.
    pub(crate) fn content_indent(&self) -> String {
        " ".repeat(line::columns(&self.line()))
    }
}

impl KeyLook {
    /// `**key**:`
    pub(crate) const BOLD: Self = Self { marks: "**", inside: false, colon: ':' };
    /// `key:`
    pub(crate) const PLAIN: Self = Self { marks: "", inside: false, colon: ':' };

    /// How the key of `item` is marked, if it has one.
    pub(crate) fn of(document: &Document, item: &Item) -> Option<Self> {
        let source = document.source();
        let key = item.key_span.clone()?;
        let marks = match source.get(item.content.start..item.content.start + 2) {
            Some("**") => "**",
            Some("__") => "__",
            _ => "",
        };
        let rest = source[key.end..item.content.end].trim_start_matches([' ', '\t']);
        let inside = !marks.is_empty() && rest.starts_with([':', '：']);
        let colon = rest.chars().find(|c| matches!(c, ':' | '：')).unwrap_or(':');
        Some(Self { marks, inside, colon })
    }

    /// `key` with its marks and its colon.
    pub(crate) fn write(self, key: &str) -> String {
        let Self { marks, inside, colon } = self;
        match inside {
            true => format!("{marks}{key}{colon}{marks}"),
            // `format!` costs ten times as much, and an entry has a dozen fields.
            false => {
                let mut out = [marks, key, marks].concat();
                out.push(colon);
                out
            }
        }
    }
}

/// Whether a blank line is between the items around `siblings[at]`, of the same list.
pub(crate) fn is_loose(document: &Document, siblings: &[ItemId], at: usize) -> bool {
    let is_numbered = |id: ItemId| {
        document.source()[document.item(id).span.start..].starts_with(|c: char| c.is_ascii_digit())
    };
    let pair = |first: usize| {
        let (a, b) = (*siblings.get(first)?, *siblings.get(first + 1)?);
        let between = document.item(a).span.end..document.item(b).span.start;
        let is_apart = document.source().get(between).is_some_and(|text| !text.trim().is_empty());
        (is_numbered(a) == is_numbered(b) && !is_apart).then_some((a, b))
    };
    pair(at).or_else(|| pair(at.checked_sub(1)?)).is_some_and(|(a, b)| {
        let after = line::next_line(document.source(), document.item(a).span.end);
        after < document.item(b).span.start && line::blank_at(document.source(), after)
    })
}
