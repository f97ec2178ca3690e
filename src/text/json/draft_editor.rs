//! The ways in which a draft changes, by path.

use super::draft::ObjectDraft;
use super::draft::{ArrayDraft, DraftValue, Item};
use super::tree::{Kind, Tree};
use super::write::Spelling;
use super::{JsonError, MAX_DEPTH, Path};
use crate::text::nearest::nearest;
use serde_json::Value;
use std::borrow::Cow;

/// More names than this are not compared with one that is missing: a hint is not worth the wait.
const MOST_NAMES: usize = 4096;

/// A draft together with the source it points into.
///
/// A change that fails may leave the draft half changed; the caller drops it then.
pub(super) struct DraftEditor<'a> {
    pub(super) tree: &'a Tree,
    pub(super) root: &'a mut DraftValue,
}

/// A container opened for changes.
enum Opened<'d> {
    Object(&'d mut ObjectDraft),
    Array(&'d mut ArrayDraft),
}

impl DraftEditor<'_> {
    /// A new value for `path`, refused if it nests too deeply there.
    pub(super) fn fresh(path: &Path, value: &Value) -> Result<DraftValue, JsonError> {
        Self::check_depth(path, value)?;
        Ok(DraftValue::new(value))
    }

    /// Refuses a value that nests too deeply to be put at `path`.
    pub(super) fn check_depth(path: &Path, value: &Value) -> Result<(), JsonError> {
        match MAX_DEPTH.checked_sub(path.segments().len()) {
            Some(room) if !deeper_than(value, room) => Ok(()),
            _ => Err(too_deep(path)),
        }
    }

    /// Puts `new` at `path`, creating objects on the way.
    pub(super) fn set(
        &mut self,
        path: &Path,
        new: DraftValue,
        spelling: Spelling,
    ) -> Result<(), JsonError> {
        check_height(path, &new)?;
        let Some((last, parents)) = path.segments().split_last() else {
            self.root.replace(self.tree, new, spelling);
            return Ok(());
        };
        let tree = self.tree;
        let mut here = &mut *self.root;
        for (i, segment) in parents.iter().enumerate() {
            here = match open(here, tree, || path.first(i))? {
                Opened::Object(object) => {
                    object.get_or_insert_with(segment, |_| DraftValue::empty_object())
                }
                Opened::Array(array) => {
                    let index = place_in(array, segment, || path.first(i))?;
                    if index == array.items.len() {
                        array.items.push(Item::new(DraftValue::empty_object()));
                    }
                    &mut array.items[index].value
                }
            };
        }
        match open(here, tree, || path.first(parents.len()))? {
            Opened::Object(object) => object.put(tree, last, new, spelling),
            Opened::Array(array) => {
                let index = place_in(array, last, || path.first(parents.len()))?;
                match array.items.get_mut(index) {
                    Some(item) => item.value.replace(tree, new, spelling),
                    None => array.items.push(Item::new(new)),
                }
            }
        }
        Ok(())
    }

    /// Makes an empty object at `path`, before its sibling `next`, unless something is there.
    pub(super) fn insert_object_before(
        &mut self,
        path: &Path,
        next: &str,
    ) -> Result<(), JsonError> {
        let (Some(parent), Some(last)) = (path.parent(), path.last()) else { return Ok(()) };
        let tree = self.tree;
        if let Opened::Object(object) = open(self.reach(&parent)?, tree, || parent.clone())? {
            object.insert_before(last, next, DraftValue::empty_object());
        }
        Ok(())
    }

    /// Adds `new` as RFC 6902 does: into an array, over a member, or as the whole document.
    pub(super) fn insert(&mut self, path: &Path, new: DraftValue) -> Result<(), JsonError> {
        check_height(path, &new)?;
        let (Some(parent), Some(last)) = (path.parent(), path.last()) else {
            self.root.replace(self.tree, new, Spelling::Kept);
            return Ok(());
        };
        let tree = self.tree;
        match open(self.reach(&parent)?, tree, || parent.clone())? {
            Opened::Object(object) => object.put(tree, last, new, Spelling::Kept),
            Opened::Array(array) => {
                let index = place_in(array, last, || parent.clone())?;
                array.items.insert(index, Item::new(new));
            }
        }
        Ok(())
    }

    /// Takes out what is at `path`.
    pub(super) fn remove(&mut self, path: &Path) -> Result<DraftValue, JsonError> {
        let (Some(parent), Some(last)) = (path.parent(), path.last()) else {
            return Err(JsonError::RemoveRoot);
        };
        if self.find(path).is_none() {
            return Err(self.missing(path));
        }
        let tree = self.tree;
        let removed = match open(self.reach(&parent)?, tree, || parent.clone())? {
            Opened::Object(object) => object.remove(last),
            Opened::Array(array) => {
                let index = Path::index(last).filter(|index| *index < array.items.len());
                index.map(|index| array.items.remove(index).value)
            }
        };
        removed.ok_or_else(|| self.missing(path))
    }

    /// Adds `new` at the end of the array at `path`, which is created if it is missing.
    pub(super) fn append(&mut self, path: &Path, new: DraftValue) -> Result<(), JsonError> {
        if self.find(path).is_none() {
            return self.set(path, [new].into_iter().collect(), Spelling::Kept);
        }
        let tree = self.tree;
        match self.reach(path)?.expand(tree) {
            DraftValue::Array(array) => array.items.push(Item::new(new)),
            other => {
                let found = other.kind(tree).described();
                return Err(JsonError::NotArray { path: path.clone(), found });
            }
        }
        Ok(())
    }

    /// What is at `path`.
    pub(super) fn find(&self, path: &Path) -> Option<Cow<'_, DraftValue>> {
        let mut here = &*self.root;
        for (i, segment) in path.segments().iter().enumerate() {
            here = match here {
                DraftValue::Object(object) => object.get(segment)?,
                DraftValue::Array(array) => &array.items.get(Path::index(segment)?)?.value,
                DraftValue::Scalar(_) => return None,
                DraftValue::Source(node) => {
                    let mut rest = path.segments().iter().skip(i);
                    let found =
                        rest.try_fold(*node, |node, segment| self.tree.child(node, segment))?;
                    return Some(Cow::Owned(DraftValue::Source(found)));
                }
            };
        }
        Some(Cow::Borrowed(here))
    }

    /// What is at `path`, for changing it.
    pub(super) fn reach(&mut self, path: &Path) -> Result<&mut DraftValue, JsonError> {
        if self.find(path).is_none() {
            return Err(self.missing(path));
        }
        let tree = self.tree;
        let mut here = &mut *self.root;
        for segment in path.segments() {
            let next = match here.expand(tree) {
                DraftValue::Object(object) => object.get_mut(segment),
                DraftValue::Array(array) => {
                    let item = Path::index(segment).and_then(|index| array.items.get_mut(index));
                    item.map(|item| &mut item.value)
                }
                DraftValue::Source(_) | DraftValue::Scalar(_) => None,
            };
            here = next.ok_or_else(|| JsonError::NotFound { path: path.clone(), nearest: None })?;
        }
        Ok(here)
    }

    /// The error for a `path` that does not exist, with the nearest one that does.
    pub(super) fn missing(&self, path: &Path) -> JsonError {
        let exists = |length: &usize| self.find(&path.first(*length)).is_some();
        let length = (1..=path.segments().len()).take_while(exists).count();
        let parent = path.first(length);
        let keys: Vec<String> = match self.find(&parent).as_deref() {
            Some(DraftValue::Object(object)) => {
                object.members().filter_map(|e| e.key.map(str::to_owned)).collect()
            }
            Some(DraftValue::Source(node)) if self.tree.kind(*node) == Kind::Object => {
                self.tree.children(*node).map(|child| self.tree.key(child).into_owned()).collect()
            }
            _ => Vec::new(),
        };
        let wanted = path.segments().get(length).map_or("", String::as_str);
        let names = keys.iter().take(MOST_NAMES).map(String::as_str);
        let nearest = nearest(wanted, names).map(|key| parent.join(key).to_string());
        JsonError::NotFound { path: path.clone(), nearest }
    }
}

