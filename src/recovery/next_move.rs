//! The recommended next move: one function, which `brief`, `status`, `resume`, `recover` and
//! `step next` all print.

use serde::Serialize;

use super::Holder;
use crate::{
    domain::{PlanRole, Step, StepRole, Workflow},
    text::display::counted,
};

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Move {
    /// A person has to decide first.
    WaitForReview,
    /// Something in the plan has to be fixed first.
    Repair,
    /// Continue a plan that is paused or has failed.
    Resume,
    /// Say what is to be done.
    AddSteps,
    /// Go on with one's own step and end it.
    Finish,
    /// Take over a step whose holder is gone.
    Take,
    /// Try a failed step again.
    Retry,
    /// Move the plan to where steps can be started.
    Proceed,
    /// Start a step.
    Start,
    /// Move a step on that waits.
    Advance,
    /// Ask a person how to go on.
    Ask,
    /// Others are at work on all that can be done.
    Wait,
    /// No step can be started.
    Blocked,
    /// Everything is finished.
    Nothing,
}

/// The recommended next move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct NextMove {
    pub action: Move,
    /// The step it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The command, as it can be pasted; none where there is nothing to do but wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The same as a sentence with its reason.
    pub text: String,
}

/// A step that was begun and is not finished, or whose status is not known, as far as it matters for
/// the next move.
#[derive(Clone, Debug)]
pub(crate) struct StepStanding {
    /// Its place in the plan.
    pub at: usize,
    pub number: u32,
    /// What its status means.
    pub role: Option<StepRole>,
    /// Who holds it, if it runs.
    pub holder: Option<Holder>,
    /// How often it failed.
    pub failures: u32,
    /// How often it may fail.
    pub allowed: u32,
    /// Where its status means that it waits.
    pub waits: Option<Waits>,
}

impl StepStanding {
    /// Whether a step in that role is one of these: of the others the first that is ready matters.
    pub(crate) fn is_kept(role: Option<StepRole>) -> bool {
        !role.is_some_and(|role| role == StepRole::Open || role.is_finished())
    }
}

/// A status that means that a step waits, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waits {
    pub status: String,
    /// The first of those that may follow.
    pub next: Option<String>,
}

impl Waits {
    /// That of a step in this role; `None` if it does not wait.
    pub(crate) fn of(step: &Step, role: Option<StepRole>, workflow: &Workflow) -> Option<Self> {
        let status = step.status().filter(|_| role == Some(StepRole::Waiting))?;
        let status = workflow.step_status(status)?.to_owned();
        Some(Self { next: workflow.step_moves(&status).first().cloned(), status })
    }

    /// The command that moves the step on.
    fn command(&self, step: u32) -> String {
        match &self.next {
            Some(next) => format!("statedir step move {step} {next}"),
            None => format!("statedir step show {step}"),
        }
    }
}

/// The commands that the lifecycle offers to whoever holds a running step: towards done, and failed.
pub(crate) fn ends_of(step: &Step, workflow: &Workflow) -> Vec<String> {
    let Some(from) = workflow.status_of(step) else { return Vec::new() };
    let number = step.number;
    let may = |role| {
        workflow.has_step_role(role)
            && workflow.check_step(from, workflow.step_towards(from, role)).is_ok()
    };
    let done = match workflow.missing_move(from) {
        Some(first) => Some(format!("statedir step move {number} {first}")),
        None => may(StepRole::Done).then(|| format!("statedir step done {number}")),
    };
    let failed = may(StepRole::Failed)
        .then(|| format!("statedir step fail {number} --error \"what went wrong\""));
    done.into_iter().chain(failed).collect()
}

/// The facts that decide.
#[derive(Clone, Debug)]
pub(crate) struct Situation {
    /// What the plan's status means.
    pub role: Option<PlanRole>,
    /// The status that the plan must get before anything can be started.
    pub plan_first: Option<String>,
    /// The ids of the reviews that nobody has decided.
    pub open_reviews: Vec<String>,
    /// How many steps there are.
    pub total: usize,
    /// How many of them are not finished.
    pub unfinished: usize,
    /// The number of the first step that can be started now.
    pub ready: Option<u32>,
    /// The steps that were begun and are not finished, in order.
    pub steps: Vec<StepStanding>,
    /// The group that a step which failed for good has stopped.
    pub stopped: Option<String>,
    /// Whether plan.md says nothing that a plan says, as after an editor's accident.
    pub is_no_plan: bool,
    /// How many boxes there are where no step is known.
    pub boxes: usize,
}

