//! Telling the state that something happened.

use serde_json::{Map, Value, json};

use super::{Cost, Span, text_of};
use crate::{
    domain::{ErrorCode, Money, Plan, StateFile},
    workspace::{Answer, Draft, Error, snapshot::usage::with_usage},
};

/// Notes an event; what it costs and counts becomes part of the facts.
pub(super) fn emit(
    draft: &mut Draft<'_>,
    kind: &str,
    fields: &Map<String, Value>,
) -> Result<Answer, Error> {
    let kind = kind.trim();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if kind.is_empty() || !kind.chars().all(is_word) {
        let message = format!("`{kind}` is not a type of event; write one word such as `feedback`");
        return Err(Error::refused(ErrorCode::BadValue, message));
    }
    let fields = &with_usage(draft, kind, fields);
    let mut noted: Vec<(String, String)> = vec![("event".to_owned(), kind.to_owned())];
    for (key, value) in fields {
        let text = text_of(value);
        // The amount of a cost event is a cost, that of a time event a time.
        let key = match (key.as_str(), kind) {
            ("cost", _) | ("amount" | "value", "cost") => "actual_cost",
            ("time" | "duration", _) | ("amount" | "value", "time") => "actual_time",
            ("error" | "message", "error") => "errors",
            (key, _) => key,
        };
        let text = match key {
            "actual_cost" => add_cost(draft, &text)?,
            "actual_time" => text.parse::<Span>().map_err(bad_value)?.to_string(),
            _ => text,
        };
        noted.push((key.to_owned(), text));
    }
    if let Some(task) = task_type(kind, fields) {
        let plan = draft.plan()?;
        let mut edit = plan.document.edit();
        plan.set_metadata(&mut edit, &[("task_type", &task)])?;
        draft.put(StateFile::Plan, Plan::finish(edit)?);
    }
    noted.push(("actor".to_owned(), draft.env.actor().to_owned()));
    draft.log(format!("Event {kind}"), noted)?;
    Ok(Answer::new(format!("event {kind}"))
        .with("event", json!({ "type": kind, "payload": fields })))
}

/// The task type that a `task_type` event gives.
pub(in super::super) fn task_type(kind: &str, fields: &Map<String, Value>) -> Option<String> {
    if kind != "task_type" {
        return None;
    }
    ["type", "task_type", "value", "name"].iter().find_map(|key| fields.get(*key)).map(text_of)
}

fn add_cost(draft: &mut Draft<'_>, text: &str) -> Result<String, Error> {
    let Cost(Money(micros)) = text.parse().map_err(bad_value)?;
    let variables = draft.variables()?;
    let put = variables.add_to_total(Money(micros));
    draft.put_variables(variables.put_all(put.as_slice())?);
    Ok(Money(micros).to_string())
}

fn bad_value(message: String) -> Error {
    Error::refused(ErrorCode::BadValue, message)
}
