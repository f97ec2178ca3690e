//! The cached plan of an adopted state, so that long checklists need not be read for every command.
//!
//! The store uses it only for exactly the bytes that it was composed from. If it is missing, or from
//! another version, the files are read.

use std::{borrow::Cow, ops::Range, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    Adopted, ChecklistFiles, Composed, FilesByName, PlanText, TaskStep,
    checklist_files::ListHeadings,
};
use crate::domain::{
    Plan, StepId,
    layout::{ForeignLayout, LAYOUT_FILE},
    plan::read::table::{read, write},
};

/// The version of the cache. Increase its number whenever lists are read or composed differently.
pub(super) const FORMAT: &str = concat!("adopted ", env!("CARGO_PKG_VERSION"), "+4");

#[derive(Serialize, Deserialize)]
struct Preface<'a> {
    format: Cow<'a, str>,
    /// The length of the plan's text in bytes.
    text: usize,
    /// The length of its table in bytes; zero if there is none.
    table: usize,
    files: usize,
    steps: usize,
}

#[derive(Serialize, Deserialize)]
struct Row<'a> {
    file: usize,
    section: usize,
    number: u32,
    id: Cow<'a, str>,
    /// Its length in the text of the plan, where it follows the row before.
    len: usize,
}

/// A cached plan, of which only the preface has been read.
#[derive(Debug)]
pub(crate) struct CachedPlan {
    bytes: Vec<u8>,
    text: Range<usize>,
    table: Range<usize>,
    files: usize,
    steps: usize,
}

/// A part of a cached plan.
#[derive(Debug)]
pub(crate) struct CachedPart {
    plan: Arc<CachedPlan>,
    range: Range<usize>,
}

impl AsRef<[u8]> for CachedPart {
    fn as_ref(&self) -> &[u8] {
        self.plan.bytes.get(self.range.clone()).unwrap_or_default()
    }
}

impl CachedPlan {
    /// Reads a cached plan; `None` if it cannot be used.
    pub(crate) fn read(bytes: Vec<u8>) -> Option<Self> {
        let mut rest = bytes.as_slice();
        let Preface { format, text, table, files, steps } = read(&mut rest)?;
        if format != FORMAT {
            return None;
        }
        let start = bytes.len() - rest.len();
        let text = start..start.checked_add(text)?;
        let table = text.end..text.end.checked_add(table)?;
        std::str::from_utf8(bytes.get(text.clone())?).ok()?;
        bytes.get(table.clone())?;
        Some(Self { bytes, text, table, files, steps })
    }

    /// The text of the plan.
    pub(crate) fn text(&self) -> &[u8] {
        &self.bytes[self.text.clone()]
    }

    /// The text of the plan, without copying it.
    pub(crate) fn shared_text(self: &Arc<Self>) -> CachedPart {
        CachedPart { plan: Arc::clone(self), range: self.text.clone() }
    }

    /// The table of the plan, if there is one, without copying it.
    pub(crate) fn shared_table(self: &Arc<Self>) -> Option<CachedPart> {
        let range = Some(self.table.clone()).filter(|range| !range.is_empty())?;
        Some(CachedPart { plan: Arc::clone(self), range })
    }

    /// The whole composition.
    pub(crate) fn composed(self: &Arc<Self>) -> Option<Composed> {
        let mut rest = self.bytes.get(self.table.end..)?;
        let mut headings = Vec::new();
        for _ in 0..self.files {
            let found: Option<(usize, Vec<u8>)> = read(&mut rest)?;
            headings.push(found.map(|(sections, lines)| ListHeadings { sections, lines }));
        }
        let start: usize = read(&mut rest)?;
        let (mut task_steps, mut places) = (Vec::<TaskStep>::new(), Vec::new());
        let mut at = start;
        for _ in 0..self.steps {
            let Row { file, section, number, id, len } = read(&mut rest)?;
            let before = task_steps.last().filter(|before| before.file == file);
            let task = before.map_or(0, |before| before.task + 1);
            task_steps.push(TaskStep { file, section, task, number, id: StepId::kept(&id) });
            places.push(at..at.checked_add(len)?);
            at += len;
        }
        let text = std::str::from_utf8(self.text()).ok()?;
        let is_whole = rest.is_empty() && task_steps.iter().all(|one| one.file < self.files);
        let fits = places.iter().all(|place| text.get(place.clone()).is_some());
        let plan = PlanText::Cached(Arc::clone(self));
        (is_whole && fits).then(|| Composed {
            plan,
            places,
            lists: ChecklistFiles::new(headings),
            task_steps,
        })
    }
}

/// The files that a cached plan is composed from.
pub(crate) fn cache_sources(layout: &ForeignLayout) -> Vec<&str> {
    let plan = layout.plan.iter().map(|one| one.file.as_str());
    let own = layout.added.workflow.iter().chain([&layout.added.steps]).map(|path| path.as_str());
    std::iter::once(LAYOUT_FILE).chain(plan).chain(own).collect()
}

impl Adopted<'_> {
    /// The bytes to cache for the composed files and the plan read from them.
    pub(crate) fn to_cache(self, composed: &Composed, plan: &Plan) -> Option<Vec<u8>> {
        let Composed { plan: text, places, lists, task_steps } = composed;
        self.cache_text((text.as_str(), places), lists, task_steps, plan)
    }

    /// The same, with the text of the plan and the places of the tasks in it.
    pub(super) fn cache_text(
        &self,
        (text, places): (&str, &[Range<usize>]),
        lists: &ChecklistFiles,
        task_steps: &[TaskStep],
        plan: &Plan,
    ) -> Option<Vec<u8>> {
        let table = plan.to_table().unwrap_or_default();
        let preface = Preface {
            format: FORMAT.into(),
            text: text.len(),
            table: table.len(),
            files: self.layout.plan.len(),
            steps: task_steps.len(),
        };
        let mut cached = Vec::with_capacity(text.len() + table.len() * 2);
        write(&mut cached, &preface)?;
        cached.extend_from_slice(text.as_bytes());
        cached.extend_from_slice(&table);
        for file in 0..self.layout.plan.len() {
            let headings = lists.headings(file, self.grammar().step);
            write(
                &mut cached,
                &headings.map(|headings| (headings.sections, headings.lines.clone())),
            )?;
        }
        let start = places.first().map_or(0, |first| first.start);
        write(&mut cached, &start)?;
        for (one, place) in task_steps.iter().zip(places) {
            let id = one.id.as_str().into();
            let (file, section, number) = (one.file, one.section, one.number);
            write(&mut cached, &Row { file, section, number, id, len: place.len() })?;
        }
        Some(cached)
    }

    /// The composition from the cache, or else from the files.
    ///
    /// # Errors
    /// As for [`Adopted::compose`].
    pub(crate) fn compose_cached(
        &self,
        cached: Option<&Arc<CachedPlan>>,
        raw: &FilesByName,
    ) -> Result<Composed, crate::domain::ModelError> {
        match cached.and_then(|cached| cached.composed()) {
            Some(composed) => Ok(composed),
            None => self.compose(raw),
        }
    }
}
