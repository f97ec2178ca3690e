//! What a tool can do: each verb makes a change, or means a command line.

use serde_json::{Map, Value, json};

use super::{
    arguments::{Arguments, usage},
    command_line,
    kind::Shape,
    worker::Work,
};
use crate::adapters::cli::in_process::{CommandAnswer, read_change, read_changes, request};

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
    /// A command, with the arguments that it takes: `<name>` where one is needed and `[name]` where
    /// it is not, `--name` for an option, `--option=name` for one that is called otherwise.
    Run(&'static str),
    /// A list of changes.
    Changes,
}

impl Verb {
    /// The work that the arguments ask for.
    ///
    /// # Errors
    /// An argument is not one of the verb's, or is of a wrong kind.
    pub(super) fn work(
        &self,
        shapes: &[(&str, Shape)],
        arguments: Map<String, Value>,
    ) -> Result<Work, CommandAnswer> {
        match &self.does {
            Does::Change(op) => change(op, arguments, &[], &[]),
            Does::Renamed(op, renamed, given) => change(op, arguments, renamed, given),
            Does::Run(pattern) => {
                let words = command_line::words(pattern, shapes, &Arguments(arguments))?;
                request(&words).map(Work::Run)
            }
            Does::Changes => changes(arguments),
        }
    }
}

fn change(
    op: &str,
    arguments: Map<String, Value>,
    renamed: &[(&str, &str)],
    given: &[(&str, bool)],
) -> Result<Work, CommandAnswer> {
    let mut members = Map::new();
    members.insert("op".to_owned(), json!(op));
    for (name, value) in arguments {
        let other = renamed.iter().find(|(from, _)| *from == name).map(|(_, to)| *to);
        members.insert(other.map_or(name, str::to_owned), value);
    }
    for (name, value) in given {
        members.insert((*name).to_owned(), json!(value));
    }
    let change = read_change(Value::Object(members))?;
    Ok(Work::Changes(vec![change]))
}

fn changes(mut arguments: Map<String, Value>) -> Result<Work, CommandAnswer> {
    let changes = arguments.remove("changes");
    Arguments(arguments).refuse_others(&["changes"])?;
    match changes {
        Some(Value::Array(changes)) => read_changes(changes).map(Work::Changes),
        _ => Err(usage("`changes` must be a list of objects with an `op`".to_owned())),
    }
}
