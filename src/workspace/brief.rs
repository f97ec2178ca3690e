//! Collecting what a brief is made from, however much of the state can be read.

use super::{
    DiffSide, Error, Readiness, Resolver, Snapshot, Workspace, adapt, change::current_of,
    is_absent, status::problem_of,
};
use crate::{
    brief::{
        self, Advice, Brief, Budget, Changes, Dependency, Focus, Format, Input, Material,
        SHORT_TURNS, Standing,
    },
    engine::{PlanRole, StepRole, Workflow},
    model::{
        Constraints, Money, Plan, Problem, StateFile, Step, StepRef, Variables,
        history::{Entry, EntryKind, HistoryFacts, last_entries_within},
    },
    store::StoreError,
};

/// How many of the newest entries a brief looks at.
const ENTRIES: usize = 20;

/// How far back a brief looks for turns and entries, in bytes of the history.
const TAIL: u64 = 1 << 20;

/// What kind of brief is wanted.
#[derive(Clone, Debug, Default)]
pub struct BriefRequest {
    /// What it may cost.
    pub budget: Budget,
    /// How it is written.
    pub format: Format,
    /// Tell what changed after this revision: an operation's id, or `@-2`.
    pub since: Option<String>,
    /// Tell what this step needs, without conversation and older history.
    pub step: Option<StepRef>,
}

/// A brief, and what could not be read for it.
#[derive(Clone, Debug)]
pub struct Briefed {
    /// The brief.
    pub brief: Brief,
    /// Files that are missing or cannot be read; the brief has the rest.
    pub damaged: Vec<Problem>,
}

impl Workspace {
    /// What a fresh agent reads first. Files that cannot be read are listed, not an error.
    ///
    /// # Errors
    /// There is no state at all, the lock is not free, or what was asked for is not there.
    pub fn brief(&self, request: &BriefRequest) -> Result<Briefed, Error> {
        let (snapshot, mut damaged) = self.read_what_can_be()?;
        let mut material = snapshot.material(request.step.as_ref(), &mut damaged)?;
        if let Some(revision) = &request.since {
            material.changes = Some(self.changes_since(revision)?);
        }
        if request.step.is_some() {
            material.turns.clear();
            material.entries.clear();
        }
        let parts = brief::compose(&material);
        let budget = without_error(request, &damaged);
        let mut brief = brief::fit(&parts, &material.revision, budget, request.format);
        brief.budget = request.budget;
        Ok(Briefed { brief, damaged })
    }

    /// The state; where a file or the log cannot be read at all, what is left of it.
    fn read_what_can_be(&self) -> Result<(Snapshot, Vec<Problem>), Error> {
        let error = match self.read() {
            Ok(snapshot) => return Ok((snapshot, Vec::new())),
            Err(Error::Store(error)) => error,
            Err(error) => return Err(error),
        };
        if matches!(error, StoreError::LockTimeout { .. } | StoreError::Conflict { .. }) {
            return Err(error.into());
        }
        let (view, failed) = self.store.read_loosely();
        if is_absent(&view) {
            return Err(error.into());
        }
        let mut problems: Vec<Problem> = Vec::new();
        for (name, error) in failed {
            let file = StateFile::from_name(&name).unwrap_or(StateFile::Log);
            problems.push(Problem::error("unreadable", file, error.to_string()));
        }
        if problems.is_empty() {
            problems.push(Problem::error("log_damaged", StateFile::Log, error.to_string()));
        }
        Ok((Snapshot::new(view, self.options.progress), problems))
    }

    fn changes_since(&self, revision: &str) -> Result<Changes, Error> {
        let side = DiffSide::parse(revision);
        let from = match &side {
            DiffSide::Back(count) => self.operation_back(*count)?.seq,
            DiffSide::Operation(id) => self.store.operation(id)?.seq,
            DiffSide::Working => u64::MAX,
        };
        let diff = self.diff(&side, &DiffSide::Working)?;
        let mut operations: Vec<String> = Vec::new();
        for operation in self.store.operations(None)?.iter().take_while(|op| op.seq > from) {
            let what =
                if operation.command.is_empty() { &operation.kind } else { &operation.command };
            operations
                .push(format!("{} {} {}: {what}", operation.id, operation.time, operation.actor));
        }
        operations.reverse();
        let files = diff.files.iter().map(|file| (file.file, file.unified())).collect();
        Ok(Changes { operations, files, history_grew: diff.history_grew })
    }
}

/// A JSON answer that reports damage has an error object beside the brief, within the budget.
fn without_error(request: &BriefRequest, damaged: &[Problem]) -> Budget {
    let mut budget = request.budget;
    if let (Format::Json, Some(problem)) = (request.format, damaged.first()) {
        let error = brief::tokens(&problem.message) + 100;
        budget.max_tokens = budget.max_tokens.saturating_sub(error);
        let bytes = 2 * problem.message.len() + 300;
        budget.max_bytes = budget.max_bytes.map(|most| most.saturating_sub(bytes));
    }
    budget
}

/// The files, as far as they can be read.
struct Readable {
    plan: Option<Plan>,
    variables: Option<Variables>,
    constraints: Option<Constraints>,
    facts: HistoryFacts,
}

