//! A plan that lives in somebody else's checklists.
//!
//! The marker of a task says what it can; what it cannot say (claims, attempts, results, a failure)
//! is kept in a file of our own, a plan with the tasks that have something to tell. Both together
//! are composed into the text of a plan, which everything above reads and edits as any other; what
//! was edited is then taken apart again into markers and that file. See [`project`].

mod bind;
mod compose;
mod insert;
mod kept;
mod lists;
mod project;
mod prose;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use self::lists::List;
pub(crate) use self::{
    kept::{Kept, sources},
    lists::Lists,
    project::{Change, Projected},
};
use super::{ModelError, StateFile, StepId, Workflow, checklist::Grammar, layout::ForeignLayout};
use crate::text::markdown::Document;

/// The files of a state, by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Files that were read, by name.
pub(crate) type Documents = BTreeMap<String, Arc<Document>>;

/// A task as a step of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Which of the files it is in.
    pub file: usize,
    /// The number of the section there.
    pub section: usize,
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
#[derive(Debug)]
pub(crate) struct Composed {
    /// The text of the plan.
    pub plan: PlanText,
    /// Where each task stands in it, in order.
    pub places: Vec<Range<usize>>,
    /// The files with tasks.
    pub lists: Lists,
    /// Every task as a step, in order.
    pub bound: Vec<Bound>,
}

/// The text of a plan that was composed now, or before.
#[derive(Debug)]
pub(crate) enum PlanText {
    /// It was composed now.
    Made(String),
    /// It is part of what was kept.
    Kept(Arc<Kept>),
}

impl PlanText {
    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Made(text) => text,
            // Whether it is text was found out when it was read.
            Self::Kept(kept) => std::str::from_utf8(kept.text()).unwrap_or_default(),
        }
    }

    /// The text as a value of its own.
    pub(crate) fn into_string(self) -> String {
        match self {
            Self::Made(text) => text,
            Self::Kept(_) => self.as_str().to_owned(),
        }
    }
}

impl Adopted<'_> {
    fn grammar(&self) -> &Grammar {
        &self.layout.grammar
    }

    /// The plan that `raw` comes to.
    pub(crate) fn compose(&self, raw: &Files) -> Result<Composed, ModelError> {
        self.compose_with(raw, &Documents::new())
    }

    /// The plan that `raw` comes to, some files of which may have been read.
    pub(crate) fn compose_with(
        &self,
        raw: &Files,
        documents: &Documents,
    ) -> Result<Composed, ModelError> {
        let lists = Lists::default();
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
        let bound = self.bind(&all);
        let text = self.text(raw, &lists, &bound, None)?;
        Ok(Composed { plan: PlanText::Made(text.text), places: text.places, lists, bound })
    }

    /// The files of a native state that say the same as `raw`.
    pub(crate) fn native(&self, raw: &Files) -> Result<Files, ModelError> {
        let mut files = self.compose_but_plan(raw);
        let plan = self.compose(raw)?.plan.into_string().into_bytes();
        files.insert(StateFile::Plan.name().to_owned(), plan);
        Ok(files)
    }

    /// The files of a native state that say the same as `raw`, but for the plan.
    pub(crate) fn compose_but_plan(&self, raw: &Files) -> Files {
        let mut files = Files::new();
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
}
