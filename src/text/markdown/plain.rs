//! Sections that need no parser: a heading and one list of plain fields, as a plan has hundreds of.
//!
//! The parser takes most of the time that a long plan costs, and nearly all of it is spent on
//! lines in which there is nothing to find. A section is *plain* if each of its lines is made of
//! signs that mean nothing to the parser, except the marks of a heading, a bullet or a bold key.
//! Such a section is indexed by its lines alone. Everything else is left to the parser, in pieces
//! that end where a plain section begins:
//!
//! - A heading at the beginning of a line ends every list, quote and paragraph. What it does not
//!   end are a fence, an HTML block and a table, so the parser itself is asked about those.
//! - A link may be defined anywhere in a document, so that one with definitions stays whole.
//!
//! A test compares both ways on arbitrary documents. The sections that an edit touches are always
//! read by the parser afterwards, so that a plain section that was misread cannot be edited.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Parser, TagEnd};

use super::{
    Item, ItemId, SectionId,
    block::BlockKind,
    field::{self, Key},
    index::Builder,
    line, options,
};

/// How often the parser is asked whether a piece ends before a heading; then the rest is one.
const MAX_QUESTIONS: usize = 8;

/// What a byte means in the middle of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// Something, or nobody has thought about it.
    Special,
    /// Nothing.
    Text,
    /// Nothing between letters or digits.
    Underscore,
    /// Nothing, unless it ends a heading or begins one.
    Hash,
}

const SIGNS: [Sign; 256] = {
    let mut signs = [Sign::Special; 256];
    let mut byte = 0;
    while byte < 256 {
        let is_word = matches!(byte as u8, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | 0x80..);
        let is_harmless = matches!(
            byte as u8,
            b' ' | b'.'
                | b','
                | b':'
                | b';'
                | b'/'
                | b'$'
                | b'('
                | b')'
                | b'+'
                | b'%'
                | b'='
                | b'-'
                | b'@'
                | b'\''
                | b'"'
                | b'{'
                | b'}'
                | b'^'
                | b'?'
                | b'!'
                | b'>'
        );
        if is_word || is_harmless {
            signs[byte] = Sign::Text;
        }
        byte += 1;
    }
    signs[b'_' as usize] = Sign::Underscore;
    signs[b'#' as usize] = Sign::Hash;
    signs
};

/// A line of a plain section that is an item.
pub(super) struct PlainLine {
    /// From the bullet, which is followed by one blank, to the end of the text.
    pub span: Range<usize>,
    /// The bold key with its marks, if it begins with one; a colon follows.
    pub bold: Option<Range<usize>>,
    /// Whether it is nested in the last line that is not.
    pub is_nested: bool,
}

/// The plain sections of a source.
pub(super) struct PlainSections<'s> {
    source: &'s str,
    /// Where no section counts as plain, in order.
    touched: &'s [Range<usize>],
    /// The heading of the section that was looked at last, without its line end.
    pub heading: Range<usize>,
    /// Its level.
    pub level: u8,
    /// The items of that section.
    pub lines: Vec<PlainLine>,
}

impl<'s> PlainSections<'s> {
    pub(super) fn new(source: &'s str, touched: &'s [Range<usize>]) -> Self {
        Self { source, touched, heading: 0..0, level: 0, lines: Vec::new() }
    }

    /// Looks at the section whose heading begins at `at`; where it ends, if it is plain.
    pub(super) fn look(&mut self, at: usize) -> Option<usize> {
        let bytes = self.source.as_bytes();
        self.level = heading_level(bytes, at)?;
        self.heading = at..self.text_end(at + usize::from(self.level) + 1, false)?;
        self.lines.clear();
        let mut at = self.heading.end + 1;
        // Blank lines stand before the first item or behind the last one only.
        let mut is_ended = false;
        while at < bytes.len() {
            match bytes[at] {
                b'\n' => {
                    is_ended = !self.lines.is_empty();
                    at += 1;
                }
                b'#' => {
                    heading_level(bytes, at)?;
                    break;
                }
                _ if is_ended => return None,
                _ => {
                    let line = self.item(at)?;
                    at = line.span.end + 1;
                    self.lines.push(line);
                }
            }
        }
        let end = at.min(bytes.len());
        let is_touched =
            |range: &Range<usize>| range.start <= end && range.end >= self.heading.start;
        let first = self.touched.partition_point(|range| range.end < self.heading.start);
        (!self.touched.get(first).is_some_and(is_touched)).then_some(end)
    }

