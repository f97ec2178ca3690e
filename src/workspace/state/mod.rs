//! The whole state as one typed document (`statedir state`), and the way back from it to files.

mod document;
mod import;
mod rebuild;
mod source;
mod written;

use std::borrow::Cow;

use serde_json::Value;

pub use self::import::ImportOptions;
pub(super) use self::import::carried;
use self::{document::FileLines, import::is_import};
pub use self::{
    document::{
        BehaviourState, ConstraintLine, ConstraintState, EntryState, FailedAttempt, Identity,
        Located, Metrics, Places, Recovery, SectionState, SettingState, StateDocument, StepState,
        Timing,
    },
    written::{ValueType, Written},
};
use super::{
    Error, Overview, Snapshot, StepOverview, StepOverviews,
    change::OPENING_BYTES,
    overview::{Sources, or_problem},
    snapshot::usage::Pending,
};
use crate::{
    domain::{
        Constraints, Context, ErrorCode, Plan, Problem, StateFile, Step, Variables, Workflow,
    },
    domain::{format_duration, parse_duration_ms},
    history::{Entry, UndoneSteps, last_entries_within},
    recovery::failure::{ErrorClass, classify},
    text::{json::Path, markdown::Document},
};

/// How many of the newest entries of the history the document holds.
const RECENT: usize = 20;

/// The version of the document's shape.
const SCHEMA_VERSION: u32 = 1;

impl StateDocument {
    /// The JSON Schema (draft 2020-12) of the document.
    pub const SCHEMA: &'static str = include_str!("schema.json");
}

impl Snapshot {
    /// Merges all files into one document, with places where asked for.
    ///
    /// A file that is missing or cannot be read leaves its part empty; the problem is listed, and
    /// [`StateDocument::damage`] finds it.
    pub fn state(&self, places: bool) -> StateDocument {
        let mut problems: Vec<Problem> = Vec::new();
        let workflow = self.workflow_or_builtin(&mut problems);
        let plan = or_problem(self.plan(), &mut problems).unwrap_or_else(|| Plan::empty().into());
        let variables = or_problem(self.variables(), &mut problems);
        let context = or_problem(self.context(), &mut problems);
        let constraints = or_problem(self.constraints(), &mut problems);
        let recent = self.check_history().and_then(|()| self.recent(&plan));
        let recent = or_problem(recent, &mut problems).unwrap_or_default();
        let undone = UndoneSteps::among(&recent);
        let attempts = recent.iter().filter(|entry| !undone.contains(&entry.offset));
        let errors = attempts.filter_map(FailedAttempt::of).collect();
        let history = self.facts().unwrap_or_default().history;
        let overview = Overview::new(&Sources {
            revision: self.revision().as_str(),
            plan: &plan,
            workflow: &workflow,
            variables: variables.as_ref(),
            constraints: constraints.as_ref(),
            last_entry: history.newest(),
            history: history.counts,
            pending: Pending::of(self.view()),
            liveness: self.liveness(),
        });
        for problem in plan.problems.iter().cloned().chain(self.conflict_problems()) {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        let variable_places = places.then(|| Places {
            variables: variables.as_ref().map(variable_places).unwrap_or_default(),
        });
        let values = variables.map_or(Value::Null, |read| read.document.into_value());
        let results = values.pointer("/step_data/outputs").and_then(Value::as_object).cloned();
        let resume_from = overview.resume_from().cloned().map(StepOverview::into_written);
        let (metadata, history) = (&plan.metadata, overview.history);
        StateDocument {
            schema_version: SCHEMA_VERSION,
            revision: overview.revision,
            identity: Identity {
                execution_id: metadata.execution_id.clone(),
                title: plan.title.trim().to_owned(),
                goal: metadata.goal.clone(),
                mode: metadata.mode.clone(),
                other: written(&metadata.other),
            },
            status: Some(overview.status),
            progress: overview.counts,
            steps: steps(&plan, &overview.steps, places),
            results: results.unwrap_or_default(),
            errors,
            timing: Timing {
                start_time: metadata.start_time.clone(),
                completed_at: metadata.completed_at.clone(),
                last_updated: overview.last_updated,
                execution_seconds: history.time_ms as f64 / 1000.0,
                execution_time: format_duration(history.time_ms),
            },
            last_checkpoint: self.last_checkpoint(),
            recovery: Recovery {
                attempts: history.failed,
                can_resume: overview.counts.unfinished() > 0 || plan.steps.is_empty(),
                resume_from,
            },
            constraints: constraints
                .map(|read| constraint_state(&read, &workflow, places))
                .unwrap_or_default(),
            places: variable_places,
            variables: values,
            context: context.map(|read| sections(&read, places)).unwrap_or_default(),
            recent_history: recent.into_iter().map(entry_state).collect(),
            metrics: Metrics {
                total_cost: overview.spending.total_cost,
                budget: overview.spending.budget,
                history_entries: history.entries,
                attempts: history.executions(),
                consecutive_failures: history.consecutive_failures,
                history,
            },
            open_reviews: overview.open_reviews,
            reviews: plan.reviews.clone(),
            workflow: self
                .view()
                .bytes(StateFile::Workflow.name())
                .and_then(|bytes| String::from_utf8(bytes.to_vec()).ok()),
            problems,
        }
    }

    /// The newest entries, after the older ones that opened a review which is still open; as far back
    /// as the last import.
    fn recent(&self, plan: &Plan) -> Result<Vec<Entry>, Error> {
        let mut entries = self.recent_entries(RECENT + 1, 1 << 20)?;
        if let Some(at) = entries.iter().rposition(is_import) {
            return Ok(entries.split_off(at + 1));
        }
        let newest = entries.split_off(entries.len().saturating_sub(RECENT));
        let mut entries = Vec::new();
        for review in plan.open_reviews() {
            let opens = |entry: &Entry| entry.opens_review(&review.id);
            if !newest.iter().any(opens) {
                let is_wanted = |entry: &Entry| opens(entry) || is_import(entry);
                let mut history = self.history()?;
                let found = last_entries_within(&mut history, 1, OPENING_BYTES, is_wanted)?;
                entries.extend(found.into_iter().filter(opens));
            }
        }
        entries.sort_by_key(|entry| entry.offset);
        entries.extend(newest);
        Ok(entries)
    }

    /// The lifecycle in force, or the built-in one while that cannot be read.
    fn workflow_or_builtin(&self, problems: &mut Vec<Problem>) -> Cow<'static, Workflow> {
        or_problem(self.workflow(), problems).unwrap_or_else(|| Cow::Borrowed(Workflow::builtin()))
    }
}

