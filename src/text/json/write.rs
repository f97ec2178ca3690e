//! Writing new values in the style of the document.

use super::draft::{ArrayDraft, DraftValue, Element, Item, ObjectDraft};
use super::layout::Style;
use super::scan::{number, quote, unescape};
use super::tree::{Kind, NodeId, Tree};
use super::{JsonError, MAX_BYTES};

/// Arrays of scalars up to this many characters are written on one line.
const SHORT: usize = 60;

/// Writes values into `out`.
///
/// `indent` is the indentation of the line that a value begins on; without it the value must
/// stay on that line.
pub(super) struct Writer<'a> {
    pub(super) tree: &'a Tree,
    pub(super) style: &'a Style,
    pub(super) out: String,
}

impl Writer<'_> {
    pub(super) fn value(
        &mut self,
        draft: &DraftValue,
        indent: Option<&str>,
    ) -> Result<(), JsonError> {
        match draft {
            DraftValue::Source(node) => self.relocated(*node, indent),
            DraftValue::Scalar(text) => self.text(text),
            DraftValue::Object(_) => self.container(draft, indent),
            DraftValue::Array(_) => self.container(draft, indent.filter(|_| !self.is_short(draft))),
        }
    }

    /// Writes a key, a colon and the value, or the value alone.
    pub(super) fn element(
        &mut self,
        element: &Element<'_>,
        colon: &str,
        indent: Option<&str>,
    ) -> Result<(), JsonError> {
        if let Some(key) = element.key {
            match element.origin {
                Some(origin) => self.text(self.tree.raw_key(origin))?,
                None => self.text(&quote(key))?,
            }
            self.text(colon)?;
        }
        self.value(element.value, indent)
    }

    /// Adds to the output, which must not outgrow what a document may have.
    pub(super) fn text(&mut self, text: &str) -> Result<(), JsonError> {
        self.out.push_str(text);
        if self.out.len() > MAX_BYTES {
            return Err(JsonError::TooLarge { bytes: self.out.len(), limit: MAX_BYTES });
        }
        Ok(())
    }

    fn container(&mut self, draft: &DraftValue, indent: Option<&str>) -> Result<(), JsonError> {
        let style = self.style;
        let (open, close) =
            if matches!(draft, DraftValue::Object(_)) { ("{", "}") } else { ("[", "]") };
        let inner = indent.map(|indent| format!("{indent}{}", style.unit));
        let mut is_empty = true;
        self.text(open)?;
        for element in draft.elements() {
            if !is_empty {
                self.text(",")?;
            }
            match &inner {
                Some(inner) => {
                    self.text(style.newline)?;
                    self.text(inner)?;
                }
                None if is_empty => {}
                None => self.text(style.comma_gap)?,
            }
            self.element(&element, &style.colon, inner.as_deref())?;
            is_empty = false;
        }
        if let Some(indent) = indent.filter(|_| !is_empty) {
            self.text(style.newline)?;
            self.text(indent)?;
        }
        self.text(close)
    }

    /// Writes a value of the source in another place: the same text at another indentation.
    fn relocated(&mut self, node: NodeId, indent: Option<&str>) -> Result<(), JsonError> {
        let raw = self.tree.raw(node);
        if !raw.contains('\n') {
            return self.text(raw);
        }
        let Some(indent) = indent else {
            return self.container(DraftValue::Source(node).expand(self.tree), None);
        };
        let old = self.tree.line_indent(self.tree.range(node).start);
        for (i, line) in raw.split('\n').enumerate() {
            if i > 0 {
                self.text("\n")?;
                self.text(if line.trim().is_empty() { "" } else { indent })?;
            }
            let moved = if i == 0 {
                line
            } else {
                line.strip_prefix(old).unwrap_or_else(|| line.trim_start())
            };
            self.text(moved)?;
        }
        Ok(())
    }

    fn is_short(&self, array: &DraftValue) -> bool {
        let mut length = 0;
        array.elements().all(|element| {
            let text = element.value.scalar(self.tree);
            length += text.map_or(0, |text| text.chars().count()) + 2;
            text.is_some() && length <= SHORT
        })
    }
}

