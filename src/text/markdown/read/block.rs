//! The blocks of a document as a flat list, which is what the proof of an edit compares.

use std::fmt;
use std::ops::Range;

use crate::text::markdown::line;

/// A block of the document, as the proof of an edit compares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Its first byte that is not white space.
    pub start: u32,
    /// The end of its last byte that is not white space.
    pub end: u32,
    /// How many items and quotes are around it.
    pub depth: u16,
    pub kind: BlockKind,
}

/// The kinds of blocks that are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// A heading that begins a section; they come in the order of the sections.
    Section,
    /// An item that is indexed; they come in the order of the items.
    Item,
    /// A heading inside an item or a quote.
    Heading,
    /// An item inside a quote.
    QuotedItem,
    /// A block quote.
    Quote,
    /// A paragraph that is not the text of an item.
    Paragraph,
    /// A code block, fenced or indented.
    Code,
    /// An HTML block.
    Html,
    Table,
    /// A thematic break.
    Rule,
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Section => "a section",
            Self::Item => "a list item",
            Self::Heading => "a nested heading",
            Self::QuotedItem => "a quoted list item",
            Self::Quote => "a quote",
            Self::Paragraph => "a paragraph",
            Self::Code => "a code block",
            Self::Html => "an HTML block",
            Self::Table => "a table",
            Self::Rule => "a rule",
        })
    }
}

/// The blocks of `source`, while they are found.
pub(crate) struct Blocks<'s> {
    source: &'s str,
    list: Vec<Block>,
    /// The last end that was trimmed and the outcome: nested blocks share their end.
    trimmed: (usize, usize),
}

impl<'s> Blocks<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self { source, list: Vec::new(), trimmed: (0, 0) }
    }

    /// Begins a block inside `depth` others; the number to close it with.
    pub(crate) fn open(&mut self, kind: BlockKind, depth: usize, start: usize) -> usize {
        let start = line::skip_blanks(self.source, start);
        // Sources are far below 4 GiB, so that offsets fit.
        let at = u32::try_from(start).unwrap_or(u32::MAX);
        let depth = u16::try_from(depth).unwrap_or(u16::MAX);
        self.list.push(Block { start: at, end: at, depth, kind });
        self.list.len() - 1
    }

    /// Ends a block before the white space before `end`; the source it spans.
    pub(crate) fn close(&mut self, block: usize, end: usize) -> Range<usize> {
        if self.trimmed.0 != end {
            self.trimmed = (end, line::trim_end(self.source, 0, end));
        }
        let block = &mut self.list[block];
        let start = block.start as usize;
        let end = self.trimmed.1.max(start);
        block.end = u32::try_from(end).unwrap_or(u32::MAX);
        start..end
    }

    /// All blocks so far; the next one is counted from zero again.
    pub(crate) fn take(&mut self) -> Vec<Block> {
        self.list.drain(..).collect()
    }
}
