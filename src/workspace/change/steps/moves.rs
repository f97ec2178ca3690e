//! Any move that the lifecycle allows, by the name of the status.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    domain::{ErrorCode, Plan, Step, StepCost, StepRef, StepRole as Role, Workflow},
    workspace::{
        Answer, Draft, Error, ErrorKind,
        change::{
            Change, Cost, Span, StepResult,
            review::refuse_while_open,
            steps::{
                self, claim, finish,
                gate::{self, Passage, Spent},
                progress::{Extra, PlanProgress, status_of},
                reset::{self, Reset},
                step_json,
            },
        },
    },
};

/// A step and the status that it is to get, with its results so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepMove {
    /// Which step.
    pub step: StepRef,
    /// The status, by its name or an alias.
    #[serde(alias = "status")]
    pub to: String,
    /// Named results.
    #[serde(default, alias = "outputs")]
    pub output: Map<String, Value>,
    /// What it cost.
    #[serde(default)]
    pub cost: Option<Cost>,
    /// How long it took; since its start if absent.
    #[serde(default)]
    pub time: Option<Span>,
    /// What went wrong, where the status means that it failed.
    #[serde(default)]
    pub error: Option<String>,
    /// An observation.
    #[serde(default, alias = "why")]
    pub note: Option<String>,
    /// The tool that was actually used.
    #[serde(default)]
    pub tool: Option<String>,
    /// Even if somebody else holds the step.
    #[serde(default)]
    pub force: bool,
}

/// Moves a step to a status.
pub(in crate::workspace::change) fn move_to(
    draft: &mut Draft<'_>,
    wanted: &StepMove,
) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let step = plan.step(&wanted.step)?;
    let from = status_of(draft, step);
    let workflow = draft.workflow();
    let Some(to) = workflow.step_status(&wanted.to).map(str::to_owned) else {
        return Err(Error::refused_with(
            ErrorCode::UnknownStatus,
            format!("`{}` is not a status of a step", wanted.to),
            allowed_moves(workflow, step, &from),
        ));
    };
    if from == to {
        let answer = Answer::new(format!("{} is already {to}", step.name()));
        return Ok(match &step.id {
            Some(id) => answer.with("step", step_json(step, id, &to)),
            None => answer,
        });
    }
    if let Err(refusal) = workflow.check_step(&from, &to) {
        let hint = Some(allowed_moves(workflow, step, &from));
        let (subject, refusal) = (step.name(), Box::new(refusal));
        return Err(ErrorKind::Transition { subject, refusal, hint }.into());
    }
    let role = workflow.step_role(&to);
    let from_role = workflow.step_role(&from);
    let answer = match (from_role, role) {
        (before, after) if before == after => {
            shift(draft, &plan, step, (&from, before), (&to, after), wanted)
        }
        (_, Some(Role::Done | Role::Failed | Role::Skipped)) => {
            let role = draft.workflow().step_role(&to).unwrap_or(Role::Done);
            finish::finish(draft, &wanted.result(), role, Some(&to))
        }
        (_, Some(Role::Open)) => {
            let note = wanted.note.as_deref();
            let how = Reset { note, force: wanted.force, ..Reset::default() };
            reset::reset(draft, Some(&wanted.step), &how)
        }
        (Some(Role::Failed), Some(Role::Active)) => {
            steps::refuse_limit(draft, &plan, step)?;
            steps::begin(draft, &plan, step, &to)
        }
        (Some(Role::Open | Role::Done | Role::Skipped), Some(Role::Active)) => {
            steps::refuse_waiting(draft, &plan, step)?;
            steps::begin(draft, &plan, step, &to)
        }
        _ => shift(draft, &plan, step, (&from, from_role), (&to, role), wanted),
    }?;
    Ok(answer.with("role", json!(role)).with("from_role", json!(from_role)))
}

/// The moves that are open to a step, as commands.
pub(super) fn allowed_moves(workflow: &Workflow, step: &Step, from: &str) -> String {
    let command = |to: &String| format!("`statedir step move {} {to}`", step.number);
    let commands: Vec<String> = workflow.step_moves(from).iter().map(command).collect();
    match commands.is_empty() {
        true => format!("nothing follows {from}"),
        false => format!("possible: {}", commands.join(", ")),
    }
}

/// How a step that has ended is taken up again: by a retry, a reset, or whatever its lifecycle allows.
pub(super) fn way_back(workflow: &Workflow, step: &Step, from: &str) -> String {
    let number = step.number;
    let may = |role| workflow.check_step(from, workflow.step_towards(from, role)).is_ok();
    if workflow.step_role(from) == Some(Role::Failed) && may(Role::Active) {
        format!("`statedir step retry {number}` starts it again")
    } else if may(Role::Open) {
        format!("`statedir step reset {number}` reopens it")
    } else {
        allowed_moves(workflow, step, from)
    }
}

/// The command that clears the failures of a step in this status, if its lifecycle allows that.
pub(super) fn fresh_start(workflow: &Workflow, step: &Step, from: &str) -> Option<String> {
    let open = workflow.step_towards(from, Role::Open);
    let is_legal = workflow.check_step(from, open).is_ok();
    is_legal.then(|| format!("`statedir step reset {} --fresh` starts over", step.number))
}

