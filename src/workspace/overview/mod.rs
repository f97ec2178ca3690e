//! The progress of an execution, worked out once: every report takes its numbers from here.

mod step;
mod ticket;
mod times;

use std::{borrow::Cow, sync::Arc};

use jiff::Timestamp;
use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::{
    Environment, Error, FileLocation, Snapshot, Workspace,
    environment::format_time,
    snapshot::{bytes, liveness::Liveness, usage::Pending},
};
use crate::{
    domain::{
        Constraints, ErrorCode, Group, Metadata, Money, Plan, PlanRole, Problem, Review, StateFile,
        Step, StepCounts, StepRole, Variables, Workflow,
    },
    history::{Counts, EntryId},
    recovery::{NextMove, Situation, StepStanding, next_move},
    workspace::adapt::{self, LimitUse},
};

pub use self::step::{StepOverview, StepOverviews};
pub(crate) use self::{
    ticket::{Artefact, TicketOverview},
    times::StepTimes,
};

/// Where an execution is: its plan, its steps by role, what it has used, and what it waits for.
///
/// Serialised it is what `statedir status --json` prints.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Overview {
    /// The revision it was read at.
    pub revision: String,
    /// The short name.
    pub title: String,
    /// The goal.
    pub goal: Option<String>,
    /// The name of the execution.
    pub execution_id: Option<String>,
    /// `EXECUTION` or `SIMULATION`.
    pub mode: Option<String>,
    /// The status of the plan in the lifecycle's spelling; a plan without one has not begun.
    pub status: String,
    /// The same as it is written.
    pub written_status: Option<String>,
    /// What the status means; `None` for one that the lifecycle does not know.
    pub role: Option<PlanRole>,
    /// Why it is paused, or why it was last; in JSON it is null unless the plan is paused.
    pub paused_because: Option<String>,
    /// When it began.
    pub start_time: Option<String>,
    /// When a step or the plan changed last.
    pub last_updated: Option<String>,
    /// Boxes in the plan that belong to no step, counted where it has no steps.
    pub unread_boxes: usize,
    /// The status that the plan must get before a step can be started.
    pub(crate) plan_first: Option<String>,
    /// All steps, in order.
    pub steps: StepOverviews,
    /// The same, counted.
    pub counts: StepCounts,
    /// The field that sorts the steps into groups, if the lifecycle has one.
    pub group_by: Option<String>,
    /// The groups, in the order in which they are worked on.
    pub groups: Vec<Group>,
    /// What is known of the ticket it is about.
    pub(crate) ticket: Option<TicketOverview>,
    /// Why the current group cannot go on.
    pub(crate) stopped: Option<String>,
    /// How often one step may be attempted before a person is asked.
    pub retry_limit: u32,
    /// Costs and what else is limited.
    pub spending: Spending,
    /// What the entries of the history add up to.
    pub history: Counts,
    /// Questions that a person has not decided yet.
    pub open_reviews: Vec<Review>,
    /// Directives in force.
    pub directives: Vec<String>,
    /// What could not be read, and conflicts that a merge left.
    pub problems: Vec<Problem>,
}

/// What an overview is worked out from; a file that cannot be read is absent.
pub(super) struct Sources<'a> {
    pub(super) revision: &'a str,
    pub(super) plan: &'a Arc<Plan>,
    pub(super) workflow: &'a Cow<'static, Workflow>,
    pub(super) variables: Option<&'a Variables>,
    pub(super) constraints: Option<&'a Constraints>,
    pub(super) history: Counts,
    pub(super) last_entry: Option<EntryId>,
    pub(super) pending: Pending,
    pub(super) liveness: &'a Liveness,
}

impl Overview {
    pub(super) fn new(sources: &Sources<'_>) -> Self {
        let Sources { plan, workflow, constraints, .. } = sources;
        let steps = StepOverviews::new(plan, Cow::clone(workflow), sources.liveness);
        let (metadata, readiness) = (&plan.metadata, steps.readiness());
        let written = metadata.status.as_deref();
        let status = written.map_or_else(
            || workflow.plan_with_role(PlanRole::Planning),
            |text| workflow.plan_status(text).unwrap_or(text),
        );
        let directives = constraints.iter().flat_map(|read| &read.directives);
        Self {
            revision: sources.revision.to_owned(),
            title: plan.title.clone(),
            goal: metadata.goal.clone(),
            execution_id: metadata.execution_id.clone(),
            mode: metadata.mode.clone(),
            status: status.to_owned(),
            written_status: metadata.status.clone(),
            role: workflow.role_of_plan(metadata),
            paused_because: metadata.paused_because().map(str::to_owned),
            start_time: metadata.start_time.clone(),
            last_updated: last_updated(plan, sources.last_entry),
            plan_first: workflow.plan_move_before_work(status).map(str::to_owned),
            counts: readiness.counts(),
            group_by: workflow.group().map(str::to_owned),
            groups: readiness.groups().map(|groups| groups.all.clone()).unwrap_or_default(),
            stopped: readiness.stopped(),
            ticket: TicketOverview::of(plan, sources.variables),
            unread_boxes: if plan.steps.is_empty() { plan.unread_boxes() } else { 0 },
            retry_limit: workflow.retry_limit(),
            spending: Spending::new(sources),
            history: sources.history,
            open_reviews: plan.open_reviews().cloned().collect(),
            directives: directives.map(|directive| directive.text.clone()).collect(),
            problems: Vec::new(),
            steps,
        }
    }

