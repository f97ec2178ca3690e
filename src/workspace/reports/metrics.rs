//! The numbers of an execution (`statedir metrics`), from plan, variables and history.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{
    breakdown::{self, BreakdownRow},
    dashboard::unless_failing,
    timeline::Timeline,
};
use crate::{
    domain::{Money, PlanRole, StateFile, Step, StepRole},
    history::{Entry, EntryKind, UndoneSteps},
    workspace::{
        BriefRequest, Error, Snapshot, StepTimes, Workspace, environment::millis_between,
        state::FailedAttempt,
    },
};

/// How many of the newest entries the times of single steps are taken from.
const COVERED: usize = 1000;

/// The numbers of an execution.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Metrics {
    /// How many steps there are.
    pub total_steps: usize,
    /// How many are done or left out.
    pub finished_steps: usize,
    /// The same in percent.
    pub percent: u32,
    /// Attempts that came to an end, over all of the history.
    pub attempts: u64,
    pub completed: u64,
    pub failed: u64,
    /// Steps that were left out.
    pub skipped: u64,
    /// Attempts beyond the first, over all steps of the plan.
    pub retries: u32,
    /// Completed attempts among those that completed or failed; `null` before the first.
    pub success_rate: Option<f64>,
    /// Failed attempts since the last success.
    pub consecutive_failures: u64,
    /// Failed attempts in the covered entries, by the class of their error.
    pub failures: BTreeMap<&'static str, u64>,
    /// What was spent.
    pub total_cost: Money,
    /// What may be spent.
    pub budget: Option<Money>,
    /// The time of all attempts.
    pub total_time_ms: u64,
    /// The time from the beginning until now, or until the last step of a plan that has ended.
    pub elapsed_ms: Option<u64>,
    /// When the last step of a plan that has ended was completed.
    pub completed_at: Option<String>,
    /// Reviews, recoveries, tokens and commits.
    #[serde(flatten)]
    pub timeline: Timeline,
    /// Restores, and how often the execution was resumed or recovered in the covered entries.
    pub recoveries: u64,
    /// The bytes of the default brief for each byte of the files it is made from.
    pub compression_ratio: Option<f64>,
    pub history_entries: u64,
    /// Bytes of each file, and of the operation log.
    pub sizes: BTreeMap<String, u64>,
    /// Every step of the plan.
    pub steps: Vec<StepMetrics>,
    /// The same by a field of the steps or by actor, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Breakdown>,
    /// Which entries the times of single steps come from.
    pub step_times_cover: Coverage,
    pub revision: String,
}

/// The numbers by a field of the steps or by actor.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Breakdown {
    /// The field, or `actor`.
    pub field: String,
    /// A row for each of its values.
    pub shares: Vec<BreakdownRow>,
}

/// One step in numbers.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StepMetrics {
    pub number: u32,
    pub id: Option<String>,
    pub title: String,
    /// Its status as written.
    pub status: Option<String>,
    /// How often it was started.
    pub attempts: u32,
    /// The cost of its attempts, from variables.json or the covered entries.
    pub cost: Option<Money>,
    /// The time of its attempts, from the covered entries.
    pub time_ms: Option<u64>,
    /// When it was completed, from the plan or else the covered entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
}

/// How much of the history is covered.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Coverage {
    /// The number of newest entries that were read.
    pub entries: u64,
    /// The number of all entries.
    pub of: u64,
}

impl Workspace {
    /// The execution in numbers, also by a field of the steps or by `actor`.
    pub(crate) fn metrics(&self, by: Option<&str>) -> Result<Metrics, Error> {
        let snapshot = self.read()?;
        let mut metrics = snapshot.metrics(by)?;
        let whole: u64 = metrics.sizes.values().sum();
        let brief = self.brief(&BriefRequest::default())?.brief.text.len();
        metrics.compression_ratio = (whole > 0).then(|| brief as f64 / whole as f64);
        metrics.sizes.insert(StateFile::Log.name().to_owned(), self.store.log_size()?);
        Ok(metrics)
    }
}