/// The moves that are open to a step instead of ending it in a way that the lifecycle does not have, as
/// commands. To say that it is done would be the contrary.
pub(super) fn other_moves(workflow: &Workflow, step: &Step, from: &str) -> String {
    let number = step.number;
    let command = |to: &String| match (workflow.step_role(from), workflow.step_role(to)) {
        (_, Some(Role::Done)) => None,
        (_, Some(Role::Open)) if workflow.step_towards(from, Role::Open) == to => {
            Some(format!("`statedir step reset {number}`"))
        }
        (Some(Role::Open), Some(Role::Active)) if workflow.step_with_role(Role::Active) == to => {
            Some(format!("`statedir step start {number}`"))
        }
        _ => Some(format!("`statedir step move {number} {to}`")),
    };
    let commands: Vec<String> = workflow.step_moves(from).iter().filter_map(command).collect();
    match commands.is_empty() {
        true => allowed_moves(workflow, step, from),
        false => format!("possible: {}", commands.join(", ")),
    }
}

/// A step moves on, but neither begins nor ends.
fn shift(
    draft: &mut Draft<'_>,
    plan: &Plan,
    step: &Step,
    (from, from_role): (&str, Option<Role>),
    (to, to_role): (&str, Option<Role>),
    wanted: &StepMove,
) -> Result<Answer, Error> {
    plan.refuse_copied(step)?;
    if !wanted.force {
        claim::refuse_others(draft, step)?;
    }
    let is_taken_up = to_role == Some(Role::Active) && from_role != Some(Role::Active);
    if is_taken_up {
        refuse_while_open(plan)?;
        steps::refuse_waiting(draft, plan, step)?;
    }
    let ran = from_role == Some(Role::Active);
    let started = step.started_at().filter(|_| ran && to_role != Some(Role::Active));
    let time = wanted.time.or_else(|| draft.env.since(started?).map(Span::measured));
    let (now, claim) = (draft.env.now(), draft.env.identity().claim().to_string());
    let mut progress = PlanProgress::new(draft, plan)?;
    if is_taken_up {
        progress.begin_plan()?;
    }
    progress.keep_failures(step, to_role);
    let id = progress.set_status(step, to);
    let update = progress.step(step);
    match to_role {
        Some(Role::Active) if is_taken_up => {
            // The same attempt goes on.
            update.set("attempts", &step.attempts.max(1).to_string());
            update.set("claimed_by", &claim);
            update.set("started_at", &now);
        }
        Some(Role::Waiting) => {
            update.clear("claimed_by");
            if from_role != Some(Role::Waiting) {
                update.set("started_at", &now);
            }
        }
        _ => {}
    }
    let mut extras = Vec::new();
    if !wanted.output.is_empty() {
        let outputs = wanted.output.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        extras.push(Extra::Outputs(id.as_str(), outputs));
    }
    if let Some(cost) = wanted.cost {
        let id = id.as_str().to_owned();
        extras.push(Extra::Cost(StepCost { step: step.number, id, cost: cost.0, at: now.clone() }));
    }
    progress.finish(&extras)?;
    drop(extras);
    let waiting = StepMove { step: StepRef::Id(id.clone()), force: true, time, ..wanted.clone() };
    let waiting = (!is_taken_up).then(|| Change::StepMove(Box::new(waiting)));
    let spent = Spent { cost: wanted.cost.map(|cost| cost.0), ..Spent::default() };
    let spent = Spent { time_ms: time.map(Span::millis), ..spent };
    gate::check(draft, &Passage { spent, ..Passage::of_step(&id, to, waiting) })?;
    let mut fields = vec![
        ("step".to_owned(), format!("{} ({id})", step.number)),
        ("state_changes".to_owned(), format!("{from} → {to}")),
    ];
    let mut put = |key: &str, value: Option<String>| {
        fields.extend(value.filter(|value| !value.is_empty()).map(|value| (key.to_owned(), value)));
    };
    let outputs = Value::Object(wanted.output.clone());
    put("real_outputs", (!wanted.output.is_empty()).then(|| outputs.to_string()));
    put("actual_cost", wanted.cost.map(|cost| cost.0.to_string()));
    put("actual_time", time.map(|time| time.to_string()));
    put("errors", wanted.error.clone());
    put("notes", wanted.note.clone());
    put("actor", Some(draft.actor().to_owned()));
    draft.log(format!("Step {} Moved", step.number), fields)?;
    Ok(Answer::new(format!("step {} {to}: {}", step.number, step.title))
        .with("step", step_json(step, &id, to)))
}

impl StepMove {
    /// A step and the status that it is to get, and nothing else.
    pub fn new(step: StepRef, to: impl Into<String>) -> Self {
        Self::with_result(step, to, StepResult::default())
    }

    /// A step, the status that it is to get, and its result.
    pub fn with_result(step: StepRef, to: impl Into<String>, result: StepResult) -> Self {
        let StepResult { step: _, output, cost, time, error, note, tool, force } = result;
        Self { step, to: to.into(), output, cost, time, error, note, tool, force }
    }

    /// The result of the step, where the move ends it.
    fn result(&self) -> StepResult {
        StepResult {
            step: Some(self.step.clone()),
            output: self.output.clone(),
            cost: self.cost,
            time: self.time,
            error: self.error.clone(),
            note: self.note.clone(),
            tool: self.tool.clone(),
            force: self.force,
        }
    }
}
