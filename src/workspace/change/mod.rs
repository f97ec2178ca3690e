//! Every change of the state as data, for the command line, `apply`, MCP and hooks alike.

mod checkpoint;
mod constraint;
mod context;
mod decide;
mod history;
mod migrate;
mod pause;
mod plan;
mod quantity;
mod review;
mod steps;
mod variables;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::steps::{finish::finish, reset::Reset};
pub(super) use self::{
    checkpoint::{create_automatic, keep_state_before, merge as merge_checkpoint},
    constraint::{with_section, write as write_setting},
    history::task_type,
    pause::{put_pause, take_up},
    review::{OPENING_BYTES, open_review, refuse_while_open, refuse_withdrawing},
    steps::add::{add_all as add_steps, added_answer},
    steps::{progress::identify, reset::rewind},
};
pub use self::{
    quantity::{Cost, Span},
    steps::moves::StepMove,
};
pub(crate) use self::{
    steps::gate::{attempts_possible, has_failed_for_good},
    steps::needed::Needed,
    steps::no_ready_step,
};
use super::{Answer, Draft, Error};
use crate::{
    brief::Turn,
    domain::{StepRef, StepRole},
};

/// One change. Several of them make one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", deny_unknown_fields)]
#[non_exhaustive]
pub enum Change {
    /// Sets fields of the plan's metadata.
    #[serde(rename = "plan.set")]
    PlanSet {
        /// Field and value, in order.
        set: Map<String, Value>,
    },
    /// Pauses the plan.
    #[serde(rename = "plan.pause")]
    Pause {
        /// Why.
        why: String,
    },
    /// Rewrites an older layout of plan.md and variables.json.
    #[serde(rename = "migrate")]
    Migrate,
    /// Resumes a paused or failed plan; running steps stay as they are.
    #[serde(rename = "plan.resume")]
    Resume,
    /// Adds a step.
    #[serde(rename = "step.add")]
    StepAdd(Box<StepShape>),
    /// Starts a step, or the next ready one.
    #[serde(rename = "step.start")]
    StepStart {
        /// Which one; the next ready one if absent.
        #[serde(default)]
        step: Option<StepRef>,
    },
    /// Completes a running step.
    #[serde(rename = "step.done")]
    StepDone(Box<StepResult>),
    /// Records that a running step failed.
    #[serde(rename = "step.fail")]
    StepFail(Box<StepResult>),
    /// Skips a step.
    #[serde(rename = "step.skip")]
    StepSkip(Box<StepResult>),
    /// Starts a failed step again.
    #[serde(rename = "step.retry")]
    StepRetry {
        /// Which one; the failed one if there is only one.
        #[serde(default)]
        step: Option<StepRef>,
        /// What to do differently.
        #[serde(default)]
        note: Option<String>,
    },
    /// Resets a step to its initial status.
    #[serde(rename = "step.reset")]
    StepReset {
        /// Which one; the running or failed one if there is only one.
        #[serde(default)]
        step: Option<StepRef>,
        /// Why.
        #[serde(default)]
        note: Option<String>,
        /// Even if somebody else holds it.
        #[serde(default)]
        force: bool,
        /// As if it had never been tried: clears the counts, closes its review.
        #[serde(default)]
        fresh: bool,
        /// With every step that depends on it.
        #[serde(default)]
        dependents: bool,
    },
    /// Moves a step to a status that the lifecycle allows.
    #[serde(rename = "step.move")]
    StepMove(Box<StepMove>),
    /// Takes over a running step that somebody else holds.
    #[serde(rename = "step.take")]
    StepTake {
        /// Which one; the only one if absent.
        #[serde(default)]
        step: Option<StepRef>,
        /// Also while its holder is at work.
        #[serde(default)]
        force: bool,
        /// Why.
        #[serde(default)]
        why: Option<String>,
    },
    /// Changes what a step says.
    #[serde(rename = "step.set")]
    StepSet(Box<StepShape>),
    /// Puts a step in another place; those between are renumbered.
    #[serde(rename = "step.reorder")]
    StepReorder {
        /// Which one.
        step: StepRef,
        /// The step behind which it is put; 0 is the first place.
        #[serde(default)]
        after: Option<StepRef>,
        /// The step before which it is put.
        #[serde(default)]
        before: Option<StepRef>,
    },
    /// Takes a step out of the plan.
    #[serde(rename = "step.remove")]
    StepRemove {
        /// Which one.
        step: StepRef,
        /// Even if somebody else holds it.
        #[serde(default)]
        force: bool,
    },
    /// Adds text to a section of the context.
    #[serde(rename = "context.add")]
    ContextAdd(ContextText),
    /// Replaces the text of a section of the context.
    #[serde(rename = "context.set")]
    ContextSet(ContextText),
    /// Sets a variable.
    #[serde(rename = "var.set")]
    VarSet {
        /// Dotted path or JSON pointer.
        path: String,
        /// Any JSON value.
        value: Value,
    },
    /// Removes a variable.
    #[serde(rename = "var.unset")]
    VarUnset {
        /// Dotted path or JSON pointer.
        path: String,
    },
    /// Appends to an array.
    #[serde(rename = "var.append")]
    VarAppend {
        /// Dotted path or JSON pointer.
        path: String,
        /// Any JSON value.
        value: Value,
    },
    /// Merges an object into the variables (RFC 7396).
    #[serde(rename = "var.merge")]
    VarMerge {
        /// The patch.
        patch: Value,
    },
    /// Applies a list of operations to the variables (RFC 6902).
    #[serde(rename = "var.patch")]
    VarPatch {
        /// The operations.
        patch: Value,
    },
    /// Adds an entry to the history.
    #[serde(rename = "history.add")]
    HistoryAdd {
        /// The heading.
        title: String,
        /// Field and value, in order.
        #[serde(default)]
        fields: Map<String, Value>,
    },
    /// Records a turn of the conversation.
    #[serde(rename = "turn.add")]
    TurnAdd(Box<Turn>),
    /// Sets a modifier or a limit.
    #[serde(rename = "constraint.set")]
    ConstraintSet {
        /// Its name.
        name: String,
        /// Its value.
        value: Value,
        /// Whether a name that is not known yet may be added.
        #[serde(default)]
        create: bool,
    },
    /// Takes the value of a modifier or a limit away.
    #[serde(rename = "constraint.unset")]
    ConstraintUnset {
        /// Its name.
        name: String,
    },
    /// Adds a directive.
    #[serde(rename = "directive.add")]
    DirectiveAdd {
        /// What holds from now on.
        text: String,
        /// For how many steps; for good if absent.
        #[serde(default)]
        steps: Option<u32>,
    },
    /// Removes a directive.
    #[serde(rename = "directive.remove")]
    DirectiveRemove {
        /// Its number in the list, or its text.
        directive: Value,
    },
    /// Adds an adaptation rule.
    #[serde(rename = "rule.add")]
    RuleAdd {
        /// The rule in plain words.
        text: String,
    },
    /// Removes an adaptation rule.
    #[serde(rename = "rule.remove")]
    RuleRemove {
        /// Its number in the list, or its text.
        rule: Value,
    },
    /// Tells that something happened.
    #[serde(rename = "event.emit")]
    Event {
        /// The type, such as `feedback`.
        #[serde(rename = "type")]
        kind: String,
        /// What is known about it.
        #[serde(default)]
        fields: Map<String, Value>,
    },
    /// Takes a checkpoint of the state after all changes of the operation.
    #[serde(rename = "checkpoint.create")]
    CheckpointCreate {
        /// Its name; a free one is chosen if absent.
        #[serde(default)]
        name: Option<String>,
        /// A description.
        #[serde(default)]
        message: Option<String>,
    },
    /// Asks a person; the plan waits for the answer.
    #[serde(rename = "review.open")]
    ReviewOpen {
        /// The question.
        text: String,
    },
    /// Takes a person's decision.
    #[serde(rename = "review.decide")]
    ReviewDecide {
        /// Which review, such as `r1`.
        id: String,
        /// Whether it is approved.
        approve: bool,
        /// Why.
        #[serde(default)]
        why: Option<String>,
        /// The step that a rejection goes back to, whatever the gate says: number, id or title.
        #[serde(default)]
        to: Option<String>,
    },
}

