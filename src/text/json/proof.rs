//! Proving that a document says exactly what its draft says.

use super::draft::{Draft, Element};
use super::tree::{Kind, NodeId, Tree};

/// Whether `after` is `draft`: kept values are the source's own text, new ones the text given,
/// and there is nothing else. `before` is the source that the draft points into.
pub(super) fn is_written(before: &Tree, draft: &Draft, after: &Tree) -> bool {
    same(before, draft, after, after.root())
}

fn same(before: &Tree, draft: &Draft, after: &Tree, node: NodeId) -> bool {
    match draft {
        Draft::Source(origin) => before.same_tokens(*origin, after, node),
        Draft::Scalar(text) => after.raw(node) == &**text,
        Draft::Object(_) => {
            after.kind(node) == Kind::Object && same_elements(before, draft, after, node)
        }
        Draft::Array(_) => {
            after.kind(node) == Kind::Array && same_elements(before, draft, after, node)
        }
    }
}

fn same_elements(before: &Tree, draft: &Draft, after: &Tree, node: NodeId) -> bool {
    let one = |(element, child): (Element<'_>, NodeId)| {
        element.key.is_none_or(|key| after.key(child) == key)
            && same(before, element.value, after, child)
    };
    draft.elements().count() == after.children(node).count()
        && draft.elements().zip(after.children(node)).all(one)
}
