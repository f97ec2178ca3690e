//! Gathers the evidence of an interruption or a failure from the state.

use super::{
    super::{reports::open_steps::is_about, snapshot::liveness::Liveness, *},
    last_action,
};
use crate::{
    domain::{Plan, PlanRole, Step, StepRef, StepRole, Workflow},
    history::{Entry, EntryKind, UndoneSteps},
    recovery::{
        CheckpointSummary, ErrorSeen, Evidence, FilesSeen, GitSeen, Holder, LastOperation, Move,
        NamedFile, NextMove, PlanEvidence, Situation, StepEvidence,
        failure::{Attempt, ErrorClass, classify, patterns},
        is_vague, named_paths, next_move, writes_something,
    },
    store::{OperationSummary, View},
    text::display::counted,
    text::markdown::Document,
};

/// How many of the newest entries and operations are read.
const NEWEST: usize = 60;
/// How many bytes at the end of the history are read.
const TAIL: u64 = 256 << 10;

/// How many checkpoints are opened to find a useful one.
const MOST_CHECKPOINTS: usize = 20;

/// What is to be recovered.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecoverRequest {
    /// The step; else the one that was interrupted or failed.
    pub step: Option<StepRef>,
    /// After how many milliseconds without activity a step counts as abandoned; else as in the
    /// workflow.
    pub stale_after_ms: Option<u64>,
}

/// A file that the step names, which the caller looks for in the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WantedFile {
    /// A relative path without `..`.
    pub path: String,
    /// The field that names it.
    pub named_in: &'static str,
}

/// What the caller found outside the state directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    /// The project's files.
    pub files: Option<FilesSeen>,
    /// The git work tree.
    pub git: Option<GitSeen>,
    /// The wanted files.
    pub names: Vec<NamedFile>,
}

/// The evidence at one revision.
#[derive(Clone, Debug)]
pub(crate) struct Examined {
    pub evidence: Evidence,
    /// The revision it was read at.
    pub revision: Revision,
    /// When the current step began.
    pub since: Option<String>,
    /// Files that the step names.
    pub wanted: Vec<WantedFile>,
    /// The recommended next move; absent if the plan cannot be read.
    pub next_move: Option<NextMove>,
}

impl Examined {
    /// Adds what was found outside the state directory.
    pub(crate) fn add_surroundings(&mut self, found: Surroundings) {
        self.evidence.files = found.files;
        self.evidence.git = found.git;
        if let Some(step) = &mut self.evidence.step {
            step.names = found.names;
        }
    }
}

impl Workspace {
    /// Reads the state for a decision. Writes nothing.
    ///
    /// A file that is missing or cannot be read is evidence, too.
    ///
    /// # Errors
    /// There is no state, it cannot be opened at all, or the step is not in the plan.
    pub(crate) fn examine(&self, request: &RecoverRequest) -> Result<Examined, Error> {
        let snapshot = self.read()?;
        let operations = self.store.operations(Some(NEWEST)).unwrap_or_default();
        let mut evidence = Evidence {
            damage: damage(&snapshot),
            checkpoints: self.checkpoint_summaries(),
            ..Evidence::default()
        };
        evidence.last_operation = operations.first().map(|newest| LastOperation {
            id: newest.id.as_str().to_owned(),
            kind: newest.kind.clone(),
            actor: newest.actor.clone(),
            time: newest.time.clone(),
            age_ms: self.env.since(&newest.time),
            interrupted: transact::outcome::pending_notices(snapshot.view().reports()),
        });
        // A lost history alone, or a damaged log alone, leaves the other files repairable.
        let lost = |line: &String| !line.contains(StateFile::History.name());
        let log_damaged = snapshot.view().log_damage().is_some();
        evidence.log_cannot_repair =
            log_damaged && evidence.damage.iter().filter(|line| lost(line)).count() > 1;
        let mut examined = Examined {
            evidence,
            revision: snapshot.revision().clone(),
            since: None,
            wanted: Vec::new(),
            next_move: None,
        };
        let (Ok(plan), Ok(workflow), Ok(overview)) =
            (snapshot.plan(), snapshot.workflow(), snapshot.overview())
        else {
            return Ok(examined);
        };
        let mut entries = snapshot.recent_entries(NEWEST, TAIL).unwrap_or_default();
        let undone = UndoneSteps::among(&entries);
        entries.retain(|entry| !undone.contains(&entry.offset));
        let gatherer = Gatherer {
            workspace: self,
            view: snapshot.view(),
            plan: &plan,
            workflow: &workflow,
            overview: &overview,
            facts: snapshot.facts().unwrap_or_default(),
            entries: &entries,
            operations: &operations,
            stale_after_ms: request.stale_after_ms.unwrap_or_else(|| workflow.stale_after_ms()),
            liveness: snapshot.liveness(),
        };
        gatherer.fill(request, &mut examined)?;
        Ok(examined)
    }