/// The fields of a step. Absent ones stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StepShape {
    /// Which step is changed; not for a new one.
    pub step: Option<StepRef>,
    /// The id of a new step; one is made up if absent.
    pub id: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// The component that does it.
    pub component: Option<String>,
    /// The tool it maps to.
    #[serde(alias = "tool_mapping")]
    pub tool: Option<String>,
    /// Parameters.
    #[serde(alias = "inputs")]
    pub input: Map<String, Value>,
    /// Expected outputs.
    #[serde(alias = "expected_outputs", alias = "outputs")]
    pub output: Map<String, Value>,
    /// The estimated cost.
    #[serde(alias = "estimated_cost")]
    pub cost: Option<Cost>,
    /// The estimated time.
    #[serde(alias = "estimated_time")]
    pub time: Option<Span>,
    /// What it changes in the world.
    #[serde(alias = "side_effects")]
    pub effects: Option<String>,
    /// The steps that come before it.
    pub depends_on: Option<Vec<StepRef>>,
    /// Markdown below its fields; `step.set` replaces the prose that is there, and an empty text
    /// clears it.
    pub description: Option<String>,
    /// The step after which a new one is inserted; 0 is the first place.
    pub after: Option<StepRef>,
    /// The step before which a new one is inserted.
    pub before: Option<StepRef>,
    /// Other fields; `null` removes one.
    pub set: Map<String, Value>,
}

