//! The arguments of a call, read as the kinds that command lines are made of.
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

    /// A whole number that is not negative, as text.
    pub(super) fn whole_number(&self, name: &str) -> Result<Option<String>, CommandAnswer> {
        match self.text(name)? {
            Some(text) if text.parse::<usize>().is_err() => {
                Err(usage(format!("`{name}`: `{text}` is not a whole number")))
            }
            number => Ok(number),
        }
    }

    /// True or false; false if absent.
    pub(super) fn flag(&self, name: &str) -> Result<bool, CommandAnswer> {
        match self.0.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(usage(format!("`{name}` must be true or false"))),
        }
    }

    /// The members of an object as the command line takes them, `KEY=VALUE`: a value is read back as
    /// it is, or kept as text.
    pub(super) fn pairs(&self, name: &str, typed: bool) -> Result<Vec<String>, CommandAnswer> {
        let members = match self.0.get(name) {
            None => return Ok(Vec::new()),
            Some(Value::Object(members)) => members,
            Some(_) => return Err(usage(format!("`{name}` must be an object"))),
        };
        let mut pairs = Vec::with_capacity(members.len());
        for (key, value) in members {
            if key.trim().is_empty() || key.contains('=') {
                let what =
                    if key.contains('=') { "with `=` in its name" } else { "without a name" };
                return Err(usage(format!("`{name}` has a member {what}")));
            }
            let value = match value {
                Value::String(text) if !typed || !is_json(text) => text.clone(),
                other => other.to_string(),
            };
            pairs.push(format!("{}={value}", key.trim()));
        }
        Ok(pairs)
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

/// Whether text would be read as something else than text.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok()
}

/// A refusal of the arguments.
pub(super) fn usage(message: String) -> CommandAnswer {
    CommandAnswer::refusal(ErrorCode::Usage, message, None)
}