impl StateDocument {
    /// The first problem that kept a whole file from being read.
    pub fn damage(&self) -> Option<&Problem> {
        const WHOLE: [ErrorCode; 3] =
            [ErrorCode::FileMissing, ErrorCode::Unreadable, ErrorCode::BadWorkflow];
        self.problems.iter().find(|problem| WHOLE.contains(&problem.code))
    }
}

fn written(pairs: &[(String, String)]) -> Vec<Written> {
    pairs.iter().map(|(name, text)| Written::read(name, text)).collect()
}

fn steps(plan: &Plan, overviews: &StepOverviews, places: bool) -> Vec<StepState> {
    let lines = places.then(|| FileLines::of(StateFile::Plan, plan.document.source()));
    let state = |(step, overview): (&Step, &StepOverview)| StepState {
        place: lines.as_ref().map(|lines| lines.at(step.offset)),
        // A mark or a box may be all that says it.
        status: step
            .status
            .clone()
            .or_else(|| step.heading.mark.is_some().then(|| overview.status.clone())),
        ..step_state(step, overview.is_ready)
    };
    plan.steps.iter().zip(overviews.iter()).map(state).collect()
}

fn step_state(step: &Step, ready: bool) -> StepState {
    let seconds = step.details().estimated_time.as_deref().and_then(parse_duration_ms);
    StepState {
        number: step.number,
        id: step.id.as_ref().map(ToString::to_string),
        title: step.title.clone(),
        status: step.status.clone(),
        component: step.details().component.clone(),
        tool_mapping: step.details().tool_mapping.clone(),
        inputs: written(&step.details().inputs),
        expected_outputs: written(&step.details().expected_outputs),
        estimated_cost: step.details().estimated_cost.clone(),
        estimated_cost_amount: step.cost(),
        estimated_time: step.details().estimated_time.clone(),
        estimated_time_seconds: seconds.map(|ms| ms as f64 / 1000.0),
        side_effects: step.details().side_effects.clone(),
        depends_on: step.depends_on.clone(),
        attempts: step.attempts,
        failures: step.failures,
        claimed_by: step.claimed_by.as_ref().map(ToString::to_string),
        started_at: step.started_at.clone(),
        completed_at: step.completed_at.clone(),
        result: step.details().result.clone(),
        description: step.details().description.clone(),
        other: written(&step.details().other),
        ready,
        place: None,
    }
}

