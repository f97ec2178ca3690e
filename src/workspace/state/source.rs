//! Reads a state document from outside, with error messages that name the path.

use serde_json::Value;

use super::Written;
use crate::{
    domain::ErrorCode,
    workspace::{Error, change::text_of},
};

/// A part of the document, with its path for error messages.
#[derive(Clone)]
pub(super) struct DocumentPart<'a> {
    value: &'a Value,
    path: String,
}

/// A text that may be absent or null.
pub(super) enum Supplied {
    /// The member is absent.
    Absent,
    /// The member is null.
    Nothing,
    Text(String),
}

impl<'a> DocumentPart<'a> {
    /// The whole document.
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, path: String::new() }
    }

    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// A member that exists and is not null.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        let dot = if self.path.is_empty() { "" } else { "." };
        Some(Self { value, path: format!("{}{dot}{key}", self.path) })
    }

    /// A text; numbers and booleans are converted.
    pub(super) fn as_text(&self) -> Result<String, Error> {
        match self.value {
            Value::String(_) | Value::Number(_) | Value::Bool(_) => Ok(text_of(self.value)),
            _ => Err(self.should_be("a text")),
        }
    }

    /// The text of a member, unless it is absent or null.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, Error> {
        self.get(key).map(|part| part.as_text()).transpose()
    }

    /// The text of a member that must be there.
    pub(super) fn needed_text(&self, key: &str) -> Result<String, Error> {
        self.text(key)?.ok_or_else(|| {
            let message = format!("`{}` of the document has no `{key}`", self.path);
            Error::refused_with(ErrorCode::BadDocument, message, super::import::HINT)
        })
    }

    /// The text of a member, with the difference between absent and null.
    pub(super) fn supplied(&self, key: &str) -> Result<Supplied, Error> {
        Ok(match (self.value.get(key), self.text(key)?) {
            (None, _) => Supplied::Absent,
            (Some(_), None) => Supplied::Nothing,
            (Some(_), Some(text)) => Supplied::Text(text),
        })
    }

    /// A number from zero on; zero when absent.
    pub(super) fn count(&self, key: &str) -> Result<u32, Error> {
        let Some(part) = self.get(key) else { return Ok(0) };
        let number = part.value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| part.should_be("a whole number"))
    }

    /// A count that may be absent.
    pub(super) fn optional_count(&self, key: &str) -> Result<Option<u32>, Error> {
        self.get(key).map(|_| self.count(key)).transpose()
    }

    /// The elements of a list; none when it is absent.
    pub(super) fn list(&self, key: &str) -> Result<Vec<Self>, Error> {
        let Some(part) = self.get(key) else { return Ok(Vec::new()) };
        let Some(items) = part.value.as_array() else { return Err(part.should_be("a list")) };
        let item = |(at, value)| Self { value, path: format!("{}[{at}]", part.path) };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// Named values: a list with names and texts, or simply an object.
    pub(super) fn written(&self, key: &str) -> Result<Vec<Written>, Error> {
        if let Some(Value::Object(members)) = self.value.get(key) {
            let pairs = members.iter().map(|(name, value)| Written::read(name, &text_of(value)));
            return Ok(pairs.collect());
        }
        let items = self.list(key)?.into_iter();
        items
            .map(|item| item.written_here().map(|(name, text)| Written::read(&name, &text)))
            .collect()
    }

    /// The name and the text of one value; without a text, its `value` is used.
    pub(super) fn written_here(&self) -> Result<(String, String), Error> {
        let name = self.needed_text("name")?;
        let text = match self.get("text") {
            Some(text) => text.as_text()?,
            None => {
                self.value.get("value").filter(|v| !v.is_null()).map(text_of).unwrap_or_default()
            }
        };
        Ok((name, text))
    }

    pub(super) fn should_be(&self, what: &str) -> Error {
        let message = format!("`{}` of the document should be {what}", self.path);
        Error::refused_with(ErrorCode::BadDocument, message, super::import::HINT)
    }
}
