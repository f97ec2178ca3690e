//! A plan that lives in somebody else's checklists.
//!
//! The marker of a task says what it can; what it cannot say (claims, attempts, results, a failure)
//! is kept in a file of our own, a plan with the tasks that have something to tell. Both together
//! are composed into the text of a plan, which everything above reads and edits as any other; what
//! was edited is then taken apart again into markers and that file. See [`project`].

mod bind;
mod compose;
mod insert;
mod project;
mod prose;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

pub(crate) use self::project::Change;
use super::{
    ModelError, StateFile, StepId, Workflow,
    checklist::{Checklist, Grammar},
    layout::ForeignLayout,
};
use crate::text::markdown::Document;

/// The files of a state, by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// One file with tasks.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// Its text.
    pub document: Arc<Document>,
    /// Its tasks.
    pub tasks: Arc<Checklist>,
}

/// A task as a step of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Which of the files it is in.
    pub file: usize,
    /// Which of the tasks there.
    pub task: usize,
    /// The id of the step.
    pub id: StepId,
    /// Its number.
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

/// What the files of an adopted state come to.
#[derive(Clone, Debug)]
pub(crate) struct Composed {
    /// The files of a native state.
    pub files: Files,
    /// The files with tasks; `None` for one that is not there.
    pub lists: Vec<Option<List>>,
    /// Every task as a step, in order.
    pub bound: Vec<Bound>,
}

impl Adopted<'_> {
    fn grammar(&self) -> &Grammar {
        &self.layout.grammar
    }

    /// The files of a native state that say the same as `raw`.
    pub(crate) fn compose(&self, raw: &Files) -> Result<Composed, ModelError> {
        let mut lists = Vec::with_capacity(self.layout.plan.len());
        for one in &self.layout.plan {
            lists.push(match raw.get(one.file.as_str()) {
                Some(bytes) => Some(self.list(one.file.as_str(), bytes)?),
                None => None,
            });
        }
        self.composed(raw, lists)
    }

    /// The tasks of one file.
    fn list(&self, name: &str, bytes: &[u8]) -> Result<List, ModelError> {
        let document = Document::from_bytes(bytes.to_vec()).map_err(|error| {
            ModelError::BadValue { message: format!("`{name}`: {error}"), hint: None }
        })?;
        let tasks = Arc::new(Checklist::of_tasks(&document, self.grammar()));
        Ok(List { document: Arc::new(document), tasks })
    }

    fn composed(&self, raw: &Files, lists: Vec<Option<List>>) -> Result<Composed, ModelError> {
        let bound = self.bind(&lists);
        let plan = self.plan_text(raw, &lists, &bound)?;
        let mut files = self.compose_but_plan(raw);
        files.insert(StateFile::Plan.name().to_owned(), plan.into_bytes());
        Ok(Composed { files, lists, bound })
    }

    /// The files of a native state that say the same as `raw`, but for the plan.
    pub(crate) fn compose_but_plan(&self, raw: &Files) -> Files {
        let mut files = Files::new();
        let mut put = |file: StateFile, bytes: Vec<u8>| files.insert(file.name().to_owned(), bytes);
        put(StateFile::Context, self.with_prose(raw, StateFile::Context).0);
        put(StateFile::Constraints, self.with_prose(raw, StateFile::Constraints).0);
        let variables = raw.get(self.layout.added.variables.as_str());
        put(StateFile::Variables, variables.cloned().unwrap_or_else(|| b"{}\n".to_vec()));
        if let Some(path) = &self.layout.added.workflow
            && let Some(bytes) = raw.get(path.as_str())
        {
            put(StateFile::Workflow, bytes.clone());
        }
        files
    }
}
