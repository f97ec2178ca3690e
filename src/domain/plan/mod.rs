//! plan.md: the goal, the status and the steps.

pub(crate) mod bookkeeping;
pub(crate) mod dependencies;
pub(in crate::domain) mod edit;
pub(in crate::domain) mod groups;
pub(crate) mod labels;
pub(in crate::domain) mod positions;
pub(in crate::domain) mod progress;
pub(crate) mod read;
pub(in crate::domain) mod renumber;
mod reorder;
pub(in crate::domain) mod review;
#[cfg(test)]
mod samples;
pub(crate) mod step;

use std::{borrow::Cow, ops::Range};

use serde::Serialize;

use self::{
    dependencies::{StepLabel, StepLabels},
    read::{field_lines, locate::locate},
    step::heading::Heading,
};
use crate::{
    domain::{ErrorCode, ModelError, Problem, Review, StateFile, Step, StepId, StepRef},
    text::{
        Place,
        display::counted,
        markdown::{Document, ItemId, LookupError, SectionId, is_placeholder},
    },
};

const FILE: StateFile = StateFile::Plan;

/// The fields under *Metadata* as written; placeholders count as absent.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Metadata {
    /// The name of this execution.
    pub execution_id: Option<String>,
    pub goal: Option<String>,
    /// Where the execution is in its lifecycle.
    pub status: Option<String>,
    /// The number of the current step.
    pub current_step: Option<String>,
    /// When it began.
    pub start_time: Option<String>,
    /// When it ended.
    pub completed_at: Option<String>,
    /// When a step or the plan changed last.
    pub last_updated: Option<String>,
    /// `EXECUTION` or `SIMULATION`.
    pub mode: Option<String>,
    /// Other fields.
    pub other: Vec<(String, String)>,
}

impl Metadata {
    /// The kind of task, such as `legal_tasks`.
    pub(crate) fn task_type(&self) -> Option<&str> {
        let found = self.other.iter().find(|(key, _)| key == "task_type");
        found.map(|(_, task)| task.as_str())
    }

    /// Why the plan is paused.
    pub(crate) fn paused_because(&self) -> Option<&str> {
        self.other.iter().find(|(key, _)| key == "paused_because").map(|(_, why)| why.as_str())
    }
}

/// A plan and the document it was read from.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The text with its spans.
    pub document: Document,
    /// The title after `Execution Plan:`.
    pub title: String,
    /// The metadata.
    pub metadata: Metadata,
    /// The steps in the order of the file.
    pub steps: Vec<Step>,
    /// Questions to a person, decided or not.
    pub reviews: Vec<Review>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

impl Plan {
    /// Reads the plan out of a document.
    pub fn read(document: Document) -> Self {
        let mut plan = Self::around(document, Vec::new());
        plan.read_steps();
        plan.note_missing_metadata();
        plan
    }

    /// The plan of a document whose steps are known already.
    fn around(document: Document, steps: Vec<Step>) -> Self {
        let mut plan = Self {
            title: title(&document),
            metadata: Metadata::default(),
            steps,
            reviews: review::read(&document),
            problems: Vec::new(),
            document,
        };
        plan.read_metadata();
        plan
    }

