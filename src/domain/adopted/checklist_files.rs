//! The checklist files of an adopted state, of which only the sections that are needed are read.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use super::{Adopted, FilesByName, TaskStep};
use crate::{
    domain::{
        ModelError,
        checklist::{Checklist, StepForm, Task},
    },
    text::markdown::{Document, HeadingLine},
};

/// A checklist file, or one section of it.
#[derive(Clone, Debug)]
pub(crate) struct ChecklistFile {
    /// The text of the file.
    pub document: Arc<Document>,
    pub tasks: Arc<Checklist>,
    /// The number of tasks in the file before these.
    pub first: usize,
}

impl ChecklistFile {
    /// The task of a step.
    pub(super) fn task(&self, one: &TaskStep) -> Option<&Task> {
        self.tasks.tasks.get(one.task.checked_sub(self.first)?)
    }
}

/// The headings of a file whose sections can be read one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListHeadings {
    /// The number of sections.
    pub sections: usize,
    /// The headings as a table.
    pub lines: Vec<u8>,
}

impl ListHeadings {
    /// The headings of a file that was read whole; `None` if its sections cannot be read alone.
    fn of(list: &ChecklistFile, form: StepForm) -> Option<Self> {
        if form == StepForm::Heading || list.tasks.tasks.iter().any(|task| task.is_word) {
            return None;
        }
        let mut lines = Vec::new();
        for line in list.document.contents()? {
            line.write(&mut lines)?;
        }
        Some(Self { sections: list.document.section_count(), lines })
    }

    fn document(&self, source: String) -> Option<Document> {
        let mut rest = self.lines.as_slice();
        let lines = std::iter::from_fn(|| HeadingLine::read(&mut rest));
        Document::with_contents(source.into(), self.sections, lines)
    }
}

/// The index of a file and, unless it was read whole, the number of a section.
type Key = (usize, Option<usize>);

/// The checklist files.
#[derive(Debug, Default)]
pub(crate) struct ChecklistFiles {
    /// Their headings, if they are known.
    headings: Vec<Option<Arc<ListHeadings>>>,
    /// What has been read so far.
    read: Mutex<BTreeMap<Key, Option<ChecklistFile>>>,
}

impl ChecklistFiles {
    pub(super) fn new(headings: Vec<Option<ListHeadings>>) -> Self {
        let headings = headings.into_iter().map(|headings| headings.map(Arc::new)).collect();
        Self { headings, ..Self::default() }
    }

    /// The same after edits of some files, of which those in `longer` have another length now.
    pub(super) fn edited(&self, changed: &BTreeSet<usize>, longer: &BTreeSet<usize>) -> Self {
        let headings = self.headings.iter().enumerate();
        let headings = headings.map(|(at, one)| one.clone().filter(|_| !longer.contains(&at)));
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let read = read.iter().filter(|((file, _), _)| !changed.contains(file));
        let read = read.map(|(at, list)| (*at, list.clone())).collect();
        Self { headings: headings.collect(), read: Mutex::new(read) }
    }

    fn known(&self, at: Key) -> Option<Option<ChecklistFile>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).get(&at).cloned()
    }

    pub(super) fn put(&self, at: Key, list: Option<ChecklistFile>) -> Option<ChecklistFile> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.insert(at, list.clone());
        list
    }

    /// The headings of a file, if they are known or it was read as a whole.
    pub(super) fn headings(&self, file: usize, form: StepForm) -> Option<Arc<ListHeadings>> {
        let known = self.headings.get(file).cloned().flatten();
        known.or_else(|| self.known((file, None))??.headings(form))
    }
}

impl ChecklistFile {
    fn headings(&self, form: StepForm) -> Option<Arc<ListHeadings>> {
        ListHeadings::of(self, form).map(Arc::new)
    }
}

impl Adopted<'_> {
    /// The tasks of one file.
    pub(super) fn list(&self, name: &str, bytes: &[u8]) -> Result<ChecklistFile, ModelError> {
        let document = Document::from_bytes(bytes.to_vec()).map_err(|error| {
            ModelError::BadValue { message: format!("`{name}`: {error}"), hint: None }
        })?;
        Ok(self.list_of(Arc::new(document)))
    }

    /// The tasks of a file that was read.
    pub(super) fn list_of(&self, document: Arc<Document>) -> ChecklistFile {
        let tasks = Arc::new(Checklist::read(&document, self.grammar()));
        ChecklistFile { document, tasks, first: 0 }
    }

    /// A file with all of its tasks; `None` if it is missing or cannot be read.
    pub(crate) fn whole_file(
        &self,
        raw: &FilesByName,
        lists: &ChecklistFiles,
        file: usize,
    ) -> Option<ChecklistFile> {
        if let Some(known) = lists.known((file, None)) {
            return known;
        }
        let name = self.layout.plan.get(file)?.file.as_str();
        lists.put((file, None), self.list(name, raw.get(name)?).ok())
    }

    /// The section that contains a step's task if it can be read alone, else the whole file.
    pub(super) fn list_containing(
        &self,
        raw: &FilesByName,
        lists: &ChecklistFiles,
        task_steps: &[TaskStep],
        one: &TaskStep,
    ) -> Option<ChecklistFile> {
        let known = lists.known((one.file, None));
        if let Some(known) = known.or_else(|| lists.known((one.file, Some(one.section)))) {
            return known;
        }
        match self.section_containing(raw, lists, task_steps, one) {
            Some(list) => lists.put((one.file, Some(one.section)), Some(list)),
            None => self.whole_file(raw, lists, one.file),
        }
    }

    fn section_containing(
        &self,
        raw: &FilesByName,
        lists: &ChecklistFiles,
        task_steps: &[TaskStep],
        one: &TaskStep,
    ) -> Option<ChecklistFile> {
        let headings = lists.headings.get(one.file)?.as_ref()?;
        let bytes = raw.get(self.layout.plan.get(one.file)?.file.as_str())?;
        let document = headings.document(std::str::from_utf8(bytes).ok()?.to_owned())?;
        let section = document.nth_section(one.section)?;
        let tasks = Checklist::of_section(&document, self.grammar(), section);
        let start = task_steps.partition_point(|other| other.file < one.file);
        let here = task_steps.get(start..)?.iter().take_while(|other| other.file == one.file);
        let mut here = here.filter(|other| other.section == one.section).map(|other| other.task);
        let first = here.next()?;
        // A task may depend on one in another section.
        let is_alone = tasks.tasks.iter().all(|task| task.depends_on.is_empty());
        let is_whole = is_alone && here.count() + 1 == tasks.tasks.len();
        let list = ChecklistFile { document: Arc::new(document), tasks: Arc::new(tasks), first };
        is_whole.then_some(list)
    }
}
