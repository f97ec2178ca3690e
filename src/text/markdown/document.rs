//! A document: its source, and an index of what is where in it.

use std::{ops::Range, sync::OnceLock};

use super::block::Block;
use super::{Edit, Hidden, HiddenKind, MAX_BYTES, ParseError, index, opening, value};
use crate::text::{Lines, Place};

/// Names a section of one document.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SectionId(pub(super) usize);

/// Names a list item of one document.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ItemId(pub(super) usize);

/// A heading and what stands below it.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its own name.
    pub id: SectionId,
    /// Zero for the root, one to six for headings.
    pub level: u8,
    /// The unescaped text of the heading.
    pub title: String,
    /// The whole heading including its line end; empty for the root.
    pub heading: Range<usize>,
    /// From after the heading to the next heading of any level.
    pub body: Range<usize>,
    /// From the start of the heading to the end of the last descendant.
    pub extent: Range<usize>,
    /// The section it is part of; none for the root.
    pub parent: Option<SectionId>,
    /// The sections directly below it, in order.
    pub children: Vec<SectionId>,
    /// The top-level list items in its own body, in order.
    pub items: Vec<ItemId>,
}

/// A list item: a field when it begins with a key, else a plain bullet.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its own name.
    pub id: ItemId,
    /// The whole item with what is nested in it, without trailing blank lines.
    pub span: Range<usize>,
    /// The key, if it begins with one.
    pub key: Option<String>,
    /// Where the text of the key is, without its markers.
    pub key_span: Option<Range<usize>>,
    /// The trimmed inline source after key and colon; empty at the point of insertion when absent.
    pub value_span: Range<usize>,
    /// Whether its box is ticked, if it has one.
    pub checkbox: Option<bool>,
    /// The items directly nested in it, in order.
    pub children: Vec<ItemId>,
    /// The item it is nested in.
    pub parent: Option<ItemId>,
    /// The section whose body it is in.
    pub section: SectionId,
    /// Zero for a top-level item, one more for each item around it.
    pub depth: usize,
    /// The quotation or fenced block that is the value, when nothing stands behind the key.
    pub block: Option<Range<usize>>,
    /// All of the inline text: key, value and trailing comment.
    pub(super) content: Range<usize>,
    /// Where inline text may begin: after the bullet, or after the box.
    pub(super) head: usize,
    /// What that block says.
    pub(super) block_text: Option<Box<str>>,
    /// Whether such a block below the key would be the value: no other block is in the way.
    pub(super) takes_block: bool,
}

/// Markdown source with an index of its sections and list items.
#[derive(Clone, Debug)]
pub struct Document {
    pub(super) source: String,
    pub(super) sections: Vec<Section>,
    pub(super) items: Vec<Item>,
    pub(super) blocks: Vec<Block>,
    pub(super) front_matter: Option<Range<usize>>,
    pub(super) hidden: Option<(HiddenKind, usize)>,
    newline: &'static str,
    /// Found when a place is first asked for.
    lines: OnceLock<Lines>,
}

impl Document {
    /// A document without any text.
    pub fn empty() -> Self {
        let root = Section {
            id: SectionId(0),
            level: 0,
            title: String::new(),
            heading: 0..0,
            body: 0..0,
            extent: 0..0,
            parent: None,
            children: Vec::new(),
            items: Vec::new(),
        };
        Self {
            newline: majority_newline(""),
            lines: OnceLock::new(),
            source: String::new(),
            sections: vec![root],
            items: Vec::new(),
            blocks: Vec::new(),
            hidden: None,
            front_matter: None,
        }
    }

    /// Indexes `source`.
    ///
    /// # Errors
    /// Refuses a source that is too large, too deep or contains NUL.
    pub fn parse(source: impl Into<String>) -> Result<Self, ParseError> {
        Self::parse_touched(source.into(), &[])
    }