    /// Where the piece that begins at `at` and is not plain ends: before a plain section of which
    /// the parser says that its heading is one, or with the document.
    pub(super) fn end_of_piece(&mut self, at: usize) -> usize {
        let mut questions = 0;
        let mut candidate = at;
        while let Some(next) = next_heading(self.source, candidate) {
            candidate = next;
            if self.look(candidate).is_none() {
                continue;
            }
            let piece = &self.source[at..candidate];
            if !piece.contains(['<', '`', '~', '|']) || ends(piece) {
                return candidate;
            }
            questions += 1;
            if questions == MAX_QUESTIONS {
                break;
            }
        }
        self.source.len()
    }

    /// The item on the line at `at`, if it is plain.
    fn item(&self, at: usize) -> Option<PlainLine> {
        let rest = &self.source.as_bytes()[at..];
        let is_nested = rest.starts_with(b"  - ") && !self.lines.is_empty();
        if !is_nested && !rest.starts_with(b"- ") {
            return None;
        }
        let start = if is_nested { at + 2 } else { at };
        let content = start + 2;
        let bold = self.bold_key(content);
        let end = match &bold {
            Some(bold) => self.text_end_from(bold.end, bold.end, true)?,
            None => {
                if !begins_text(&self.source.as_bytes()[content..]) {
                    return None;
                }
                self.text_end(content, true)?
            }
        };
        Some(PlainLine { span: start..end, bold, is_nested })
    }

    /// The bold key at `at`: a word, and then a colon.
    fn bold_key(&self, at: usize) -> Option<Range<usize>> {
        let rest = self.source.as_bytes()[at..].strip_prefix(b"**")?;
        let width = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let key = &rest[..width];
        let is_word = key.first().is_some_and(u8::is_ascii_alphanumeric)
            && key.last().is_some_and(u8::is_ascii_alphanumeric);
        let behind = &rest[width..];
        let is_key = behind.starts_with(b"**:")
            && behind.get(3).is_none_or(|byte| matches!(byte, b' ' | b'\n'));
        (is_word && is_key).then(|| at..at + width + 4)
    }

    /// Where the plain text at `at` ends with its line; it is not empty and has no blanks around it.
    fn text_end(&self, at: usize, takes_hash: bool) -> Option<usize> {
        let first = *self.source.as_bytes().get(at)?;
        if matches!(first, b' ' | b'\n') {
            return None;
        }
        self.text_end_from(at, at, takes_hash)
    }

    fn text_end_from(&self, start: usize, from: usize, takes_hash: bool) -> Option<usize> {
        let bytes = self.source.as_bytes();
        let mut at = from;
        while let Some(&byte) = bytes.get(at) {
            match SIGNS[usize::from(byte)] {
                Sign::Text => {}
                Sign::Underscore => {
                    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
                    if at == start || !is_word(bytes.get(at - 1)) || !is_word(bytes.get(at + 1)) {
                        return None;
                    }
                }
                Sign::Hash if takes_hash => {}
                Sign::Special if byte == b'\n' => break,
                Sign::Hash | Sign::Special => return None,
            }
            at += 1;
        }
        (bytes[at - 1] != b' ').then_some(at)
    }
}

