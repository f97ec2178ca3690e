//! A document in the middle of an edit: what is kept points into the source, what is new is text.

use super::scan::{number, quote, unescape};
use super::tree::{Kind, NodeId, Tree};
use serde_json::Value;
use std::collections::HashMap;

/// A value as it will be.
#[derive(Clone, Debug)]
pub(super) enum DraftValue {
    /// A value of the source, unchanged.
    Source(NodeId),
    /// The text of a new scalar.
    Scalar(Box<str>),
    Object(Box<ObjectDraft>),
    Array(Box<ArrayDraft>),
}

/// An array that is new or has changed.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrayDraft {
    /// The array of the source that this one was.
    pub(super) origin: Option<NodeId>,
    pub(super) items: Vec<Item>,
}

/// An item of an array; `origin` is the item of the source whose place it has.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) origin: Option<NodeId>,
    pub(super) value: DraftValue,
}

/// A member or an item, whichever the container has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'d> {
    pub(super) key: Option<&'d str>,
    /// The member or item of the source whose place it has.
    pub(super) origin: Option<NodeId>,
    pub(super) value: &'d DraftValue,
}

impl DraftValue {
    /// A new value.
    pub(super) fn new(value: &Value) -> Self {
        match value {
            Value::Object(members) => {
                let mut object = ObjectDraft::default();
                for (key, value) in members {
                    object.push(key, None, Self::new(value));
                }
                object.into()
            }
            Value::Array(items) => items.iter().map(Self::new).collect(),
            Value::String(text) => Self::Scalar(quote(text).into()),
            scalar => Self::Scalar(scalar.to_string().into()),
        }
    }

    /// A new value with the spelling it has in another document.
    pub(super) fn copied(tree: &Tree, node: NodeId) -> Self {
        match tree.kind(node) {
            Kind::Object => {
                let mut object = ObjectDraft::default();
                for child in tree.children(node) {
                    object.push(&tree.key(child), None, Self::copied(tree, child));
                }
                object.into()
            }
            Kind::Array => tree.children(node).map(|child| Self::copied(tree, child)).collect(),
            _ => Self::Scalar(tree.raw(node).into()),
        }
    }

    pub(super) fn empty_object() -> Self {
        ObjectDraft::default().into()
    }

    /// Makes an object or array of the source changeable.
    pub(super) fn expand(&mut self, tree: &Tree) -> &mut Self {
        if let Self::Source(node) = *self {
            match tree.kind(node) {
                Kind::Object => {
                    let mut object = ObjectDraft::of(node);
                    for child in tree.children(node) {
                        object.push(&tree.key(child), Some(child), Self::Source(child));
                    }
                    *self = object.into();
                }
                Kind::Array => {
                    let item = |child| Item { origin: Some(child), value: Self::Source(child) };
                    let items = tree.children(node).map(item).collect();
                    *self = ArrayDraft { origin: Some(node), items }.into();
                }
                _ => {}
            }
        }
        self
    }

    pub(super) fn kind(&self, tree: &Tree) -> Kind {
        match self {
            Self::Source(node) => tree.kind(*node),
            Self::Scalar(text) => text.bytes().next().map_or(Kind::Null, Kind::of),
            Self::Object(_) => Kind::Object,
            Self::Array(_) => Kind::Array,
        }
    }

    /// The text of a scalar.
    pub(super) fn scalar<'a>(&'a self, tree: &'a Tree) -> Option<&'a str> {
        match self {
            Self::Source(node) if !tree.kind(*node).is_container() => Some(tree.raw(*node)),
            Self::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// Members or items of what has been expanded or is new.
    pub(super) fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        let (object, array) = match self {
            Self::Object(object) => (Some(object), None),
            Self::Array(array) => (None, Some(array)),
            Self::Source(_) | Self::Scalar(_) => (None, None),
        };
        let members = object.into_iter().flat_map(|object| object.members());
        members.chain(array.into_iter().flat_map(|array| array.elements()))
    }

    pub(super) fn value(&self, tree: &Tree) -> Value {
        match self {
            Self::Source(node) => tree.value(*node),
            Self::Scalar(text) => match self.kind(tree) {
                Kind::String => Value::String(unescape(text).into_owned()),
                Kind::Bool => Value::Bool(&**text == "true"),
                Kind::Number => number(text),
                _ => Value::Null,
            },
            Self::Object(object) => {
                let member =
                    |e: Element<'_>| (e.key.unwrap_or_default().to_owned(), e.value.value(tree));
                Value::Object(object.members().map(member).collect())
            }
            Self::Array(array) => array.items.iter().map(|item| item.value.value(tree)).collect(),
        }
    }

    /// How many levels of changed containers this has. What lies in the source counts as flat.
    pub(super) fn height(&self) -> usize {
        let below = self.elements().map(|element| element.value.height()).max();
        match self {
            Self::Source(_) | Self::Scalar(_) => 0,
            Self::Object(_) | Self::Array(_) => 1 + below.unwrap_or(0),
        }
    }

    /// About how many bytes this is when written.
    pub(super) fn weight(&self, tree: &Tree) -> usize {
        match self {
            Self::Source(node) => tree.range(*node).len(),
            Self::Scalar(text) => text.len(),
            Self::Object(_) | Self::Array(_) => {
                let one = |e: Element<'_>| e.key.map_or(0, str::len) + e.value.weight(tree) + 2;
                2 + self.elements().map(one).sum::<usize>()
            }
        }
    }
}

impl FromIterator<DraftValue> for DraftValue {
    fn from_iter<I: IntoIterator<Item = Self>>(items: I) -> Self {
        ArrayDraft { origin: None, items: items.into_iter().map(Item::new).collect() }.into()
    }
}

impl From<ObjectDraft> for DraftValue {
    fn from(object: ObjectDraft) -> Self {
        Self::Object(Box::new(object))
    }
}

impl From<ArrayDraft> for DraftValue {
    fn from(array: ArrayDraft) -> Self {
        Self::Array(Box::new(array))
    }
}

impl ArrayDraft {
    fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        self.items.iter().map(|item| Element { key: None, origin: item.origin, value: &item.value })
    }
}

