//! Adds notes, turns of the conversation and events to the history.

use serde_json::{Map, Value, json};

use super::{Cost, Span, text_of};
use crate::{
    brief::Turn,
    domain::{ErrorCode, Money, Plan, StateFile},
    workspace::{Answer, Draft, Error, snapshot::usage::with_usage},
};

/// Adds an entry.
pub(super) fn add(
    draft: &mut Draft<'_>,
    title: &str,
    fields: &Map<String, Value>,
) -> Result<Answer, Error> {
    let title = title.trim();
    if title.is_empty() || title.contains(['\n', '\r', '\0']) {
        return Err(Error::refused(ErrorCode::BadValue, "an entry needs a title of one line"));
    }
    let mut fields: Vec<(String, String)> =
        fields.iter().map(|(key, value)| (key.clone(), text_of(value))).collect();
    if !fields.iter().any(|(key, _)| key == "actor") {
        fields.push(("actor".to_owned(), draft.env.actor().to_owned()));
    }
    let id = draft.log(title, fields)?;
    Ok(Answer::new(format!("history: {title}")).with("entry", id.to_string()))
}

/// Adds a numbered turn.
pub(super) fn add_turn(draft: &mut Draft<'_>, turn: &Turn) -> Result<Answer, Error> {
    if turn.user_message.trim().is_empty() && turn.response.trim().is_empty() {
        return Err(Error::refused_with(
            ErrorCode::BadValue,
            "a turn needs the user's message or the answer",
            "`statedir turn add --help` shows its options",
        ));
    }
    let number = draft.facts()?.history.counts.turns + 1;
    let mut fields = turn.to_fields();
    fields.push(("actor".to_owned(), draft.env.actor().to_owned()));
    let mode = draft.plan().ok().and_then(|plan| plan.metadata.mode.clone());
    if mode.is_some_and(|mode| mode.eq_ignore_ascii_case("SIMULATION")) {
        fields.push(("mode".to_owned(), "SIMULATION".to_owned()));
    }
    let id = draft.log(format!("Turn {number}"), fields)?;
    Ok(Answer::new(format!("turn {number} recorded"))
        .with("turn", number)
        .with("entry", id.to_string()))
}

/// Adds an event; its costs and counts become part of the facts.
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