    /// The steps whose status has that role.
    pub fn with_role(&self, role: StepRole) -> impl Iterator<Item = &StepOverview> {
        self.steps.places(move |found| found == Some(role)).map(|at| &self.steps[at])
    }

    /// The first step that can be started.
    pub fn next(&self) -> Option<&StepOverview> {
        self.steps.first_ready().map(|at| &self.steps[at])
    }

    /// The step to continue with: one that is running, else one that failed, else the next, else
    /// one that waits.
    pub fn resume_from(&self) -> Option<&StepOverview> {
        let first = |role| self.with_role(role).next();
        first(StepRole::Active)
            .or_else(|| first(StepRole::Failed))
            .or_else(|| self.next())
            .or_else(|| first(StepRole::Waiting))
    }

    /// The same without who holds the steps at this moment: what the files alone say.
    #[must_use]
    pub(crate) fn without_holders(mut self) -> Self {
        self.steps.forget_holders();
        self
    }

    /// The recommended next move of the one who asks.
    pub(crate) fn next_move(&self) -> NextMove {
        next_move(&self.situation())
    }

    /// The facts that decide about it.
    pub(crate) fn situation(&self) -> Situation {
        let standing = |at: usize| {
            let step = &self.steps[at];
            StepStanding {
                at,
                number: step.number,
                role: step.role,
                holder: step.holder.clone(),
                failures: step.failures,
                allowed: step.attempts_allowed,
                waits: step.waits.clone(),
            }
        };
        let ready = self.steps.first_ready();
        Situation {
            role: self.role,
            plan_first: self.plan_first.clone(),
            open_reviews: self.open_reviews.iter().map(|review| review.id.clone()).collect(),
            total: self.counts.total,
            unfinished: self.counts.total - self.counts.finished(),
            ready: ready.map(|at| self.steps.of_plan()[at].number),
            steps: self.steps.places(StepStanding::is_kept).map(standing).collect(),
            stopped: self.stopped.clone(),
            is_no_plan: self.problems.iter().any(Problem::is_lost_plan),
            boxes: self.unread_boxes,
        }
    }

    /// Milliseconds since the execution began.
    pub fn age_ms(&self, env: &Environment) -> Option<u64> {
        env.since(self.start_time.as_deref()?)
    }

    /// How often steps were tried again after they had failed; rework and interruptions are neither.
    pub fn retries(&self) -> u32 {
        let steps = self.steps.of_plan().iter().enumerate();
        let again = steps.filter(|(_, step)| step.attempts > 1).map(|(at, _)| {
            let step = &self.steps[at];
            let failed = step.failures.saturating_sub(u32::from(step.is_failed()));
            failed.min(step.attempts - 1)
        });
        again.sum()
    }
}

impl Serialize for Overview {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let list = |role| self.with_role(role).collect::<Vec<_>>();
        let (counts, spending) = (&self.counts, &self.spending);
        let exceeded: Vec<String> = spending.exceeded().map(ToString::to_string).collect();
        let mut fields = serializer.serialize_struct("Overview", 33)?;
        fields.serialize_field("title", &self.title)?;
        fields.serialize_field("goal", &self.goal)?;
        fields.serialize_field("execution_id", &self.execution_id)?;
        fields.serialize_field("status", &self.status)?;
        // The reason stays in the file when the plan is resumed.
        let why = self.paused_because.as_ref().filter(|_| self.role == Some(PlanRole::Paused));
        fields.serialize_field("paused_because", &why)?;
        fields.serialize_field("mode", &self.mode)?;
        fields.serialize_field("current_step", &counts.current_step)?;
        fields.serialize_field("total_steps", &counts.total)?;
        fields.serialize_field("completed", &counts.done)?;
        fields.serialize_field("skipped", &counts.skipped)?;
        fields.serialize_field("failed", &counts.failed)?;
        fields.serialize_field("running", &counts.running)?;
        if counts.waiting > 0 {
            fields.serialize_field("waiting", &counts.waiting)?;
            fields.serialize_field("waiting_steps", &list(StepRole::Waiting))?;
        }
        fields.serialize_field("pending", &counts.open)?;
        fields.serialize_field("percent", &counts.percent())?;
        if let Some(ticket) = &self.ticket {
            fields.serialize_field("ticket", ticket)?;
        }
        if let Some(field) = &self.group_by {
            fields.serialize_field("group_by", field)?;
            fields.serialize_field("groups", &self.groups)?;
        }
        fields.serialize_field("running_steps", &list(StepRole::Active))?;
        fields.serialize_field("failed_steps", &list(StepRole::Failed))?;
        fields.serialize_field("next", &self.next())?;
        fields.serialize_field("next_move", &self.next_move())?;
        fields.serialize_field("retry_limit", &self.retry_limit)?;
        fields.serialize_field("retries", &self.retries())?;
        fields.serialize_field("total_cost", &spending.total_cost)?;
        fields.serialize_field("budget", &spending.budget)?;
        fields.serialize_field("open_reviews", &self.open_reviews)?;
        fields.serialize_field("limits", &spending.limits)?;
        fields.serialize_field("limits_exceeded", &exceeded)?;
        fields.serialize_field("directives", &self.directives)?;
        fields.serialize_field("problems", &self.problems)?;
        fields.serialize_field("revision", &self.revision)?;
        fields.end()
    }
}

