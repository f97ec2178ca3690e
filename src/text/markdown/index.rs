//! Building the index of a document from the parser's events.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Parser, Tag, TagEnd};

use super::block::{Block, BlockKind, Blocks};
use super::document::{Item, ItemId, Section, SectionId};
use super::item::{BlockForm, OpenItem};
use super::plain::PlainSections;
use super::{HiddenKind, MAX_DEPTH, ParseError, depth, hidden, line, options};

/// What is where in a source.
pub(super) struct Index {
    pub sections: Vec<Section>,
    pub items: Vec<Item>,
    pub blocks: Vec<Block>,
    pub hidden: Option<(HiddenKind, usize)>,
}

impl Index {
    /// Indexes the markdown of `source` from `start` on. What is `touched` is read by the parser in
    /// any case.
    pub(super) fn build(
        source: &str,
        start: usize,
        touched: &[Range<usize>],
    ) -> Result<Self, ParseError> {
        let mut builder = Builder::new(source, start);
        if source[start..].contains("]:") {
            return builder.read_whole(start);
        }
        let mut sections = PlainSections::new(source, touched);
        let mut at = start;
        while at < source.len() {
            if let Some(end) = sections.look(at) {
                builder.read_plain(&sections);
                at = end;
            } else {
                let end = sections.end_of_piece(at);
                builder.read(at..end)?;
                at = end;
            }
        }
        Ok(builder.finish())
    }
}

/// An open container: only lists and quotes nest.
enum Frame {
    List,
    Item { block: usize },
    Quote { block: usize },
}

/// The block that inline events belong to at the moment.
enum Leaf {
    /// None, or the text of a tight item.
    None,
    Paragraph {
        block: Option<usize>,
    },
    Section,
    Heading {
        block: usize,
    },
    Code {
        block: usize,
        fenced: bool,
        captured: bool,
    },
    Html {
        block: usize,
    },
    Table {
        block: usize,
    },
}

pub(super) struct Builder<'s> {
    pub source: &'s str,
    pub index: Index,
    pub blocks: Blocks<'s>,
    frames: Vec<Frame>,
    depth: usize,
    quotes: usize,
    leaf: Leaf,
    open_items: Vec<OpenItem>,
    open_sections: Vec<usize>,
    /// What ends each open link.
    links: Vec<Option<String>>,
}

impl<'s> Builder<'s> {
    pub(super) fn new(source: &'s str, start: usize) -> Self {
        let root = Section {
            id: SectionId(0),
            level: 0,
            title: String::new(),
            heading: start..start,
            body: start..source.len(),
            extent: start..source.len(),
            parent: None,
            children: Vec::new(),
            items: Vec::new(),
        };
        // A line of a state file has about thirty bytes, a section ten lines.
        let items = (source.len() - start) / 32;
        let mut sections = Vec::with_capacity(items / 8 + 1);
        sections.push(root);
        Self {
            source,
            index: Index {
                sections,
                items: Vec::with_capacity(items),
                blocks: Vec::new(),
                hidden: None,
            },
            blocks: Blocks::new(source, items + items / 8),
            frames: Vec::new(),
            depth: 0,
            quotes: 0,
            leaf: Leaf::None,
            open_items: Vec::new(),
            open_sections: vec![0],
            links: Vec::new(),
        }
    }

    /// All of it, read by the parser.
    pub(super) fn read_whole(mut self, start: usize) -> Result<Index, ParseError> {
        self.read(start..self.source.len())?;
        Ok(self.finish())
    }

