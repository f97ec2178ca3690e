//! The types of the state document; `schema.json` describes the same for machines.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::Written;
use crate::{
    domain::{Money, Problem, Review, SettingGroup, StateFile, StepCounts, StepRef},
    history::{Counts, EntryKind},
    recovery::failure::ErrorClass,
    text::LineIndex,
    workspace::StepOverview,
};

/// The full resumable state.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct StateDocument {
    /// The version of this document's shape.
    pub schema_version: u32,
    /// The revision it was read at.
    pub revision: String,
    /// Which execution this is.
    pub identity: Identity,
    /// Where it is in its lifecycle.
    pub status: Option<String>,
    /// How far it is.
    pub progress: StepCounts,
    /// The steps in order.
    pub steps: Vec<StepState>,
    /// Outputs of finished steps, by step id.
    pub results: Map<String, Value>,
    /// Failed attempts among the recent entries.
    pub errors: Vec<FailedAttempt>,
    /// When and how long.
    pub timing: Timing,
    /// The newest checkpoint.
    pub last_checkpoint: Option<Value>,
    /// Whether and where it can be resumed.
    pub recovery: Recovery,
    /// Modifiers, limits, directives, rules, behaviours.
    pub constraints: ConstraintState,
    /// variables.json as it is.
    pub variables: Value,
    /// The sections of context.md, its title first.
    pub context: Vec<SectionState>,
    /// The newest entries of the history, oldest first.
    pub recent_history: Vec<EntryState>,
    /// Counts and sums.
    pub metrics: Metrics,
    /// All questions to a person, decided or not.
    pub reviews: Vec<Review>,
    /// Those that nobody has decided yet.
    pub open_reviews: Vec<Review>,
    /// The text of workflow.yaml, if there is one.
    pub workflow: Option<String>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Where the variables are, by their first key; only if places were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Places>,
}

/// The places of parts that have no field for it.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Places {
    /// The first keys of variables.json.
    pub variables: BTreeMap<String, Located>,
}

/// Which execution this is.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Identity {
    /// The name of the execution.
    pub execution_id: Option<String>,
    /// The short name of the goal.
    pub title: String,
    /// The goal.
    pub goal: Option<String>,
    /// `EXECUTION` or `SIMULATION`.
    pub mode: Option<String>,
    /// Other fields of the metadata.
    pub other: Vec<Written>,
}

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepState {
    /// The number in the heading.
    pub number: u32,
    /// The id, once it has one.
    pub id: Option<String>,
    /// The title.
    pub title: String,
    /// The status as written.
    pub status: Option<String>,
    /// The component that does it.
    pub component: Option<String>,
    /// The tool it maps to.
    pub tool_mapping: Option<String>,
    /// Parameters, in order.
    pub inputs: Vec<Written>,
    /// Expected outputs, in order.
    pub expected_outputs: Vec<Written>,
    /// The estimated cost as written.
    pub estimated_cost: Option<String>,
    /// The same as a number.
    pub estimated_cost_amount: Option<Money>,
    /// The estimated time as written.
    pub estimated_time: Option<String>,
    /// The same in seconds.
    pub estimated_time_seconds: Option<f64>,
    /// What it changes in the world.
    pub side_effects: Option<String>,
    /// The steps that it depends on, by id or number.
    pub depends_on: Vec<StepRef>,
    /// How often it was started.
    pub attempts: u32,
    /// How often it failed, if that does not follow from the attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<u32>,
    /// Who started it last.
    pub claimed_by: Option<String>,
    /// When it was started last.
    pub started_at: Option<String>,
    /// When it was completed, if it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// The result, in a line.
    pub result: Option<String>,
    /// The text under it that is not a field: markdown.
    pub description: Option<String>,
    /// Other fields.
    pub other: Vec<Written>,
    /// Whether it can be started now.
    pub ready: bool,
    /// Where its heading is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Located>,
}