    /// An empty plan, in place of one that cannot be read.
    pub fn empty() -> Self {
        Self {
            document: Document::empty(),
            title: String::new(),
            metadata: Metadata::default(),
            steps: Vec::new(),
            reviews: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// The section that holds the metadata: *Metadata*, or the title's own section.
    pub fn metadata_section(&self) -> Option<SectionId> {
        metadata_section(&self.document)
    }

    /// Whether the plan is empty, as after an accident in an editor.
    pub(crate) fn has_lost_metadata(&self) -> bool {
        self.problems.iter().any(Problem::is_lost_plan)
    }

    /// The section that new steps go into.
    pub fn steps_section(&self) -> Option<SectionId> {
        self.document.section_titled("Steps")
    }

    /// The step that `wanted` names.
    ///
    /// # Errors
    /// There is none, or its number or id appears more than once.
    pub fn step(&self, wanted: &StepRef) -> Result<&Step, ModelError> {
        let mut found = self.steps.iter().filter(|step| step.is(wanted));
        let Some(first) = found.next() else { return Err(self.no_such_step(wanted)) };
        let Some(second) = found.next() else { return Ok(first) };
        let places = [first, second].map(|step| self.document.place(step.offset)).to_vec();
        Err(ModelError::Ambiguous {
            file: FILE,
            message: format!(
                "`{wanted}` is ambiguous: it is the step at {FILE}:{} and {FILE}:{}",
                places[0], places[1]
            ),
            places,
            hint: match [first, second].map(|step| step.id.as_ref()) {
                [Some(one), Some(other)] if one != other => format!(
                    "name it by its id, `{one}` or `{other}`, or let `statedir check --fix` give the \
                     later one a number of its own"
                ),
                _ => "`statedir check --fix` gives the later one a number of its own".to_owned(),
            },
        })
    }

    /// The step with that id.
    pub fn step_by_id(&self, id: &StepId) -> Option<&Step> {
        self.steps.iter().find(|step| step.id.as_ref() == Some(id))
    }

    /// The step before this one that has the same id, if it is a copy.
    pub fn original_of(&self, step: &Step) -> Option<&Step> {
        let id = step.id.as_ref()?;
        self.step_by_id(id).filter(|first| first.offset != step.offset)
    }

    /// Makes sure that no other step has the same id, because data is stored under it.
    ///
    /// # Errors
    /// Another step has the same id.
    pub fn refuse_copied(&self, step: &Step) -> Result<(), ModelError> {
        let same = |other: &&Step| {
            other.id.is_some() && other.id == step.id && other.offset != step.offset
        };
        let Some(other) = self.steps.iter().find(same) else { return Ok(()) };
        let message = format!("{} and step {} have the same id", step.name(), other.number);
        let later = if step.offset > other.offset { step } else { other };
        let problem = Problem::error(ErrorCode::DuplicateId, FILE, message)
            .at(self.field_place(later, "id"))
            .hint("`statedir check --fix` gives the later one a new id");
        Err(ModelError::Problem(Box::new(problem)))
    }

    /// Where the step's heading is.
    pub fn place(&self, step: &Step) -> Place {
        self.document.place(step.offset)
    }

    /// Where a field of the step is, or its heading if the field does not exist.
    pub fn field_place(&self, step: &Step, key: &str) -> Place {
        match self.step_field(step, key) {
            Ok(Some(item)) => self.document.place(self.document.item(item).value_span.start),
            _ => self.place(step),
        }
    }

    /// A field of the step.
    ///
    /// # Errors
    /// The field appears more than once.
    pub(crate) fn step_field(&self, step: &Step, key: &str) -> Result<Option<ItemId>, ModelError> {
        let found = match step.item {
            Some(item) => self.document.child(item, key),
            None => self.document.field(step.section, key),
        };
        found.map_err(|error: LookupError| ModelError::lookup(FILE, error))
    }

    /// The byte range of the step with everything in it.
    pub(crate) fn extent(&self, step: &Step) -> Range<usize> {
        match step.item {
            Some(item) => self.document.item(item).span.clone(),
            None => self.document.section(step.section).extent.clone(),
        }
    }

    /// The first step that is nested in this step.
    pub(crate) fn inside(&self, step: &Step) -> Option<&Step> {
        let extent = self.extent(step);
        self.steps.iter().find(|other| other.offset > step.offset && extent.contains(&other.offset))
    }

    /// Where a metadata field is.
    pub fn metadata_place(&self, key: &str) -> Place {
        let item = self
            .metadata_section()
            .and_then(|section| self.document.field(section, key).ok().flatten());
        let field_lines = || self.metadata_lines().into_iter().find(|found| found.key == key);
        let start = match item {
            Some(item) => self.document.item(item).value_span.start,
            None => field_lines().map_or(0, |found| found.value.start),
        };
        self.document.place(start)
    }

    fn no_such_step(&self, wanted: &StepRef) -> ModelError {
        let hint = match (self.document.hidden(), self.steps.len()) {
            (Some(hidden), _) => hidden.to_string(),
            (None, 0) => {
                "the plan has no steps yet: `statedir step add --help` shows how to add one"
                    .to_owned()
            }
            (None, 1) => "the plan has 1 step: `statedir step list`".to_owned(),
            (None, count) => format!("the plan has {count} steps: `statedir step list`"),
        };
        let hint = match wanted.range() {
            Some(range) => format!(
                "name the steps one by one, such as `{} {}`; {hint}",
                range.start(),
                range.end()
            ),
            None => hint,
        };
        let message = format!("there is no step `{wanted}`");
        ModelError::NotFound { file: FILE, message, hint: Some(hint) }
    }

    fn read_metadata(&mut self) {
        let Some(section) = self.metadata_section() else { return };
        let mut metadata = Metadata::default();
        let mut seen: Vec<Cow<'_, str>> = Vec::new();
        for &item in self.document.items(section) {
            let Some(key) = key_of(&self.document, item) else { continue };
            let value = match is_metadata_line(&key) {
                true => line_of(&self.document, item),
                false => value_of(&self.document, item),
            };
            if seen.contains(&key) {
                self.problems.push(duplicate(&self.document, item, &key));
                continue;
            }
            let slot = match &*key {
                "execution_id" => &mut metadata.execution_id,
                "goal" => &mut metadata.goal,
                "status" => &mut metadata.status,
                "current_step" => &mut metadata.current_step,
                "start_time" => &mut metadata.start_time,
                "completed_at" => &mut metadata.completed_at,
                "last_updated" => &mut metadata.last_updated,
                "mode" => &mut metadata.mode,
                _ => {
                    metadata.other.push((key.to_string(), self.document.value(item)));
                    seen.push(key);
                    continue;
                }
            };
            *slot = value;
            seen.push(key);
        }
        for found in self.metadata_lines() {
            let slot = match found.key {
                "goal" => &mut metadata.goal,
                "status" => &mut metadata.status,
                _ => &mut metadata.mode,
            };
            slot.get_or_insert_with(|| self.document.source()[found.value].to_owned());
        }
        self.metadata = metadata;
    }

    /// Reports missing metadata: an error only if the plan has no other content either.
    fn note_missing_metadata(&mut self) {
        if !self.steps.is_empty() || self.metadata_section().is_some() {
            return;
        }
        let (message, boxes) = ("there is no `Metadata` section", self.unread_boxes());
        let problem = match (boxes, self.document.section_count()) {
            (0, 0..=2) => Problem::error(ErrorCode::NoMetadata, FILE, message)
                .hint("add `## Metadata` with a `- **status**: …` line"),
            (0, _) => Problem::warning(ErrorCode::NoMetadata, FILE, message)
                .hint("`statedir step add --help` shows how to add steps"),
            (boxes, _) => {
                let boxes = counted(boxes, "checkbox", "checkboxes");
                let message = format!("{boxes}, no steps known");
                Problem::warning(ErrorCode::NoMetadata, FILE, message)
                    .hint("`statedir adopt` works in the list that is there")
            }
        };
        self.problems.push(problem);
    }

    fn read_steps(&mut self) {
        let document = &self.document;
        let mut dependencies = Vec::new();
        for found in locate(document) {
            let (step, list) = step::read::read(document, found, &mut self.problems);
            dependencies.extend(list.map(|(item, list)| (self.steps.len(), item, list)));
            self.steps.push(step);
        }
        // Dependencies can name titles, so they are parsed after all steps.
        let names = StepLabels::from(self.names());
        let parse = |list: &String| dependencies::parse(list, &names);
        let parsed: Vec<_> = dependencies.iter().map(|(_, _, list)| parse(list)).collect();
        drop(names);
        for ((at, item, _), found) in dependencies.into_iter().zip(parsed) {
            match found {
                Ok(found) => {
                    self.steps[at].depends_on = found.into_iter().map(|one| one.step).collect();
                }
                Err(error) => {
                    let code = ErrorCode::BadDependency;
                    self.problems.push(at_value(&self.document, item, code, error.to_string()));
                }
            }
        }
    }

    /// The steps as lists of dependencies can name them.
    pub(crate) fn names(&self) -> Vec<StepLabel<'_>> {
        let mut names = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let id = step.id.as_ref().map(StepId::as_str);
            names.push(StepLabel { number: step.number, id, title: step.title() });
        }
        names
    }
}

