//! What is folded into the line of a step instead of having its own line.
//!
//! A step that moves on changes much at once: its bookkeeping, its outputs and costs among the
//! variables, an entry of the history, and whatever follows from all that. For people it is one
//! thing that happened.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    difference::{Difference, Execution, Subject, Verb},
    excerpt::{display_value, excerpt, excerpts},
};
use crate::domain::StateFile;

/// How many characters of an output are shown.
const WIDTH: usize = 40;
/// The fields of a step that its status brings along.
const BOOKKEEPING: [&str; 6] =
    ["attempts", "claimed_by", "started_at", "completed_at", "result", "id"];
/// What follows from other things in the plan, and among the variables.
const DERIVED_FIELDS: [&str; 3] = ["current_step", "last_updated", "completed_at"];
const DERIVED_VARIABLES: [&str; 3] =
    ["step_data.current_step", "step_data.total_steps", "cost_tracking.total_cost"];
const COSTS: &str = "cost_tracking.step_costs";
const OUTPUTS: &str = "step_data.outputs.";
const ALL_OUTPUTS: &str = "step_data.outputs";

/// The differences that get a line, and what each line says in addition.
pub(super) struct Folded {
    pub(super) differences: Vec<Difference>,
    pub(super) more: HashMap<usize, String>,
}

/// Folds what belongs to the move of a step into its line. Nothing is dropped if it is the only
/// difference.
pub(super) fn fold(differences: &[Difference]) -> Folded {
    let mut moves: HashMap<&str, Move<'_>> = HashMap::new();
    for difference in differences {
        if let Subject::StepField { step, field } = &difference.subject
            && field == "status"
            && let Some(id) = &step.id
        {
            moves.insert(id, Move::default());
        }
    }
    let mut kept: Vec<&Difference> = Vec::new();
    for difference in differences {
        if !take(&mut moves, difference) {
            kept.push(difference);
        }
    }
    if kept.iter().any(|difference| !is_derived(difference)) {
        kept.retain(|difference| !is_derived(difference));
    }
    let mut more = HashMap::new();
    for (at, difference) in kept.iter().enumerate() {
        if let Subject::StepField { step, field } = &difference.subject
            && field == "status"
            && let Some(folded) = step.id.as_deref().and_then(|id| moves.get(id))
        {
            more.insert(at, folded.to_text());
        }
    }
    Folded { differences: kept.into_iter().cloned().collect(), more }
}

/// What is known of a step that moved.
#[derive(Default)]
struct Move<'d> {
    attempts: Option<&'d Value>,
    last: Option<&'d Execution>,
    outputs: Vec<(&'d str, &'d Value)>,
}

impl Move<'_> {
    fn to_text(&self) -> String {
        let attempts = self.attempts.map(plain).filter(|attempts| attempts != "1");
        let attempts = attempts.map(|attempts| format!("{attempts} attempts"));
        let measured = self.last.map(|last| last.measured.clone());
        let took: Vec<String> =
            attempts.into_iter().chain(measured).filter(|text| !text.is_empty()).collect();
        let mut text = String::new();
        if !took.is_empty() {
            text = format!(" ({})", took.join(", "));
        }
        if let Some(error) = self.last.and_then(|last| last.error.as_ref()) {
            text.push_str(&format!(": {}", excerpt(error, 2 * WIDTH)));
        }
        let output =
            |(key, value): &(&str, &Value)| format!("{key} = {}", display_value(value, WIDTH));
        let outputs: Vec<String> = self.outputs.iter().map(output).collect();
        if !outputs.is_empty() {
            text.push_str("; ");
            text.push_str(&excerpts(outputs.iter().map(String::as_str), 4 * WIDTH));
        }
        text
    }
}

/// Whether a difference belongs to the move of a step, which then has it.
fn take<'d>(moves: &mut HashMap<&str, Move<'d>>, difference: &'d Difference) -> bool {
    match &difference.subject {
        Subject::StepField { step, field } if BOOKKEEPING.contains(&field.as_str()) => {
            let Some(of) = step.id.as_deref().and_then(|id| moves.get_mut(id)) else {
                return false;
            };
            if field == "attempts" {
                of.attempts = difference.after.as_ref();
            }
            true
        }
        Subject::Entry { execution: Some(execution), .. } if difference.verb() == Verb::Added => {
            let Some(of) = moves.get_mut(execution.step.as_str()) else { return false };
            of.last = Some(execution);
            true
        }
        // The first results that the file has at all.
        Subject::Variable { path } if path == ALL_OUTPUTS => {
            let Some(Value::Object(all)) = &difference.after else { return false };
            let is_of_moved = |(id, value): (&String, &Value)| {
                moves.contains_key(id.as_str()) && value.is_object()
            };
            if difference.verb() != Verb::Added || !all.iter().all(is_of_moved) {
                return false;
            }
            for (id, outputs) in all {
                let of = moves.get_mut(id.as_str()).zip(outputs.as_object());
                let Some((of, outputs)) = of else { continue };
                of.outputs.extend(outputs.iter().map(|(key, value)| (key.as_str(), value)));
            }
            true
        }
        Subject::Variable { path } => {
            let Some((id, key)) = path
                .strip_prefix(OUTPUTS)
                .map(|path| path.split_once('.').map_or((path, None), |(id, key)| (id, Some(key))))
            else {
                return false;
            };
            let (Some(of), Some(value)) = (moves.get_mut(id), &difference.after) else {
                return false;
            };
            match (key, value) {
                (Some(key), value) => of.outputs.push((key, value)),
                (None, Value::Object(all)) => {
                    of.outputs.extend(all.iter().map(|(key, value)| (key.as_str(), value)));
                }
                (None, _) => return false,
            }
            true
        }
        Subject::ArrayEnd { path } if path == COSTS => {
            let list = difference.after.as_ref().and_then(Value::as_array);
            let of_moved = |cost: &Value| {
                cost.get("id").and_then(Value::as_str).is_some_and(|id| moves.contains_key(id))
            };
            list.is_some_and(|list| list.iter().all(of_moved))
        }
        _ => false,
    }
}

fn is_derived(difference: &Difference) -> bool {
    match &difference.subject {
        Subject::Plan { field } => DERIVED_FIELDS.contains(&field.as_str()),
        Subject::Variable { path } => {
            difference.file == StateFile::Variables && DERIVED_VARIABLES.contains(&path.as_str())
        }
        _ => false,
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
