//! Moves that wait for a person: gates of the lifecycle and the limit of attempts.

use crate::{
    domain::{
        Decision, ErrorCode, FactValue, Facts, Gate, LifecycleSubject, Money, Plan, Review,
        StateFile, Step, StepId, StepRole, Workflow,
    },
    rules::{Condition, Truth},
    workspace::{Change, Draft, Error, ErrorKind, adapt},
};

/// A move that has been worked into the draft, for the gates before it.
pub(in crate::workspace::change) struct Passage<'a> {
    /// What moves.
    pub(in crate::workspace::change) subject: LifecycleSubject,
    /// The status it has now.
    pub(in crate::workspace::change) to: &'a str,
    /// Which step, if one moves.
    pub(in crate::workspace::change) step: Option<&'a StepId>,
    /// What makes the move once it is approved; none where the one who asked does.
    pub(in crate::workspace::change) waiting: Option<Change>,
    /// What the history does not tell yet.
    pub(in crate::workspace::change) spent: Spent,
    /// Whether it goes back to where it was: an approval that was used is enough for that.
    pub(in crate::workspace::change) again: bool,
}

impl<'a> Passage<'a> {
    /// The plan has got a status.
    pub(in crate::workspace::change) fn of_plan(to: &'a str) -> Self {
        let mut set = serde_json::Map::new();
        set.insert("status".to_owned(), to.into());
        let waiting = Some(Change::PlanSet { set });
        let spent = Spent::default();
        Self { subject: LifecycleSubject::Plan, to, step: None, waiting, spent, again: false }
    }

    /// A step has got a status.
    pub(in crate::workspace::change) fn of_step(
        step: &'a StepId,
        to: &'a str,
        waiting: Option<Change>,
    ) -> Self {
        let spent = Spent::default();
        Self { subject: LifecycleSubject::Step, to, step: Some(step), waiting, spent, again: false }
    }
}

/// What an attempt used and how it ended, before the history tells it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::workspace::change) struct Spent {
    pub(in crate::workspace::change) cost: Option<Money>,
    pub(in crate::workspace::change) time_ms: Option<u64>,
    pub(in crate::workspace::change) has_failed: bool,
}

impl Spent {
    /// Adds it to the facts; where variables.json has the total, the cost is in it already.
    fn add_to(self, facts: &mut Facts, has_total: bool) {
        if let (FactValue::Money(before), Some(cost)) = (facts.get("cost").clone(), self.cost)
            && !has_total
        {
            facts.insert("cost", FactValue::Money(before.saturating_add(cost.0)));
        }
        if let (FactValue::Duration(before), Some(time)) =
            (facts.get("execution_time").clone(), self.time_ms)
        {
            let time = i64::try_from(time).unwrap_or(i64::MAX);
            facts.insert("execution_time", FactValue::Duration(before.saturating_add(time)));
        }
        for name in ["failures", "consecutive_failures"] {
            if let (FactValue::Number(count), true) = (facts.get(name).clone(), self.has_failed) {
                facts.insert(name, FactValue::Number(count + 1.0));
            }
        }
    }
}

/// Refuses a move that needs an approval; the error carries the question to ask. The draft is the
/// resulting state. An approval is used up by the move.
pub(in crate::workspace::change) fn check(
    draft: &mut Draft<'_>,
    passage: &Passage<'_>,
) -> Result<(), Error> {
    if draft.workflow().gates().is_empty() {
        return Ok(());
    }
    let plan = draft.plan()?;
    let step = passage.step.and_then(|id| plan.step_by_id(id));
    let gates = draft.workflow().gates_before(passage.subject, passage.to);
    let gates: Vec<Gate> = gates.filter(|gate| gate.concerns(step)).cloned().collect();
    let mut used: Vec<&Review> = Vec::new();
    for gate in &gates {
        if let Some(when) = &gate.when
            && !holds(draft, when, passage.spent)?
        {
            continue;
        }
        let newest = plan.reviews.iter().rev().find(|review| asks(review, gate, step));
        match newest.map(|review| (review.decision, review)) {
            Some((Decision::Approved, review)) if !review.used => used.push(review),
            Some((Decision::Approved, _)) if passage.again => {}
            Some((Decision::Open, review)) => return Err(still_open(gate, review)),
            _ => {
                let waiting = passage.waiting.clone().map(Box::new);
                let question = gate.question(step);
                let step = step.and_then(|step| Some((step.number, step.id.clone()?)));
                return Err(ErrorKind::NeedsReview { question, waiting, step, opened: None }.into());
            }
        }
    }
    if !used.is_empty() {
        let mut edit = plan.document.edit();
        used.iter().for_each(|review| plan.use_review(&mut edit, review));
        draft.put(StateFile::Plan, Plan::finish(edit)?);
    }
    Ok(())
}

