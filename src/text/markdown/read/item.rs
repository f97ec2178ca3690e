//! One list item while its events come in: where its text, key and value are.

use std::ops::Range;

use crate::text::markdown::document::{Item, ItemId};
use crate::text::markdown::{field, hidden, line, value};

/// An item that is not closed yet.
pub(crate) struct OpenItem {
    pub id: ItemId,
    head: usize,
    content_start: usize,
    content_end: Option<usize>,
    phase: Phase,
    strong: Option<Strong>,
    block: Option<ValueBlock>,
    /// Whether there are blocks that neither nest items nor can be the value.
    other: bool,
    checkbox: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing has come yet.
    Fresh,
    /// In the text that the item begins with.
    Text,
    /// After that text.
    Closed,
}

/// Bold text at the very beginning of the item.
struct Strong {
    range: Range<usize>,
    text: String,
    open: bool,
}

/// A block below the key that may be the value.
struct ValueBlock {
    kind: BlockForm,
    range: Range<usize>,
    text: String,
}

/// How a block can say a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockForm {
    /// Its lines are the value.
    Fence,
    /// What follows the marks of its lines is the value.
    Quote,
    None,
}

impl OpenItem {
    /// An item whose bullet is at `start` and which ends at `end`.
    pub(crate) fn new(source: &str, id: ItemId, start: usize, end: usize) -> Self {
        let head = (start + marker_width(&source[start..])).min(end);
        Self {
            id,
            head,
            content_start: line::skip_space(source, head, end),
            content_end: None,
            phase: Phase::Fresh,
            strong: None,
            block: None,
            other: false,
            checkbox: None,
        }
    }

    pub(crate) fn checkbox(&mut self, checked: bool, range: Range<usize>) {
        self.checkbox = Some(checked);
        self.head = range.end;
        self.content_start = range.end;
    }

    pub(crate) fn paragraph(&mut self, range: &Range<usize>) {
        match self.phase {
            Phase::Fresh => {
                self.phase = Phase::Text;
                self.content_end = Some(range.end);
            }
            Phase::Text | Phase::Closed => {
                self.close_text(range.start);
                self.other = true;
            }
        }
    }

    pub(crate) fn end_paragraph(&mut self) {
        self.phase = Phase::Closed;
    }

    pub(crate) fn list(&mut self, range: &Range<usize>) {
        self.close_text(range.start);
    }

    /// Another block begins; whether it may be the value.
    pub(crate) fn block(&mut self, range: &Range<usize>, kind: BlockForm) -> bool {
        self.close_text(range.start);
        if kind != BlockForm::None && self.block.is_none() && !self.other {
            self.block = Some(ValueBlock { kind, range: range.clone(), text: String::new() });
            return true;
        }
        self.other = true;
        false
    }

    pub(crate) fn code(&mut self, text: &str) {
        if let Some(block) = &mut self.block {
            block.text.push_str(text);
        }
    }

    pub(crate) fn inline(&mut self) {
        match self.phase {
            Phase::Fresh => self.phase = Phase::Text,
            Phase::Text => {}
            Phase::Closed => self.other = true,
        }
    }

    pub(crate) fn strong(&mut self, range: &Range<usize>) {
        let first = self.strong.is_none() && self.phase != Phase::Closed;
        self.inline();
        if first {
            self.strong = Some(Strong { range: range.clone(), text: String::new(), open: true });
        }
    }

    pub(crate) fn end_strong(&mut self, range: &Range<usize>) {
        if let Some(strong) = &mut self.strong
            && strong.range == *range
        {
            strong.open = false;
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.inline();
        if let Some(strong) = &mut self.strong
            && strong.open
        {
            strong.text.push_str(text);
        }
    }

    /// Writes what was found into `item`, which ends at `end`.
    pub(crate) fn finish(self, source: &str, end: usize, item: &mut Item) {
        let limit = self.content_end.unwrap_or(end).min(end);
        let start = line::skip_space(source, self.content_start, limit);
        let end_of_text = line::trim_end(source, start.min(limit), limit);
        let content = match start < end_of_text {
            true => start..end_of_text,
            false => self.head..self.head,
        };
        let key = match self.strong {
            Some(strong) if strong.range.start == content.start && !content.is_empty() => {
                field::bold_key(source, strong.range, &strong.text, content.end)
            }
            _ => field::literal_key(source, content.start, content.end)
                .or_else(|| field::plain_key(source, content.start, content.end)),
        };
        let from = key.as_ref().map_or(content.start, |key| key.end);
        let first = line::skip_space(source, from, content.end);
        let last = value::without_comments(source, first, content.end);
        item.value_span = match first < last {
            true => first..last,
            false if key.is_some() => from..from,
            false => self.head..self.head,
        };
        if let Some(key) = key {
            item.key = Some(key.text);
            item.key_span = Some(key.span);
        }
        item.takes_block = !self.other && (self.block.is_none() || item.value_span.is_empty());
        if let Some(block) = self.block.filter(|_| item.value_span.is_empty() && !self.other) {
            let at = block.range.start..line::trim_end(source, block.range.start, block.range.end);
            let text = match block.kind {
                BlockForm::Quote => value::unquote_block(&source[at.clone()]),
                _ if hidden::is_closed(&source[at.clone()]) => {
                    Some(block.text.strip_suffix('\n').unwrap_or(&block.text).to_owned())
                }
                // Blank lines between it and whatever follows are no part of it.
                _ => Some(block.text.trim_end_matches('\n').to_owned()),
            };
            match text {
                Some(text) => {
                    item.block_text = Some(text.into());
                    item.block = Some(at);
                }
                None => item.takes_block = false,
            }
        }
        item.span.end = end.max(self.head);
        item.checkbox = self.checkbox;
        item.head = self.head;
        item.content = content;
    }

    fn close_text(&mut self, end: usize) {
        self.content_end.get_or_insert(end);
        self.phase = Phase::Closed;
    }
}

/// How many bytes the bullet or number at the beginning of `text` takes.
pub(crate) fn marker_width(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(b'-' | b'+' | b'*') => 1,
        Some(b'0'..=b'9') => {
            let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            digits + usize::from(matches!(bytes.get(digits), Some(b'.' | b')')))
        }
        _ => 0,
    }
}
