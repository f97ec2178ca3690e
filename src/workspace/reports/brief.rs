//! The brief and the memory of the conversation, from as much of the state as can be read.

use std::io;

use crate::brief::{
    self, Brief, BriefSection, Budget, ChangesSince, Format, Memory, Preferences, ProjectMemory,
};
use crate::domain::{ErrorCode, Problem, StateFile, StepRef, layout::LAYOUT_FILE};
use crate::store::StoreError;
use crate::text::shell::in_directory;
use crate::workspace::{ActiveRules, DiffSide, Error, ErrorKind, Snapshot, Workspace, is_absent};

/// A request for a brief.
#[derive(Clone, Debug, Default)]
pub struct BriefRequest {
    /// The most it may cost.
    pub budget: Budget,
    /// How it is written.
    pub format: Format,
    /// Show what changed after this revision: an operation's id, or `@-2`.
    pub since: Option<String>,
    /// Show what this step needs, without conversation and older history.
    pub step: Option<StepRef>,
    /// Leave out what to do next: it is for a reader who does something else.
    pub is_background: bool,
    /// The directory that the commands in it name.
    pub directory: Option<String>,
}

/// A brief, and what could not be read for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Briefed {
    /// The brief.
    pub brief: Brief,
    /// Files that are missing or cannot be read; the brief has the rest.
    pub damaged: Vec<Problem>,
    /// The rules in force, as read for the brief; absent if they cannot be read.
    pub(crate) active_rules: Option<ActiveRules>,
}

impl Workspace {
    /// What a new agent reads first. Files that cannot be read are listed and are not an error.
    ///
    /// # Errors
    /// There is no state, the lock is not free, or the step or revision does not exist.
    pub fn brief(&self, request: &BriefRequest) -> Result<Briefed, Error> {
        let (snapshot, mut damaged) = self.read_leniently()?;
        let asked = request.step.as_ref();
        let most = request.budget.most_lines();
        let (mut material, constraints) = snapshot.material(asked, most, &mut damaged)?;
        if let Some(revision) = &request.since {
            material.changes = Some(self.changes_after(revision)?);
        }
        if request.is_background {
            material.next_move = None;
        }
        if request.step.is_some() {
            material.turns.clear();
            material.entries.clear();
        }
        let mut parts = brief::compose(&material);
        for part in parts.iter_mut().filter(|_| request.is_background) {
            if part.section == BriefSection::WhatToDoNext {
                part.section = BriefSection::CurrentStep;
            }
        }
        if let Some(dir) = &request.directory {
            for note in parts.iter_mut().filter_map(|part| part.note.as_mut()) {
                *note = in_directory(note, dir).into_owned();
            }
        }
        for part in parts.iter_mut().filter(|_| self.layout().is_some()) {
            part.sources = Some(match part.section {
                BriefSection::Goal => LAYOUT_FILE.to_owned(),
                _ => self.sources_of(part.source, snapshot.view()),
            });
        }
        let budget = without_error(request, &damaged);
        let mut brief = brief::fit_budget(&parts, &material.revision, budget, request.format);
        brief.budget = request.budget;
        let active_rules = constraints.map(|constraints| ActiveRules {
            settings: constraints.settings,
            directives: constraints.directives,
            rules: constraints.rules,
            reviews: material.reviews,
        });
        Ok(Briefed { brief, damaged, active_rules })
    }

    /// The state; if a file or the log cannot be read, the rest of it.
    fn read_leniently(&self) -> Result<(Snapshot, Vec<Problem>), Error> {
        let error = match self.read() {
            Ok(snapshot) => return Ok((snapshot, Vec::new())),
            Err(error) => match error.into_kind() {
                ErrorKind::Store(error) => error,
                other => return Err(other.into()),
            },
        };
        if matches!(error, StoreError::LockTimeout { .. } | StoreError::Conflict { .. }) {
            return Err(error.into());
        }
        let (view, failed) = self.store.read_loosely();
        let view = self.native_view(view)?;
        if is_absent(&view) {
            return Err(error.into());
        }
        let mut problems: Vec<Problem> = Vec::new();
        for (name, error) in failed {
            let file = StateFile::from_name(&name).unwrap_or(StateFile::Log);
            let code = code_of(&error, ErrorCode::Unreadable);
            problems.push(Problem::error(code, file, error.to_string()));
        }
        if problems.is_empty() {
            let code = code_of(&error, ErrorCode::LogDamaged);
            problems.push(Problem::error(code, StateFile::Log, error.to_string()));
        }
        Ok((self.snapshot(view), problems))
    }

    fn changes_after(&self, revision: &str) -> Result<ChangesSince, Error> {
        let side = DiffSide::parse(revision);
        let from = match &side {
            DiffSide::Back(count) => self.operation_back(*count)?.seq,
            DiffSide::Operation(id) => self.store.operation(id)?.seq,
            DiffSide::Working | DiffSide::Given(_) => u64::MAX,
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
        Ok(ChangesSince { operations, files, history_grew: diff.history_grew })
    }
}

/// The code of a read error: a failing disk is not damage yet.
fn code_of(error: &StoreError, damage: ErrorCode) -> ErrorCode {
    match error {
        StoreError::Io { source, .. } if source.kind() != io::ErrorKind::PermissionDenied => {
            ErrorCode::Io
        }
        _ => damage,
    }
}

/// The budget without the error object that a JSON answer has if it reports damage.
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

/// How many of the newest entries patterns are taken from.
const PATTERN_ENTRIES: usize = 200;

/// How many turns are searched for long-term decisions and lessons.
const LONG_TURNS: usize = 1000;

/// How many bytes at the end of the history are searched for turns.
const TAIL: u64 = 16 << 20;

impl Snapshot {
    /// The four tiers of memory. Turns are searched for in the last 16 MiB.
    ///
    /// # Errors
    /// The history cannot be read; what else cannot be read is left empty.
    pub(crate) fn memory(&self) -> Result<Memory, Error> {
        let history = self.facts()?.history.counts;
        let turns = self.newest_turns(LONG_TURNS, TAIL, &history)?;
        let entries = self.newest(PATTERN_ENTRIES, |_| true)?;
        let plan = self.plan().ok();
        let understanding = self.context().ok().and_then(|context| {
            let sections = context.sections.into_iter();
            let mut found = sections
                .filter(|section| section.title.eq_ignore_ascii_case("Current Understanding"));
            found.next().map(|section| section.text).filter(|text| !text.is_empty())
        });
        let project = ProjectMemory {
            title: plan.as_ref().map(|plan| plan.title.clone()),
            goal: plan.as_ref().and_then(|plan| plan.metadata.goal.clone()),
            mode: plan.as_ref().and_then(|plan| plan.metadata.mode.clone()),
            understanding,
            context: self.variables().ok().and_then(|read| read.get("project_context")),
        };
        let mut preferences = Preferences::default();
        if let Ok(constraints) = self.constraints() {
            let settings = constraints.settings.into_iter();
            preferences.settings =
                settings.filter_map(|s| Some((s.name.clone(), s.binding()?.into()))).collect();
            preferences.directives = constraints.directives.into_iter().map(|d| d.text).collect();
        }
        let mut memory = brief::memory(&turns, &entries, &history, project, preferences);
        // The cost is the same number in every report.
        if let Ok(overview) = self.overview() {
            memory.long.statistics.total_cost = overview.spending.total_cost;
        }
        Ok(memory)
    }
}
