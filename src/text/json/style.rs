//! How a document is laid out, so that additions look like the rest.

use super::scan::skip_space;
use super::tree::{NodeId, Tree};

/// The habits of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// What one level is indented by.
    pub(super) unit: String,
    pub(super) newline: &'static str,
    /// What stands between a key and its value.
    pub(super) colon: String,
    /// What stands behind a comma that does not end its line.
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

/// What stands between a comma and the next item on the same line.
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
