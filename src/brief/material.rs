//! What a brief is made from: the state as far as it could be read.

use serde_json::Value;

use crate::{
    domain::{
        Bullet, ContextSection, Money, Problem, Review, Setting, StateFile, Step, StepCounts,
    },
    history::Entry,
};

/// Everything a brief can tell. What could not be read is empty, and `problems` says why.
#[derive(Clone, Debug, Default)]
pub(crate) struct Material {
    /// The revision it was read at.
    pub revision: String,
    /// What is wrong with the files.
    pub problems: Vec<Problem>,
    /// What is to be reached, and the file that says so.
    pub goal: Option<(StateFile, String)>,
    /// How far the execution is.
    pub standing: Option<Standing>,
    /// What to do now.
    pub advice: Option<Advice>,
    /// The step at hand, or the one asked for.
    pub focus: Option<Focus>,
    /// Modifiers and limits.
    pub settings: Vec<Setting>,
    /// Directives in force.
    pub directives: Vec<Bullet>,
    /// Adaptation rules.
    pub rules: Vec<Bullet>,
    /// Questions that wait for a person.
    pub reviews: Vec<Review>,
    /// Limits that are exceeded, as sentences.
    pub limits: Vec<String>,
    /// Steps that have failed and not been retried.
    pub failed: Vec<Step>,
    /// Sections of the context.
    pub context: Vec<ContextSection>,
    /// The newest turns, oldest first.
    pub turns: Vec<Entry>,
    /// The newest entries of the history, oldest first.
    pub entries: Vec<Entry>,
    /// What changed after a revision.
    pub changes: Option<Changes>,
}

/// How far the execution is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// The status of the plan.
    pub status: Option<String>,
    /// `EXECUTION` or `SIMULATION`.
    pub mode: Option<String>,
    /// The steps by role.
    pub counts: StepCounts,
    /// What was spent.
    pub cost: Money,
    /// What may be spent.
    pub budget: Option<Money>,
    /// Why the plan is paused.
    pub paused_because: Option<String>,
    /// When something changed last.
    pub last_updated: Option<String>,
}

/// What to do now; all of it is our own text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    /// A person has to decide first.
    WaitForReview,
    /// The plan is paused.
    Resume,
    /// There are no steps yet.
    AddSteps,
    /// A step is running.
    Finish(u32),
    /// A step can be started.
    Start(u32),
    /// A step has failed, and nothing else can be started.
    Retry(u32),
    /// Every step is finished.
    Nothing,
    /// No step can be started, because of what it waits for.
    Blocked,
}

/// A step with everything it needs.
#[derive(Clone, Debug)]
pub(crate) struct Focus {
    /// The step as written.
    pub step: Step,
    /// Its parameters with their references looked up.
    pub inputs: Vec<Input>,
    /// The steps it depends on and what they gave.
    pub dependencies: Vec<Dependency>,
    /// What it still waits for.
    pub waits_for: Vec<String>,
}

/// A parameter of a step.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Its name.
    pub name: String,
    /// What is written, references included.
    pub written: String,
    /// The value, or why a reference leads nowhere.
    pub value: Result<Value, String>,
}

/// A step that comes before another.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    /// Number and id.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its status as written.
    pub status: String,
    /// What it gave.
    pub outputs: Option<Value>,
}

/// What changed after a revision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// The operations since then, oldest first, one line each.
    pub operations: Vec<String>,
    /// Each changed file with its difference.
    pub files: Vec<(StateFile, String)>,
    /// How many bytes the history grew.
    pub history_grew: u64,
}