/// Whether a review is that of a gate, about that step.
fn asks(review: &Review, gate: &Gate, step: Option<&Step>) -> bool {
    let is_about = |step: &Step| match &step.id {
        Some(id) => review.is_about(id),
        None => review.question() == gate.question(Some(step)),
    };
    review.gate() == Some(&gate.name) && step.is_none_or(is_about)
}

fn still_open(gate: &Gate, review: &Review) -> Error {
    let id = &review.id;
    Error::refused_with(
        ErrorCode::ReviewOpen,
        format!("the gate `{}` is waiting for review {id}", gate.name),
        format!(
            "a person decides with `statedir review approve {id}` or `statedir review reject {id}`"
        ),
    )
}

/// Whether the condition of a gate holds on the draft. If it cannot be evaluated, because a value has
/// another kind, such as text instead of a number, it counts as true: a person decides.
fn holds(draft: &mut Draft<'_>, when: &str, spent: Spent) -> Result<bool, Error> {
    let (condition, mut facts) = facts(draft, when)?;
    let total = draft.variables().ok().and_then(|variables| variables.total_cost());
    spent.add_to(&mut facts, total.is_some());
    let verdict = condition.eval(&facts);
    let variables = draft.variables().ok();
    // An object is not a fact, but it exists.
    let is_there = |fact: &str| {
        let path = fact.strip_prefix("variables.");
        let value = path.and_then(|path| variables.as_ref()?.get(path));
        value.is_some_and(|value| !value.is_null())
    };
    Ok(match verdict.truth {
        Truth::True => true,
        Truth::False => false,
        Truth::Unknown => verdict.missing().all(is_there),
    })
}

/// A condition of the workflow and the facts that it refers to.
pub(in crate::workspace::change) fn facts(
    draft: &mut Draft<'_>,
    when: &str,
) -> Result<(Condition, Facts), Error> {
    let condition = Condition::parse(when, draft.workflow()).map_err(|error| {
        Error::refused(
            ErrorCode::BadWorkflow,
            format!("the condition of a gate is not understood: {error}"),
        )
    })?;
    let facts = adapt::facts_for(draft, &condition)?;
    Ok((condition, facts))
}

/// How often a step may be attempted: the limit, and once more for every approved request.
pub(crate) fn attempts_allowed(workflow: &Workflow, plan: &Plan, step: &Step) -> u32 {
    let approved = plan.reviews.iter().filter(|review| {
        let about = step.id.as_ref().is_some_and(|id| review.is_about(id));
        let approved = review.decision == Decision::Approved && !review.used;
        about && approved && review.asks_for_attempts()
    });
    let more = u32::try_from(approved.count()).unwrap_or(u32::MAX);
    workflow.retry_limit().saturating_add(more)
}

/// The same, unless the status of a failed step leads to no further attempt: then as often as it failed.
pub(crate) fn attempts_possible(workflow: &Workflow, plan: &Plan, step: &Step) -> u32 {
    let allowed = attempts_allowed(workflow, plan, step);
    let has_failed = workflow.role_of(step) == Some(StepRole::Failed);
    match has_failed && !may_be_retried(workflow, step) {
        true => allowed.min(workflow.failures_of(step)),
        false => allowed,
    }
}

/// Whether a failed step cannot be started again now.
pub(crate) fn has_failed_for_good(workflow: &Workflow, plan: &Plan, step: &Step) -> bool {
    !may_be_retried(workflow, step)
        || workflow.failures_of(step) >= attempts_allowed(workflow, plan, step)
}

/// Whether the lifecycle lets a failed step be worked on again.
fn may_be_retried(workflow: &Workflow, step: &Step) -> bool {
    let status = workflow.status_of(step).unwrap_or_default();
    workflow.check_step(status, workflow.step_towards(status, StepRole::Active)).is_ok()
}