/// Recommends the next move.
///
/// What stops everything comes first; then a step that runs: one's own, then one whose holder is
/// gone; then one that failed and may be tried again; then the next one; then one that waits.
pub(crate) fn next_move(situation: &Situation) -> NextMove {
    let Situation { role, plan_first, open_reviews, unfinished, ready, steps, .. } = situation;
    let with = |role| steps.iter().filter(move |step| step.role == Some(role));
    if let Some(id) = open_reviews.first() {
        let text = format!(
            "Wait: a person decides review {id} with `statedir review approve {id}` or \
             `statedir review reject {id}`."
        );
        return NextMove { action: Move::WaitForReview, step: None, command: None, text };
    }
    if let Some(step) = steps.iter().find(|step| step.role.is_none()) {
        let why = format!("Step {} has a status that is not known", step.number);
        return new_move(Move::Repair, Some(step.number), "statedir check", &why);
    }
    if *role == Some(PlanRole::Succeeded) {
        return match unfinished {
            0 => nothing(),
            _ => new_move(
                Move::Repair,
                None,
                "statedir step list",
                &format!("The plan has ended, but {unfinished} of its steps have not"),
            ),
        };
    }
    if matches!(role, Some(PlanRole::Paused | PlanRole::Failed)) {
        let word = if *role == Some(PlanRole::Paused) { "is paused" } else { "has failed" };
        return new_move(Move::Resume, None, "statedir resume", &format!("The plan {word}"));
    }
    if situation.total == 0 && situation.boxes > 0 {
        let boxes = counted(situation.boxes, "checkbox", "checkboxes");
        let why = format!("The plan has {boxes} and no steps yet");
        return new_move(Move::AddSteps, None, "statedir adopt", &why);
    }
    if situation.total == 0 && situation.is_no_plan {
        return new_move(Move::Repair, None, "statedir check", "plan.md is damaged");
    }
    if situation.total == 0 {
        let command = "statedir step add \"First step\"";
        return new_move(Move::AddSteps, None, command, "There are no steps yet");
    }
    let held = |step: &&StepStanding| step.holder.as_ref().is_some_and(Holder::is_held);
    let own = |step: &&StepStanding| step.holder.as_ref().is_none_or(|holder| holder.own);
    if let Some(step) = with(StepRole::Active).find(own) {
        let number = step.number;
        let ends = step.holder.as_ref().map_or(&[][..], |holder| &holder.ends);
        let quoted: Vec<String> = ends.iter().map(|command| format!("`{command}`")).collect();
        let then = match quoted.is_empty() {
            true => String::new(),
            false => format!(", then {}", quoted.join(" or ")),
        };
        let text = format!("Step {number} is yours: continue it{then}.");
        let command = ends.first().cloned();
        return NextMove { action: Move::Finish, step: Some(number), command, text };
    }
    if let Some(step) = with(StepRole::Active).find(|step| !held(step)) {
        let number = step.number;
        let phrase = step.holder.as_ref().map(Holder::phrase).unwrap_or_default();
        let is_claimed = step.holder.as_ref().is_some_and(|holder| holder.claimed_by.is_some());
        let why = match is_claimed {
            true => format!("Step {number} was left running by {phrase}"),
            false => format!("Step {number} is running, but nobody has claimed it"),
        };
        return new_move(Move::Take, Some(number), &format!("statedir step take {number}"), &why);
    }
    if let Some(step) = with(StepRole::Failed).find(|step| step.failures < step.allowed) {
        let number = step.number;
        let left = step.allowed - step.failures;
        let attempts = counted(left as usize, "attempt", "attempts");
        let command = format!("statedir step retry {number}");
        let mut text =
            format!("Step {number} failed, {attempts} left: fix the cause, then `{command}`");
        if let Some(ready) = ready {
            text.push_str(&format!(", or `statedir step start {ready}`"));
        }
        text.push('.');
        let (action, command) = (Move::Retry, Some(command));
        return NextMove { action, step: Some(number), command, text };
    }
    if let (Some(status), Some(_)) = (plan_first, ready) {
        let command = format!("statedir plan set status={status}");
        let why = format!("No step starts until the plan is {status}");
        return new_move(Move::Proceed, None, &command, &why);
    }
    if let Some(number) = *ready {
        let why = format!("Step {number} is ready");
        return new_move(Move::Start, Some(number), &format!("statedir step start {number}"), &why);
    }
    if let Some((step, waits)) = steps.iter().find_map(|step| Some((step, step.waits.as_ref()?))) {
        let why = format!("Step {} is {}; when it can continue", step.number, waits.status);
        return new_move(Move::Advance, Some(step.number), &waits.command(step.number), &why);
    }
    if let Some(step) = with(StepRole::Failed).next() {
        let number = step.number;
        let times =
            if step.failures == 1 { "once".to_owned() } else { format!("{} times", step.failures) };
        let why = match &situation.stopped {
            Some(stopped) => format!("Nothing starts after {stopped}: ask a person"),
            None => format!("Step {number} has failed {times}: ask a person"),
        };
        let command = format!("statedir review open \"How should step {number} continue?\"");
        return new_move(Move::Ask, Some(number), &command, &why);
    }
    if let Some(step) = with(StepRole::Active).next() {
        let phrase = step.holder.as_ref().map(Holder::phrase).unwrap_or_default();
        let why = format!("Nothing is ready: step {} is held by {phrase}", step.number);
        return new_move(Move::Wait, Some(step.number), "statedir step list", &why);
    }
    match unfinished {
        0 => nothing(),
        _ => new_move(Move::Blocked, None, "statedir step list", "No step can be started"),
    }
}

fn new_move(action: Move, step: Option<u32>, command: &str, why: &str) -> NextMove {
    let text = format!("{why}: `{command}`.");
    NextMove { action, step, command: Some(command.to_owned()), text }
}

fn nothing() -> NextMove {
    let text = "Every step is finished; there is nothing left to do.".to_owned();
    NextMove { action: Move::Nothing, step: None, command: None, text }
}
