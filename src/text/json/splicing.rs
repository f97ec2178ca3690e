//! From a draft to the splices that turn the source into it, and the proof that they do.

use super::draft::{DraftValue, Element};
use super::layout::Layout;
use super::layout::{Style, last_break};
use super::tree::{Kind, NodeId, Tree};
use super::write::Writer;
use super::{JsonError, MAX_BYTES};
use crate::text::Splice;
use std::ops::Range;

/// The splices that make `draft` of the source, sorted and apart from one another.
pub(super) fn splices(tree: &Tree, draft: &DraftValue) -> Result<Vec<Splice>, JsonError> {
    let mut splicing = Splicing { tree, style: Style::of(tree), splices: Vec::new(), added: 0 };
    let root = tree.root();
    let roomy = tree.raw(root).contains('\n') || tree.children(root).next().is_none();
    let indent = roomy.then(|| tree.line_indent(tree.range(root).start));
    splicing.value(root, draft, indent)?;
    splicing.splices.sort_by_key(|splice| (splice.at.start, splice.at.end));
    Ok(splicing.splices)
}

struct Splicing<'t> {
    tree: &'t Tree,
    style: Style,
    splices: Vec<Splice>,
    added: usize,
}

impl<'t> Splicing<'t> {
    /// Turns the value `node` into `draft`. `indent` is as for [`Writer`].
    fn value(
        &mut self,
        node: NodeId,
        draft: &DraftValue,
        indent: Option<&str>,
    ) -> Result<(), JsonError> {
        let origin = match draft {
            DraftValue::Source(origin) => Some(*origin),
            DraftValue::Object(object) => object.origin,
            DraftValue::Array(array) => array.origin,
            DraftValue::Scalar(_) => None,
        };
        let was_empty = self.tree.children(node).next().is_none();
        match draft {
            _ if origin != Some(node) => self.rewrite(node, draft, indent),
            DraftValue::Source(_) => Ok(()),
            _ if was_empty && draft.elements().next().is_none() => Ok(()),
            _ if was_empty => self.fill(node, draft, indent),
            _ => self.container(node, draft),
        }
    }

    fn rewrite(
        &mut self,
        node: NodeId,
        draft: &DraftValue,
        indent: Option<&str>,
    ) -> Result<(), JsonError> {
        let mut writer = self.writer();
        writer.value(draft, indent)?;
        let new = writer.out;
        self.splice(self.tree.range(node), new)
    }

    /// Writes the content of a container that was empty between its brackets.
    fn fill(
        &mut self,
        node: NodeId,
        draft: &DraftValue,
        indent: Option<&str>,
    ) -> Result<(), JsonError> {
        let mut writer = self.writer();
        writer.value(draft, indent)?;
        let within = 1..writer.out.len().saturating_sub(1);
        let new = writer.out.get(within).unwrap_or_default().to_owned();
        let whole = self.tree.range(node);
        self.splice(whole.start + 1..whole.end - 1, new)
    }

    /// Fits the elements of `draft` into a container that had children: kept ones stay where they
    /// are, and a seam between two kept ones is made anew if something was or is to be there.
    fn container(&mut self, node: NodeId, draft: &DraftValue) -> Result<(), JsonError> {
        let layout = Layout::of(self.tree, node);
        let mut kept = layout.children.iter().enumerate();
        let mut left = None;
        let mut fresh = Vec::new();
        for element in draft.elements() {
            let right = element.origin.and_then(|origin| kept.find(|(_, child)| **child == origin));
            match right {
                Some((right, child)) => {
                    self.seam(&layout, left, &fresh, Some(right))?;
                    fresh.clear();
                    let indent = last_break(layout.lead(right)).map(|(_, indent)| indent);
                    self.value(*child, element.value, indent)?;
                    left = Some(right);
                }
                None => fresh.push(element),
            }
        }
        self.seam(&layout, left, &fresh, None)
    }