    /// Reads a piece of the source with the parser.
    fn read(&mut self, piece: Range<usize>) -> Result<(), ParseError> {
        let start = piece.start;
        let text = &self.source[piece];
        if let Some(at) = depth::too_deep(text) {
            return Err(ParseError::too_deep(self.source, start + at));
        }
        for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
            self.take(event, range.start + start..range.end + start)?;
        }
        Ok(())
    }

    fn take(&mut self, event: Event<'_>, range: Range<usize>) -> Result<(), ParseError> {
        match event {
            Event::Start(tag) => self.start(tag, range)?,
            Event::End(tag) => self.end(tag, range),
            Event::Rule => {
                self.block_in_item(&range, BlockForm::None);
                let block = self.open_block(BlockKind::Rule, range.start);
                self.blocks.close(block, range.end);
            }
            Event::TaskListMarker(checked) => {
                if let Some(open) = self.open_item() {
                    open.checkbox(checked, range);
                }
            }
            Event::Text(text)
            | Event::Code(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => self.text(&text),
            Event::InlineHtml(text) => {
                let shown = if text.starts_with("<!--") { "" } else { &*text };
                self.text(shown);
            }
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            Event::Html(_) | Event::FootnoteReference(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) -> Result<(), ParseError> {
        match tag {
            Tag::Paragraph => {
                let in_item = matches!(self.frames.last(), Some(Frame::Item { .. }));
                if let Some(open) = self.open_item() {
                    open.paragraph(&range);
                }
                // The text of an item has no paragraph of its own while its list is tight, so
                // recording it would make a list that turns loose look like another structure.
                let block = (!in_item).then(|| self.open_block(BlockKind::Paragraph, range.start));
                self.leaf = Leaf::Paragraph { block };
            }
            Tag::Heading { level, .. } if self.frames.is_empty() => {
                self.open_section(level as u8, &range);
                self.leaf = Leaf::Section;
            }
            Tag::Heading { .. } => {
                self.block_in_item(&range, BlockForm::None);
                let block = self.open_block(BlockKind::Heading, range.start);
                self.leaf = Leaf::Heading { block };
            }
            Tag::BlockQuote(_) => {
                self.block_in_item(&range, BlockForm::Quote);
                let block = self.open_block(BlockKind::Quote, range.start);
                self.frames.push(Frame::Quote { block });
                self.quotes += 1;
                self.deepen(range.start)?;
            }
            Tag::CodeBlock(kind) => {
                let fenced = matches!(kind, CodeBlockKind::Fenced(_));
                let form = if fenced { BlockForm::Fence } else { BlockForm::None };
                let captured = self.block_in_item(&range, form);
                let block = self.open_block(BlockKind::Code, range.start);
                self.leaf = Leaf::Code { block, fenced, captured };
            }
            Tag::HtmlBlock => {
                self.block_in_item(&range, BlockForm::None);
                let block = self.open_block(BlockKind::Html, range.start);
                self.leaf = Leaf::Html { block };
            }
            Tag::Table(_) => {
                self.block_in_item(&range, BlockForm::None);
                let block = self.open_block(BlockKind::Table, range.start);
                self.leaf = Leaf::Table { block };
            }
            Tag::List(_) => {
                if let Some(open) = self.open_item() {
                    open.list(&range);
                }
                self.frames.push(Frame::List);
            }
            Tag::Item => {
                self.start_item(&range);
                self.deepen(range.start)?;
            }
            Tag::Strong => {
                if let Some(open) = self.inline_item() {
                    open.strong(&range);
                }
            }
            Tag::Link { link_type, .. } | Tag::Image { link_type, .. } => {
                self.open_link(link_type, &range);
            }
            Tag::TableHead | Tag::TableRow | Tag::TableCell => {}
            _ => {
                if let Some(open) = self.inline_item() {
                    open.inline();
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::Table => self.close_leaf(&range),
            TagEnd::List(_) => {
                self.frames.pop();
            }
            TagEnd::Item => {
                self.depth -= 1;
                if let Some(Frame::Item { block }) = self.frames.pop() {
                    let end = self.blocks.close(block, range.end).end;
                    if self.quotes == 0 {
                        self.close_item(end);
                    }
                }
            }
            TagEnd::BlockQuote(_) => {
                self.depth -= 1;
                self.quotes -= 1;
                if let Some(Frame::Quote { block }) = self.frames.pop() {
                    self.blocks.close(block, range.end);
                }
            }
            TagEnd::Strong => {
                if let Some(open) = self.inline_item() {
                    open.end_strong(&range);
                }
            }
            TagEnd::Link | TagEnd::Image => {
                if let Some(Some(end)) = self.links.pop() {
                    self.text(&end);
                }
            }
            _ => {}
        }
    }

    /// A link through a definition elsewhere keeps its brackets, so that what a title or a key
    /// says does not depend on the rest of the document.
    fn open_link(&mut self, kind: LinkType, range: &Range<usize>) {
        let source = self.source;
        let end = match kind {
            LinkType::Reference => {
                let label = source[range.clone()].rfind('[').unwrap_or(0) + range.start;
                Some(&source[label..range.end])
            }
            LinkType::Collapsed => Some("[]"),
            LinkType::Shortcut => Some(""),
            _ => None,
        };
        let image = source.as_bytes().get(range.start) == Some(&b'!');
        self.text(match end {
            Some(_) if image => "![",
            Some(_) => "[",
            None => "",
        });
        self.links.push(end.map(|label| format!("]{label}")));
    }

    fn close_leaf(&mut self, range: &Range<usize>) {
        match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::None => {}
            Leaf::Paragraph { block: None } => {
                if let Some(open) = self.open_item() {
                    open.end_paragraph();
                }
            }
            Leaf::Section => self.close_heading(range),
            Leaf::Code { block, fenced, .. } => {
                let code = self.blocks.close(block, range.end);
                let end = self.source.len();
                let last = line::skip_space(self.source, code.end, end) == end;
                if fenced && last && hidden::fence_hides(&self.source[code.clone()]) {
                    self.index.hidden.get_or_insert((HiddenKind::Fence, code.start));
                }
            }
            Leaf::Html { block } => {
                let html = self.blocks.close(block, range.end);
                if self.index.hidden.is_none() {
                    let last = range.end == self.source.len();
                    let kind = hidden::html_hides(&self.source[html.clone()], last);
                    self.index.hidden = kind.map(|kind| (kind, html.start));
                }
            }
            Leaf::Paragraph { block: Some(block) }
            | Leaf::Heading { block }
            | Leaf::Table { block } => {
                self.blocks.close(block, range.end);
            }
        }
    }

    /// Text that counts: of a section's title, of an item's key, of a fenced value.
    fn text(&mut self, text: &str) {
        match self.leaf {
            Leaf::Section => {
                if let Some(section) = self.index.sections.last_mut() {
                    section.title.push_str(text);
                }
            }
            Leaf::Code { captured: true, .. } => {
                if let Some(open) = self.open_item() {
                    open.code(text);
                }
            }
            _ => {
                if let Some(open) = self.inline_item() {
                    open.text(text);
                }
            }
        }
    }

    /// The indexed item that holds the next block directly.
    fn open_item(&mut self) -> Option<&mut OpenItem> {
        match self.frames.last() {
            Some(Frame::Item { .. }) if self.quotes == 0 => self.open_items.last_mut(),
            _ => None,
        }
    }

    /// The indexed item whose text the next inline event is.
    fn inline_item(&mut self) -> Option<&mut OpenItem> {
        match self.leaf {
            Leaf::None | Leaf::Paragraph { block: None } => self.open_item(),
            _ => None,
        }
    }

    /// Tells the item around it, if any, that a block begins; whether it may be its value.
    fn block_in_item(&mut self, range: &Range<usize>, form: BlockForm) -> bool {
        self.open_item().is_some_and(|open| open.block(range, form))
    }

    fn start_item(&mut self, range: &Range<usize>) {
        let start = line::skip_space(self.source, range.start, range.end);
        if self.quotes > 0 {
            let block = self.open_block(BlockKind::QuotedItem, start);
            self.frames.push(Frame::Item { block });
            return;
        }
        let block = self.open_block(BlockKind::Item, start);
        self.frames.push(Frame::Item { block });
        let id = ItemId(self.index.items.len());
        let section = SectionId(self.index.sections.len() - 1);
        let parent = self.open_items.last().map(|open| open.id);
        match parent {
            Some(parent) => self.index.items[parent.0].children.push(id),
            None => self.index.sections[section.0].items.push(id),
        }
        let open = OpenItem::new(self.source, id, start, range.end);
        self.index.items.push(Item {
            id,
            span: start..range.end,
            key: None,
            key_span: None,
            value_span: start..start,
            checkbox: None,
            children: Vec::new(),
            parent,
            section,
            depth: self.open_items.len(),
            block: None,
            content: start..start,
            head: start,
            block_text: None,
            takes_block: false,
        });
        self.open_items.push(open);
    }

    fn close_item(&mut self, end: usize) {
        if let Some(open) = self.open_items.pop() {
            let id = open.id.0;
            open.finish(self.source, end, &mut self.index.items[id]);
        }
    }

    pub(super) fn open_section(&mut self, level: u8, range: &Range<usize>) {
        // The first line may begin with a byte order mark.
        let floor = self.index.sections[0].body.start;
        let start = line::line_start(self.source, range.start).max(floor);
        let block = self.open_block(BlockKind::Section, range.start);
        self.blocks.close(block, range.end);
        let id = SectionId(self.index.sections.len());
        if let Some(previous) = self.index.sections.last_mut() {
            previous.body.end = start;
        }
        self.close_sections(level, start);
        let parent = self.open_sections.last().copied().unwrap_or(0);
        self.index.sections[parent].children.push(id);
        self.open_sections.push(id.0);
        self.index.sections.push(Section {
            id,
            level,
            title: String::new(),
            heading: start..range.end,
            body: range.end..self.source.len(),
            extent: start..self.source.len(),
            parent: Some(SectionId(parent)),
            children: Vec::new(),
            items: Vec::new(),
        });
    }

    pub(super) fn close_heading(&mut self, range: &Range<usize>) {
        let end = match line::begins_line(self.source, range.end) {
            true => range.end,
            false => line::next_line(self.source, range.end),
        };
        if let Some(section) = self.index.sections.last_mut() {
            section.heading.end = end;
            section.body.start = end;
        }
    }

    /// Ends the open sections that a heading of `level` at `end` does not continue.
    fn close_sections(&mut self, level: u8, end: usize) {
        while let Some(&last) = self.open_sections.last() {
            let section = &mut self.index.sections[last];
            if section.level < level {
                break;
            }
            section.extent.end = end;
            self.open_sections.pop();
        }
    }

    fn deepen(&mut self, at: usize) -> Result<(), ParseError> {
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => Err(ParseError::too_deep(self.source, at)),
            false => Ok(()),
        }
    }

    fn open_block(&mut self, kind: BlockKind, start: usize) -> usize {
        self.blocks.open(kind, self.depth, start)
    }

    fn finish(mut self) -> Index {
        let end = self.source.len();
        self.close_sections(1, end);
        self.index.blocks = self.blocks.into_list();
        self.index
    }
}
