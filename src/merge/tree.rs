//! A markdown file as a tree of sections, items and blocks, each with the bytes it is made of.

use crate::text::markdown::{Document, ItemId, SectionId};

use crate::domain::plan::step_heading;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// The file itself.
    Root,
    /// A heading of that level, and what stands below it.
    Section(u8),
    /// A list item, and the items nested in it.
    Item,
    /// Any other block.
    Text,
}

/// What the heading of a step says besides its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StepMark {
    pub(super) number: u32,
    pub(super) id: Option<String>,
    pub(super) title: String,
}

/// A part of a file. Its own text is `prefix` and `value`; the text of the whole file is that of
/// all nodes in order, each after its `gap`.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The white space before it, line ends included.
    pub(super) gap: String,
    /// Its place in the order of the file, the root being 0.
    pub(super) seq: usize,
    /// Bullet, box and key; the marks of a heading, with the number of a step.
    pub(super) prefix: String,
    /// What it says: a value, a title, a text.
    pub(super) value: String,
    /// The key of a field, the title of a section.
    pub(super) name: Option<String>,
    pub(super) step: Option<StepMark>,
    pub(super) children: Vec<Node>,
}

/// A file, taken apart.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) root: Node,
    /// The white space at the end of the file.
    pub(super) tail: String,
}

impl Tree {
    pub(super) fn read(document: &Document) -> Self {
        let mut reader = Reader { document, done: 0, seq: 0 };
        let mut root = reader.leaf(Kind::Root, 0..0, 0);
        reader.body(document.root(), &mut root);
        let tail = document.source()[reader.done..].to_owned();
        Self { root, tail }
    }
}

impl Node {
    /// Its own text.
    pub(super) fn head(&self) -> String {
        join(&self.prefix, &self.value)
    }

    /// Its text with all that is below it, without the white space between the parts.
    pub(super) fn full(&self) -> String {
        let mut text = match &self.step {
            Some(step) => step.title.clone(),
            None => self.head(),
        };
        for child in &self.children {
            text.push('\n');
            text.push_str(&child.full());
        }
        text
    }

    /// The names of a field or section in the one spelling they are compared in.
    pub(super) fn folded(&self) -> Option<String> {
        self.name.as_deref().map(fold)
    }
}

/// `Tool Mapping`, `tool-mapping` and `tool_mapping` are one name.
pub(super) fn fold(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-'], "_")
}

/// A prefix and a value, with a space between them where it takes one.
pub(super) fn join(prefix: &str, value: &str) -> String {
    let tight = prefix.is_empty() || prefix.ends_with([' ', '\t', '\n', '\r']) || value.is_empty();
    let space = if tight || value.starts_with(['\n', '\r']) { "" } else { " " };
    [prefix, space, value].concat()
}

struct Reader<'d> {
    document: &'d Document,
    done: usize,
    seq: usize,
}

impl Reader<'_> {
    /// A node over `span` whose value begins at `value`.
    fn leaf(&mut self, kind: Kind, span: std::ops::Range<usize>, value: usize) -> Node {
        let source = self.document.source();
        let value = value.clamp(span.start, span.end);
        let gap = source[self.done..span.start].to_owned();
        let seq = self.seq;
        self.seq += 1;
        self.done = span.end;
        Node {
            kind,
            gap,
            seq,
            prefix: source[span.start..value].to_owned(),
            value: source[value..span.end].to_owned(),
            name: None,
            step: None,
            children: Vec::new(),
        }
    }

    fn body(&mut self, section: SectionId, parent: &mut Node) {
        for part in self.document.parts(section) {
            let node = match part.item {
                Some(item) => self.item(item, part.span),
                None => self.leaf(Kind::Text, part.span.clone(), part.span.start),
            };
            parent.children.push(node);
        }
        for &child in &self.document.section(section).children {
            let node = self.section(child);
            parent.children.push(node);
        }
    }

    fn section(&mut self, id: SectionId) -> Node {
        let section = self.document.section(id);
        let source = self.document.source();
        let heading = &source[section.heading.clone()];
        let start = section.heading.start.max(self.done);
        let end = start + source[start..section.heading.end].trim_ascii_end().len();
        let step = step_heading(&section.title);
        let value = start + title_at(heading, step.is_some());
        let mut node = self.leaf(Kind::Section(section.level), start..end, value);
        node.name = Some(section.title.clone());
        node.step = step.map(|(number, title)| {
            let id = self.document.field(id, "id").ok().flatten();
            let id = id.map(|item| self.document.value(item)).filter(|id| !id.is_empty());
            StepMark { number, id, title: title.to_owned() }
        });
        self.body(id, &mut node);
        node
    }

    fn item(&mut self, id: ItemId, span: std::ops::Range<usize>) -> Node {
        let item = self.document.item(id);
        let value = item.value_span.start;
        let name = item.key.clone();
        let Some(children) = self.nested(id, &span) else {
            let mut node = self.leaf(Kind::Item, span, value);
            node.name = name;
            return node;
        };
        let source = self.document.source();
        let head = children.first().map_or(span.end, |(_, child)| child.start);
        let head = span.start + source[span.start..head].trim_ascii_end().len();
        let mut node = self.leaf(Kind::Item, span.start..head, value.min(head));
        node.name = name;
        for (child, span) in children {
            let child = self.item(child, span);
            node.children.push(child);
        }
        node
    }

    /// The nested items as whole lines, if the item is nothing but its own text and those.
    fn nested(
        &self,
        id: ItemId,
        span: &std::ops::Range<usize>,
    ) -> Option<Vec<(ItemId, std::ops::Range<usize>)>> {
        let source = self.document.source();
        let mut children = Vec::new();
        let mut done: Option<usize> = None;
        for &child in &self.document.item(id).children {
            let found = self.document.item(child).span.clone();
            let before = &source[..found.start];
            let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
            let end = found.start + source[found.clone()].trim_ascii_end().len();
            let is_line = start > span.start && source[start..found.start].trim().is_empty();
            let is_next = done.is_none_or(|done| source[done..start].trim().is_empty());
            if !is_line || !is_next {
                return None;
            }
            done = Some(end);
            children.push((child, start..end));
        }
        let is_all = done.is_none_or(|done| source[done..span.end].trim().is_empty());
        is_all.then_some(children)
    }
}

/// Where the title begins in the source of a heading; behind the number for that of a step.
fn title_at(heading: &str, is_step: bool) -> usize {
    let marks = heading.len() - heading.trim_start_matches([' ', '\t']).len();
    let rest = &heading[marks..];
    let text = rest.trim_start_matches('#');
    if text.len() == rest.len() {
        return 0;
    }
    let text = text.trim_start_matches([' ', '\t']);
    let plain = heading.len() - text.len();
    if !is_step {
        return plain;
    }
    let number = || {
        let rest = text.get(4..).filter(|_| text[..4].eq_ignore_ascii_case("step"))?;
        let rest = rest.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let rest = rest.strip_prefix([':', '：', '.', '-', '–', '—', ')']).unwrap_or(rest);
        Some(heading.len() - rest.trim_start_matches([' ', '\t']).len())
    };
    number().unwrap_or(plain)
}
