//! Everything, merged into one typed document.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Error, Readiness, Snapshot, Status, StepLine};
use crate::{
    engine::StepRole,
    model::{
        Behaviour, Bullet, ContextSection, Money, Problem, Setting, Step,
        history::{Entry, format_duration, parse_duration_ms},
    },
};

/// How many entries of the history the document holds.
const RECENT: usize = 20;

/// The version of the document's shape.
const SCHEMA_VERSION: u32 = 1;

/// The full resumable state.
#[derive(Clone, Debug, Serialize)]
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
    pub progress: Progress,
    /// The steps in order.
    pub steps: Vec<StepState>,
    /// What finished steps gave, by step id.
    pub results: Map<String, Value>,
    /// Failed attempts among the recent entries.
    pub errors: Vec<FailedAttempt>,
    /// When and how long.
    pub timing: Timing,
    /// Whether and where it can be taken up again.
    pub recovery: Recovery,
    /// Modifiers, limits, directives, rules, behaviours.
    pub constraints: ConstraintState,
    /// variables.json as it is.
    pub variables: Value,
    /// The sections of context.md.
    pub context: Vec<ContextSection>,
    /// The newest entries of the history, oldest first.
    pub recent_history: Vec<Entry>,
    /// Counts and sums.
    pub metrics: Metrics,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// Which execution this is.
#[derive(Clone, Debug, Serialize)]
pub struct Identity {
    /// The name of the execution.
    pub execution_id: Option<String>,
    /// The short name of the goal.
    pub title: String,
    /// What is to be reached.
    pub goal: Option<String>,
    /// `EXECUTION` or `SIMULATION`.
    pub mode: Option<String>,
    /// Fields of the metadata this tool has no meaning for.
    pub other: Map<String, Value>,
}

/// How far the execution is.
#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    /// The number of the step at hand.
    pub current_step: u32,
    /// How many steps there are.
    pub total_steps: usize,
    /// How many are done.
    pub completed: usize,
    /// How many have failed.
    pub failed: usize,
    /// How many are running.
    pub running: usize,
    /// How many were left out.
    pub skipped: usize,
    /// How many wait.
    pub pending: usize,
    /// Finished steps in percent.
    pub percent: u32,
}

/// A step with what follows from the others.
#[derive(Clone, Debug, Serialize)]
pub struct StepState {
    /// The step as written.
    #[serde(flatten)]
    pub step: Value,
    /// The estimated cost as a number.
    pub estimated_cost_amount: Option<Money>,
    /// The estimated time in seconds.
    pub estimated_time_seconds: Option<f64>,
    /// Whether it can be started now.
    pub ready: bool,
}

/// An attempt that failed.
#[derive(Clone, Debug, Serialize)]
pub struct FailedAttempt {
    /// The step's id or title.
    pub step: String,
    /// When.
    pub time: Option<String>,
    /// What went wrong.
    pub error: String,
}

/// When and how long.
#[derive(Clone, Debug, Serialize)]
pub struct Timing {
    /// When it began.
    pub start_time: Option<String>,
    /// When a step or the plan changed last.
    pub last_updated: Option<String>,
    /// The time of all executed steps, in seconds.
    pub execution_seconds: f64,
    /// The same for people.
    pub execution_time: String,
}

/// Whether and where the execution can be taken up again.
#[derive(Clone, Debug, Serialize)]
pub struct Recovery {
    /// Failed attempts so far.
    pub attempts: u64,
    /// Whether it can go on.
    pub can_resume: bool,
    /// The step to go on with.
    pub resume_from: Option<StepLine>,
}

/// What constraints.md says.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ConstraintState {
    /// Modifiers and limits.
    pub settings: Vec<Setting>,
    /// Directives in force.
    pub directives: Vec<Bullet>,
    /// Adaptation rules.
    pub rules: Vec<Bullet>,
    /// Behaviours by kind of task.
    pub behaviours: Vec<Behaviour>,
}

/// Counts and sums.
#[derive(Clone, Debug, Serialize)]
pub struct Metrics {
    /// What was spent.
    pub total_cost: Money,
    /// What may be spent.
    pub budget: Option<Money>,
    /// Entries in the history.
    pub history_entries: u64,
    /// Attempts at steps that came to an end.
    pub attempts: u64,
    /// Failed attempts since the last success.
    pub consecutive_failures: u64,
}

