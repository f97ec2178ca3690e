//! What the JSON pieces share: reading settings, and leaving no empty container behind.

use serde_json::Value;

use crate::text::json::{JsonDocument, JsonEdit, Path};

/// Reads settings that are one JSON object.
pub(super) fn parse(text: &str) -> Result<JsonDocument, String> {
    let document = JsonDocument::parse(text).map_err(|error| error.to_string())?;
    match document.to_value() {
        Value::Object(_) => Ok(document),
        _ => Err("it is not a JSON object".to_owned()),
    }
}

/// Removes the container at `path` if nothing is in it.
pub(super) fn remove_if_empty(edit: &mut JsonEdit, path: &Path) -> Result<(), String> {
    let empty = match edit.document().get(path) {
        Some(Value::Object(members)) => members.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => false,
    };
    if empty {
        edit.remove(path).map_err(|error| error.to_string())?;
    }
    Ok(())
}