impl Snapshot {
    fn material(
        &self,
        wanted: Option<&StepRef>,
        damaged: &mut Vec<Problem>,
    ) -> Result<Material, Error> {
        let mut note = |error: Error| {
            let problem = problem_of(&error)
                .unwrap_or_else(|| Problem::error("io", StateFile::History, error.to_string()));
            if !damaged.iter().any(|known| known.file == problem.file) {
                damaged.push(problem);
            }
        };
        let context = self.context().map_err(&mut note).ok();
        let workflow = self.workflow().map_err(&mut note);
        let workflow = workflow.unwrap_or(std::borrow::Cow::Borrowed(Workflow::builtin()));
        let files = Readable {
            plan: self.plan().map_err(&mut note).ok(),
            variables: self.variables().map_err(&mut note).ok(),
            constraints: self.constraints().map_err(&mut note).ok(),
            facts: self.facts().map_err(&mut note).unwrap_or_default().history,
        };
        self.check_history().map_err(&mut note).ok();
        let entries = self.newest(ENTRIES, |_| true).map_err(&mut note).unwrap_or_default();
        let turns = self.newest_turns(SHORT_TURNS, TAIL, &files.facts);
        let turns = turns.map_err(&mut note).unwrap_or_default();
        let mut material = Material {
            revision: self.revision().as_str().to_owned(),
            context: context.map(|context| context.sections).unwrap_or_default(),
            turns,
            entries,
            ..Material::default()
        };
        material.goal = files.goal();
        if let Some(constraints) = &files.constraints {
            let cost = files.cost();
            let facts = adapt::limit_facts(constraints, &workflow, cost, &files.facts);
            material.limits = adapt::exceeded(&facts);
            material.settings.clone_from(&constraints.settings);
            material.directives.clone_from(&constraints.directives);
            material.rules.clone_from(&constraints.rules);
        }
        material.problems.clone_from(damaged);
        if let Some(plan) = &files.plan {
            material.problems.extend(plan.problems.iter().cloned());
            material.reviews = plan.open_reviews().cloned().collect();
            files.fill(plan, &workflow, wanted, &mut material)?;
        } else if let Some(step) = wanted {
            let message = format!("step `{step}` cannot be shown: `plan.md` cannot be read");
            return Err(Error::refused("not_found", message));
        }
        Ok(material)
    }

    /// The newest turns, looked for in the last `bytes` of the history.
    pub(super) fn newest_turns(
        &self,
        limit: usize,
        bytes: u64,
        facts: &HistoryFacts,
    ) -> Result<Vec<Entry>, Error> {
        let limit = limit.min(usize::try_from(facts.turns).unwrap_or(usize::MAX));
        if limit == 0 {
            return Ok(Vec::new());
        }
        let is_turn = |entry: &Entry| entry.kind == EntryKind::Turn;
        Ok(last_entries_within(&mut self.history()?, limit, bytes, is_turn)?)
    }

    /// The newest entries near the end of the history.
    pub(super) fn newest(
        &self,
        limit: usize,
        keep: impl Fn(&Entry) -> bool,
    ) -> Result<Vec<Entry>, Error> {
        Ok(last_entries_within(&mut self.history()?, limit, TAIL, keep)?)
    }

    /// The history is read as far as it is text; one whose end is none is worth a word.
    fn check_history(&self) -> Result<(), Error> {
        const LOOK: u64 = 16 << 10;
        if !self.view().appended().exists() {
            return Ok(());
        }
        let tail = self.view().appended().read_tail(LOOK)?;
        let cut = tail.len() as u64 == LOOK;
        let start = tail.iter().take(3).take_while(|byte| cut && **byte & 0xC0 == 0x80).count();
        let text = std::str::from_utf8(tail.get(start..).unwrap_or_default());
        let message = match text {
            Ok(text) if !text.contains('\0') => return Ok(()),
            Ok(_) => "it contains a NUL byte".to_owned(),
            Err(error) => error.to_string(),
        };
        let (file, place, snippet) = (StateFile::History, None, None);
        Err(crate::model::ModelError::Unreadable { file, place, snippet, message }.into())
    }
}

impl Readable {
    fn cost(&self) -> Money {
        self.variables.as_ref().map(Variables::total_cost).unwrap_or_default()
    }

    /// The goal, from variables.json if the plan does not have it.
    fn goal(&self) -> Option<(StateFile, String)> {
        let plan = self.plan.as_ref().and_then(|plan| {
            plan.metadata.goal.clone().or(Some(plan.title.clone()).filter(|t| !t.is_empty()))
        });
        if let Some(goal) = plan {
            return Some((StateFile::Plan, goal));
        }
        let value = self.variables.as_ref()?.get("execution_metadata.goal")?;
        Some((StateFile::Variables, value.as_str()?.to_owned()))
    }

