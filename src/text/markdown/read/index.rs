//! Building the index of a document from the parser's events.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Parser, Tag, TagEnd};

use crate::text::markdown::block::{BlockKind, Blocks};
use crate::text::markdown::document::{Body, Item, ItemId};
use crate::text::markdown::item::{BlockForm, OpenItem};
use crate::text::markdown::section::{SectionEntry, SectionId, link};
use crate::text::markdown::{HiddenKind, MAX_DEPTH, ParseError, depth, hidden, line, options};

/// What is where in a source.
pub(crate) struct Index {
    pub sections: Vec<SectionEntry>,
    /// The body of each.
    pub bodies: Vec<Body>,
    pub hidden: Option<(HiddenKind, usize)>,
}

impl Index {
    /// Indexes the markdown of `source` from `start` on.
    pub(crate) fn build(source: &str, start: usize) -> Result<Self, ParseError> {
        let mut index = Builder::new(source, start, SectionId::ROOT).read(start..source.len())?;
        link(&mut index.sections);
        Ok(index)
    }

    /// Indexes a piece of `source` that begins with the heading of the section `first`. What stands
    /// before the first heading, which should be nothing, comes as a section of its own before it.
    pub(crate) fn build_piece(
        source: &str,
        piece: Range<usize>,
        first: SectionId,
    ) -> Result<Self, ParseError> {
        let before = SectionId::nth(first.number().saturating_sub(1));
        Builder::new(source, piece.start, before).read(piece)
    }
}

/// The body of a section that a piece of `source` is, from its heading on.
pub(crate) fn read_body(source: &str, section: SectionId, piece: Range<usize>) -> Body {
    // That nothing is nested too deeply in it was found when the document was read as a whole, and that
    // it has no other heading.
    let index = Index::build_piece(source, piece, section).ok();
    let is_alone =
        |index: &Index| index.bodies.len() == 1 + usize::from(section != SectionId::ROOT);
    let last = index.filter(is_alone).and_then(|mut index| index.bodies.pop());
    last.unwrap_or_default()
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

struct Builder<'s> {
    source: &'s str,
    /// The number of the first section.
    first: SectionId,
    index: Index,
    /// The items, the top-level ones and the blocks of the last section.
    items: Vec<Item>,
    top: Vec<ItemId>,
    blocks: Blocks<'s>,
    frames: Vec<Frame>,
    depth: usize,
    quotes: usize,
    leaf: Leaf,
    /// The title of the last section, as far as it is read.
    title: String,
    open_items: Vec<OpenItem>,
    /// What ends each open link.
    links: Vec<Option<String>>,
}

impl<'s> Builder<'s> {
    /// Reads from `start` on, where the section `first` begins without a heading.
    fn new(source: &'s str, start: usize, first: SectionId) -> Self {
        Self {
            source,
            first,
            index: Index {
                sections: vec![SectionEntry::new(0, start..start)],
                bodies: Vec::new(),
                hidden: None,
            },
            items: Vec::new(),
            top: Vec::new(),
            blocks: Blocks::new(source),
            frames: Vec::new(),
            depth: 0,
            quotes: 0,
            leaf: Leaf::None,
            title: String::new(),
            open_items: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Reads a piece of the source with the parser.
    fn read(mut self, piece: Range<usize>) -> Result<Index, ParseError> {
        let start = piece.start;
        let text = &self.source[piece];
        if let Some(at) = depth::too_deep(text) {
            return Err(ParseError::too_deep(self.source, start + at));
        }
        for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
            self.take(event, range.start + start..range.end + start)?;
        }
        self.close_body();
        Ok(self.index)
    }

    /// The section that is read at the moment.
    fn section(&self) -> SectionId {
        SectionId::nth(self.first.number() + self.index.bodies.len())
    }

    /// Keeps what was found in the body of the last section.
    fn close_body(&mut self) {
        // Copied, so that they take no more room than they need.
        let items = self.items.drain(..).collect();
        let top = self.top.drain(..).collect();
        self.index.bodies.push(Body { items, top, blocks: self.blocks.take() });
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
            Leaf::Section => self.title.push_str(text),
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
        let section = self.section();
        let id = ItemId::numbered(section, self.items.len());
        let parent = self.open_items.last().map(|open| open.id);
        match parent {
            Some(parent) => self.items[parent.number()].children.push(id),
            None => self.top.push(id),
        }
        let open = OpenItem::new(self.source, id, start, range.end);
        self.items.push(Item {
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
            let index = open.id.number();
            open.finish(self.source, end, &mut self.items[index]);
        }
    }

    fn open_section(&mut self, level: u8, range: &Range<usize>) {
        self.close_body();
        // The first line may begin with a byte order mark.
        let floor = self.index.sections[0].start();
        let start = line::line_start(self.source, range.start).max(floor);
        let block = self.open_block(BlockKind::Section, range.start);
        self.blocks.close(block, range.end);
        self.index.sections.push(SectionEntry::new(level, start..range.end));
    }

    fn close_heading(&mut self, range: &Range<usize>) {
        let end = match line::begins_line(self.source, range.end) {
            true => range.end,
            false => line::next_line(self.source, range.end),
        };
        if let Some(section) = self.index.sections.last_mut() {
            section.set_end(end);
            section.set_title(self.source, &self.title);
        }
        self.title.clear();
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
}