impl Snapshot {
    /// Merges all files into one document.
    ///
    /// # Errors
    /// The plan cannot be read; other files that cannot are listed under `problems`.
    pub fn state(&self) -> Result<StateDocument, Error> {
        let status = self.status()?;
        let plan = self.plan()?;
        let workflow = self.workflow()?;
        let readiness = Readiness::new(&plan, &workflow);
        let mut problems = status.problems.clone();
        let mut note = |error: Error| problems.extend(super::status::problem_of(&error));
        let variables = self.variables().map(|variables| variables.document.to_value());
        let variables = variables.map_err(&mut note).unwrap_or(Value::Null);
        let context = self.context().map(|context| context.sections);
        let context = context.map_err(&mut note).unwrap_or_default();
        let constraints = self.constraints().map(|read| ConstraintState {
            settings: read.settings,
            directives: read.directives,
            rules: read.rules,
            behaviours: read.behaviours,
        });
        let constraints = constraints.map_err(&mut note).unwrap_or_default();
        let recent_history = self.last_entries(RECENT).map_err(&mut note).unwrap_or_default();
        let facts = self.facts().map_err(&mut note).unwrap_or_default();
        // The status has listed these already.
        problems.dedup();
        let ready: Vec<u32> = readiness.ready().iter().map(|step| step.number).collect();
        let results = variables.pointer("/step_data/outputs").and_then(Value::as_object).cloned();
        let history = &facts.history;
        let resume_from = status.running_steps.first().or(status.failed_steps.first());
        let metadata = &plan.metadata;
        Ok(StateDocument {
            schema_version: SCHEMA_VERSION,
            revision: status.revision.clone(),
            identity: Identity {
                execution_id: metadata.execution_id.clone(),
                title: plan.title.clone(),
                goal: metadata.goal.clone(),
                mode: metadata.mode.clone(),
                other: metadata.other.iter().map(|(k, v)| (k.clone(), v.as_str().into())).collect(),
            },
            status: status.status.clone(),
            progress: progress(&status),
            steps: plan.steps.iter().map(|step| step_state(step, &ready)).collect(),
            results: results.unwrap_or_default(),
            errors: recent_history.iter().filter_map(failed_attempt).collect(),
            timing: Timing {
                start_time: metadata.start_time.clone(),
                last_updated: metadata.last_updated.clone(),
                execution_seconds: history.total_time_ms as f64 / 1000.0,
                execution_time: format_duration(history.total_time_ms),
            },
            recovery: Recovery {
                attempts: history.failed,
                can_resume: readiness.count(StepRole::Open)
                    + readiness.count(StepRole::Active)
                    + readiness.count(StepRole::Failed)
                    > 0
                    || plan.steps.is_empty(),
                resume_from: resume_from.or(status.next.as_ref()).cloned(),
            },
            constraints,
            variables,
            context,
            recent_history,
            metrics: Metrics {
                total_cost: status.total_cost,
                budget: status.budget,
                history_entries: history.entries,
                attempts: history.completed + history.failed + history.skipped,
                consecutive_failures: history.consecutive_failures,
            },
            problems,
        })
    }
}

fn progress(status: &Status) -> Progress {
    Progress {
        current_step: status.current_step,
        total_steps: status.total_steps,
        completed: status.completed,
        failed: status.failed,
        running: status.running,
        skipped: status.skipped,
        pending: status.pending,
        percent: status.percent,
    }
}

fn step_state(step: &Step, ready: &[u32]) -> StepState {
    let seconds = step.estimated_time.as_deref().and_then(parse_duration_ms);
    let mut written = serde_json::to_value(step).unwrap_or_default();
    if let Some(members) = written.as_object_mut() {
        for key in ["inputs", "expected_outputs", "other"] {
            let pairs: Vec<(String, String)> = members
                .get(key)
                .and_then(|pairs| serde_json::from_value(pairs.clone()).ok())
                .unwrap_or_default();
            let object: Map<String, Value> =
                pairs.into_iter().map(|(key, value)| (key, Value::from(value))).collect();
            members.insert(key.to_owned(), Value::Object(object));
        }
    }
    StepState {
        step: written,
        estimated_cost_amount: step.cost(),
        estimated_time_seconds: seconds.map(|ms| ms as f64 / 1000.0),
        ready: ready.contains(&step.number),
    }
}

fn failed_attempt(entry: &Entry) -> Option<FailedAttempt> {
    if entry.field("status") != Some("FAILED") {
        return None;
    }
    Some(FailedAttempt {
        step: entry.field("step").unwrap_or(&entry.title).to_owned(),
        time: entry.time.clone(),
        error: entry.field("errors").unwrap_or("no error was given").to_owned(),
    })
}
