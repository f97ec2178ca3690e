//! A plan that lives in somebody else's checklists.
//!
//! The marker of a task shows its status. What a marker cannot show (claims, attempts, results,
//! failures) is in a file of our own, a plan with only the tasks that need it. [`compose`] makes the
//! text of a plan from both, which everything above reads and edits like any other plan;
//! [`decompose`] turns the edited plan back into changes of markers and of that file.

mod cache;
mod checklist_files;
mod compose;
mod decompose;
mod ids;
mod insert;
mod own_file;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use self::checklist_files::ChecklistFile;
pub(crate) use self::{
    cache::{CachedPlan, cache_sources},
    checklist_files::ChecklistFiles,
    decompose::{Decomposed, FileEdit},
};
use super::{
    FilesByName, ModelError, StateFile, StepId, Workflow, checklist::Grammar, layout::ForeignLayout,
};
use crate::text::markdown::Document;

/// Files that were read, by name.
pub(crate) type Documents = BTreeMap<String, Arc<Document>>;

/// The step of the plan that a task of a checklist is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskStep {
    /// The index of its file in the layout.
    pub file: usize,
    /// The number of its section in that file.
    pub section: usize,
    /// The index of the task in that file.
    pub task: usize,
    /// The step's id.
    pub id: StepId,
    /// The step's number.
    pub number: u32,
}

/// An adopted state: its layout and the lifecycle in force.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adopted<'a> {
    /// Which file is what.
    pub layout: &'a ForeignLayout,
    /// What statuses are called.
    pub workflow: &'a Workflow,
}

/// The plan composed from the files of an adopted state.
#[derive(Debug)]
pub(crate) struct Composed {
    pub plan: PlanText,
    /// Where each task is in it, in order.
    pub places: Vec<Range<usize>>,
    /// The files with tasks.
    pub lists: ChecklistFiles,
    /// Every task as a step, in order.
    pub task_steps: Vec<TaskStep>,
}

/// The text of a composed plan.
#[derive(Debug)]
pub(crate) enum PlanText {
    /// Composed from the files.
    New(String),
    /// Read from the cache.
    Cached(Arc<CachedPlan>),
}

impl PlanText {
    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::New(text) => text,
            // `CachedPlan::read` made sure that it is text.
            Self::Cached(cached) => std::str::from_utf8(cached.text()).unwrap_or_default(),
        }
    }

    /// The owned text.
    pub(crate) fn into_string(self) -> String {
        match self {
            Self::New(text) => text,
            Self::Cached(_) => self.as_str().to_owned(),
        }
    }
}

impl Adopted<'_> {
    fn grammar(&self) -> &Grammar {
        &self.layout.grammar
    }

    /// Composes the plan from the files in `raw`.
    pub(crate) fn compose(&self, raw: &FilesByName) -> Result<Composed, ModelError> {
        self.compose_reusing(raw, &Documents::new())
    }

    /// The same with documents that have been parsed already.
    pub(crate) fn compose_reusing(
        &self,
        raw: &FilesByName,
        documents: &Documents,
    ) -> Result<Composed, ModelError> {
        let lists = ChecklistFiles::default();
        let mut all = Vec::with_capacity(self.layout.plan.len());
        for (at, one) in self.layout.plan.iter().enumerate() {
            let name = one.file.as_str();
            let read = |bytes: &Vec<u8>| match documents.get(name) {
                Some(document) if document.source().as_bytes() == bytes => {
                    Ok(self.list_of(document.clone()))
                }
                _ => self.list(name, bytes),
            };
            let list = raw.get(name).map(read).transpose()?;
            all.push(lists.put((at, None), list));
        }
        let task_steps = self.assign_ids(&all);
        let text = self.text(raw, &lists, &task_steps, None)?;
        Ok(Composed { plan: PlanText::New(text.text), places: text.places, lists, task_steps })
    }

    /// The files of an equivalent native state.
    pub(crate) fn native(&self, raw: &FilesByName) -> Result<FilesByName, ModelError> {
        let mut files = self.compose_other_files(raw);
        let plan = self.compose(raw)?.plan.into_string().into_bytes();
        files.insert(StateFile::Plan.name().to_owned(), plan);
        Ok(files)
    }

    /// The files of an equivalent native state without the plan.
    pub(crate) fn compose_other_files(&self, raw: &FilesByName) -> FilesByName {
        let mut files = FilesByName::new();
        let mut put = |file: StateFile, bytes: Vec<u8>| files.insert(file.name().to_owned(), bytes);
        put(StateFile::Context, self.with_prose(raw, StateFile::Context).0);
        put(StateFile::Constraints, self.with_prose(raw, StateFile::Constraints).0);
        let variables = raw.get(self.layout.added.variables.as_str());
        put(
            StateFile::Variables,
            variables.cloned().unwrap_or_else(|| StateFile::Variables.blank().to_vec()),
        );
        if let Some(path) = &self.layout.added.workflow
            && let Some(bytes) = raw.get(path.as_str())
        {
            put(StateFile::Workflow, bytes.clone());
        }
        files
    }

    /// The text of context.md or constraints.md: our own file, then the files of the layout, which
    /// are only read; and where those begin.
    pub(super) fn with_prose(&self, raw: &FilesByName, file: StateFile) -> (Vec<u8>, usize) {
        let (own, others) = match file {
            StateFile::Context => (&self.layout.added.context, &self.layout.context),
            _ => (&self.layout.added.constraints, &self.layout.constraints),
        };
        let mut bytes = raw.get(own.as_str()).cloned().unwrap_or_else(|| file.blank().to_vec());
        let end = bytes.len();
        for path in others {
            let Some(text) = raw.get(path.as_str()) else { continue };
            let text = String::from_utf8_lossy(text);
            if text.contains('\0') {
                continue;
            }
            bytes.extend_from_slice(format!("\n\n# {path}\n\n").as_bytes());
            bytes.extend_from_slice(text.trim_start_matches('\u{feff}').trim_end().as_bytes());
            bytes.push(b'\n');
        }
        (bytes, end)
    }

    /// The new text of our own file after an edit of the whole text.
    ///
    /// # Errors
    /// The edit is in a file that is only read.
    pub(super) fn own_prose(
        &self,
        raw: &FilesByName,
        file: StateFile,
        new: &[u8],
    ) -> Result<Vec<u8>, ModelError> {
        let (old, end) = self.with_prose(raw, file);
        let (own, others) = old.split_at(end);
        if let Some(own) = new.strip_suffix(others) {
            return Ok(own.to_vec());
        }
        if let Some(added) = new.strip_prefix(old.as_slice()) {
            return Ok([own, added].concat());
        }
        let files = match file {
            StateFile::Context => &self.layout.context,
            _ => &self.layout.constraints,
        };
        let names: Vec<String> = files.iter().map(|path| format!("`{path}`")).collect();
        Err(ModelError::BadValue {
            message: format!(
                "that text is part of {}, which statedir only reads",
                names.join(", ")
            ),
            hint: Some("edit the file itself; additions are cached in a separate file".to_owned()),
        })
    }
}
