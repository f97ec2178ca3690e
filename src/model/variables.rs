//! variables.json: structured data passed between steps.

use serde::Serialize;
use serde_json::{Value, json};

use super::{ModelError, Money, StateFile};
use crate::text::json::{JsonDocument, JsonEdit, JsonError, Path};

const FILE: StateFile = StateFile::Variables;

/// What one attempt at a step cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepCost {
    /// The step's number at that time.
    pub step: u32,
    /// The step's id.
    pub id: String,
    /// The amount.
    pub cost: Money,
}

/// The variables and the document they were read from.
#[derive(Clone, Debug)]
pub struct Variables {
    /// The text with its spans.
    pub document: JsonDocument,
}

impl Variables {
    /// Reads the variables.
    ///
    /// # Errors
    /// The bytes are not one JSON object within the limits; the error has a place.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, ModelError> {
        let source = String::from_utf8_lossy(&bytes).into_owned();
        let document = JsonDocument::from_bytes(bytes)
            .map_err(|error| ModelError::json(FILE, &error, &source))?;
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
    pub fn get(&self, path: &str) -> Option<Value> {
        self.document.get(&Path::parse(path).ok()?)
    }

    /// The sum of all costs so far.
    pub fn total_cost(&self) -> Money {
        let value = self.get("cost_tracking.total_cost");
        value.as_ref().and_then(Money::from_json).unwrap_or_default()
    }

    /// `step_data.current_step`, if it is a number.
    pub fn current_step(&self) -> Option<u64> {
        self.get("step_data.current_step")?.as_u64()
    }

    /// `step_data.total_steps`, if it is a number.
    pub fn total_steps(&self) -> Option<u64> {
        self.get("step_data.total_steps")?.as_u64()
    }

    /// Sets `step_data` where it differs, creating what is missing.
    ///
    /// # Errors
    /// Something on the way is not an object.
    pub fn set_step_data(
        edit: &mut JsonEdit,
        current_step: u32,
        total_steps: usize,
    ) -> Result<(), ModelError> {
        let mut set = |key: &str, value: Value| {
            let path = Path::root().join("step_data").join(key);
            // Every edit is proven by reading the file again: not for what is there already.
            if edit.document().get(&path).as_ref() == Some(&value) {
                return Ok(());
            }
            edit.set(&path, &value).map_err(refused)
        };
        set("current_step", json!(current_step))?;
        set("total_steps", json!(total_steps))
    }

    /// Adds what an attempt cost to `cost_tracking`.
    ///
    /// # Errors
    /// `cost_tracking` does not have the expected shape.
    pub fn add_cost(&self, edit: &mut JsonEdit, cost: &StepCost) -> Result<(), ModelError> {
        let tracking = Path::root().join("cost_tracking");
        let total = self.total_cost() + cost.cost;
        edit.set(&tracking.join("total_cost"), &total.to_json()).map_err(refused)?;
        let line = json!({ "step": cost.step, "id": cost.id, "cost": cost.cost.to_json() });
        edit.append(&tracking.join("step_costs"), &line).map_err(refused)
    }

    /// Stores what a step gave, under `step_data.outputs.<id>`.
    ///
    /// # Errors
    /// Something on the way is not an object.
    pub fn set_outputs(
        edit: &mut JsonEdit,
        id: &str,
        outputs: &[(String, Value)],
    ) -> Result<(), ModelError> {
        let base = Path::root().join("step_data").join("outputs").join(id);
        for (key, value) in outputs {
            edit.set(&base.join(key), value).map_err(refused)?;
        }
        Ok(())
    }
}

/// A refused edit of variables.json.
pub(super) fn refused(error: JsonError) -> ModelError {
    match error {
        JsonError::NotFound { .. } => {
            ModelError::NotFound { file: FILE, message: error.to_string(), hint: None }
        }
        error => ModelError::BadValue { message: error.to_string(), hint: None },
    }
}
