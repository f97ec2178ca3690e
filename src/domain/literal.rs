//! Writes values so that they are not read as placeholders of a template.

use serde_json::Value;

use crate::text::markdown::{
    Edit, EditError, ItemId, SectionId, is_placeholder, render_field, render_raw_field,
};

/// The value as a JSON string, if it looks like a template's placeholder.
fn quoted(value: &str) -> Option<String> {
    is_placeholder(value).then(|| Value::from(value).to_string())
}

/// Sets the value of an item.
pub(super) fn set(edit: &mut Edit<'_>, item: ItemId, value: &str) {
    match quoted(value) {
        Some(raw) => edit.set_raw(item, &raw),
        None => edit.set_value(item, value),
    };
}

/// Sets the line of an item; what was typed right below it stays.
pub(super) fn set_line(edit: &mut Edit<'_>, item: ItemId, value: &str) {
    edit.set_until(item, None, value, quoted(value).as_deref());
}

/// Adds a field to a section.
pub(super) fn insert(
    edit: &mut Edit<'_>,
    section: SectionId,
    after: Option<ItemId>,
    key: &str,
    value: &str,
) {
    match quoted(value) {
        Some(raw) => edit.insert_raw_field(section, after, key, &raw),
        None => edit.insert_field(section, after, key, value),
    };
}

/// Adds a nested field.
pub(super) fn insert_child(edit: &mut Edit<'_>, parent: ItemId, key: &str, value: &str) {
    match quoted(value) {
        Some(raw) => edit.insert_raw_child_field(parent, key, &raw),
        None => edit.insert_child_field(parent, key, value),
    };
}

/// A whole field for a new section or file.
pub(crate) fn field(
    newline: &str,
    indent: usize,
    bold: bool,
    key: &str,
    value: &str,
) -> Result<String, EditError> {
    match quoted(value) {
        Some(raw) => render_raw_field(newline, indent, bold, key, &raw),
        None => render_field(newline, indent, bold, key, value),
    }
}