/// Which text a number gets when its value stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// The one it had: the new value came without a text of its own.
    Kept,
    /// The new one.
    Given,
}

impl DraftValue {
    /// Makes this value equal to `new`, changing as little text as possible.
    ///
    /// Objects keep the order of their members; new members come last.
    pub(super) fn replace(&mut self, tree: &Tree, new: Self, spelling: Spelling) {
        match new {
            Self::Source(node) => {
                let unchanged =
                    matches!(self, Self::Source(old) if tree.same_tokens(*old, tree, node));
                if !unchanged {
                    *self = new;
                }
            }
            Self::Scalar(text) => {
                let unchanged =
                    self.scalar(tree).is_some_and(|old| same_scalar(old, &text, spelling));
                if !unchanged {
                    *self = Self::Scalar(text);
                }
            }
            Self::Object(new) => match self.expand(tree) {
                Self::Object(old) if old.origin.is_some() => old.replace(tree, *new, spelling),
                old => *old = Self::Object(new),
            },
            Self::Array(new) => match self.expand(tree) {
                Self::Array(old) if old.origin.is_some() => old.replace(tree, *new, spelling),
                old => *old = Self::Array(new),
            },
        }
    }
}

impl ObjectDraft {
    /// Gives the member `key` the value `new`, adding the member if it is missing.
    pub(super) fn put(&mut self, tree: &Tree, key: &str, new: DraftValue, spelling: Spelling) {
        let before =
            |origin: Option<_>| origin.map_or_else(DraftValue::empty_object, DraftValue::Source);
        self.get_or_insert_with(key, before).replace(tree, new, spelling);
    }

    fn replace(&mut self, tree: &Tree, new: Self, spelling: Spelling) {
        self.retain(|key| new.get(key).is_some());
        for (key, value) in new.into_members() {
            self.put(tree, &key, value, spelling);
        }
    }
}

impl ArrayDraft {
    /// Matches equal items at both ends, so that taking one out or putting one in moves no other.
    fn replace(&mut self, tree: &Tree, new: Self, spelling: Spelling) {
        let (before, after) = (self.items.len(), new.items.len());
        let shared = before.min(after);
        let (front, back) = if before == after { (shared, 0) } else { self.equal_ends(tree, &new) };
        let replaced = shared - front - back;
        let tail = self.items.split_off(before - back);
        self.items.truncate(front + replaced);
        let mut values = new.items.into_iter().map(|item| item.value);
        for (item, value) in self.items.iter_mut().zip(&mut values) {
            item.value.replace(tree, value, spelling);
        }
        let added = after - front - back - replaced;
        self.items.extend(values.by_ref().take(added).map(Item::new));
        for (mut item, value) in tail.into_iter().zip(values) {
            item.value.replace(tree, value, spelling);
            self.items.push(item);
        }
    }

    /// How many items are equal at the start and, not counting those, at the end.
    fn equal_ends(&self, tree: &Tree, new: &Self) -> (usize, usize) {
        let equal = |(old, new): &(&Item, &Item)| old.value.value(tree) == new.value.value(tree);
        let front = self.items.iter().zip(&new.items).take_while(equal).count();
        let left = self.items.len().min(new.items.len()) - front;
        let back = self
            .items
            .iter()
            .rev()
            .zip(new.items.iter().rev())
            .take(left)
            .take_while(equal)
            .count();
        (front, back)
    }
}

fn same_scalar(old: &str, new: &str, spelling: Spelling) -> bool {
    let kind = |text: &str| text.bytes().next().map(Kind::of);
    old == new
        || kind(old) == kind(new)
            && match kind(new) {
                Some(Kind::String) => unescape(old) == unescape(new),
                Some(Kind::Number) => spelling == Spelling::Kept && number(old) == number(new),
                _ => false,
            }
}
