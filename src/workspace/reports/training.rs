//! The history as training data: one record for each executed step.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::{
    domain::{Money, StepOutcome, parse_duration_ms},
    history::{Entry, EntryKind, UndoneSteps, each_entry},
    workspace::{
        Error, Snapshot,
        check::{mask, mask_field, mask_json},
    },
};

/// The most turns of one record, so that a long conversation needs little memory.
const MOST_TURNS: usize = 50;

/// The conversation, tool calls and changes up to the end of one attempt at a step.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct TrainingRecord {
    /// The step's id; absent for a conversation after the last step, or for part of a long one.
    pub step: Option<String>,
    /// The step's title.
    pub title: Option<String>,
    /// When the entry was made.
    pub time: Option<String>,
    /// The turns since the record before.
    pub conversation_trace: Vec<RecordedTurn>,
    /// The tools that were used, with what went in and came out.
    pub tool_calls: Vec<ToolCall>,
    /// The changes, in order.
    pub state_transitions: Vec<String>,
    /// Cost, time and success.
    pub performance_metrics: Option<Performance>,
    /// What went wrong.
    pub errors: Option<String>,
    /// Observations.
    pub notes: Option<String>,
    /// Whether it was undone, so that it counts neither as a success nor as a failure.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

/// One turn of the conversation.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RecordedTurn {
    /// When.
    pub time: Option<String>,
    /// Its fields in order, each a key and a text.
    pub fields: Vec<(String, String)>,
}

/// One use of a tool.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ToolCall {
    pub tool_used: Option<String>,
    pub component_used: Option<String>,
    /// What went in.
    pub real_inputs: Value,
    /// What came out.
    pub real_outputs: Value,
}

/// Cost, time and success of an attempt.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Performance {
    pub cost: Option<Money>,
    /// The time in seconds.
    pub time_seconds: Option<f64>,
    /// Whether it completed; `null` if it was skipped or undone, or is not known.
    pub success: Option<bool>,
    pub attempt: Option<u64>,
}

impl Snapshot {
    /// Passes a record for every executed step to `sink`; secrets are masked.
    ///
    /// Simulated entries are left out, and so are entries without a mode while the plan is in
    /// SIMULATION mode.
    pub(crate) fn training_data(&self, mut sink: impl FnMut(&TrainingRecord)) -> Result<(), Error> {
        let mode = self.plan().ok().and_then(|plan| plan.metadata.mode.clone());
        let simulating = mode.is_some_and(|mode| mode.eq_ignore_ascii_case("SIMULATION"));
        let undone = self.undone_steps()?;
        let mut record = TrainingRecord::default();
        each_entry(self.history()?, |entry| {
            let says_mode = entry.kind == EntryKind::Step || entry.field("mode").is_some();
            if entry.simulation || (simulating && !says_mode) {
                return;
            }
            record.take(&entry, undone.contains(&entry.offset));
            if entry.kind == EntryKind::Step || record.conversation_trace.len() >= MOST_TURNS {
                sink(&std::mem::take(&mut record));
            }
        })?;
        if !record.conversation_trace.is_empty() {
            sink(&record);
        }
        Ok(())
    }

    /// Where the entries of executions are that were undone and not redone.
    fn undone_steps(&self) -> Result<BTreeSet<u64>, Error> {
        let mut steps = UndoneSteps::default();
        each_entry(self.history()?, |entry| steps.take(&entry))?;
        Ok(steps.into_offsets())
    }
}

impl TrainingRecord {
    fn take(&mut self, entry: &Entry, undone: bool) {
        let text = |key: &str| entry.field(key).map(|text| mask_field(key, text));
        if entry.kind == EntryKind::Turn {
            let fields = entry.fields.iter();
            let fields = fields.map(|(key, text)| (key.clone(), mask_field(key, text))).collect();
            self.conversation_trace.push(RecordedTurn { time: entry.time.clone(), fields });
            return;
        }
        if self.state_transitions.len() < MOST_TURNS
            && let Some(changes) = text("state_changes")
        {
            self.state_transitions.extend(changes.split("; ").map(str::to_owned));
        }
        if entry.kind != EntryKind::Step {
            return;
        }
        self.undone = undone;
        self.step = entry.field("step").map(str::to_owned);
        let title = entry.field("title").unwrap_or(&entry.title);
        self.title = Some(mask(title).into_owned());
        self.time.clone_from(&entry.time);
        self.errors = text("errors");
        self.notes = text("notes");
        let call = ToolCall {
            tool_used: text("tool_used"),
            component_used: text("component_used"),
            real_inputs: data(entry.field("real_inputs")),
            real_outputs: data(entry.field("real_outputs")),
        };
        if call.tool_used.is_some() || !call.real_inputs.is_null() || !call.real_outputs.is_null() {
            self.tool_calls.push(call);
        }
        let time = entry.field("actual_time").and_then(parse_duration_ms);
        self.performance_metrics = Some(Performance {
            cost: entry.field("actual_cost").and_then(Money::parse),
            time_seconds: time.map(|ms| ms as f64 / 1000.0),
            success: entry.outcome().filter(|_| !undone).and_then(success),
            attempt: entry.field("attempt").and_then(|text| text.trim().parse().ok()),
        });
    }
}

fn success(outcome: StepOutcome) -> Option<bool> {
    match outcome {
        StepOutcome::Done => Some(true),
        StepOutcome::Failed => Some(false),
        StepOutcome::Skipped => None,
    }
}

/// The text as JSON if it parses, else as a string.
fn data(text: Option<&str>) -> Value {
    let Some(text) = text else { return Value::Null };
    let mut value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    mask_json(&mut value);
    value
}
