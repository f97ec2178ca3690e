//! A JSON text with an index of where everything in it is.

use super::error::{BOM, place};
use super::tree::{Kind, Tree};
use super::{JsonEdit, JsonError, MAX_BYTES, Path};
use crate::text::Place;
use serde_json::Value;

/// A JSON text, kept byte for byte, with the span of every value in it.
#[derive(Clone, Debug)]
pub struct JsonDocument {
    tree: Tree,
}

impl JsonDocument {
    /// Reads JSON text.
    ///
    /// # Errors
    /// Refuses what is not JSON, duplicate keys, nesting deeper than [`super::MAX_DEPTH`] and
    /// more than [`MAX_BYTES`] bytes.
    pub fn parse(source: impl Into<String>) -> Result<Self, JsonError> {
        Tree::parse(source.into()).map(|tree| Self { tree }).map_err(|(error, _)| error)
    }

    /// Reads JSON from the bytes of a file.
    ///
    /// # Errors
    /// As [`JsonDocument::parse`], and refuses bytes that are not UTF-8.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, JsonError> {
        Self::read(bytes).map_err(|(error, _)| error)
    }

    /// The same; a refusal gives the text back, to quote it.
    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self, (JsonError, String)> {
        if bytes.len() > MAX_BYTES {
            let error = JsonError::TooLarge { bytes: bytes.len(), limit: MAX_BYTES };
            return Err((error, String::new()));
        }
        let source = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let good = String::from_utf8_lossy(error.as_bytes().get(..offset).unwrap_or_default());
            let place = place(&good, offset);
            let source = String::from_utf8_lossy(error.as_bytes()).into_owned();
            (JsonError::NotUtf8 { place, offset }, source)
        })?;
        Ok(Self { tree: Tree::parse(source)? })
    }

    /// The text, byte for byte.
    pub fn source(&self) -> &str {
        &self.tree.source
    }

    /// Gives the text back.
    pub fn into_source(self) -> String {
        self.tree.source
    }

    /// The whole document as a value; keys keep their order.
    pub fn to_value(&self) -> Value {
        self.tree.value(self.tree.root())
    }

    /// The same, where the document is not needed any more: its index goes first.
    pub(crate) fn into_value(self) -> Value {
        let source = self.into_source();
        let text = source.strip_prefix(BOM).unwrap_or(&source);
        match serde_json::from_str(text) {
            Ok(value) => value,
            // What others refuse although we read it.
            Err(_) => Self::parse(source).map_or(Value::Null, |document| document.to_value()),
        }
    }

    /// The value at `path`.
    pub fn get(&self, path: &Path) -> Option<Value> {
        self.tree.find(path).map(|node| self.tree.value(node))
    }

    /// The text of the value at `path`.
    pub fn raw(&self, path: &Path) -> Option<&str> {
        self.tree.find(path).map(|node| self.tree.raw(node))
    }

    /// Where in the text the member or item at `path` is, its key included.
    pub fn element(&self, path: &Path) -> Option<std::ops::Range<usize>> {
        let node = self.tree.find(path)?;
        Some(self.tree.item_start(node)..self.tree.range(node).end)
    }

    /// Where the value at `path` begins.
    pub fn place(&self, path: &Path) -> Option<Place> {
        self.tree.find(path).map(|node| self.tree.place(node))
    }

    /// The keys of the object at `path` in their order; none if it is not an object.
    pub fn keys(&self, path: &Path) -> Option<Vec<String>> {
        let node = self.tree.find(path).filter(|node| self.tree.kind(*node) == Kind::Object)?;
        Some(self.tree.children(node).map(|child| self.tree.key(child).into_owned()).collect())
    }

    /// Begins an edit of a copy of this document.
    pub fn edit(&self) -> JsonEdit {
        JsonEdit::new(self.clone())
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }
}
