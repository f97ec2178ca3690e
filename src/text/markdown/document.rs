//! A document: its source, and an index of what is where in it.

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use super::block::Block;
use super::index::{self, Index};
use super::section::{SectionEntry, narrow};
use super::{
    Edit, Hidden, HiddenKind, MAX_BYTES, ParseError, SectionId, line, preamble, reparse, value,
};
use crate::text::{LazyList, LineIndex, Place};

/// Names a list item of one document.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ItemId {
    pub(crate) section: SectionId,
    /// Which of the items in the body of that section it is.
    index: u32,
}

impl ItemId {
    /// Which of the items in its section it is.
    pub(crate) fn number(self) -> usize {
        self.index as usize
    }

    /// The first item of a section.
    pub(crate) const fn first_of(section: SectionId) -> Self {
        Self { section, index: 0 }
    }

    /// The item with that number in a section.
    pub(crate) fn numbered(section: SectionId, number: usize) -> Self {
        Self { section, index: narrow(number) }
    }
}

/// What is in a section's own body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    /// All items, in order.
    pub items: Vec<Item>,
    /// Those at the top level.
    pub top: Vec<ItemId>,
    /// All blocks in order, that of the section's heading included.
    pub blocks: Vec<Block>,
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
    /// The quotation or fenced block that is the value, when nothing follows the key.
    pub block: Option<Range<usize>>,
    /// All of the inline text: key, value and trailing comment.
    pub(crate) content: Range<usize>,
    /// Where inline text may begin: after the bullet, or after the box.
    pub(crate) head: usize,
    /// What that block says.
    pub(crate) block_text: Option<Box<str>>,
    /// Whether such a block below the key would be the value: no other block is in the way.
    pub(crate) takes_block: bool,
}

/// Markdown source with an index of its sections and list items.
///
/// After an edit, and where the outline of a document is known already, the body of a section is
/// read when it is first asked for: see `reparse.rs`.
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) source: Arc<String>,
    pub(crate) sections: Vec<SectionEntry>,
    /// The body of each section, once it is read.
    pub(crate) bodies: LazyList<Body>,
    pub(crate) front_matter: Option<Range<usize>>,
    pub(crate) hidden: Option<(HiddenKind, usize)>,
    /// Whether a section means the same whatever is in the others.
    pub(crate) is_divisible: bool,
    /// How most lines end, found when somebody asks for it.
    pub(crate) newline: OnceLock<&'static str>,
    /// Found when a place is first asked for.
    pub(crate) lines: OnceLock<LineIndex>,
}

impl Document {
    /// A document without any text.
    pub fn empty() -> Self {
        Self {
            newline: OnceLock::new(),
            lines: OnceLock::new(),
            source: Arc::default(),
            sections: vec![SectionEntry::new(0, 0..0)],
            bodies: LazyList::new(1),
            is_divisible: true,
            hidden: None,
            front_matter: None,
        }
    }

    /// Indexes `source`.
    ///
    /// # Errors
    /// Refuses a source that is too large, too deep or contains NUL.
    pub fn parse(source: impl Into<String>) -> Result<Self, ParseError> {
        Self::parse_shared(Arc::new(source.into()))
    }

    /// The same for a text that somebody else has, too.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub(crate) fn parse_shared(source: Arc<String>) -> Result<Self, ParseError> {
        if source.len() > MAX_BYTES {
            return Err(ParseError::TooLarge { bytes: source.len(), limit: MAX_BYTES });
        }
        if let Some(at) = source.find('\0') {
            return Err(ParseError::ContainsNul { place: Place::at(&source, at) });
        }
        let preamble = preamble::preamble(&source);
        let Index { sections, bodies, hidden } = Index::build(&source, preamble.end)?;
        Ok(Self {
            newline: OnceLock::new(),
            lines: OnceLock::new(),
            sections,
            bodies: bodies.into_iter().collect(),
            is_divisible: hidden.is_none() && !reparse::may_define_links(&source),
            hidden,
            front_matter: preamble.front_matter,
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
        Arc::unwrap_or_clone(self.source)
    }

    /// The source, to be kept without a copy.
    pub(crate) fn shared_source(&self) -> Arc<String> {
        Arc::clone(&self.source)
    }

    /// The line end that most lines have, of a long document most at its beginning: `"\n"` or `"\r\n"`.
    pub fn newline(&self) -> &'static str {
        self.newline.get_or_init(|| majority_newline(&self.source))
    }