fn constraint_state(read: &Constraints, workflow: &Workflow, places: bool) -> ConstraintState {
    let document = &read.document;
    let lines = places.then(|| FileLines::of(StateFile::Constraints, document.source()));
    let place = |item| lines.as_ref().map(|lines| lines.at(document.item(item).span.start));
    let setting = |setting: &crate::domain::Setting| {
        let modifier = workflow.modifier(&setting.name);
        let mut written = Written::setting(&setting.name, setting.value.as_deref(), modifier);
        written.place = place(setting.item);
        SettingState { group: setting.group, written }
    };
    let line = |bullet: &crate::domain::Bullet| ConstraintLine {
        number: bullet.number,
        text: bullet.text.clone(),
        place: place(bullet.item),
    };
    let behaviour = |behaviour: &crate::domain::Behaviour| BehaviourState {
        task_type: behaviour.task_type.clone(),
        text: behaviour.text.clone(),
        place: place(behaviour.item),
    };
    ConstraintState {
        settings: read.settings.iter().map(setting).collect(),
        directives: read.directives.iter().map(line).collect(),
        rules: read.rules.iter().map(line).collect(),
        behaviours: read.behaviours.iter().map(behaviour).collect(),
    }
}

fn sections(context: &Context, places: bool) -> Vec<SectionState> {
    let document = &context.document;
    let lines = places.then(|| FileLines::of(StateFile::Context, document.source()));
    let mut sections = sections_of(document);
    if let Some(lines) = lines {
        let kept = document.sections().filter(|id| is_shown(document, *id));
        for (section, id) in sections.iter_mut().zip(kept) {
            section.place = Some(lines.at(document.section(id).heading.start));
        }
    }
    sections
}

/// All sections; the text above all headings only if there is any.
fn sections_of(document: &Document) -> Vec<SectionState> {
    let mut path: Vec<(u8, String)> = Vec::new();
    let mut sections = Vec::new();
    for id in document.sections().filter(|id| is_shown(document, *id)) {
        let section = document.section(id);
        path.retain(|(level, _)| *level < section.level);
        sections.push(SectionState {
            title: section.title.to_owned(),
            level: section.level,
            path: path.iter().map(|(_, title)| title.clone()).collect(),
            text: Context::said_in(document, id).into_owned(),
            place: None,
        });
        if section.level > 1 {
            path.push((section.level, section.title.to_owned()));
        }
    }
    sections
}

fn is_shown(document: &Document, id: crate::text::markdown::SectionId) -> bool {
    document.section(id).level > 0 || !document.body_text(id).trim().is_empty()
}

fn variable_places(variables: &Variables) -> std::collections::BTreeMap<String, Located> {
    let document = &variables.document;
    let keys = document.keys(&Path::root()).unwrap_or_default();
    let located = |key: String| {
        let line = document.place(&Path::root().join(key.as_str()))?.line;
        Some((key, Located { file: StateFile::Variables, line }))
    };
    keys.into_iter().filter_map(located).collect()
}

fn entry_state(entry: Entry) -> EntryState {
    EntryState {
        id: entry.id.map(|id| id.to_string()),
        kind: entry.kind,
        title: entry.title,
        time: entry.time,
        fields: entry.fields,
        simulation: entry.simulation,
    }
}

impl FailedAttempt {
    /// The attempt that an entry is about, if it failed.
    pub(crate) fn of(entry: &Entry) -> Option<Self> {
        if !entry.is_failure() {
            return None;
        }
        let error = entry.error().unwrap_or_default();
        let written = entry.field("error_class").and_then(ErrorClass::parse);
        let class = written.unwrap_or_else(|| classify(error).class);
        Some(Self {
            step: entry.field("step").unwrap_or(&entry.title).to_owned(),
            time: entry.time.clone(),
            error: if error.is_empty() { "no error was given" } else { error }.to_owned(),
            class,
            recoverable: class.is_recoverable(),
        })
    }
}