impl Builder<'_> {
    /// Takes over a section whose lines say all there is to say about it.
    pub(super) fn read_plain(&mut self, plain: &PlainSections<'_>) {
        self.open_section(plain.level, &plain.heading);
        let title = plain.heading.start + usize::from(plain.level) + 1..plain.heading.end;
        if let Some(section) = self.index.sections.last_mut() {
            section.title.push_str(&self.source[title]);
            section.items.reserve(plain.lines.iter().filter(|line| !line.is_nested).count());
        }
        self.close_heading(&plain.heading);
        let mut rest = plain.lines.as_slice();
        while let Some((line, behind)) = rest.split_first() {
            let count = behind.iter().take_while(|line| line.is_nested).count();
            let (nested, others) = behind.split_at(count);
            rest = others;
            let end = nested.last().map_or(line.span.end, |last| last.span.end);
            let parent = self.add_plain(line, end, None);
            self.index.items[parent.0].children.reserve(count);
            for line in nested {
                self.add_plain(line, line.span.end, Some(parent));
            }
        }
    }

    /// Adds the item on a plain line; with what is nested in it, it ends at `end`.
    fn add_plain(&mut self, line: &PlainLine, end: usize, parent: Option<ItemId>) -> ItemId {
        let source = self.source;
        let start = line.span.start;
        let depth = usize::from(parent.is_some());
        let block = self.blocks.open(BlockKind::Item, depth, start);
        self.blocks.close(block, end);
        let content = start + 2..line.span.end;
        let key = match &line.bold {
            Some(bold) => {
                let span = bold.start + 2..bold.end - 2;
                Some(Key { text: source[span.clone()].to_owned(), span, end: bold.end + 1 })
            }
            None => field::plain_key(source, content.start, content.end),
        };
        let from = key.as_ref().map_or(content.start, |key| key.end);
        let first = line::skip_space(source, from, content.end);
        let value_span = if first < content.end { first..content.end } else { from..from };
        let (key, key_span) = key.map(|key| (key.text, key.span)).unzip();
        let id = ItemId(self.index.items.len());
        let section = SectionId(self.index.sections.len() - 1);
        match parent {
            Some(parent) => self.index.items[parent.0].children.push(id),
            None => self.index.sections[section.0].items.push(id),
        }
        self.index.items.push(Item {
            id,
            span: start..end,
            key,
            key_span,
            value_span,
            checkbox: None,
            children: Vec::new(),
            parent,
            section,
            depth,
            block: None,
            content,
            head: start + 1,
            block_text: None,
            takes_block: true,
        });
        id
    }
}

/// Whether the text of an item can begin like that: neither a list, a heading nor a rule.
fn begins_text(rest: &[u8]) -> bool {
    match rest.first() {
        Some(b'0'..=b'9') => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            !matches!(rest.get(digits), Some(b'.' | b')'))
        }
        Some(byte) => {
            byte.is_ascii_alphabetic() || matches!(byte, b'"' | b'\'' | b'$' | b'(' | b'{')
        }
        None => false,
    }
}

/// The level of the heading at `at`, which begins a line, if there is one and a title follows.
fn heading_level(bytes: &[u8], at: usize) -> Option<u8> {
    let marks = bytes[at..].iter().take(7).take_while(|byte| **byte == b'#').count();
    let is_heading = (1..=6).contains(&marks) && bytes.get(at + marks) == Some(&b' ');
    is_heading.then(|| u8::try_from(marks).unwrap_or(1))
}

/// Where the next line after `at` begins that may be a heading.
fn next_heading(source: &str, at: usize) -> Option<usize> {
    let mut at = at;
    loop {
        at += source.get(at..)?.find("\n#")? + 1;
        if heading_level(source.as_bytes(), at).is_some() {
            return Some(at);
        }
    }
}

/// Whether a heading behind `piece` is a heading: nothing stays open at its end.
fn ends(piece: &str) -> bool {
    let text = format!("{piece}# x\n");
    let last = Parser::new_ext(&text, options()).into_offset_iter().last();
    matches!(last, Some((Event::End(TagEnd::Heading(HeadingLevel::H1)), range)) if range.start == piece.len())
}
