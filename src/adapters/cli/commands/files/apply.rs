use serde_json::Value;

use crate::{
    adapters::cli::{CliResult, Failure, Session, pairs},
    domain::{ErrorCode, nearest},
    text::display::shorten,
    workspace::Change,
};

/// Make many changes as one operation: all of them or none
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
The input is a JSON array of changes, an object {\"changes\": […]}, or one change per line. Every
change has an \"op\" and members; those in brackets are optional. A step is a number or an id. A
member that is not known is an error.

  plan.set                     set: {field: value}
  plan.pause, plan.resume      why; nothing
  step.add, step.set           title (or step), [component, tool, input, output, cost, time, effects,
                               depends_on, description, set; to add: after, before, id]
  step.start, step.retry,
  step.reset                   [step; to retry: note; to reset: note, force, fresh, dependents]
  step.take                    [step, force, why]
  step.move                    step, to, [output, cost, time, error, note, tool, force]
  step.remove                  step, [force]
  step.reorder                 step, after or before
  step.done, step.fail,
  step.skip                    [step, output, cost, time, error, note, tool, force]
  context.add, context.set     text, [section, create]
  var.set, var.append          path, value
  var.unset                    path
  var.merge, var.patch         patch: an object (RFC 7396), a list of operations (RFC 6902)
  history.add                  title, [fields: {field: value}]
  turn.add                     user_message, response, [intent, outcome, errors, tasks, files,
                               decisions, lessons, input_tokens, output_tokens, conversation,
                               feedback]
  constraint.set               name, value, [create]
  constraint.unset             name
  directive.add                text, [steps: number]
  directive.remove             directive: number or text
  rule.add, rule.remove        text; rule: number or text
  event.emit                   type, [fields: {field: value}]
  review.open, review.decide   text; id, approve: true or false, [why, to]
  checkpoint.create            [name, message]
  migrate                      nothing

Examples:
  echo '[{\"op\": \"step.add\", \"title\": \"Fetch\", \"tool\": \"WebFetch\"},
         {\"op\": \"step.start\", \"step\": 1},
         {\"op\": \"var.set\", \"path\": \"a.b\", \"value\": 42}]' | statedir apply -
  statedir apply changes.jsonl --dry-run")]
pub(in crate::adapters) struct Args {
    /// A file, or - for standard input
    file: String,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let text = pairs::read(&args.file)?;
    let changes = changes(parse(pairs::name(&args.file), &text)?)?;
    session.apply(&changes)
}

/// The changes that values describe.
pub(in crate::adapters::cli) fn changes(values: Vec<Value>) -> Result<Vec<Change>, Failure> {
    if values.is_empty() {
        return Err(Failure::new(ErrorCode::BadValue, "there are no changes to make"));
    }
    let total = values.len();
    let mut changes = Vec::with_capacity(total);
    for (at, value) in values.into_iter().enumerate() {
        refuse_unknown(&value, at + 1, total)?;
        let change: Change = serde_json::from_value(value).map_err(|error| {
            let message = format!("change {} of {total}: {error}", at + 1);
            Failure::new(ErrorCode::BadChange, message)
                .hint("`statedir apply --help` shows the form")
        })?;
        changes.push(change);
    }
    Ok(changes)
}

/// Refuses what has no `op`, and an `op` that there is not, with the one that was probably meant.
fn refuse_unknown(change: &Value, number: usize, total: usize) -> Result<(), Failure> {
    let fault = match (change, change.get("op")) {
        (_, Some(Value::String(op))) if Change::kinds().any(|kind| kind == op) => return Ok(()),
        (_, Some(Value::String(op))) => return Err(unknown(op, number, total)),
        (_, Some(op)) => format!("its `op` is {}, not a text", shorten(&op.to_string(), SHOWN)),
        (Value::Object(_), None) => "it has no `op`".to_owned(),
        (other, None) => format!("{} is not an object", shorten(&other.to_string(), SHOWN)),
    };
    let message = format!("change {number} of {total}: {fault}");
    let hint = "a change is an object such as {\"op\": \"step.start\", \"step\": 1}; \
                `statedir apply --help` lists all of them";
    Err(Failure::new(ErrorCode::BadChange, message).hint(hint))
}

/// How much of a wrong value is shown.
const SHOWN: usize = 40;

fn unknown(op: &str, number: usize, total: usize) -> Failure {
    let dotted = op.replace([' ', '_', '-', ':', '/'], ".");
    let last = format!(".{dotted}");
    let near = nearest(&dotted, Change::kinds())
        .or_else(|| Change::kinds().find(|kind| kind.ends_with(&last)));
    let meant = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let message = format!("change {number} of {total}: there is no op `{op}`");
    Failure::new(ErrorCode::BadChange, message)
        .hint(format!("{meant}`statedir apply --help` lists all of them"))
}

fn parse(name: &str, text: &str) -> Result<Vec<Value>, Failure> {
    pairs::refuse_rounded(text)?;
    pairs::refuse_doubled(name, text)?;
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let value = value.map_err(|error| {
            Failure::new(ErrorCode::BadJson, format!("the changes are not JSON: {error}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_op_is_known() {
        // What serde knows is in its refusal.
        let unknown: Result<Change, _> = serde_json::from_value(serde_json::json!({"op": "x"}));
        let refusal = unknown.unwrap_err().to_string();
        let listed = refusal.split('`').skip(3).step_by(2).collect::<Vec<_>>();
        assert_eq!(listed, Change::kinds().collect::<Vec<_>>(), "{refusal}");
    }
}