impl Item {
    /// An item without a place in the source.
    pub(super) fn new(value: DraftValue) -> Self {
        Self { origin: None, value }
    }
}

/// Up to this many members are searched one by one.
const FEW: usize = 12;

/// An object that is new or has changed.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectDraft {
    /// The object of the source that this one was.
    pub(super) origin: Option<NodeId>,
    /// In order. Removed members stay, so that a key that comes back finds its old line.
    slots: Vec<Slot>,
    /// The index of every slot, once there are more than a [`FEW`].
    by_key: HashMap<Box<str>, usize>,
}

#[derive(Clone, Debug)]
struct Slot {
    key: Box<str>,
    origin: Option<NodeId>,
    value: Option<DraftValue>,
}

impl ObjectDraft {
    /// The object `node` of the source, as yet without members.
    pub(super) fn of(node: NodeId) -> Self {
        Self { origin: Some(node), ..Self::default() }
    }

    pub(super) fn members(&self) -> impl Iterator<Item = Element<'_>> {
        self.slots.iter().filter_map(|slot| {
            let value = slot.value.as_ref()?;
            Some(Element { key: Some(&slot.key), origin: slot.origin, value })
        })
    }

    pub(super) fn get(&self, key: &str) -> Option<&DraftValue> {
        self.slots.get(self.position(key)?)?.value.as_ref()
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut DraftValue> {
        let position = self.position(key)?;
        self.slots.get_mut(position)?.value.as_mut()
    }

    /// The member called `key`, made from the value it had in the source when it is missing.
    ///
    /// `make` gets that old value, so that a removed member that returns can keep its text.
    pub(super) fn get_or_insert_with(
        &mut self,
        key: &str,
        make: impl FnOnce(Option<NodeId>) -> DraftValue,
    ) -> &mut DraftValue {
        let position = self.position(key).unwrap_or_else(|| self.push_slot(key, None, None));
        let slot = &mut self.slots[position];
        let origin = slot.origin;
        slot.value.get_or_insert_with(|| make(origin))
    }

    pub(super) fn into_members(self) -> impl Iterator<Item = (Box<str>, DraftValue)> {
        self.slots.into_iter().filter_map(|slot| Some((slot.key, slot.value?)))
    }

    /// Removes the members whose key is not wanted.
    pub(super) fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        for slot in self.slots.iter_mut().filter(|slot| !wanted(&slot.key)) {
            slot.value = None;
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<DraftValue> {
        let position = self.position(key)?;
        self.slots.get_mut(position)?.value.take()
    }

    /// Adds a member whose key is not there yet.
    pub(super) fn push(&mut self, key: &str, origin: Option<NodeId>, value: DraftValue) {
        self.push_slot(key, origin, Some(value));
    }

    /// Adds a member before another one, or at the end; nothing if its key is there.
    pub(super) fn insert_before(&mut self, key: &str, next: &str, value: DraftValue) {
        match (self.position(key), self.position(next)) {
            (Some(_), _) => {}
            (None, None) => self.push(key, None, value),
            (None, Some(at)) => {
                self.slots.insert(at, Slot { key: key.into(), origin: None, value: Some(value) });
                self.by_key.clear();
                if self.slots.len() > FEW {
                    let all = self.slots.iter().enumerate();
                    self.by_key.extend(all.map(|(position, slot)| (slot.key.clone(), position)));
                }
            }
        }
    }

    fn position(&self, key: &str) -> Option<usize> {
        if self.slots.len() <= FEW {
            return self.slots.iter().position(|slot| &*slot.key == key);
        }
        self.by_key.get(key).copied()
    }

    fn push_slot(&mut self, key: &str, origin: Option<NodeId>, value: Option<DraftValue>) -> usize {
        let position = self.slots.len();
        self.slots.push(Slot { key: key.into(), origin, value });
        if self.slots.len() > FEW {
            let indexed = self.by_key.len();
            let unindexed = self.slots.iter().enumerate().skip(indexed);
            self.by_key.extend(unindexed.map(|(position, slot)| (slot.key.clone(), position)));
        }
        position
    }
}