/// The result of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StepResult {
    /// Which step; the running one if there is only one.
    pub step: Option<StepRef>,
    /// Named results, kept in variables.json under `step_data.outputs`.
    #[serde(alias = "outputs")]
    pub output: Map<String, Value>,
    /// What it cost.
    pub cost: Option<Cost>,
    /// How long it took; since its start if absent.
    pub time: Option<Span>,
    /// What went wrong.
    pub error: Option<String>,
    /// An observation.
    pub note: Option<String>,
    /// The tool that was actually used.
    pub tool: Option<String>,
    /// Even if somebody else holds the step.
    pub force: bool,
}

/// Text for a section of the context.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContextText {
    /// The heading or path of the section.
    pub section: Option<String>,
    /// Any markdown; it stays inside the section.
    pub text: String,
    /// Whether to add the section if it does not exist.
    pub create: bool,
}

impl Change {
    /// The words for all kinds of change.
    pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
        "plan.set plan.pause migrate plan.resume step.add step.start step.done step.fail \
         step.skip step.retry step.reset step.move step.take step.set step.reorder step.remove \
         context.add context.set var.set var.unset var.append var.merge var.patch history.add \
         turn.add constraint.set constraint.unset directive.add directive.remove rule.add \
         rule.remove event.emit checkpoint.create review.open review.decide"
            .split(' ')
    }

    /// The word for the operation log, such as `step.done`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::PlanSet { .. } => "plan.set",
            Self::Pause { .. } => "plan.pause",
            Self::Migrate => "migrate",
            Self::Resume => "plan.resume",
            Self::StepAdd(_) => "step.add",
            Self::StepStart { .. } => "step.start",
            Self::StepDone(_) => "step.done",
            Self::StepFail(_) => "step.fail",
            Self::StepSkip(_) => "step.skip",
            Self::StepRetry { .. } => "step.retry",
            Self::StepReset { .. } => "step.reset",
            Self::StepMove(_) => "step.move",
            Self::StepTake { .. } => "step.take",
            Self::StepSet(_) => "step.set",
            Self::StepReorder { .. } => "step.reorder",
            Self::StepRemove { .. } => "step.remove",
            Self::ContextAdd(_) => "context.add",
            Self::ContextSet(_) => "context.set",
            Self::VarSet { .. } => "var.set",
            Self::VarUnset { .. } => "var.unset",
            Self::VarAppend { .. } => "var.append",
            Self::VarMerge { .. } => "var.merge",
            Self::VarPatch { .. } => "var.patch",
            Self::HistoryAdd { .. } => "history.add",
            Self::TurnAdd(_) => "turn.add",
            Self::ConstraintSet { .. } => "constraint.set",
            Self::ConstraintUnset { .. } => "constraint.unset",
            Self::DirectiveAdd { .. } => "directive.add",
            Self::DirectiveRemove { .. } => "directive.remove",
            Self::RuleAdd { .. } => "rule.add",
            Self::RuleRemove { .. } => "rule.remove",
            Self::Event { .. } => "event.emit",
            Self::CheckpointCreate { .. } => "checkpoint.create",
            Self::ReviewOpen { .. } => "review.open",
            Self::ReviewDecide { .. } => "review.decide",
        }
    }

    /// Works the change into the draft.
    pub(super) fn apply(&self, draft: &mut Draft<'_>) -> Result<Answer, Error> {
        match self {
            Self::PlanSet { set } => plan::set(draft, set),
            Self::Pause { why } => pause::pause(draft, why),
            Self::Migrate => migrate::migrate(draft),
            Self::Resume => pause::resume(draft),
            Self::StepAdd(shape) => steps::reorder::add(draft, shape),
            Self::StepSet(shape) => steps::shape::set(draft, shape),
            Self::StepReorder { step, after, before } => {
                steps::reorder::reorder(draft, step, after.as_ref(), before.as_ref())
            }
            Self::StepRemove { step, force } => steps::shape::remove(draft, step, *force),
            Self::StepStart { step } => steps::start(draft, step.as_ref()),
            Self::StepRetry { step, note } => steps::retry(draft, step.as_ref(), note.as_deref()),
            Self::StepReset { step, note, force, fresh, dependents } => {
                let (note, force, fresh) = (note.as_deref(), *force, *fresh);
                let how = Reset { note, force, fresh, dependents: *dependents };
                steps::reset::reset(draft, step.as_ref(), &how)
            }
            Self::StepMove(wanted) => steps::moves::move_to(draft, wanted),
            Self::StepTake { step, force, why } => {
                steps::claim::take(draft, step.as_ref(), *force, why.as_deref())
            }
            Self::StepDone(result) => finish(draft, result, StepRole::Done, None),
            Self::StepFail(result) => finish(draft, result, StepRole::Failed, None),
            Self::StepSkip(result) => finish(draft, result, StepRole::Skipped, None),
            Self::ContextAdd(text) => context::add(draft, text),
            Self::ContextSet(text) => context::set(draft, text),
            Self::VarSet { path, value } => variables::set(draft, path, value),
            Self::VarUnset { path } => variables::unset(draft, path),
            Self::VarAppend { path, value } => variables::append(draft, path, value),
            Self::VarMerge { patch } => variables::merge(draft, patch),
            Self::VarPatch { patch } => variables::patch(draft, patch),
            Self::HistoryAdd { title, fields } => history::add(draft, title, fields),
            Self::TurnAdd(turn) => history::add_turn(draft, turn),
            Self::ConstraintSet { name, value, create } => {
                constraint::set(draft, name, value, *create)
            }
            Self::ConstraintUnset { name } => constraint::unset(draft, name),
            Self::DirectiveAdd { text, steps } => constraint::add_directive(draft, text, *steps),
            Self::DirectiveRemove { directive } => constraint::remove_directive(draft, directive),
            Self::RuleAdd { text } => constraint::add_rule(draft, text),
            Self::RuleRemove { rule } => constraint::remove_rule(draft, rule),
            Self::Event { kind, fields } => history::emit(draft, kind, fields),
            Self::CheckpointCreate { name, message } => {
                checkpoint::create(draft, name.as_deref(), message.as_deref())
            }
            Self::ReviewOpen { text } => review::open(draft, text),
            Self::ReviewDecide { id, approve, why, to } => {
                let (approve, why, to) = (*approve, why.as_deref(), to.as_deref());
                decide::decide(draft, &decide::ReviewDecision { id, approve, why, to })
            }
        }
    }
}

/// A value as text: strings as they are, everything else as JSON.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