    /// Makes the text between the kept children `left` and `right`, with `fresh` in between.
    fn seam(
        &mut self,
        layout: &Layout<'t>,
        left: Option<usize>,
        fresh: &[Element<'_>],
        right: Option<usize>,
    ) -> Result<(), JsonError> {
        let next = left.map_or(0, |left| left + 1);
        let right_or_end = right.unwrap_or(layout.count());
        if fresh.is_empty() && next == right_or_end {
            return Ok(());
        }
        let mut writer = self.writer();
        let sibling = layout.sibling_lead(left.unwrap_or(0)).unwrap_or(self.style.comma_gap);
        let comma = left.map_or("", |left| layout.before_comma(left));
        let colon = layout.colon(left.unwrap_or(0)).unwrap_or(&self.style.colon);
        let mut is_first = left.is_none();
        for (i, element) in fresh.iter().enumerate() {
            let lead = if is_first { layout.lead(0) } else { sibling };
            if !is_first {
                writer.text(if i == 0 { comma } else { "" })?;
                writer.text(",")?;
            }
            writer.text(lead)?;
            writer.element(element, colon, last_break(lead).map(|(_, indent)| indent))?;
            is_first = false;
        }
        match right {
            None if is_first => {}
            None => writer.text(layout.lead(layout.count()))?,
            Some(_) if is_first => writer.text(layout.lead(0))?,
            Some(right) => {
                let lead = match right {
                    _ if fresh.is_empty() => layout.widest_lead(next, right),
                    0 => sibling,
                    _ => layout.lead(right),
                };
                writer.text(if fresh.is_empty() { comma } else { "" })?;
                writer.text(",")?;
                writer.text(lead)?;
            }
        }
        let new = writer.out;
        let (at, new) = trimmed(&self.tree.source, layout.between(left, right), &new);
        self.splice(at, new.to_owned())
    }

    fn writer(&self) -> Writer<'_> {
        Writer { tree: self.tree, style: &self.style, out: String::new() }
    }

    fn splice(&mut self, at: Range<usize>, new: String) -> Result<(), JsonError> {
        self.added += new.len();
        if self.added > MAX_BYTES {
            return Err(JsonError::TooLarge { bytes: self.added, limit: MAX_BYTES });
        }
        self.splices.push(Splice { at, new });
        Ok(())
    }
}

/// The replacement of `at` by `new` without the commas and whitespace that both begin or end with.
fn trimmed<'n>(source: &str, at: Range<usize>, new: &'n str) -> (Range<usize>, &'n str) {
    fn equal((a, b): &(&u8, &u8)) -> bool {
        a == b && matches!(a, b' ' | b'\t' | b'\n' | b'\r' | b',')
    }
    let old = source.as_bytes().get(at.clone()).unwrap_or_default();
    let front = old.iter().zip(new.as_bytes()).take_while(equal).count();
    let (old, rest) = (&old[front..], &new[front..]);
    let back = old.iter().rev().zip(rest.as_bytes().iter().rev()).take_while(equal).count();
    (at.start + front..at.end - back, &rest[..rest.len() - back])
}

/// Whether `after` is `draft`: kept values are the source's own text, new ones the text given,
/// and there is nothing else. `before` is the source that the draft points into.
pub(super) fn is_written(before: &Tree, draft: &DraftValue, after: &Tree) -> bool {
    same(before, draft, after, after.root())
}

fn same(before: &Tree, draft: &DraftValue, after: &Tree, node: NodeId) -> bool {
    match draft {
        DraftValue::Source(origin) => before.same_tokens(*origin, after, node),
        DraftValue::Scalar(text) => after.raw(node) == &**text,
        DraftValue::Object(_) => {
            after.kind(node) == Kind::Object && same_elements(before, draft, after, node)
        }
        DraftValue::Array(_) => {
            after.kind(node) == Kind::Array && same_elements(before, draft, after, node)
        }
    }
}

fn same_elements(before: &Tree, draft: &DraftValue, after: &Tree, node: NodeId) -> bool {
    let one = |(element, child): (Element<'_>, NodeId)| {
        element.key.is_none_or(|key| after.key(child) == key)
            && same(before, element.value, after, child)
    };
    draft.elements().count() == after.children(node).count()
        && draft.elements().zip(after.children(node)).all(one)
}