/// Refuses a draft whose own levels, put at `path`, are too many.
///
/// Levels inside the source are counted when the result is read back; this bound keeps every
/// walk over a draft shallow until then.
fn check_height(path: &Path, draft: &DraftValue) -> Result<(), JsonError> {
    if path.segments().len() + draft.height() > MAX_DEPTH {
        return Err(too_deep(path));
    }
    Ok(())
}

fn too_deep(path: &Path) -> JsonError {
    JsonError::ValueTooDeep { path: path.clone(), limit: MAX_DEPTH }
}

fn deeper_than(value: &Value, levels: usize) -> bool {
    match value {
        Value::Object(members) => {
            levels == 0 || members.values().any(|value| deeper_than(value, levels - 1))
        }
        Value::Array(items) => {
            levels == 0 || items.iter().any(|value| deeper_than(value, levels - 1))
        }
        _ => false,
    }
}

fn open<'d>(
    draft: &'d mut DraftValue,
    tree: &Tree,
    here: impl FnOnce() -> Path,
) -> Result<Opened<'d>, JsonError> {
    match draft.expand(tree) {
        DraftValue::Object(object) => Ok(Opened::Object(object)),
        DraftValue::Array(array) => Ok(Opened::Array(array)),
        scalar => {
            Err(JsonError::NotContainer { path: here(), found: scalar.kind(tree).described() })
        }
    }
}

/// The index that `segment` means in `array`: an item's, or the one after the last.
fn place_in(
    array: &ArrayDraft,
    segment: &str,
    here: impl FnOnce() -> Path,
) -> Result<usize, JsonError> {
    let length = array.items.len();
    match (segment, Path::index(segment)) {
        ("-", _) => Ok(length),
        (_, Some(index)) if index <= length => Ok(index),
        (_, Some(index)) => Err(JsonError::IndexOutOfRange { path: here(), index, length }),
        (_, None) => Err(JsonError::NotIndex { path: here(), segment: segment.to_owned() }),
    }
}
