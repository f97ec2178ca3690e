//! Source text with the span of every value in it.

use super::error::{self, BOM};
use super::scan::{number, string_end, unescape};
use super::{JsonError, MAX_BYTES, Path, parser};
use crate::text::Place;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

/// A value of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeId(pub(super) u32);

/// One value. Nodes stand in document order, so that a value's descendants follow it directly.
///
/// Offsets fit 32 bits because of [`MAX_BYTES`]; the first byte says which kind it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The first node that is not a descendant.
    pub(super) after: u32,
    /// Where the member's key begins; zero, where no key can be, if there is none.
    pub(super) key: u32,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
}

impl Kind {
    /// The kind of value whose text begins with `byte`.
    pub(super) fn of(byte: u8) -> Self {
        match byte {
            b'{' => Self::Object,
            b'[' => Self::Array,
            b'"' => Self::String,
            b't' | b'f' => Self::Bool,
            b'n' => Self::Null,
            _ => Self::Number,
        }
    }

    pub(super) fn is_container(self) -> bool {
        matches!(self, Self::Object | Self::Array)
    }

    pub(super) fn described(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Bool => "a boolean",
            Self::Null => "null",
        }
    }
}

/// Source text and its nodes.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) source: String,
    nodes: Vec<Node>,
}

impl Tree {
    /// Reads a text; a refusal gives it back.
    pub(super) fn parse(source: String) -> Result<Self, (JsonError, String)> {
        if source.len() > MAX_BYTES {
            return Err((JsonError::TooLarge { bytes: source.len(), limit: MAX_BYTES }, source));
        }
        let start = if source.starts_with(BOM) { BOM.len_utf8() } else { 0 };
        match parser::parse(&source, start) {
            Ok(nodes) => Ok(Self { source, nodes }),
            Err(fault) => Err((fault.located(&source), source)),
        }
    }

    pub(super) fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// Every value, in document order.
    pub(super) fn ids(&self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The value at `path`.
    pub(super) fn find(&self, path: &Path) -> Option<NodeId> {
        path.segments().iter().try_fold(self.root(), |node, segment| self.child(node, segment))
    }

    /// The member or item of `id` that `segment` names.
    pub(super) fn child(&self, id: NodeId, segment: &str) -> Option<NodeId> {
        match self.kind(id) {
            Kind::Object => self.children(id).find(|child| self.key(*child) == segment),
            Kind::Array => self.children(id).nth(Path::index(segment)?),
            _ => None,
        }
    }

    /// The members or items of `id`.
    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let after = self.node(id).after;
        let mut next = id.0 + 1;
        std::iter::from_fn(move || {
            let child = NodeId(next);
            (next < after).then(|| {
                next = self.node(child).after;
                child
            })
        })
    }

    /// `id` and all its descendants, in document order.
    fn subtree(&self, id: NodeId) -> &[Node] {
        &self.nodes[id.0 as usize..self.node(id).after as usize]
    }

    pub(super) fn kind(&self, id: NodeId) -> Kind {
        self.kind_of(self.node(id))
    }

    fn kind_of(&self, node: &Node) -> Kind {
        self.source.as_bytes().get(node.start as usize).map_or(Kind::Null, |byte| Kind::of(*byte))
    }

    /// The span of the value, without its key.
    pub(super) fn range(&self, id: NodeId) -> Range<usize> {
        let node = self.node(id);
        node.start as usize..node.end as usize
    }

    /// The text of the value, without its key.
    pub(super) fn raw(&self, id: NodeId) -> &str {
        self.text(self.node(id))
    }

    /// The key of a member, unescaped; empty for what is not a member.
    pub(super) fn key(&self, id: NodeId) -> Cow<'_, str> {
        unescape(self.raw_key(id))
    }

    /// The key of a member as written; empty for what is not a member.
    pub(super) fn raw_key(&self, id: NodeId) -> &str {
        self.key_text(self.node(id))
    }

    /// Where the member or item begins, its key included.
    pub(super) fn item_start(&self, id: NodeId) -> usize {
        let node = self.node(id);
        if node.key == 0 { node.start as usize } else { node.key as usize }
    }

    /// What is between a member's key and its value.
    pub(super) fn colon(&self, id: NodeId) -> Option<&str> {
        let node = self.node(id);
        let key = self.key_text(node);
        (!key.is_empty()).then(|| &self.source[node.key as usize + key.len()..node.start as usize])
    }

    /// The whitespace at the start of the line that holds `offset`.
    pub(super) fn line_indent(&self, offset: usize) -> &str {
        let before = &self.source[..offset];
        let line = &before[before.rfind('\n').map_or(0, |newline| newline + 1)..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Reads out a value.
    pub(super) fn value(&self, id: NodeId) -> Value {
        let raw = self.raw(id);
        match self.kind(id) {
            Kind::Object => {
                let member = |child| (self.key(child).into_owned(), self.value(child));
                Value::Object(self.children(id).map(member).collect::<Map<_, _>>())
            }
            Kind::Array => {
                let mut items = Vec::with_capacity(self.children(id).count());
                items.extend(self.children(id).map(|child| self.value(child)));
                Value::Array(items)
            }
            Kind::String => Value::String(unescape(raw).into_owned()),
            Kind::Number => number(raw),
            Kind::Bool => Value::Bool(raw == "true"),
            Kind::Null => Value::Null,
        }
    }

    pub(super) fn place(&self, id: NodeId) -> Place {
        error::place(&self.source, self.range(id).start)
    }

    /// Whether `id` here and `other` in `there` are the same but for whitespace.
    pub(super) fn same_tokens(&self, id: NodeId, there: &Self, other: NodeId) -> bool {
        if self.raw(id) == there.raw(other) {
            return true;
        }
        let (ours, theirs) = (self.subtree(id), there.subtree(other));
        // The counts of equal descendants, taken in document order, fix the shape.
        let same = |depth: usize, a: &Node, b: &Node| {
            let kind = self.kind_of(a);
            kind == there.kind_of(b)
                && (depth == 0 || self.key_text(a) == there.key_text(b))
                && a.after - id.0 == b.after - other.0
                && (kind.is_container() || self.text(a) == there.text(b))
        };
        ours.len() == theirs.len()
            && ours.iter().zip(theirs).enumerate().all(|(i, (a, b))| same(i, a, b))
    }

    fn key_text(&self, node: &Node) -> &str {
        let start = node.key as usize;
        if start == 0 {
            return "";
        }
        let end = string_end(self.source.as_bytes(), start).unwrap_or(start);
        &self.source[start..end]
    }

    fn text(&self, node: &Node) -> &str {
        &self.source[node.start as usize..node.end as usize]
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }
}
