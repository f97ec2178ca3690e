//! Collects the material of a brief from the parts of the state that can be read.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::Value;

use super::open_steps::open_steps;
use crate::{
    brief::{ExecutionStatus, FocusStep, Material, SHORT_TURNS, StepInput, StepOutputs},
    domain::{
        Bullet, Constraints, Decision, ErrorCode, Money, Plan, Problem, StateFile, Step, StepRef,
        StepRole, Variables, Workflow, is_default_setting, is_template_rule,
    },
    history::{Counts, Entry, EntryKind, last_entries_within},
    recovery::Move,
    workspace::{
        Error, LimitUse, Overview, Readiness, Resolver, Snapshot,
        overview::{Sources, problem_of},
        snapshot::usage::Pending,
    },
};

/// How many of the newest entries are read.
pub(super) const ENTRIES: usize = 40;

/// How many failed steps are shown with their errors.
const FAILED: usize = 5;

/// How many of the last steps are searched for outputs if there is no current step.
const LAST_STEPS: usize = 20;

/// How many decided reviews are shown.
const ANSWERS: usize = 5;

/// How many bytes at the end of the history are searched for turns and entries.
const TAIL: u64 = 1 << 20;

/// The files that can be read.
struct ReadableFiles {
    plan: Option<Arc<Plan>>,
    variables: Option<Variables>,
    constraints: Option<Constraints>,
}

impl Snapshot {
    /// Everything that a brief can contain, with at most `most` open steps; files that cannot be read
    /// are added to `damaged`.
    pub(in crate::workspace) fn material(
        &self,
        wanted: Option<&StepRef>,
        most: usize,
        damaged: &mut Vec<Problem>,
    ) -> Result<(Material, Option<Constraints>), Error> {
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
        let files = ReadableFiles {
            plan: self.plan().map_err(&mut note).ok(),
            variables: self.variables().map_err(&mut note).ok(),
            constraints: self.constraints().map_err(&mut note).ok(),
        };
        let history = self.facts().map_err(&mut note).unwrap_or_default().history;
        let (last_entry, history) = (history.newest(), history.counts);
        self.check_history().map_err(&mut note).ok();
        let entries = self.newest(ENTRIES, |_| true).map_err(&mut note).unwrap_or_default();
        let turns = self.newest_turns(SHORT_TURNS, TAIL, &history);
        let turns = turns.map_err(&mut note).unwrap_or_default();
        let (preface, context) =
            context.map(|context| (context.preface, context.sections)).unwrap_or_default();
        let mut material = Material {
            revision: self.revision().as_str().to_owned(),
            preface,
            context,
            turns,
            entries,
            ..Material::default()
        };
        let empty = || Arc::new(Plan::empty());
        let overview = Overview::new(&Sources {
            revision: self.revision().as_str(),
            plan: &files.plan.clone().unwrap_or_else(empty),
            workflow: &workflow,
            variables: files.variables.as_ref(),
            constraints: files.constraints.as_ref(),
            history,
            last_entry,
            pending: Pending::of(self.view()),
            liveness: self.liveness(),
        });
        material.goal = files.goal();
        material.limits = overview.spending.exceeded().map(LimitUse::in_short).collect();
        if let Some(constraints) = &files.constraints {
            // An exceeded limit is shown as such.
            let exceeded =
                |name: &str| overview.spending.exceeded().any(|limit| limit.limit == name);
            let chosen = constraints.settings.iter();
            let chosen =
                chosen.filter(|one| !is_default_setting(one, &workflow) && !exceeded(&one.name));
            material.settings = chosen.cloned().collect();
            material.directives.clone_from(&constraints.directives);
            material.prose = constraints.prose();
            // The effects of a rule that has fired are shown instead.
            let fired = |rule: &Bullet| {
                let mut adaptations =
                    material.entries.iter().filter_map(|entry| entry.field("rule"));
                adaptations
                    .any(|said| said.split_once(": ").is_some_and(|(_, text)| text == rule.text))
            };
            let own = constraints.rules.iter();
            let own = own.filter(|rule| {
                !rule.below.is_empty() || !is_template_rule(&rule.text) && !fired(rule)
            });
            material.rules = own.cloned().collect();
        }
        material.problems.clone_from(damaged);
        if let Some(plan) = &files.plan {
            // A plan without metadata is readable.
            let is_damage =
                |found: &&Problem| found.code != ErrorCode::NoMetadata || found.is_lost_plan();
            material.problems.extend(plan.problems.iter().filter(is_damage).cloned());
            let failed = overview.steps.places(|role| role == Some(StepRole::Failed));
            let failed: Vec<Step> = failed.take(FAILED).map(|at| plan.steps[at].clone()).collect();
            files.fill(plan, (&workflow, overview), (wanted, most), &mut material)?;
            material.step_entries = self.entries_about(&failed, wanted.is_some(), &material);
        } else if let Some(step) = wanted {
            let message = format!("step `{step}` cannot be shown: `plan.md` cannot be read");
            return Err(Error::refused(ErrorCode::NotFound, message));
        }
        Ok((material, files.constraints))
    }

    /// The newest turns, looked for in the last `bytes` of the history.
    pub(in crate::workspace) fn newest_turns(
        &self,
        limit: usize,
        bytes: u64,
        history: &Counts,
    ) -> Result<Vec<Entry>, Error> {
        let limit = limit.min(usize::try_from(history.turns).unwrap_or(usize::MAX));
        if limit == 0 {
            return Ok(Vec::new());
        }
        let is_turn = |entry: &Entry| entry.kind == EntryKind::Turn;
        Ok(last_entries_within(&mut self.history()?, limit, bytes, is_turn)?)
    }