impl Snapshot {
    fn metrics(&self, by: Option<&str>) -> Result<Metrics, Error> {
        let overview = self.overview()?;
        let plan = self.plan()?;
        let history = self.facts()?.history.counts;
        let entries = unless_failing(self.recent_entries(COVERED, 1 << 20))?;
        let covered = entries.len() as u64;
        let undone = UndoneSteps::among(&entries);
        let stands = entries.into_iter().filter(|entry| !undone.contains(&entry.offset));
        let entries: Vec<Entry> = stands.collect();
        let times = StepTimes::of(&entries);
        let is_recovery =
            |entry: &&Entry| entry.title == "Resumed" || entry.kind == EntryKind::Recover;
        let resumed = entries.iter().filter(is_recovery).count() as u64;
        let mut failures: BTreeMap<&'static str, u64> = BTreeMap::new();
        for failed in entries.iter().filter_map(FailedAttempt::of) {
            *failures.entry(failed.class.word()).or_default() += 1;
        }
        let costs = self.step_costs(&entries);
        let timeline = Timeline::of(&plan, &entries);
        // Older versions recorded it in the history only.
        let workflow = self.workflow()?;
        let is_done = |step: &Step| workflow.role_of(step) == Some(StepRole::Done);
        let logged = |step: &Step, id: &String| {
            timeline.completed_at.get(id).filter(|_| is_done(step)).cloned()
        };
        let step = |step: &Step| {
            let id = step.id.as_ref().map(ToString::to_string);
            StepMetrics {
                number: step.number,
                title: step.title.clone(),
                status: step.status.clone(),
                attempts: step.attempts,
                cost: id.as_ref().and_then(|id| costs.get(id)).copied(),
                time_ms: id.as_deref().and_then(|id| times.total(id)),
                completed_at: step.completed_at.clone().or_else(|| logged(step, id.as_ref()?)),
                id,
            }
        };
        let steps: Vec<StepMetrics> = plan.steps.iter().map(step).collect();
        let roles = overview.steps.readiness().roles();
        let breakdown = |field: &str| Breakdown {
            field: field.to_owned(),
            shares: match field {
                "actor" => breakdown::by_actor(&entries),
                field => breakdown::by_field(field, &plan, roles, &steps),
            },
        };
        let by = by.map(breakdown);
        let has_ended = matches!(overview.role, Some(PlanRole::Succeeded | PlanRole::Failed));
        let written = plan.metadata.completed_at.clone();
        let completed_at = written.or_else(|| timeline.last_completion().cloned());
        let completed_at = completed_at.filter(|_| has_ended);
        let began = overview.start_time.as_deref();
        let elapsed_ms = began.and_then(|began| self.elapsed_ms(began, completed_at.as_deref()));
        Ok(Metrics {
            total_steps: overview.counts.total,
            finished_steps: overview.counts.finished(),
            percent: overview.counts.percent(),
            attempts: history.executions(),
            completed: history.completed,
            failed: history.failed,
            skipped: history.skipped,
            retries: overview.retries(),
            success_rate: history.success_rate(),
            consecutive_failures: history.consecutive_failures,
            failures,
            total_cost: overview.spending.total_cost,
            budget: overview.spending.budget,
            total_time_ms: history.time_ms,
            elapsed_ms,
            completed_at,
            timeline,
            recoveries: history.restores + resumed,
            compression_ratio: None,
            history_entries: history.entries,
            sizes: self.sizes(),
            steps,
            by,
            step_times_cover: Coverage { entries: covered, of: history.entries },
            revision: overview.revision,
        })
    }

    /// Milliseconds from `began` to `ended`, or until now.
    fn elapsed_ms(&self, began: &str, ended: Option<&str>) -> Option<u64> {
        match ended.and_then(|ended| ended.parse().ok()) {
            Some(ended) => millis_between(began, ended),
            None => self.liveness().since(began),
        }
    }

    fn sizes(&self) -> BTreeMap<String, u64> {
        let named =
            |name: &str| self.view().bytes(name).map(|bytes| (name.to_owned(), bytes.len() as u64));
        let mut sizes: BTreeMap<String, u64> =
            StateFile::REWRITABLE.iter().filter_map(|file| named(file.name())).collect();
        sizes.insert(StateFile::History.name().to_owned(), self.view().appended().len());
        sizes
    }

    /// The cost of each step by id, from variables.json, or else from the entries.
    fn step_costs(&self, entries: &[Entry]) -> BTreeMap<String, Money> {
        let mut costs: BTreeMap<String, Money> = BTreeMap::new();
        let mut add = |id: Option<&str>, cost: Option<Money>| {
            if let (Some(id), Some(cost)) = (id, cost) {
                let sum = costs.entry(id.to_owned()).or_default();
                *sum = *sum + cost;
            }
        };
        let listed = self.variables().ok().and_then(|read| read.get("cost_tracking.step_costs"));
        match listed {
            Some(Value::Array(lines)) => {
                lines
                    .iter()
                    .for_each(|line| add(line["id"].as_str(), Money::from_json(&line["cost"])));
            }
            _ => entries.iter().for_each(|entry| {
                add(entry.step_id(), entry.field("actual_cost").and_then(Money::parse));
            }),
        }
        costs
    }
}