impl Workspace {
    /// Where the execution is now.
    ///
    /// # Errors
    /// There is no state here, or its plan or lifecycle cannot be read.
    pub fn overview(&self) -> Result<Overview, Error> {
        self.read()?.overview()
    }
}

impl Snapshot {
    /// Where the execution was at this revision.
    ///
    /// # Errors
    /// The plan or the lifecycle cannot be read; what else cannot be read is listed as a problem.
    pub fn overview(&self) -> Result<Overview, Error> {
        let (plan, workflow) = (self.plan()?, self.workflow()?);
        let (variables, constraints) = (self.variables(), self.constraints());
        let history = self.facts().unwrap_or_default().history;
        let mut overview = Overview::new(&Sources {
            revision: self.revision().as_str(),
            plan: &plan,
            workflow: &workflow,
            variables: variables.as_ref().ok(),
            constraints: constraints.as_ref().ok(),
            last_entry: history.newest(),
            history: history.counts,
            pending: Pending::of(self.view()),
            liveness: self.liveness(),
        });
        overview.problems.clone_from(&plan.problems);
        overview.problems.extend(self.conflict_problems());
        let unread = [variables.err(), constraints.err(), self.unread_context()];
        overview.problems.extend(unread.iter().flatten().filter_map(problem_of));
        Ok(overview)
    }

    /// The context is not parsed for an overview, but one that is not text should not go unnoticed.
    fn unread_context(&self) -> Option<Error> {
        match bytes(self.view(), StateFile::Context).map(std::str::from_utf8) {
            Ok(Ok(_)) => None,
            Ok(Err(_)) => self.context().err(),
            Err(error) => Some(error),
        }
    }
}

/// When something happened last, as far as the files say it: what a plan notes of it may lag behind
/// or be absent.
fn last_updated(plan: &Plan, last_entry: Option<EntryId>) -> Option<String> {
    let Metadata { last_updated, start_time, .. } = &plan.metadata;
    let metadata = [last_updated.as_deref(), start_time.as_deref()];
    let written = metadata.into_iter().chain(plan.steps.iter().map(Step::started_at)).flatten();
    let read = |text: &str| text.parse::<Timestamp>().ok().map(|time| (time, text.to_owned()));
    let entered = last_entry.and_then(|entry| {
        let time = Timestamp::from_millisecond(i64::try_from(entry.0.millis()).ok()?).ok()?;
        Some((time, format_time(time)))
    });
    written.filter_map(read).chain(entered).max().map(|(_, text)| text)
}

/// The same error as a problem with a place.
pub(super) fn problem_of(error: &Error) -> Option<Problem> {
    let FileLocation { file, place, .. } = error.location()?;
    let mut problem = Problem::error(error.code(), file, error.to_string());
    problem.place = place;
    problem.hint = error.hint();
    problem.fixable = error.code() == ErrorCode::FileMissing;
    Some(problem)
}

/// The value; if there is none, its problem is added to `problems`.
pub(super) fn or_problem<T>(result: Result<T, Error>, problems: &mut Vec<Problem>) -> Option<T> {
    result.map_err(|error| problems.extend(problem_of(&error))).ok()
}

/// Costs, and what is used of every limit that is set.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Spending {
    /// What was spent, as variables.json says, or the history where that does not keep it.
    pub total_cost: Money,
    /// What may be spent.
    pub budget: Option<Money>,
    /// File operations, including those that no entry of the history reports yet.
    pub file_operations: u64,
    /// Web requests, counted in the same way.
    pub web_requests: u64,
    /// What is used of every limit that is set.
    pub limits: Vec<LimitUse>,
}

impl Spending {
    fn new(sources: &Sources<'_>) -> Self {
        let by_entries = Money(sources.history.cost_micros);
        let total_cost = sources.variables.and_then(Variables::total_cost).unwrap_or(by_entries);
        let used = sources.pending.added_to(sources.history);
        let limits = sources.constraints.map(|constraints| {
            adapt::limits(&adapt::limit_facts(constraints, sources.workflow, total_cost, &used))
        });
        let budget = sources.constraints.and_then(|read| read.value("max_cost_per_task"));
        Self {
            total_cost,
            budget: budget.and_then(Money::parse),
            file_operations: used.file_operations,
            web_requests: used.web_requests,
            limits: limits.unwrap_or_default(),
        }
    }

    /// The limits that are exceeded.
    pub fn exceeded(&self) -> impl Iterator<Item = &LimitUse> {
        self.limits.iter().filter(|limit| limit.exceeded)
    }
}
