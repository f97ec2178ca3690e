use serde_json::Value;

use super::{super::pairs, CliResult, Failure, Session};
use crate::workspace::Change;

/// Make many changes as one operation: all of them or none
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The input is a JSON array of changes, an object {\"changes\": […]}, or one change per line. Every
change has an \"op\": plan.set, step.add, step.start, step.done, step.fail, step.skip, step.retry,
step.reset, step.set, step.remove, context.add, context.set, var.set, var.unset, var.append,
var.merge, var.patch, history.add, turn.add, constraint.set, directive.add, directive.remove, rule.add,
rule.remove, event.emit, review.open, review.decide, checkpoint.create, plan.pause or plan.resume.

Examples:
  echo '[{\"op\": \"step.add\", \"title\": \"Fetch\", \"tool\": \"WebFetch\"},
         {\"op\": \"step.start\", \"step\": 1},
         {\"op\": \"var.set\", \"path\": \"a.b\", \"value\": 42}]' | statedir apply -
  statedir apply changes.jsonl --dry-run")]
pub(in super::super) struct Args {
    /// A file, or - for standard input
    file: String,
}

pub(super) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let text = pairs::read(&args.file)?;
    let values = parse(&text)?;
    if values.is_empty() {
        return Err(Failure::refused("bad_value", "there are no changes to make"));
    }
    let total = values.len();
    let mut changes = Vec::with_capacity(total);
    for (at, value) in values.into_iter().enumerate() {
        let change: Change = serde_json::from_value(value).map_err(|error| {
            let message = format!("change {} of {total}: {error}", at + 1);
            Failure::refused("bad_change", message).hint("`statedir apply --help` shows the form")
        })?;
        changes.push(change);
    }
    session.apply(&changes)
}

fn parse(text: &str) -> Result<Vec<Value>, Failure> {
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let value = value.map_err(|error| {
            Failure::refused("bad_json", format!("the changes are not JSON: {error}"))
        })?;
        match value {
            Value::Array(items) => values.extend(items),
            Value::Object(mut members) if !members.contains_key("op") => {
                match members.remove("changes") {
                    Some(Value::Array(items)) => values.extend(items),
                    _ => values.push(Value::Object(members)),
                }
            }
            other => values.push(other),
        }
    }
    Ok(values)
}
