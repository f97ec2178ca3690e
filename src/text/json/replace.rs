//! Giving a value a new content while keeping the text of whatever stays equal.

use super::draft::ObjectDraft;
use super::draft::{ArrayDraft, Draft, Item};
use super::scan::{number, unescape};
use super::tree::{Kind, Tree};

/// Which text a number gets when its value stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// The one it had: the new value came without a text of its own.
    Kept,
    /// The new one.
    Given,
}

impl Draft {
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
    pub(super) fn put(&mut self, tree: &Tree, key: &str, new: Draft, spelling: Spelling) {
        let before = |origin: Option<_>| origin.map_or_else(Draft::empty_object, Draft::Source);
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
