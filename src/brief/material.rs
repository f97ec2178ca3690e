//! What a brief is made from: the state as far as it could be read.

use serde_json::Value;

use crate::{
    domain::{
        Bullet, ContextSection, Money, Problem, Prose, Review, Setting, StateFile, Step, StepCounts,
    },
    history::Entry,
    recovery::NextMove,
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
    /// What to do now; all of it is our own text.
    pub next_move: Option<NextMove>,
    /// The step at hand, or the one asked for.
    pub focus: Option<Focus>,
    /// Modifiers and limits that somebody chose.
    pub settings: Vec<Setting>,
    /// Directives in force.
    pub directives: Vec<Bullet>,
    /// Rules in words that nothing executes.
    pub prose: Vec<Prose>,
    /// Adaptation rules that somebody wrote.
    pub rules: Vec<Bullet>,
    /// Questions that wait for a person.
    pub reviews: Vec<Review>,
    /// Questions that a person has answered, newest first.
    pub answers: Vec<Review>,
    /// Limits that are exceeded, as sentences.
    pub limits: Vec<String>,
    /// What the history says about the current step and about failed ones, by number, the newest
    /// first: attempts that failed, why it was begun again.
    pub told: Vec<(u32, Entry)>,
    /// The steps that are not finished, without the one at hand.
    pub open_steps: Vec<OpenStep>,
    /// How many more of them there are than there can be room for.
    pub more_open_steps: usize,
    /// What steps gave that matters now.
    pub results: Vec<StepOutputs>,
    /// What is under the title of the context.
    pub preface: String,
    /// Sections of the context.
    pub context: Vec<ContextSection>,
    /// The newest turns, oldest first.
    pub turns: Vec<Entry>,
    /// The newest entries of the history, oldest first.
    pub entries: Vec<Entry>,
    /// Finished steps that other steps build upon, all of which are finished, too.
    pub taken_up: Vec<u32>,
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
}

/// A step with everything it needs.
#[derive(Clone, Debug)]
pub(crate) struct Focus {
    /// The step as written.
    pub step: Step,
    /// What a person wrote under it.
    pub prose: String,
    /// Its parameters with their references looked up.
    pub inputs: Vec<Input>,
    /// What it still waits for.
    pub waits_for: Vec<String>,
}

/// A step that is not finished and not at hand.
#[derive(Clone, Debug)]
pub(crate) struct OpenStep {
    /// Its number.
    pub number: u32,
    /// Its title.
    pub title: String,
    /// What is worth knowing of its state: `running by ada`, `failed`, `after 3, 5`.
    pub state: Vec<String>,
    /// What a person wrote under it.
    pub prose: String,
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

/// What a step gave.
#[derive(Clone, Debug)]
pub(crate) struct StepOutputs {
    /// Its number.
    pub number: u32,
    /// What it gave.
    pub outputs: Value,
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
