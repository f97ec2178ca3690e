//! RFC 7396: a document that says how another one changes.

use super::change::Change;
use super::draft::Draft;
use super::replace::Spelling;
use super::tree::Tree;
use super::{JsonError, Path};
use serde_json::{Map, Value};

/// Applies the RFC 7396 merge patch `patch` to `target`.
///
/// Members keep their order; a removed one does not disturb the others.
pub(crate) fn merge_value(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(members) = target else {
        return;
    };
    for (key, change) in changes {
        if change.is_null() {
            members.shift_remove(key);
        } else {
            merge_value(members.entry(key).or_insert(Value::Null), change);
        }
    }
}

impl Change<'_> {
    /// Applies an RFC 7396 merge patch to the whole document.
    pub(super) fn merge(&mut self, patch: &Value) -> Result<(), JsonError> {
        Self::check_depth(&Path::root(), patch)?;
        merge(self.root, self.tree, patch);
        Ok(())
    }
}

fn merge(target: &mut Draft, tree: &Tree, patch: &Value) {
    if let (Value::Object(changes), Draft::Object(object)) = (patch, target.expand(tree)) {
        for (key, change) in changes {
            if change.is_null() {
                object.remove(key);
            } else if let Some(member) = object.get_mut(key) {
                merge(member, tree, change);
            } else {
                object.put(tree, key, without_nulls(change), Spelling::Kept);
            }
        }
    } else {
        target.replace(tree, without_nulls(patch), Spelling::Kept);
    }
}

/// What a merge patch makes of nothing.
fn without_nulls(patch: &Value) -> Draft {
    let mut value = Value::Null;
    merge_value(&mut value, patch);
    Draft::new(&value)
}
