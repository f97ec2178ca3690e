//! Changes as documents: RFC 6902, a list of operations that are made in order, all or none, and
//! RFC 7396, a document that says how another one changes.

use super::draft::DraftValue;
use super::draft_editor::DraftEditor;
use super::tree::Tree;
use super::write::Spelling;
use super::{JsonError, MAX_BYTES, Path};
use serde_json::{Map, Value};

impl DraftEditor<'_> {
    /// Applies an RFC 6902 patch.
    pub(super) fn patch(&mut self, operations: &Value) -> Result<(), JsonError> {
        let Value::Array(operations) = operations else {
            return Err(malformed("a patch is an array of operations"));
        };
        // Copying a document into itself doubles it each time: a few lines could ask for petabytes.
        let mut copied = 0;
        for (index, operation) in operations.iter().enumerate() {
            let outcome = PatchOperation::read(operation)
                .and_then(|operation| self.apply_operation(&operation, &mut copied));
            outcome.map_err(|error| JsonError::Operation { index, source: Box::new(error) })?;
        }
        Ok(())
    }

    fn apply_operation(
        &mut self,
        operation: &PatchOperation<'_>,
        copied: &mut usize,
    ) -> Result<(), JsonError> {
        let tree = self.tree;
        let path = operation.path("path")?;
        // Reaching rather than finding opens what is on the way, which makes the next lookup fast.
        match operation.name {
            "add" => self.insert(&path, Self::fresh(&path, operation.value()?)?),
            "remove" => self.remove(&path).map(drop),
            "replace" => {
                let new = Self::fresh(&path, operation.value()?)?;
                self.reach(&path)?.replace(tree, new, Spelling::Kept);
                Ok(())
            }
            "test" => {
                let found = self.reach(&path)?.value(tree);
                if equal_values(&found, operation.value()?) {
                    Ok(())
                } else {
                    Err(JsonError::TestFailed { path })
                }
            }
            "move" => {
                let from = operation.path("from")?;
                if from.contains(&path) {
                    return Err(malformed("a value cannot be moved into itself"));
                }
                if from == path {
                    return self.find(&from).map(drop).ok_or_else(|| self.missing(&from));
                }
                let moved = self.remove(&from)?;
                self.insert(&path, moved)
            }
            "copy" => {
                let from = operation.path("from")?;
                let copy = self.reach(&from)?.clone();
                *copied += copy.weight(tree);
                if *copied > MAX_BYTES {
                    return Err(JsonError::TooLarge { bytes: *copied, limit: MAX_BYTES });
                }
                self.insert(&path, copy)
            }
            name => Err(malformed(format!(
                "`{name}` is not an operation: add, remove, replace, move, copy or test"
            ))),
        }
    }
}

struct PatchOperation<'p> {
    name: &'p str,
    members: &'p Map<String, Value>,
}

impl<'p> PatchOperation<'p> {
    fn read(operation: &'p Value) -> Result<Self, JsonError> {
        let members =
            operation.as_object().ok_or_else(|| malformed("an operation is an object"))?;
        Ok(Self { name: text(members, "op")?, members })
    }

    fn path(&self, member: &str) -> Result<Path, JsonError> {
        let pointer = text(self.members, member)?;
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return Err(malformed(format!(
                "`{member}` is not a JSON pointer: `{pointer}` does not begin with `/`"
            )));
        }
        Ok(Path::parse(pointer)?)
    }

    fn value(&self) -> Result<&'p Value, JsonError> {
        self.members
            .get("value")
            .ok_or_else(|| malformed(format!("`{}` needs a `value`", self.name)))
    }
}

fn text<'p>(members: &'p Map<String, Value>, name: &str) -> Result<&'p str, JsonError> {
    let found =
        members.get(name).ok_or_else(|| malformed(format!("an operation needs `{name}`")))?;
    found.as_str().ok_or_else(|| malformed(format!("`{name}` is a string")))
}

fn malformed(message: impl Into<String>) -> JsonError {
    JsonError::BadPatch(message.into())
}

/// Equality as RFC 6902 has it: numbers by what they are worth, members in any order.
fn equal_values(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || a.as_f64() == b.as_f64() && (a.is_f64() || b.is_f64())
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal_values(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal_values(a, b)))
        }
        _ => a == b,
    }
}

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

impl DraftEditor<'_> {
    /// Applies an RFC 7396 merge patch to the whole document.
    pub(super) fn merge(&mut self, patch: &Value) -> Result<(), JsonError> {
        Self::check_depth(&Path::root(), patch)?;
        merge(self.root, self.tree, patch);
        Ok(())
    }
}

fn merge(target: &mut DraftValue, tree: &Tree, patch: &Value) {
    if let (Value::Object(changes), DraftValue::Object(object)) = (patch, target.expand(tree)) {
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
fn without_nulls(patch: &Value) -> DraftValue {
    let mut value = Value::Null;
    merge_value(&mut value, patch);
    DraftValue::new(&value)
}
