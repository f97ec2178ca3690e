//! Where the execution is, on one screen.

use serde::Serialize;

use super::{Error, LimitUse, Readiness, Snapshot, adapt};
use crate::domain::{
    ErrorCode, Money, Plan, PlanRole, Problem, Review, StateFile, Step, StepRole, Workflow,
    step_at_hand,
};

/// One step in a list.
#[derive(Clone, Debug, Serialize)]
pub struct StepLine {
    /// Its number.
    pub number: u32,
    /// Its id.
    pub id: Option<String>,
    /// Its title.
    pub title: String,
    /// Its status, in the lifecycle's spelling where that knows it.
    pub status: String,
    /// What that status means.
    #[serde(skip)]
    pub role: Option<StepRole>,
    /// How often it was started.
    pub attempts: u32,
    /// Who works on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<String>,
    /// When it was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// What it still waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
}

/// A summary of the execution.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The short name.
    pub title: String,
    /// What is to be reached.
    pub goal: Option<String>,
    /// The name of the execution.
    pub execution_id: Option<String>,
    /// Where it is in its lifecycle.
    pub status: Option<String>,
    /// `EXECUTION` or `SIMULATION`.
    pub mode: Option<String>,
    /// The number of the step at hand; zero without steps.
    pub current_step: u32,
    /// How many steps there are.
    pub total_steps: usize,
    /// How many are done.
    pub completed: usize,
    /// How many were left out.
    pub skipped: usize,
    /// How many have failed and not been retried.
    pub failed: usize,
    /// How many are running.
    pub running: usize,
    /// How many wait.
    pub pending: usize,
    /// Finished steps in percent of all.
    pub percent: u32,
    /// The steps that are running.
    pub running_steps: Vec<StepLine>,
    /// The steps that have failed.
    pub failed_steps: Vec<StepLine>,
    /// The first step that can be started.
    pub next: Option<StepLine>,
    /// How often one step may be attempted before a person is asked.
    pub retry_limit: u32,
    /// Attempts beyond the first, over all steps.
    pub retries: u32,
    /// What was spent.
    pub total_cost: Money,
    /// What may be spent.
    pub budget: Option<Money>,
    /// Questions that a person has not decided yet.
    pub open_reviews: Vec<Review>,
    /// What is used of every limit.
    pub limits: Vec<LimitUse>,
    /// Limits that are exceeded.
    pub limits_exceeded: Vec<String>,
    /// Directives in force.
    pub directives: Vec<String>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// The revision.
    pub revision: String,
}

impl Snapshot {
    /// Sums up the execution.
    ///
    /// # Errors
    /// The plan cannot be read; what else cannot be read is listed in the status.
    pub fn status(&self) -> Result<Status, Error> {
        let (plan, workflow) = (self.plan()?, self.workflow()?);
        Ok(self.sum_up(&plan, &workflow))
    }

