//! The tasks of the files, read as far as they are asked for.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use super::{Adopted, Bound, Files};
use crate::{
    domain::{
        ModelError,
        checklist::{Checklist, StepForm, Task},
        plan::read::table,
    },
    text::markdown::{Document, HeadingLine},
};

/// One file with tasks, or one section of it.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// The text of the file.
    pub document: Arc<Document>,
    /// The tasks.
    pub tasks: Arc<Checklist>,
    /// How many tasks of the file stand before these.
    pub first: usize,
}

impl List {
    /// The task that a step is.
    pub(super) fn task(&self, one: &Bound) -> Option<&Task> {
        self.tasks.tasks.get(one.task.checked_sub(self.first)?)
    }
}

/// The headings of a file whose sections can be read one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outline {
    /// How many sections there are.
    pub sections: usize,
    /// The headings as a table.
    pub lines: Vec<u8>,
}

impl Outline {
    /// The headings of a list that was read as a whole; `None` where a section does not say it all.
    fn of(list: &List, form: StepForm) -> Option<Self> {
        if form == StepForm::Heading || list.tasks.tasks.iter().any(|task| task.is_word) {
            return None;
        }
        let mut lines = Vec::new();
        for line in list.document.contents()? {
            table::write(&mut lines, &line)?;
        }
        Some(Self { sections: list.document.section_count(), lines })
    }

    fn document(&self, source: String) -> Option<Document> {
        let mut rest = self.lines.as_slice();
        let lines = std::iter::from_fn(|| table::read::<HeadingLine<'_>>(&mut rest));
        Document::with_contents(source.into(), self.sections, lines)
    }
}

/// A file with tasks, or one section of it.
type Part = (usize, Option<usize>);

/// The files with tasks.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// Their headings, where they are known.
    outlines: Vec<Option<Arc<Outline>>>,
    /// What was read, by file and section; without a section, the whole file.
    read: Mutex<BTreeMap<Part, Option<List>>>,
}

impl Lists {
    pub(super) fn new(outlines: Vec<Option<Outline>>) -> Self {
        let outlines = outlines.into_iter().map(|outline| outline.map(Arc::new)).collect();
        Self { outlines, ..Self::default() }
    }

    /// The same after some of the files have changed, to other lengths in `longer`.
    pub(super) fn edited(&self, changed: &BTreeSet<usize>, longer: &BTreeSet<usize>) -> Self {
        let outlines = self.outlines.iter().enumerate();
        let outlines = outlines.map(|(at, one)| one.clone().filter(|_| !longer.contains(&at)));
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let read = read.iter().filter(|((file, _), _)| !changed.contains(file));
        let read = read.map(|(at, list)| (*at, list.clone())).collect();
        Self { outlines: outlines.collect(), read: Mutex::new(read) }
    }

    fn known(&self, at: Part) -> Option<Option<List>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).get(&at).cloned()
    }

    pub(super) fn put(&self, at: Part, list: Option<List>) -> Option<List> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.insert(at, list.clone());
        list
    }

    /// The headings of a file, if they are known or it was read as a whole.
    pub(super) fn outline(&self, file: usize, form: StepForm) -> Option<Arc<Outline>> {
        let known = self.outlines.get(file).cloned().flatten();
        known.or_else(|| self.known((file, None))??.outline(form))
    }
}

impl List {
    fn outline(&self, form: StepForm) -> Option<Arc<Outline>> {
        Outline::of(self, form).map(Arc::new)
    }
}

impl Adopted<'_> {
    /// The tasks of one file.
    pub(super) fn list(&self, name: &str, bytes: &[u8]) -> Result<List, ModelError> {
        let document = Document::from_bytes(bytes.to_vec()).map_err(|error| {
            ModelError::BadValue { message: format!("`{name}`: {error}"), hint: None }
        })?;
        Ok(self.list_of(Arc::new(document)))
    }

    /// The tasks of a file that was read.
    pub(super) fn list_of(&self, document: Arc<Document>) -> List {
        let tasks = Arc::new(Checklist::read(&document, self.grammar()));
        List { document, tasks, first: 0 }
    }

    /// A file with all of its tasks; `None` where it is not there or cannot be read.
    pub(crate) fn whole_list(&self, raw: &Files, lists: &Lists, file: usize) -> Option<List> {
        if let Some(known) = lists.known((file, None)) {
            return known;
        }
        let name = self.layout.plan.get(file)?.file.as_str();
        lists.put((file, None), self.list(name, raw.get(name)?).ok())
    }

    /// A list with the task that a step is: the section that it is in, if that can be read alone.
    pub(super) fn list_with(
        &self,
        raw: &Files,
        lists: &Lists,
        bound: &[Bound],
        one: &Bound,
    ) -> Option<List> {
        if lists.known((one.file, None)).is_some() {
            return self.whole_list(raw, lists, one.file);
        }
        if let Some(known) = lists.known((one.file, Some(one.section))) {
            return known;
        }
        match self.section_with(raw, lists, bound, one) {
            Some(list) => lists.put((one.file, Some(one.section)), Some(list)),
            None => self.whole_list(raw, lists, one.file),
        }
    }

    fn section_with(
        &self,
        raw: &Files,
        lists: &Lists,
        bound: &[Bound],
        one: &Bound,
    ) -> Option<List> {
        let outline = lists.outlines.get(one.file)?.as_ref()?;
        let bytes = raw.get(self.layout.plan.get(one.file)?.file.as_str())?;
        let document = outline.document(std::str::from_utf8(bytes).ok()?.to_owned())?;
        let section = document.nth_section(one.section)?;
        let tasks = Checklist::of_section(&document, self.grammar(), section);
        let start = bound.partition_point(|other| other.file < one.file);
        let here = bound.get(start..)?.iter().take_while(|other| other.file == one.file);
        let mut here = here.filter(|other| other.section == one.section).map(|other| other.task);
        let first = here.next()?;
        // A task may wait for one of another section.
        let is_alone = tasks.tasks.iter().all(|task| task.depends_on.is_empty());
        let is_whole = is_alone && here.count() + 1 == tasks.tasks.len();
        let list = List { document: Arc::new(document), tasks: Arc::new(tasks), first };
        is_whole.then_some(list)
    }
}