    /// The checkpoints, the newest first.
    fn checkpoint_summaries(&self) -> Vec<CheckpointSummary> {
        let Ok(list) = self.checkpoints() else { return Vec::new() };
        // The automatic checkpoint before a restore or an import is not a state to return to.
        let meant = list.checkpoints.iter().rev().filter(|checkpoint| {
            let passing =
                |why: &str| why.starts_with("before restore") || why.starts_with("before import");
            !checkpoint.automatic.as_deref().is_some_and(passing)
        });
        meant
            .map(|checkpoint| CheckpointSummary {
                name: checkpoint.name.to_string(),
                operation: checkpoint.revision.as_str().to_owned(),
                time: checkpoint.time.clone(),
                rewind: false,
                undoes: Vec::new(),
            })
            .collect()
    }
}

/// What could not be read, each in one line.
fn damage(snapshot: &Snapshot) -> Vec<String> {
    let history = if snapshot.view().appended().exists() { None } else { snapshot.history().err() };
    let errors = [
        snapshot.plan().err(),
        snapshot.workflow().err(),
        snapshot.context().err(),
        snapshot.variables().err(),
        snapshot.constraints().err(),
        history,
    ];
    let mut damage: Vec<String> = errors.iter().flatten().map(ToString::to_string).collect();
    if let Some(log) = snapshot.view().log_damage() {
        damage.push(format!("the operation log is damaged: {}", log.message));
    }
    damage
}

/// Everything that was read, to take evidence from.
struct Gatherer<'a> {
    workspace: &'a Workspace,
    view: &'a View,
    plan: &'a Plan,
    workflow: &'a Workflow,
    overview: &'a Overview,
    facts: CachedFacts,
    entries: &'a [Entry],
    operations: &'a [OperationSummary],
    stale_after_ms: u64,
    liveness: &'a Liveness,
}