/// *Metadata*, or the text before or directly under the title if it has a status or a goal.
pub(in crate::domain) fn metadata_section(document: &Document) -> Option<SectionId> {
    document.section_titled("Metadata").or_else(|| {
        let holds_field = |id: &SectionId| {
            let has = |key: &str| matches!(document.field(*id, key), Ok(Some(_)));
            !says_step(document, *id)
                && (has("status") || has("goal") || field_lines::has_metadata(document, *id))
        };
        [Some(document.root()), document.title_section()].into_iter().flatten().find(holds_field)
    })
}

fn title(document: &Document) -> String {
    let heading = document.title_section().map(|id| document.section(id));
    let text = heading.map(|section| section.title).unwrap_or_default();
    let rest = text.split_once(':').filter(|(kind, _)| kind.starts_with("Execution "));
    rest.map_or(text, |(_, title)| title.trim()).to_owned()
}

fn says_step(document: &Document, section: SectionId) -> bool {
    Heading::read(document, section, false).is_some()
}

/// The key in the spelling used for lookups: `Tool Mapping` is `tool_mapping`.
fn key_of(document: &Document, item: ItemId) -> Option<Cow<'_, str>> {
    let key = document.item(item).key.as_deref()?.trim();
    if key.bytes().any(|byte| byte.is_ascii_uppercase() || matches!(byte, b' ' | b'-')) {
        return Some(Cow::Owned(key.to_ascii_lowercase().replace([' ', '-'], "_")));
    }
    Some(Cow::Borrowed(key))
}

