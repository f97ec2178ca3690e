//! variables.json: structured data passed between steps.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Metadata, ModelError, Money, StateFile};
use crate::text::json::{Edited, JsonDocument, JsonError, Path, Put};

const FILE: StateFile = StateFile::Variables;

/// What one attempt at a step cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct StepCost {
    /// The step's number at that time.
    pub step: u32,
    /// The step's id.
    pub id: String,
    /// The amount.
    pub cost: Money,
    /// When the attempt ended: two attempts that cost the same are two.
    pub at: String,
}

/// The variables and the document they were read from.
#[derive(Clone, Debug)]
pub(crate) struct Variables {
    /// The text with its spans.
    pub document: JsonDocument,
}

impl Variables {
    /// Reads the variables.
    ///
    /// # Errors
    /// The bytes are not one JSON object within the limits; the error has a place.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Self, ModelError> {
        // The error returns the source, so that a large file is not copied for a message.
        let document = JsonDocument::read(bytes)
            .map_err(|(error, source)| ModelError::json(FILE, &error, &source))?;
        if document.keys(&Path::root()).is_none() {
            return Err(ModelError::Unreadable {
                file: FILE,
                place: document.place(&Path::root()),
                snippet: None,
                message: "it should hold an object, `{…}`".to_owned(),
            });
        }
        Ok(Self { document })
    }

    /// The value at a path.
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        self.document.get(&Path::parse(path).ok()?)
    }

    /// The total cost, if the file has it; else it is in the history.
    pub(crate) fn total_cost(&self) -> Option<Money> {
        let value = self.get("cost_tracking.total_cost");
        value.as_ref().and_then(Money::from_json)
    }

    /// `step_data.current_step`, if it is a number.
    pub(crate) fn current_step(&self) -> Option<u64> {
        self.get("step_data.current_step")?.as_u64()
    }

    /// `step_data.total_steps`, if it is a number.
    pub(crate) fn total_steps(&self) -> Option<u64> {
        self.get("step_data.total_steps")?.as_u64()
    }

    /// The edits that update the copies in `step_data`, if they exist and differ.
    pub(crate) fn step_data(&self, current_step: u32, total_steps: usize) -> Vec<Put> {
        let wanted = [("current_step", json!(current_step)), ("total_steps", json!(total_steps))];
        let put = |(key, value): (&str, Value)| {
            let path = Path::root().join("step_data").join(key);
            (self.document.get(&path)? != value).then_some(Put::Set(path, value))
        };
        wanted.into_iter().filter_map(put).collect()
    }

    /// The edits that update the copies of the plan's metadata, if they exist and differ.
    pub(crate) fn metadata(&self, plan: &Metadata) -> Vec<Put> {
        let wanted =
            [("execution_id", &plan.execution_id), ("goal", &plan.goal), ("mode", &plan.mode)];
        let put = |(key, value): (&str, &Option<String>)| {
            let path = Path::root().join("execution_metadata").join(key);
            let value = json!(value.as_ref()?);
            (self.document.get(&path)? != value).then_some(Put::Set(path, value))
        };
        wanted.into_iter().filter_map(put).collect()
    }

    /// The edits that add the cost of an attempt to the total and the list in `cost_tracking`, if they
    /// exist. The history has it in any case.
    pub(crate) fn cost(&self, cost: &StepCost) -> Vec<Put> {
        let line = json!({ "step": cost.step, "id": cost.id, "cost": cost.cost.to_json(),
            "at": cost.at });
        let list = Path::root().join("cost_tracking").join("step_costs");
        let has_list = self.document.get(&list).is_some();
        let list = has_list.then(|| Put::Append(list, line));
        self.add_to_total(cost.cost).into_iter().chain(list).collect()
    }

    /// The edit that adds to the total, if the file has it.
    pub(crate) fn add_to_total(&self, cost: Money) -> Option<Put> {
        let path = Path::root().join("cost_tracking").join("total_cost");
        let total = self.total_cost()? + cost;
        Some(Put::Set(path, total.to_json()))
    }

    /// The edits that store the outputs of a step under `step_data.outputs.<id>`.
    ///
    /// They are in the order of the ids, so that two branches with outputs of different steps rarely
    /// touch the same lines.
    pub(crate) fn outputs(&self, id: &str, outputs: &[(String, Value)]) -> Vec<Put> {
        let all = Path::root().join("step_data").join("outputs");
        let base = all.join(id);
        let known = self.document.keys(&all).unwrap_or_default();
        let next = known.into_iter().find(|key| key.as_str() > id).filter(|_| !outputs.is_empty());
        let place = next.map(|next| Put::MakeBefore(base.clone(), next));
        let values = outputs.iter().map(|(key, value)| Put::Set(base.join(key), value.clone()));
        place.into_iter().chain(values).collect()
    }

    /// Makes changes together, all of them or none.
    ///
    /// # Errors
    /// Something on the way does not have the expected shape.
    pub(crate) fn put_all(&self, puts: &[Put]) -> Result<Edited, ModelError> {
        let mut edit = self.document.edit();
        if !puts.is_empty() {
            edit.put_all(puts).map_err(refused)?;
        }
        Ok(edit.finish())
    }
}

/// A refused edit of variables.json.
pub(crate) fn refused(error: JsonError) -> ModelError {
    match error {
        JsonError::NotFound { .. } => {
            ModelError::NotFound { file: FILE, message: error.to_string(), hint: None }
        }
        error => ModelError::BadValue { message: error.to_string(), hint: None },
    }
}