    /// The front matter with its fences, if the document begins with one.
    pub fn front_matter(&self) -> Option<Range<usize>> {
        self.front_matter.clone()
    }

    /// The section of level zero: the text before the first heading, and the parent of all.
    pub fn root(&self) -> SectionId {
        SectionId::ROOT
    }

    /// All sections in document order, the root first.
    pub fn sections(&self) -> impl Iterator<Item = SectionId> {
        (0..self.sections.len()).map(SectionId::nth)
    }

    /// The item of that name.
    ///
    /// # Panics
    /// When the name comes from another document.
    pub fn item(&self, id: ItemId) -> &Item {
        &self.body(id.section).items[id.number()]
    }

    /// The top-level list items in a section's own body, in order.
    pub fn items(&self, section: SectionId) -> &[ItemId] {
        &self.body(section).top
    }

    /// What is in the body of a section, read now if it has not been.
    pub(crate) fn body(&self, section: SectionId) -> &Body {
        self.bodies.get_or_init(section.number(), || {
            let found = self.section(section);
            let piece = found.heading.start..found.body.end;
            index::read_body(&self.source, section, piece)
        })
    }

    /// The bodies of all sections, in order.
    pub(crate) fn all_bodies(&self) -> impl Iterator<Item = &Body> {
        self.sections().map(|section| self.body(section))
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
        self.lines.get_or_init(|| LineIndex::of(&self.source)).place(&self.source, offset)
    }

    /// The section with that number, if there is one.
    pub(crate) fn nth_section(&self, number: usize) -> Option<SectionId> {
        (number < self.sections.len()).then_some(SectionId::nth(number))
    }

    /// The item of that name, if there is one.
    pub(crate) fn get_item(&self, id: ItemId) -> Option<&Item> {
        self.body(id.section).items.get(id.number())
    }

    /// The exact source of an item's value.
    pub fn raw_value(&self, item: ItemId) -> &str {
        &self.source[self.item(item).value_span.clone()]
    }

    /// Where the lines of a value end that are its own. Text that somebody typed right below a field,
    /// not indented, belongs to the item in markdown; it is not meant to belong to the value.
    pub(crate) fn own_lines_end(&self, item: ItemId) -> usize {
        let found = self.item(item);
        let column = found.span.start - line::line_start(&self.source, found.span.start);
        let mut end = found.value_span.end;
        let mut at = found.value_span.start;
        while let Some(length) = self.source[at..end].find('\n') {
            let below = &self.source[at + length + 1..end];
            let indent = below.len() - below.trim_start_matches([' ', '\t']).len();
            if indent <= column {
                end = value::without_comments(&self.source, found.value_span.start, at + length);
                break;
            }
            at += length + 1;
        }
        end
    }

    /// An item's value as it is meant: quotes decoded, wrapped lines joined, comments left out.
    pub fn value(&self, item: ItemId) -> String {
        match &self.item(item).block_text {
            Some(text) => text.to_string(),
            None => value::decode(self.raw_value(item)).0,
        }
    }

    /// The same for the lines that are [its own](Self::own_lines_end).
    pub(crate) fn own_lines(&self, item: ItemId) -> String {
        self.value_until(item, self.own_lines_end(item))
    }

    /// The same for what is before `end`.
    pub(crate) fn value_until(&self, item: ItemId, end: usize) -> String {
        match &self.item(item).block_text {
            Some(text) => text.to_string(),
            None => value::decode(&self.source[self.item(item).value_span.start..end]).0,
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

    /// Where the source is in memory, which identifies a document among all others.
    pub(crate) fn address(&self) -> (usize, usize) {
        (self.source.as_ptr().addr(), self.source.len())
    }

    /// Begins a change.
    pub fn edit(&self) -> Edit<'_> {
        Edit::new(self)
    }
}

/// How many bytes are looked at to tell how lines end.
const COUNTED: usize = 64 * 1024;

fn majority_newline(source: &str) -> &'static str {
    let source = source.as_bytes().get(..COUNTED).unwrap_or(source.as_bytes());
    if memchr::memchr(b'\r', source).is_none() {
        return "\n";
    }
    let all = source.iter().filter(|b| **b == b'\n').count();
    let paired = source.windows(2).filter(|pair| *pair == b"\r\n").count();
    if paired * 2 > all { "\r\n" } else { "\n" }
}
