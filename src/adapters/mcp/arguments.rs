//! The arguments of a call, read as the kinds that requests are made of.
//!
//! They are read leniently: a number is taken where text is expected, and the other way round.

use serde_json::{Map, Value};

use crate::{adapters::cli::in_process::CommandAnswer, domain::ErrorCode};

/// The arguments as the client sent them.
#[derive(Clone, Debug)]
pub(super) struct Arguments(pub(super) Map<String, Value>);

impl Arguments {
    /// Text, or a number as text.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, CommandAnswer> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(usage(format!("`{name}` must be text or a number"))),
        }
    }

    /// Text that is required.
    pub(super) fn required(&self, name: &str) -> Result<String, CommandAnswer> {
        self.text(name)?.ok_or_else(|| usage(format!("`{name}` is missing")))
    }

    /// A whole number that is not negative.
    pub(super) fn whole_number(&self, name: &str) -> Result<Option<usize>, CommandAnswer> {
        self.parsed(name, |text| {
            text.parse().map_err(|_| format!("`{text}` is not a whole number"))
        })
    }

    /// A whole number that there must be.
    pub(super) fn required_whole(&self, name: &str) -> Result<usize, CommandAnswer> {
        self.whole_number(name)?.ok_or_else(|| usage(format!("`{name}` is missing")))
    }

    /// Text that a command reads further.
    pub(super) fn parsed<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, CommandAnswer> {
        let text = self.text(name)?;
        let read = text.map(|text| read(&text)).transpose();
        read.map_err(|error| usage(format!("`{name}`: {error}")))
    }

    /// True or false; false if absent.
    pub(super) fn flag(&self, name: &str) -> Result<bool, CommandAnswer> {
        match self.0.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(usage(format!("`{name}` must be true or false"))),
        }
    }

    /// The members of an object as the command line takes them: `KEY=VALUE`.
    pub(super) fn pairs(&self, name: &str) -> Result<Vec<(String, String)>, CommandAnswer> {
        let members = match self.0.get(name) {
            None => return Ok(Vec::new()),
            Some(Value::Object(members)) => members,
            Some(_) => return Err(usage(format!("`{name}` must be an object"))),
        };
        let mut pairs = Vec::with_capacity(members.len());
        for (key, value) in members {
            if key.trim().is_empty() {
                return Err(usage(format!("`{name}` has a member without a name")));
            }
            pairs.push((key.trim().to_owned(), as_typed(value)));
        }
        Ok(pairs)
    }

    /// The members of an object as plain text.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<(String, String)>, CommandAnswer> {
        let pairs = self.pairs(name)?;
        let text = |key: String, typed: String| match self.0[name].get(&key) {
            Some(Value::String(text)) => (key, text.clone()),
            _ => (key, typed),
        };
        Ok(pairs.into_iter().map(|(key, typed)| text(key, typed)).collect())
    }

    /// Refuses what a verb does not take.
    pub(super) fn refuse_others(&self, known: &[&str]) -> Result<(), CommandAnswer> {
        let Some(other) = self.0.keys().find(|name| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        let takes = match known {
            [] => "it takes none".to_owned(),
            _ => format!("it takes {}", known.join(", ")),
        };
        Err(usage(format!("`{other}` is not an argument here; {takes}")))
    }
}

/// A value so that a command reads it back as it is: text that would read as JSON is quoted.
fn as_typed(value: &Value) -> String {
    match value {
        Value::String(text) if serde_json::from_str::<Value>(text).is_err() => text.clone(),
        other => other.to_string(),
    }
}

/// A refusal of the arguments.
pub(super) fn usage(message: String) -> CommandAnswer {
    CommandAnswer::refusal(ErrorCode::Usage, message, None)
}