    /// The newest entries near the end of the history.
    pub(in crate::workspace) fn newest(
        &self,
        limit: usize,
        keep: impl Fn(&Entry) -> bool,
    ) -> Result<Vec<Entry>, Error> {
        Ok(last_entries_within(&mut self.history()?, limit, TAIL, keep)?)
    }

    /// Checks that the end of the history is text.
    pub(in crate::workspace) fn check_history(&self) -> Result<(), Error> {
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

impl ReadableFiles {
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
        (workflow, overview): (&Workflow, Overview),
        (wanted, most): (Option<&StepRef>, usize),
        material: &mut Material,
    ) -> Result<(), Error> {
        let next = overview.next_move();
        let number = next.step.unwrap_or(overview.counts.current_step);
        let step = match wanted {
            Some(wanted) => Some(plan.step(wanted)?),
            None => plan.steps.iter().find(|step| step.number == number),
        };
        let finished = wanted.is_none() && next.action == Move::Nothing;
        material.next_move = wanted.is_none().then_some(next);
        let step = step.filter(|_| !finished);
        let readiness = overview.steps.readiness();
        if let Some(step) = step {
            material.focus =
                Some(self.focus((plan, workflow, readiness), step, wanted.is_some())?);
        }
        material.results = self.results(plan, step, material.focus.as_ref());
        if wanted.is_none() {
            (material.open_steps, material.more_open_steps) =
                open_steps(plan, &overview, step, most);
        }
        let answered = plan.reviews.iter().rev().filter(|review| {
            let is_about =
                |at: usize| plan.steps[at].id.as_ref().is_some_and(|id| review.is_about(id));
            review.decision != Decision::Open && !overview.steps.places(is_finished).any(is_about)
        });
        material.answers = answered.take(ANSWERS).cloned().collect();
        material.consumed_steps = consumed_steps(plan, &overview, &material.entries);
        let spending = &overview.spending;
        let exceeded = spending.budget.is_some_and(|budget| spending.total_cost > budget);
        let counted = spending.total_cost > Money(0) && !exceeded;
        material.status = Some(ExecutionStatus {
            status: overview.written_status.is_some().then_some(overview.status),
            mode: overview.mode,
            counts: overview.counts,
            cost: spending.total_cost,
            budget: spending.budget.filter(|_| counted),
            paused_because: overview.paused_because,
        });
        material.reviews = overview.open_reviews;
        Ok(())
    }

    /// The outputs of the dependencies of `step` that are not among its inputs; without a step, the
    /// outputs of the last steps.
    fn results(
        &self,
        plan: &Plan,
        step: Option<&Step>,
        focus: Option<&FocusStep>,
    ) -> Vec<StepOutputs> {
        let Some(variables) = &self.variables else { return Vec::new() };
        let last = &plan.steps[plan.steps.len().saturating_sub(LAST_STEPS)..];
        let needs = |later: &Step, found: &Step| later.depends_on.iter().any(|one| found.is(one));
        let is_wanted = |found: &&Step| match step {
            Some(step) => needs(step, found),
            None => !last.iter().any(|later| needs(later, found)),
        };
        let result = |found: &Step| {
            let id = found.id.as_ref()?;
            let mut outputs = variables.get(&format!("step_data.outputs.{id}"))?;
            if let (Some(members), Some(focus)) = (outputs.as_object_mut(), focus) {
                let is = |value: &Value| {
                    focus.inputs.iter().any(|input| input.value.as_ref() == Ok(value))
                };
                members.retain(|_, value| !is(value));
                (!members.is_empty()).then_some(())?;
            }
            Some(StepOutputs { number: found.number, outputs })
        };
        let steps = if step.is_some() { &plan.steps } else { last };
        steps.iter().rev().filter(is_wanted).filter_map(result).collect()
    }

    /// A step with everything it needs; `strict` refuses a reference that cannot be resolved.
    fn focus(
        &self,
        (plan, workflow, readiness): (&Plan, &Workflow, &Readiness<Arc<Plan>>),
        step: &Step,
        strict: bool,
    ) -> Result<FocusStep, Error> {
        let resolver = Resolver::new(Some(plan), self.variables.as_ref(), workflow);
        let mut inputs = Vec::new();
        for (name, written) in &step.details().inputs {
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
            inputs.push(StepInput { name: name.clone(), written: written.clone(), value });
        }
        let waits_for = readiness.unmet(step).iter().map(|wanted| readiness.name(wanted)).collect();
        let (step, prose) = (step.clone(), plan.prose(step));
        Ok(FocusStep { step, prose, inputs, waits_for })
    }
}

/// The steps in `entries` that have dependents, all of which are finished.
fn consumed_steps(plan: &Plan, overview: &Overview, entries: &[Entry]) -> Vec<u32> {
    let mentioned: BTreeSet<u64> = entries.iter().filter_map(Entry::step_number).collect();
    let is_mentioned = |step: &&Step| mentioned.contains(&u64::from(step.number));
    let is_consumed = |step: &&Step| {
        let steps = plan.steps.iter().zip(overview.steps.readiness().roles());
        let mut later = steps
            .filter(|(later, _)| later.depends_on.iter().any(|wanted| step.is(wanted)))
            .peekable();
        later.peek().is_some() && later.all(|(_, role)| is_finished(*role))
    };
    plan.steps.iter().filter(is_mentioned).filter(is_consumed).map(|step| step.number).collect()
}

fn is_finished(role: Option<StepRole>) -> bool {
    role.is_some_and(StepRole::is_finished)
}

fn awaits(resolver: &Resolver<'_>, text: &str) -> bool {
    let missing = crate::domain::references(text)
        .into_iter()
        .filter(|reference| resolver.get(&reference.path).is_none());
    missing.into_iter().all(|reference| resolver.is_awaited(&reference.path))
}
