//! What a tool can do, as data: each verb is a change or a command with the arguments it takes.

use serde_json::{Map, Value, json};

use super::worker::Work;
use crate::adapters::cli::inside::Answer;

/// One thing that a tool does.
#[derive(Debug)]
pub(super) struct Verb {
    /// Its name; empty for the only one of a tool.
    pub(super) name: &'static str,
    pub(super) does: Does,
}

/// How it is done.
#[derive(Debug)]
pub(super) enum Does {
    /// One change; the arguments are its members.
    Change(&'static str),
    /// The same, with members that are called otherwise, and some that are given.
    Renamed(&'static str, &'static [(&'static str, &'static str)], &'static [(&'static str, bool)]),
    /// A command and the arguments it takes.
    Command(&'static [&'static str], &'static [Takes]),
    /// A list of changes.
    Changes,
}

/// How a command takes an argument.
#[derive(Clone, Copy, Debug)]
pub(super) enum Takes {
    /// `--option VALUE`, named as the argument, or otherwise.
    Option(&'static str),
    Named(&'static str, &'static str),
    /// `--flag`.
    Flag(&'static str),
    /// A word by its place.
    Word(&'static str),
    /// `KEY=VALUE`, each behind the option, or alone if it is empty.
    Pairs(&'static str, &'static str),
}

impl Takes {
    /// The argument's name.
    pub(super) fn argument(self) -> &'static str {
        match self {
            Self::Option(name)
            | Self::Named(name, _)
            | Self::Flag(name)
            | Self::Word(name)
            | Self::Pairs(name, _) => name,
        }
    }
}

impl Verb {
    /// The work that the arguments ask for.
    ///
    /// # Errors
    /// An argument is not one of the verb's, or is of a wrong kind.
    pub(super) fn work(&self, arguments: Map<String, Value>) -> Result<Work, Answer> {
        match &self.does {
            Does::Change(op) => Ok(change(op, arguments, &[], &[])),
            Does::Renamed(op, renamed, given) => Ok(change(op, arguments, renamed, given)),
            Does::Command(words, takes) => command(words, takes, &arguments).map(Work::Command),
            Does::Changes => changes(arguments).map(Work::Changes),
        }
    }
}

fn change(
    op: &str,
    arguments: Map<String, Value>,
    renamed: &[(&str, &str)],
    given: &[(&str, bool)],
) -> Work {
    let mut members = Map::new();
    members.insert("op".to_owned(), json!(op));
    for (name, value) in arguments {
        let other = renamed.iter().find(|(from, _)| *from == name).map(|(_, to)| *to);
        members.insert(other.map_or(name, str::to_owned), value);
    }
    for (name, value) in given {
        members.insert((*name).to_owned(), json!(value));
    }
    Work::Change(Value::Object(members))
}

fn changes(mut arguments: Map<String, Value>) -> Result<Vec<Value>, Answer> {
    let changes = arguments.remove("changes");
    refuse_others(&["changes"], arguments.keys())?;
    match changes {
        Some(Value::Array(changes)) => Ok(changes),
        _ => Err(usage("`changes` must be a list of objects with an `op`".to_owned())),
    }
}

fn command(
    words: &[&str],
    takes: &[Takes],
    arguments: &Map<String, Value>,
) -> Result<Vec<String>, Answer> {
    let names: Vec<&str> = takes.iter().map(|takes| takes.argument()).collect();
    refuse_others(&names, arguments.keys())?;
    let mut all: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    // Words by place come behind `--`, so that a value can never be taken for an option.
    let mut places = Vec::new();
    for takes in takes {
        let name = takes.argument();
        let Some(value) = arguments.get(name) else { continue };
        match *takes {
            Takes::Option(name) => {
                all.push(format!("--{}={}", name.replace('_', "-"), scalar(name, value)?));
            }
            Takes::Named(name, option) => all.push(format!("{option}={}", scalar(name, value)?)),
            Takes::Flag(name) => match value {
                Value::Bool(true) => all.push(format!("--{}", name.replace('_', "-"))),
                Value::Bool(false) => {}
                _ => return Err(usage(format!("`{name}` must be true or false"))),
            },
            Takes::Word(name) => places.push(scalar(name, value)?),
            Takes::Pairs(name, option) => {
                let Value::Object(members) = value else {
                    return Err(usage(format!("`{name}` must be an object")));
                };
                for (key, value) in members {
                    let pair = format!("{key}={}", as_typed(value));
                    if option.is_empty() {
                        places.push(pair);
                    } else {
                        all.push(format!("{option}={pair}"));
                    }
                }
            }
        }
    }
    if !places.is_empty() {
        all.push("--".to_owned());
        all.append(&mut places);
    }
    Ok(all)
}

/// Text or a number as a word of a command.
fn scalar(name: &str, value: &Value) -> Result<String, Answer> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(usage(format!("`{name}` must be text or a number"))),
    }
}

/// A value so that a command reads it back as it is: text that would read as JSON is quoted.
fn as_typed(value: &Value) -> String {
    match value {
        Value::String(text) if serde_json::from_str::<Value>(text).is_err() => text.clone(),
        other => other.to_string(),
    }
}

fn refuse_others<'a>(
    known: &[&str],
    given: impl Iterator<Item = &'a String>,
) -> Result<(), Answer> {
    for name in given {
        if !known.contains(&name.as_str()) {
            let takes = match known {
                [] => "it takes none".to_owned(),
                _ => format!("it takes {}", known.join(", ")),
            };
            return Err(usage(format!("`{name}` is no argument here; {takes}")));
        }
    }
    Ok(())
}

/// A refusal of the arguments.
pub(super) fn usage(message: String) -> Answer {
    Answer::refusal("usage", message, None)
}