impl Gatherer<'_> {
    fn fill(&self, request: &RecoverRequest, examined: &mut Examined) -> Result<(), Error> {
        let wanted = request.step.as_ref().map(|step| self.plan.step(step)).transpose()?;
        let at_hand = match wanted {
            Some(step) => Some(step).filter(|step| self.role(step) != Some(StepRole::Open)),
            None => self.at_hand(),
        };
        let readiness = self.overview.steps.readiness();
        let steps = self.plan.steps.iter().enumerate();
        let mut ready = steps.filter(|(at, _)| readiness.is_ready(*at)).map(|(_, step)| step);
        let next = match wanted {
            Some(step) if self.role(step) == Some(StepRole::Open) => {
                ready.find(|other| other.offset == step.offset)
            }
            _ => ready.next(),
        };
        let attempts = self.attempts();
        examined.next_move = Some(next_move(&self.situation()));
        let evidence = &mut examined.evidence;
        evidence.plan = self.plan_seen();
        evidence.patterns = patterns(&attempts);
        evidence.asked = wanted.is_some();
        if let Some(failed) = at_hand.filter(|step| self.role(step) == Some(StepRole::Failed)) {
            self.keep_useful(failed, evidence);
        }
        if let Some(checkpoint) = evidence.checkpoints.first_mut() {
            checkpoint.undoes = self.undone_by(&checkpoint.name);
        }
        evidence.rolled_back = self.rolled_back(evidence.checkpoints.first());
        evidence.next = next.map(|step| self.step_evidence(step));
        evidence.other_running = self
            .running()
            .filter(|step| at_hand.is_none_or(|hand| hand.offset != step.offset))
            .map(|step| self.holder(step))
            .collect();
        if let Some(step) = at_hand {
            examined.since.clone_from(&step.started_at);
            let seen = self.step_evidence(step);
            examined.wanted = wanted_files(step, seen.last_action.as_deref());
            evidence.step = Some(seen);
        }
        Ok(())
    }

    /// The step that the recommended move is about, whatever keeps the plan from going on.
    fn at_hand(&self) -> Option<&Step> {
        let role = Some(PlanRole::Active);
        let (plan_first, open_reviews) = (None, Vec::new());
        let next = next_move(&Situation { role, plan_first, open_reviews, ..self.situation() });
        let number = next.step.filter(|_| !matches!(next.action, Move::Start | Move::Advance))?;
        self.plan.steps.iter().find(|step| step.number == number)
    }

    /// The facts that the next move follows from, with the requested `stale_after_ms`.
    fn situation(&self) -> Situation {
        let mut situation = self.overview.situation();
        for standing in &mut situation.steps {
            let holder = || self.holder(&self.plan.steps[standing.at]);
            standing.holder = standing.holder.is_some().then(holder);
        }
        situation
    }

    fn running(&self) -> impl Iterator<Item = &Step> {
        self.plan.steps.iter().filter(|step| self.role(step) == Some(StepRole::Active))
    }

    fn role(&self, step: &Step) -> Option<StepRole> {
        self.workflow.role_of(step)
    }

    fn plan_seen(&self) -> PlanEvidence {
        let Overview { goal, written_status, role, counts, .. } = self.overview;
        let is_known = |status: &str| self.workflow.step_status(status).is_some();
        let unknown = self.plan.steps.iter().filter_map(|step| {
            let status = step.status().filter(|status| !is_known(status))?;
            Some(format!("step {} is `{status}`", step.number))
        });
        let reviews = self.overview.open_reviews.iter();
        let waiting = self.overview.with_role(StepRole::Waiting);
        PlanEvidence {
            goal: goal.clone(),
            status: written_status.clone(),
            role: *role,
            total: counts.total,
            completed: counts.done,
            skipped: counts.skipped,
            failed: counts.failed,
            running: counts.running,
            waiting: waiting
                .map(|step| format!("step {} is {}", step.number, step.status))
                .collect(),
            open: counts.open,
            unknown: unknown.collect(),
            paused_because: self.overview.paused_because.clone(),
            open_reviews: reviews.map(|review| format!("{}: {}", review.id, review.text)).collect(),
        }
    }

    fn step_evidence(&self, step: &Step) -> StepEvidence {
        let role = self.role(step);
        let last_action = last_action::last_action(step, self.entries, self.operations);
        let id = step.id.as_ref().map(ToString::to_string);
        let touched = id.as_deref().and_then(|id| self.facts.touches.get(id));
        let mut state_changes = touched.cloned().unwrap_or_default();
        // A note that somebody is at it is no progress.
        if last_action.as_deref().is_some_and(is_vague) {
            state_changes.retain(|what| !what.starts_with(StateFile::Context.name()));
        }
        StepEvidence {
            number: step.number,
            title: step.title.clone(),
            status: step.status.clone().unwrap_or_default(),
            role,
            attempts: step.attempts,
            failures: self.workflow.failures_of(step),
            attempts_allowed: change::attempts_possible(self.workflow, self.plan, step),
            claim: (role == Some(StepRole::Active)).then(|| self.holder(step)),
            started_at: step.started_at.clone(),
            last_action: last_action.filter(|_| role == Some(StepRole::Active)),
            state_changes,
            error: (role == Some(StepRole::Failed)).then(|| self.error(step)).flatten(),
            names: Vec::new(),
            needed_by: self.needed_by(step),
            id,
        }
    }

    fn holder(&self, step: &Step) -> Holder {
        self.liveness.holder_after(step, self.workflow, self.stale_after_ms)
    }

    fn error(&self, step: &Step) -> Option<ErrorSeen> {
        let mut newest = self.entries.iter().rev();
        let entry = newest.find(|entry| entry.is_failure() && is_about(entry, step))?;
        let text = entry.error().unwrap_or_default().to_owned();
        let failure = classify(&text);
        Some(ErrorSeen { text, failure })
    }

    /// Leaves out the newest checkpoints that going back to would change nothing for the better.
    fn keep_useful(&self, failed: &Step, evidence: &mut Evidence) {
        let mut useful = std::mem::take(&mut evidence.checkpoints).into_iter();
        for (seen, mut checkpoint) in useful.by_ref().enumerate() {
            let is_opened = seen < MOST_CHECKPOINTS;
            match is_opened.then(|| self.use_of(&checkpoint.name, failed)).flatten() {
                Some(rewind) => {
                    checkpoint.rewind = rewind;
                    evidence.checkpoints.push(checkpoint);
                    break;
                }
                None => evidence.passed_over.push(checkpoint.name),
            }
        }
        evidence.checkpoints.extend(useful);
    }

    /// Whether the failed step ran at a checkpoint; `None` if it had failed already, if the plan
    /// cannot be read, or if everything was as it is now.
    fn use_of(&self, name: &str, failed: &Step) -> Option<bool> {
        let checkpoint = self.view.checkpoint(name).ok()??;
        let files = log::checkpoint::files_of(self.workspace, &checkpoint).ok()?;
        let now = |file: &StateFile| self.view.bytes(file.name());
        let then = |file: &StateFile| files.get(file.name()).map(Vec::as_slice);
        if StateFile::REWRITABLE.iter().all(|file| now(file) == then(file)) {
            return None;
        }
        let document = Document::from_bytes(files.get(StateFile::Plan.name())?.clone()).ok()?;
        let plan = Plan::read(document);
        let same = |step: &&Step| match (&step.id, &failed.id) {
            (Some(one), Some(other)) => one == other,
            _ => step.number == failed.number,
        };
        let role = plan.steps.iter().find(same).map(|step| self.role(step));
        match role.flatten() {
            Some(StepRole::Failed) => None,
            role => Some(role == Some(StepRole::Active)),
        }
    }

    /// What going back to a checkpoint would undo, each in a few words.
    fn undone_by(&self, name: &str) -> Vec<String> {
        let Ok(Some(checkpoint)) = self.view.checkpoint(name) else { return Vec::new() };
        let Ok(files) = log::checkpoint::files_of(self.workspace, &checkpoint) else {
            return Vec::new();
        };
        let mut undone = Vec::new();
        let plan = files.get(StateFile::Plan.name()).cloned();
        if let Some(then) = plan.and_then(|bytes| Document::from_bytes(bytes).ok()).map(Plan::read)
        {
            for step in &self.plan.steps {
                let same = |known: &&Step| match (&known.id, &step.id) {
                    (Some(one), Some(other)) => one == other,
                    _ => known.number == step.number && known.title == step.title,
                };
                let is_finished = |step: &Step| self.role(step).is_some_and(StepRole::is_finished);
                match then.steps.iter().find(same) {
                    None => undone.push(format!("the new step {} ({})", step.number, step.title)),
                    Some(known) if is_finished(step) && !is_finished(known) => {
                        undone.push(format!("the end of step {} ({})", step.number, step.title));
                    }
                    Some(_) => {}
                }
            }
        }
        for file in [StateFile::Context, StateFile::Variables, StateFile::Constraints] {
            let now = self.view.bytes(file.name()).unwrap_or_default();
            let then = files.get(file.name()).map(Vec::as_slice).unwrap_or_default();
            let known: std::collections::HashSet<&[u8]> = then.split(|b| *b == b'\n').collect();
            let new = now.split(|b| *b == b'\n').filter(|line| !known.contains(line)).count();
            if now != then {
                let lines = counted(new, "line", "lines");
                undone.push(format!("{lines} of {file}"));
            }
        }
        undone
    }

    /// Unfinished steps that depend on this one, or whose inputs use what it gives.
    fn needed_by(&self, step: &Step) -> Vec<u32> {
        let number = format!("steps.{}.", step.number);
        let by_id = step.id.as_ref().map(|id| [format!("steps.{id}."), format!("outputs.{id}.")]);
        let uses = |text: &str| {
            text.contains("{{")
                && (text.contains(&number)
                    || by_id.iter().flatten().any(|path| text.contains(path.as_str())))
        };
        let others = self.plan.steps.iter().filter(|other| other.offset != step.offset);
        let waiting = others.filter(|other| self.role(other) == Some(StepRole::Open));
        waiting
            .filter(|other| {
                let named = other.depends_on.iter().any(|wanted| step.is(wanted));
                named || other.details().inputs.iter().any(|(_, text)| uses(text))
            })
            .map(|other| other.number)
            .collect()
    }

    /// How often a recovery went back to this checkpoint already. The plan cannot tell: its
    /// attempts went back, too.
    fn rolled_back(&self, checkpoint: Option<&CheckpointSummary>) -> usize {
        let Some(checkpoint) = checkpoint else { return 0 };
        let back = |entry: &&Entry| {
            entry.kind == EntryKind::Restore
                && entry.field("recovery").is_some()
                && entry.field("checkpoint") == Some(checkpoint.name.as_str())
        };
        self.entries.iter().filter(back).count()
    }

    fn attempts(&self) -> Vec<Attempt> {
        let steps = self.entries.iter().filter(|entry| entry.kind == EntryKind::Step);
        let attempt = |entry: &Entry| Attempt {
            step: entry.field("step").unwrap_or(&entry.title).to_owned(),
            failed: entry.is_failure(),
            error: entry.error().unwrap_or_default().to_owned(),
            class: entry.field("error_class").and_then(ErrorClass::parse),
        };
        steps.map(attempt).collect()
    }
}

/// The files that the texts of a step name.
fn wanted_files(step: &Step, last_action: Option<&str>) -> Vec<WantedFile> {
    let mut wanted: Vec<WantedFile> = Vec::new();
    let mut take = |text: &str, named_in: &'static str| {
        for path in named_paths(text) {
            if !wanted.iter().any(|known| known.path == path) {
                wanted.push(WantedFile { path, named_in });
            }
        }
    };
    take(step.details().side_effects.as_deref().unwrap_or_default(), "side_effects");
    for (name, text) in &step.details().expected_outputs {
        take(name, "expected_outputs");
        take(text, "expected_outputs");
    }
    take(last_action.unwrap_or_default(), "last_action");
    if writes_something(&step.title) {
        take(&step.title, "title");
    }
    wanted
}