    /// The same; the sections that are `touched` are read by the parser, however plain they are.
    pub(super) fn parse_touched(
        source: String,
        touched: &[Range<usize>],
    ) -> Result<Self, ParseError> {
        if source.len() > MAX_BYTES {
            return Err(ParseError::TooLarge { bytes: source.len(), limit: MAX_BYTES });
        }
        if let Some(at) = source.find('\0') {
            return Err(ParseError::ContainsNul { place: Place::at(&source, at) });
        }
        let opening = opening::opening(&source);
        let index = index::Index::build(&source, opening.end, touched)?;
        Ok(Self {
            newline: majority_newline(&source),
            lines: OnceLock::new(),
            sections: index.sections,
            items: index.items,
            blocks: index.blocks,
            hidden: index.hidden,
            front_matter: opening.front_matter,
            source,
        })
    }

    /// Indexes `bytes`, which must be UTF-8.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and for bytes that are not UTF-8.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ParseError> {
        if bytes.len() > MAX_BYTES {
            return Err(ParseError::TooLarge { bytes: bytes.len(), limit: MAX_BYTES });
        }
        let source = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let valid = String::from_utf8_lossy(&error.as_bytes()[..offset]);
            ParseError::NotUtf8 { offset, place: Place::at(&valid, offset) }
        })?;
        Self::parse(source)
    }

    /// The source, byte for byte.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The source, byte for byte.
    pub fn into_source(self) -> String {
        self.source
    }

    /// The line end that most lines have: `"\n"` or `"\r\n"`.
    pub fn newline(&self) -> &'static str {
        self.newline
    }

    /// The front matter with its fences, if the document begins with one.
    pub fn front_matter(&self) -> Option<Range<usize>> {
        self.front_matter.clone()
    }

    /// The section of level zero: the text before the first heading, and the parent of all.
    pub fn root(&self) -> SectionId {
        SectionId(0)
    }

    /// All sections in document order, the root first.
    pub fn sections(&self) -> impl Iterator<Item = SectionId> {
        (0..self.sections.len()).map(SectionId)
    }

    /// The section of that name.
    ///
    /// # Panics
    /// When the name comes from another document.
    pub fn section(&self, id: SectionId) -> &Section {
        &self.sections[id.0]
    }

    /// The item of that name.
    ///
    /// # Panics
    /// When the name comes from another document.
    pub fn item(&self, id: ItemId) -> &Item {
        &self.items[id.0]
    }

    /// The source of a section's own body, without subsections.
    pub fn body_text(&self, section: SectionId) -> &str {
        &self.source[self.section(section).body.clone()]
    }

    /// The source of a section and its subsections, without its own heading.
    pub fn extent_text(&self, section: SectionId) -> &str {
        let section = self.section(section);
        &self.source[section.body.start..section.extent.end]
    }

    /// The first thing that swallows later headings without being meant to.
    pub fn hidden(&self) -> Option<Hidden> {
        self.hidden.map(|(kind, at)| Hidden { kind, place: self.place(at) })
    }

    /// The place of byte `offset`.
    pub fn place(&self, offset: usize) -> Place {
        self.lines.get_or_init(|| Lines::of(&self.source)).place(&self.source, offset)
    }

    /// The exact source of an item's value.
    pub fn raw_value(&self, item: ItemId) -> &str {
        &self.source[self.item(item).value_span.clone()]
    }

    /// An item's value as it is meant: quotes decoded, wrapped lines joined, comments left out.
    pub fn value(&self, item: ItemId) -> String {
        match &self.item(item).block_text {
            Some(text) => text.to_string(),
            None => value::decode(self.raw_value(item)).0,
        }
    }

    /// An item's whole text as it is meant, with the key if it has one.
    pub fn text(&self, item: ItemId) -> String {
        let found = self.item(item);
        match &found.key {
            None => self.value(item),
            Some(_) => {
                let end = found.value_span.end.max(found.content.start);
                value::decode(&self.source[found.content.start..end]).0
            }
        }
    }

    /// Whether the value is written in quotes.
    pub fn is_quoted(&self, item: ItemId) -> bool {
        value::decode(self.raw_value(item)).1 != value::Quote::None
    }

    /// Begins a change.
    pub fn edit(&self) -> Edit<'_> {
        Edit::new(self)
    }
}

fn majority_newline(source: &str) -> &'static str {
    if !source.contains('\r') {
        return "\n";
    }
    let all = source.bytes().filter(|b| *b == b'\n').count();
    let paired = source.as_bytes().windows(2).filter(|pair| *pair == b"\r\n").count();
    if paired * 2 > all { "\r\n" } else { "\n" }
}
