//! The data that a brief is composed from: the state as far as it could be read.

use serde_json::Value;

use crate::{
    domain::{
        Bullet, ContextSection, Money, Problem, Prose, Review, Setting, StateFile, Step, StepCounts,
    },
    history::Entry,
    recovery::NextMove,
};

/// Everything that a brief can contain. What could not be read is empty, and `problems` says why.
#[derive(Clone, Debug, Default)]
pub(crate) struct Material {
    /// The revision it was read at.
    pub revision: String,
    /// What is wrong with the files.
    pub problems: Vec<Problem>,
    /// The goal, and the file that it comes from.
    pub goal: Option<(StateFile, String)>,
    pub status: Option<ExecutionStatus>,
    /// What to do now; the text is ours, not from the state.
    pub next_move: Option<NextMove>,
    /// The current step, or the one that was asked for.
    pub focus: Option<FocusStep>,
    /// Modifiers and limits that are not the defaults.
    pub settings: Vec<Setting>,
    /// Directives in force.
    pub directives: Vec<Bullet>,
    /// Rules in prose, which are not executed.
    pub prose: Vec<Prose>,
    /// Adaptation rules that are not from the template.
    pub rules: Vec<Bullet>,
    /// Questions that wait for a person.
    pub reviews: Vec<Review>,
    /// Questions that a person has answered, newest first.
    pub answers: Vec<Review>,
    /// Limits that are exceeded, as sentences.
    pub limits: Vec<String>,
    /// History entries about the current step and failed steps, by step number, newest first: failed
    /// attempts, and notes about restarts.
    pub step_entries: Vec<(u32, Entry)>,
    /// The unfinished steps without the current one.
    pub open_steps: Vec<OpenStep>,
    /// How many more of them there are, for which there cannot be room.
    pub more_open_steps: usize,
    /// Outputs of steps that matter now.
    pub results: Vec<StepOutputs>,
    /// The text under the title of context.md.
    pub preface: String,
    pub context: Vec<ContextSection>,
    /// The newest turns, oldest first.
    pub turns: Vec<Entry>,
    /// The newest entries of the history, oldest first.
    pub entries: Vec<Entry>,
    /// Finished steps whose dependents are all finished, too.
    pub consumed_steps: Vec<u32>,
    /// What changed after a revision.
    pub changes: Option<ChangesSince>,
}

/// How far the execution is.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExecutionStatus {
    /// The status of the plan.
    pub status: Option<String>,
    /// `EXECUTION` or `SIMULATION`.
    pub mode: Option<String>,
    /// The steps by role.
    pub counts: StepCounts,
    pub cost: Money,
    /// The limit of the cost.
    pub budget: Option<Money>,
    /// Why the plan is paused.
    pub paused_because: Option<String>,
}

/// A step with everything it needs.
#[derive(Clone, Debug)]
pub(crate) struct FocusStep {
    /// The step as written.
    pub step: Step,
    /// What a person wrote under it.
    pub prose: String,
    /// Its parameters with resolved references.
    pub inputs: Vec<StepInput>,
    /// The unfinished steps that it depends on.
    pub waits_for: Vec<String>,
}

/// An unfinished step that is not the current one.
#[derive(Clone, Debug)]
pub(crate) struct OpenStep {
    pub number: u32,
    pub title: String,
    /// Notes on its state: `running by ada`, `failed`, `after 3, 5`.
    pub state: Vec<String>,
    /// What a person wrote under it.
    pub prose: String,
}

/// A parameter of a step.
#[derive(Clone, Debug)]
pub(crate) struct StepInput {
    pub name: String,
    /// The parameter as written, with its references.
    pub written: String,
    /// The value, or why a reference cannot be resolved.
    pub value: Result<Value, String>,
}

/// The outputs of a step.
#[derive(Clone, Debug)]
pub(crate) struct StepOutputs {
    pub number: u32,
    pub outputs: Value,
}

/// What changed after a revision.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangesSince {
    /// The operations since then, oldest first, one line each.
    pub operations: Vec<String>,
    /// Each changed file with its diff.
    pub files: Vec<(StateFile, String)>,
    /// How many bytes the history grew.
    pub history_grew: u64,
}
