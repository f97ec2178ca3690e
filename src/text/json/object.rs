//! The members of an object in the middle of an edit.

use super::draft::{Draft, Element};
use super::tree::NodeId;
use std::collections::HashMap;

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
    value: Option<Draft>,
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

    pub(super) fn get(&self, key: &str) -> Option<&Draft> {
        self.slots.get(self.position(key)?)?.value.as_ref()
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Draft> {
        let position = self.position(key)?;
        self.slots.get_mut(position)?.value.as_mut()
    }

    /// The member called `key`, made from the value it had in the source when it is missing.
    ///
    /// `make` gets that old value, so that a removed member that returns can keep its text.
    pub(super) fn get_or_insert_with(
        &mut self,
        key: &str,
        make: impl FnOnce(Option<NodeId>) -> Draft,
    ) -> &mut Draft {
        let position = self.position(key).unwrap_or_else(|| self.push_slot(key, None, None));
        let slot = &mut self.slots[position];
        let origin = slot.origin;
        slot.value.get_or_insert_with(|| make(origin))
    }

    pub(super) fn into_members(self) -> impl Iterator<Item = (Box<str>, Draft)> {
        self.slots.into_iter().filter_map(|slot| Some((slot.key, slot.value?)))
    }

    /// Removes the members whose key is not wanted.
    pub(super) fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        for slot in self.slots.iter_mut().filter(|slot| !wanted(&slot.key)) {
            slot.value = None;
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Draft> {
        let position = self.position(key)?;
        self.slots.get_mut(position)?.value.take()
    }

    /// Adds a member whose key is not there yet.
    pub(super) fn push(&mut self, key: &str, origin: Option<NodeId>, value: Draft) {
        self.push_slot(key, origin, Some(value));
    }

    /// Adds a member before another one, or at the end; nothing if its key is there.
    pub(super) fn insert_before(&mut self, key: &str, next: &str, value: Draft) {
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

    fn push_slot(&mut self, key: &str, origin: Option<NodeId>, value: Option<Draft>) -> usize {
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