/// The value, unless it is empty or a placeholder.
fn value_of(document: &Document, item: ItemId) -> Option<String> {
    if is_placeholder(document.raw_value(item)) {
        return None;
    }
    Some(document.value(item)).filter(|value| !value.is_empty())
}

/// The same for a field that this program writes as one line: text that somebody typed right below is
/// not a part of it.
fn line_of(document: &Document, item: ItemId) -> Option<String> {
    value_of(document, item).map(|_| document.own_lines(item)).filter(|value| !value.is_empty())
}

/// Whether a field of the metadata is one that this program keeps in a line.
fn is_metadata_line(key: &str) -> bool {
    matches!(
        key,
        "status" | "current_step" | "start_time" | "completed_at" | "last_updated" | "mode"
    )
}

fn at_value(document: &Document, item: ItemId, code: ErrorCode, message: String) -> Problem {
    let place = document.place(document.item(item).value_span.start);
    Problem::error(code, FILE, message).at(place)
}

fn duplicate(document: &Document, item: ItemId, key: &str) -> Problem {
    let place = document.place(document.item(item).span.start);
    Problem::error(
        ErrorCode::DuplicateField,
        FILE,
        format!("`{key}` appears more than once in its section"),
    )
    .at(place)
    .hint("keep one of them")
}

/// Looks up a field that must not be ambiguous.
pub(crate) fn field(
    document: &Document,
    section: SectionId,
    key: &str,
) -> Result<Option<ItemId>, ModelError> {
    document.field(section, key).map_err(|error: LookupError| ModelError::lookup(FILE, error))
}
