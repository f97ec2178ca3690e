//! How a document is laid out, and what of it a new child gets, so that additions look like the rest.

use super::scan::skip_space;
use super::tree::{NodeId, Tree};
use std::ops::Range;

/// The whitespace of a container that has children.
pub(super) struct Layout<'t> {
    tree: &'t Tree,
    pub(super) children: Vec<NodeId>,
    leads: Vec<Range<usize>>,
}

impl<'t> Layout<'t> {
    pub(super) fn of(tree: &'t Tree, node: NodeId) -> Self {
        let children: Vec<_> = tree.children(node).collect();
        Self { tree, leads: leads(tree, node, &children), children }
    }

    pub(super) fn count(&self) -> usize {
        self.children.len()
    }

    /// How the member `index` writes its colon, if that can be copied.
    pub(super) fn colon(&self, index: usize) -> Option<&'t str> {
        self.children.get(index).and_then(|child| usable_colon(self.tree, *child))
    }

    /// The whitespace before child `index`, or before the closing bracket.
    pub(super) fn lead(&self, index: usize) -> &'t str {
        self.leads
            .get(index)
            .and_then(|range| self.tree.source.get(range.clone()))
            .unwrap_or_default()
    }

    /// The whitespace between child `index` and its comma.
    pub(super) fn before_comma(&self, index: usize) -> &'t str {
        let comma = self.leads.get(index + 1).map_or(0, |lead| lead.start.saturating_sub(1));
        self.end(index).and_then(|end| self.tree.source.get(end..comma)).unwrap_or_default()
    }

    /// The whitespace for a new child behind child `index`.
    pub(super) fn sibling_lead(&self, index: usize) -> Option<&'t str> {
        let single = |lead: &'t str| last_break(lead).map_or(lead, |(whole, _)| whole);
        let first_is_inline = last_break(self.lead(0)).is_none();
        match index {
            0 if first_is_inline => (self.count() > 1).then(|| single(self.lead(1))),
            _ => Some(single(self.lead(index))),
        }
    }

    /// The lead with the most line breaks from `first` to `last`: a blank line between groups
    /// outlives the members beside it.
    pub(super) fn widest_lead(&self, first: usize, last: usize) -> &'t str {
        let leads = (first..=last).map(|index| self.lead(index));
        leads.max_by_key(|lead| lead.matches('\n').count()).unwrap_or_default()
    }

    /// The source between two children, or between one and its bracket.
    pub(super) fn between(&self, left: Option<usize>, right: Option<usize>) -> Range<usize> {
        let start = left.and_then(|left| self.end(left));
        let start = start.or_else(|| self.leads.first().map(|lead| lead.start));
        let end = self.leads.get(right.unwrap_or(self.count())).map(|lead| lead.end);
        start.unwrap_or_default()..end.unwrap_or_default()
    }

    fn end(&self, index: usize) -> Option<usize> {
        self.children.get(index).map(|child| self.tree.range(*child).end)
    }
}

/// The whitespace before each member or item of a container, and before its closing bracket.
///
/// `children` are those of `id`; the last range of the result belongs to the bracket.
fn leads(tree: &Tree, id: NodeId, children: &[NodeId]) -> Vec<Range<usize>> {
    let bytes = tree.source.as_bytes();
    let whole = tree.range(id);
    let mut from = whole.start + 1;
    let mut leads = Vec::with_capacity(children.len() + 1);
    for child in children {
        leads.push(from..tree.item_start(*child));
        let end = tree.range(*child).end;
        let comma = skip_space(bytes, end);
        from = if bytes.get(comma) == Some(&b',') { comma + 1 } else { end };
    }
    leads.push(from..whole.end - 1);
    leads
}

/// The habits of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// What one level is indented by.
    pub(super) unit: String,
    pub(super) newline: &'static str,
    /// What is between a key and its value.
    pub(super) colon: String,
    /// What follows a comma that does not end its line.
    pub(super) comma_gap: &'static str,
}

impl Style {
    pub(super) fn of(tree: &Tree) -> Self {
        let newline = match tree.source.split_once('\n') {
            Some((line, _)) if line.ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let colon = tree.ids().find_map(|id| usable_colon(tree, id)).unwrap_or(": ").to_owned();
        let tight = || colon == ":";
        let comma_gap =
            if first_comma_gap(tree).map_or_else(tight, str::is_empty) { "" } else { " " };
        Self { unit: unit(tree).unwrap_or("  ").to_owned(), newline, colon, comma_gap }
    }
}

/// The colon of the member `id`, unless it is too odd to be copied.
pub(super) fn usable_colon(tree: &Tree, id: NodeId) -> Option<&str> {
    tree.colon(id).filter(|colon| colon.len() <= 4 && !colon.contains(['\n', '\r']))
}

/// The line break and indentation that `space` ends with; none if it breaks no line.
pub(super) fn last_break(space: &str) -> Option<(&str, &str)> {
    let newline = space.rfind('\n')?;
    let start = if space[..newline].ends_with('\r') { newline - 1 } else { newline };
    Some((&space[start..], &space[newline + 1..]))
}

/// The indentation of the first container that has its content on lines of its own.
fn unit(tree: &Tree) -> Option<&str> {
    const WIDEST: usize = 16;
    if !tree.source.contains('\n') {
        return None;
    }
    tree.ids().find_map(|id| {
        let first = tree.children(id).next()?;
        let start = tree.range(id).start;
        let (_, inner) = last_break(&tree.source[start + 1..tree.item_start(first)])?;
        inner.strip_prefix(tree.line_indent(start)).filter(|unit| unit.len() <= WIDEST)
    })
}

/// What is between a comma and the next item on the same line.
fn first_comma_gap(tree: &Tree) -> Option<&str> {
    let containers = tree.ids().filter(|id| tree.kind(*id).is_container());
    containers.flat_map(|id| tree.children(id).zip(tree.children(id).skip(1))).find_map(
        |(one, next)| {
            let comma = skip_space(tree.source.as_bytes(), tree.range(one).end);
            let gap = tree.source.get(comma + 1..tree.item_start(next))?;
            (!gap.contains('\n')).then_some(gap)
        },
    )
}