    fn fill(
        &self,
        plan: &Plan,
        workflow: &Workflow,
        wanted: Option<&StepRef>,
        material: &mut Material,
    ) -> Result<(), Error> {
        let readiness = Readiness::new(plan, workflow);
        let with_role = |role: StepRole| {
            let steps = plan.steps.iter().zip(readiness.roles());
            steps.filter(move |(_, found)| **found == Some(role)).map(|(step, _)| step)
        };
        let written = plan.metadata.status.as_deref();
        let other = |key: &str| {
            plan.metadata.other.iter().find(|(k, _)| k == key).map(|(_, value)| value.clone())
        };
        let budget = self.constraints.as_ref().and_then(|c| c.value("max_cost_per_task"));
        material.standing = Some(Standing {
            status: written.map(|text| workflow.plan_status(text).unwrap_or(text).to_owned()),
            mode: plan.metadata.mode.clone(),
            total: plan.steps.len(),
            finished: readiness.count(StepRole::Done) + readiness.count(StepRole::Skipped),
            failed: readiness.count(StepRole::Failed),
            running: readiness.count(StepRole::Active),
            cost: self.cost(),
            budget: budget.and_then(Money::parse),
            paused_because: other("paused_because"),
            last_updated: plan.metadata.last_updated.clone(),
        });
        material.failed = with_role(StepRole::Failed).cloned().collect();
        let numbers = plan.steps.iter().map(|step| step.number);
        let numbered: Vec<_> = numbers.zip(readiness.roles().iter().copied()).collect();
        let advice = advice(plan, workflow, &readiness, with_role(StepRole::Active).next());
        let number = match advice {
            Advice::Finish(number) | Advice::Start(number) | Advice::Retry(number) => number,
            _ => current_of(&numbered),
        };
        let step = match wanted {
            Some(wanted) => Some(plan.step(wanted)?),
            None => plan.steps.iter().find(|step| step.number == number),
        };
        material.advice = wanted.is_none().then_some(advice);
        let finished = wanted.is_none() && advice == Advice::Nothing;
        if let Some(step) = step.filter(|_| !finished) {
            material.focus = Some(self.focus(plan, step, &readiness, wanted.is_some())?);
        }
        Ok(())
    }

    /// A step with everything it needs; `strict` refuses a reference that leads nowhere.
    fn focus(
        &self,
        plan: &Plan,
        step: &Step,
        readiness: &Readiness<'_>,
        strict: bool,
    ) -> Result<Focus, Error> {
        let resolver = Resolver::new(Some(plan), self.variables.as_ref());
        let mut inputs = Vec::new();
        for (name, written) in &step.inputs {
            let value = match resolver.resolve(written) {
                Ok(value) => Ok(value),
                Err(error) if strict && self.variables.is_some() && !awaits(&resolver, written) => {
                    return Err(error);
                }
                Err(error) => Err(match error.hint() {
                    Some(hint) => format!("{error}; {hint}"),
                    None => error.to_string(),
                }),
            };
            inputs.push(Input { name: name.clone(), written: written.clone(), value });
        }
        let dependencies = step.depends_on.iter().map(|wanted| {
            let found = plan.step(wanted).ok();
            let id = found.and_then(|step| step.id.as_ref());
            let outputs =
                id.and_then(|id| self.variables.as_ref()?.get(&format!("step_data.outputs.{id}")));
            Dependency {
                name: readiness.name(wanted),
                title: found.map(|step| step.title.clone()).unwrap_or_default(),
                status: found.and_then(|step| step.status.clone()).unwrap_or_default(),
                outputs,
            }
        });
        let waits_for = readiness.unmet(step).iter().map(|wanted| readiness.name(wanted)).collect();
        Ok(Focus { step: step.clone(), inputs, dependencies: dependencies.collect(), waits_for })
    }
}

fn awaits(resolver: &Resolver<'_>, text: &str) -> bool {
    let missing = crate::model::references(text)
        .into_iter()
        .filter(|reference| resolver.get(&reference.path).is_none());
    missing.into_iter().all(|reference| resolver.is_awaited(&reference.path))
}

fn advice(
    plan: &Plan,
    workflow: &Workflow,
    readiness: &Readiness<'_>,
    running: Option<&Step>,
) -> Advice {
    let role = plan.metadata.status.as_deref().and_then(|status| workflow.plan_role(status));
    let failed = || {
        let steps = plan.steps.iter().zip(readiness.roles());
        steps.into_iter().find(|(_, role)| **role == Some(StepRole::Failed)).map(|(step, _)| step)
    };
    let finished = readiness.count(StepRole::Done) + readiness.count(StepRole::Skipped);
    if plan.open_reviews().next().is_some() {
        Advice::WaitForReview
    } else if role == Some(PlanRole::Succeeded) {
        Advice::Nothing
    } else if matches!(role, Some(PlanRole::Paused | PlanRole::Failed)) {
        Advice::Resume
    } else if plan.steps.is_empty() {
        Advice::AddSteps
    } else if let Some(step) = running {
        Advice::Finish(step.number)
    } else if let Some(step) = readiness.ready().first() {
        Advice::Start(step.number)
    } else if let Some(step) = failed() {
        Advice::Retry(step.number)
    } else if finished == plan.steps.len() {
        Advice::Nothing
    } else {
        Advice::Blocked
    }
}