    /// Sums up an execution whose plan and lifecycle are these.
    pub(super) fn sum_up(&self, plan: &Plan, workflow: &Workflow) -> Status {
        let readiness = Readiness::new(plan, workflow);
        let mut problems = plan.problems.clone();
        problems.extend(self.conflict_problems());
        let total_cost = match self.variables() {
            Ok(variables) => variables.total_cost(),
            Err(error) => {
                problems.extend(problem_of(&error));
                Money::default()
            }
        };
        let history = self.counted().unwrap_or_default();
        let (budget, directives, limits, limits_exceeded) = match self.constraints() {
            Ok(constraints) => {
                let facts = adapt::limit_facts(&constraints, workflow, total_cost, &history);
                let texts = constraints.directives.iter().map(|directive| directive.text.clone());
                let budget = constraints.value("max_cost_per_task").and_then(Money::parse);
                (budget, texts.collect(), adapt::limits(&facts), adapt::exceeded(&facts))
            }
            Err(error) => {
                problems.extend(problem_of(&error));
                (None, Vec::new(), Vec::new(), Vec::new())
            }
        };
        // The context is not read here, but a file that is not text should not go unnoticed.
        match super::snapshot::bytes(self.view(), StateFile::Context).map(std::str::from_utf8) {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => problems.extend(self.context().err().as_ref().and_then(problem_of)),
            Err(error) => problems.extend(problem_of(&error)),
        }
        let lines = |role: StepRole| -> Vec<StepLine> {
            let with_role = plan.steps.iter().zip(readiness.roles());
            with_role
                .filter(|(_, found)| **found == Some(role))
                .map(|(step, _)| step_line(step, &readiness, workflow))
                .collect()
        };
        let (completed, skipped) =
            (readiness.count(StepRole::Done), readiness.count(StepRole::Skipped));
        let total = plan.steps.len();
        let percent = ((completed + skipped) * 100).checked_div(total).unwrap_or(0);
        let numbered: Vec<_> = plan
            .steps
            .iter()
            .map(|step| step.number)
            .zip(readiness.roles().iter().copied())
            .collect();
        let written = plan.metadata.status.as_deref();
        let planning = || workflow.plan_with_role(PlanRole::Planning);
        let status =
            written.map_or_else(planning, |text| workflow.plan_status(text).unwrap_or(text));
        let status = Some(status.to_owned());
        Status {
            title: plan.title.clone(),
            goal: plan.metadata.goal.clone(),
            execution_id: plan.metadata.execution_id.clone(),
            status,
            mode: plan.metadata.mode.clone(),
            current_step: step_at_hand(&numbered),
            total_steps: total,
            completed,
            skipped,
            failed: readiness.count(StepRole::Failed),
            running: readiness.count(StepRole::Active),
            pending: readiness.count(StepRole::Open),
            percent: u32::try_from(percent).unwrap_or(100),
            running_steps: lines(StepRole::Active),
            failed_steps: lines(StepRole::Failed),
            next: readiness.ready().first().map(|step| step_line(step, &readiness, workflow)),
            retry_limit: workflow.retry_limit(),
            retries: plan.steps.iter().map(|step| step.attempts.saturating_sub(1)).sum(),
            total_cost,
            budget,
            open_reviews: plan.open_reviews().cloned().collect(),
            limits,
            limits_exceeded,
            directives,
            problems,
            revision: self.revision().as_str().to_owned(),
        }
    }

    /// All steps, one line each.
    ///
    /// # Errors
    /// The plan cannot be read.
    pub fn step_lines(&self) -> Result<Vec<StepLine>, Error> {
        let plan = self.plan()?;
        let workflow = self.workflow()?;
        let readiness = Readiness::new(&plan, &workflow);
        Ok(plan.steps.iter().map(|step| step_line(step, &readiness, &workflow)).collect())
    }

    /// The first step that can be started.
    ///
    /// # Errors
    /// There is none; the error says why.
    pub fn next_step(&self) -> Result<Step, Error> {
        let plan = self.plan()?;
        let workflow = self.workflow()?;
        let readiness = Readiness::new(&plan, &workflow);
        super::change::refuse_while_open(&plan)?;
        let first = readiness.ready().into_iter().next().cloned();
        first.ok_or_else(|| super::change::no_ready_step(&readiness, &plan))
    }
}

fn step_line(step: &Step, readiness: &Readiness<'_>, workflow: &Workflow) -> StepLine {
    let open = || workflow.step_with_role(StepRole::Open).to_owned();
    let written = step.status.clone().unwrap_or_else(open);
    StepLine {
        number: step.number,
        id: step.id.as_ref().map(|id| id.as_str().to_owned()),
        title: step.title.clone(),
        status: workflow.step_status(&written).map_or(written.clone(), str::to_owned),
        role: workflow.step_role(&written),
        attempts: step.attempts,
        claimed_by: step.claimed_by.clone(),
        started_at: step.started_at.clone(),
        waits_for: readiness.unmet(step).iter().map(|wanted| readiness.name(wanted)).collect(),
    }
}

pub(super) fn problem_of(error: &Error) -> Option<Problem> {
    let (file, place, _) = error.location()?;
    let mut problem = Problem::error(error.code(), file, error.to_string());
    problem.place = place;
    problem.hint = error.hint();
    problem.fixable = error.code() == ErrorCode::FileMissing;
    Some(problem)
}
