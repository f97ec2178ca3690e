//! Events: what happened, as facts for rules.

use serde_json::{Map, Value, json};

use super::super::{Answer, Change};
use crate::domain::{FactValue, Facts};

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// Its type, such as `step_failed` or `feedback`.
    pub kind: String,
    /// What is known about it.
    pub payload: Map<String, Value>,
}

impl Event {
    /// The event of a change.
    pub(super) fn of(change: &Change, answer: &Answer) -> Self {
        let step = answer.data.get("step").cloned().unwrap_or_default();
        let mut payload = Map::new();
        for (key, name) in [("number", "step"), ("id", "step_id"), ("title", "title")] {
            if let Some(value) = step.get(key).filter(|value| !value.is_null()) {
                payload.insert(name.to_owned(), value.clone());
            }
        }
        let kind = match change {
            Change::StepStart { .. } | Change::StepRetry { .. } => "step_started",
            Change::StepDone(_) => "step_completed",
            Change::StepFail(_) => "step_failed",
            Change::StepSkip(_) => "step_skipped",
            // Within a role nothing begins and nothing ends.
            Change::StepMove(_) if answer.data.get("role") == answer.data.get("from_role") => {
                "step_moved"
            }
            Change::StepMove(_) => match answer.data.get("role").and_then(Value::as_str) {
                Some("active") if answer.data.contains_key("attempt") => "step_started",
                Some("done") => "step_completed",
                Some("failed") => "step_failed",
                Some("skipped") => "step_skipped",
                _ => "step_moved",
            },
            Change::Event { kind, fields } => {
                payload.extend(fields.clone());
                kind
            }
            Change::TurnAdd(turn) if turn.sentiment().is_some() => {
                payload.insert("sentiment".to_owned(), json!(turn.sentiment()));
                "feedback"
            }
            change => change.kind(),
        };
        if let Change::StepDone(result) | Change::StepFail(result) | Change::StepSkip(result) =
            change
        {
            if let Some(error) = &result.error {
                payload.insert("error".to_owned(), json!(error));
            }
            if let Some(cost) = result.cost {
                payload.insert("cost".to_owned(), cost.0.to_json());
            }
            if let Some(time) = result.time {
                payload.insert("time".to_owned(), json!(time.to_string()));
            }
        }
        Self { kind: kind.to_owned(), payload }
    }

    /// Adds the event to the facts as `event.type` and `event.…`.
    pub(crate) fn add_to(&self, facts: &mut Facts) {
        facts.insert("event.type", FactValue::text(self.kind.clone()));
        for (key, value) in &self.payload {
            let value = match value {
                Value::String(text) => FactValue::parse_quantity(text)
                    .filter(|value| !matches!(value, FactValue::Text(_)))
                    .unwrap_or_else(|| FactValue::text(text.clone())),
                other => FactValue::from_json(other),
            };
            facts.insert(format!("event.{key}"), value);
        }
    }
}