impl StepState {
    /// Its fields except title, status and description, by name.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (String, String)> {
        let before: Vec<String> = self.depends_on.iter().map(ToString::to_string).collect();
        let attempts = (self.attempts > 0).then(|| self.attempts.to_string());
        let rows = [
            ("id", self.id.clone()),
            ("depends on", Some(before.join(", ")).filter(|text| !text.is_empty())),
            ("component", self.component.clone()),
            ("tool", self.tool_mapping.clone()),
            ("estimated cost", self.estimated_cost.clone()),
            ("estimated time", self.estimated_time.clone()),
            ("side effects", self.side_effects.clone()),
            ("attempts", attempts),
            ("claimed by", self.claimed_by.clone()),
            ("started at", self.started_at.clone()),
            ("completed at", self.completed_at.clone()),
            ("result", self.result.clone()),
        ];
        let given = rows.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let lists = [
            ("input", &self.inputs),
            ("expected output", &self.expected_outputs),
            ("", &self.other),
        ];
        let written = lists.into_iter().flat_map(|(kind, list)| {
            list.iter().map(move |one| {
                (
                    format!("{kind} {}", one.name).trim().to_owned(),
                    one.text.clone().unwrap_or_default(),
                )
            })
        });
        given.chain(written)
    }
}

/// An attempt that failed.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FailedAttempt {
    /// The step's id or title.
    pub step: String,
    /// When.
    pub time: Option<String>,
    /// What went wrong.
    pub error: String,
    /// What kind of error it was.
    pub class: ErrorClass,
    /// Whether the same attempt may succeed later.
    pub recoverable: bool,
}

/// When and how long.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Timing {
    /// When it began.
    pub start_time: Option<String>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// When a step or the plan changed last.
    pub last_updated: Option<String>,
    /// The time of all executed steps, in seconds.
    pub execution_seconds: f64,
    /// The same for people.
    pub execution_time: String,
}

/// Whether and where the execution can be resumed.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Recovery {
    /// Failed attempts so far.
    pub attempts: u64,
    /// Whether it can go on.
    pub can_resume: bool,
    /// The step to continue with.
    pub resume_from: Option<StepOverview>,
}

/// The content of constraints.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConstraintState {
    /// Modifiers and limits.
    pub settings: Vec<SettingState>,
    /// Directives in force.
    pub directives: Vec<ConstraintLine>,
    /// Adaptation rules.
    pub rules: Vec<ConstraintLine>,
    /// Behaviours by kind of task.
    pub behaviours: Vec<BehaviourState>,
}

/// A modifier or a limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SettingState {
    /// The list it is in.
    pub group: SettingGroup,
    /// Its name, its text and what that means.
    #[serde(flatten)]
    pub written: Written,
}

/// A directive or a rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConstraintLine {
    /// Its number in the list, from one.
    pub number: usize,
    /// The text as written, without the bullet.
    pub text: String,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Located>,
}

/// What applies to one kind of task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BehaviourState {
    /// The kind of task.
    pub task_type: String,
    /// What applies.
    pub text: String,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Located>,
}

/// A section of context.md.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SectionState {
    /// Its heading.
    pub title: String,
    /// One for the title of the document, zero for text above all headings.
    pub level: u8,
    /// The headings above it, without the document's title.
    pub path: Vec<String>,
    /// Its own text, without subsections, trimmed.
    pub text: String,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Located>,
}

/// An entry of the history.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct EntryState {
    /// Its id; an entry written by hand has none.
    pub id: Option<String>,
    /// What it is about.
    pub kind: EntryKind,
    /// The heading without the time.
    pub title: String,
    /// The time in the heading.
    pub time: Option<String>,
    /// Its fields in order, each a key and a text.
    pub fields: Vec<(String, String)>,
    /// Whether it was made in SIMULATION mode.
    pub simulation: bool,
}

/// Counts and sums.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Metrics {
    /// What was spent.
    pub total_cost: Money,
    /// What may be spent.
    pub budget: Option<Money>,
    /// Entries in the history.
    pub history_entries: u64,
    /// Finished attempts at steps.
    pub attempts: u64,
    /// Failed attempts since the last success.
    pub consecutive_failures: u64,
    /// Everything that is counted in the history.
    pub history: Counts,
}

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Located {
    /// The file.
    pub file: StateFile,
    /// The line, from one.
    pub line: usize,
}

/// Finds lines of one file.
pub(super) struct FileLines {
    file: StateFile,
    index: LineIndex,
}

impl FileLines {
    /// Finds the lines of a file; `\n`, `\r\n` and a lone `\r` end one.
    pub(super) fn of(file: StateFile, source: &str) -> Self {
        Self { file, index: LineIndex::of(source) }
    }

    /// The line that holds a byte.
    pub(super) fn at(&self, offset: usize) -> Located {
        Located { file: self.file, line: self.index.line(offset) }
    }
}
