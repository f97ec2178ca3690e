//! The state as far as it can be read, for a brief.

use super::{Error, Readiness, Resolver, Snapshot, adapt, status::problem_of};
use crate::{
    brief::{Advice, Dependency, Focus, Input, Material, SHORT_TURNS, Standing},
    domain::{
        Constraints, ErrorCode, Money, Plan, PlanRole, Problem, StateFile, Step, StepRef, StepRole,
        Variables, Workflow, step_at_hand,
    },
    history::{Entry, EntryKind, HistoryFacts, last_entries_within},
};

/// How many of the newest entries a brief looks at.
const ENTRIES: usize = 20;

/// How far back a brief looks for turns and entries, in bytes of the history.
const TAIL: u64 = 1 << 20;

/// The files, as far as they can be read.
struct Readable {
    plan: Option<Plan>,
    variables: Option<Variables>,
    constraints: Option<Constraints>,
    facts: HistoryFacts,
}

impl Snapshot {
    /// Everything a brief can tell; what cannot be read is added to `damaged`.
    pub(super) fn material(
        &self,
        wanted: Option<&StepRef>,
        damaged: &mut Vec<Problem>,
    ) -> Result<Material, Error> {
        let mut note = |error: Error| {
            let problem = problem_of(&error).unwrap_or_else(|| {
                Problem::error(ErrorCode::Io, StateFile::History, error.to_string())
            });
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
            facts: self.counted().map_err(&mut note).unwrap_or_default(),
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
            return Err(Error::refused(ErrorCode::NotFound, message));
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
        Err(crate::domain::ModelError::Unreadable { file, place, snippet, message }.into())
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
            _ => step_at_hand(&numbered),
        };
        let step = match wanted {
            Some(wanted) => Some(plan.step(wanted)?),
            None => plan.steps.iter().find(|step| step.number == number),
        };
        material.advice = wanted.is_none().then_some(advice);
        let finished = wanted.is_none() && advice == Advice::Nothing;
        if let Some(step) = step.filter(|_| !finished) {
            material.focus =
                Some(self.focus((plan, workflow), step, &readiness, wanted.is_some())?);
        }
        Ok(())
    }

    /// A step with everything it needs; `strict` refuses a reference that leads nowhere.
    fn focus(
        &self,
        (plan, workflow): (&Plan, &Workflow),
        step: &Step,
        readiness: &Readiness<'_>,
        strict: bool,
    ) -> Result<Focus, Error> {
        let resolver = Resolver::new(Some(plan), self.variables.as_ref(), workflow);
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
    let missing = crate::domain::references(text)
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
