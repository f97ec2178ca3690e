//! What the files of an adopted state came to, kept beside them by the store and used only for
//! exactly the bytes that it was made of: long lists need not be read for every command.
//!
//! All of it follows from the files. Wherever it is missing, or from another version, they are read.

use std::{borrow::Cow, ops::Range, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Adopted, Bound, Composed, Files, Lists, PlanText, lists::Outline};
use crate::domain::{
    Plan, StepId,
    layout::{ForeignLayout, LAYOUT_FILE},
    plan::read::table::{read, write},
};

/// Who wrote it. To be counted up whenever lists are read or composed in another way than before.
pub(super) const FORMAT: &str = concat!("adopted ", env!("CARGO_PKG_VERSION"), "+3");

#[derive(Serialize, Deserialize)]
struct Preface<'a> {
    format: Cow<'a, str>,
    /// How many bytes the text of the plan has.
    text: usize,
    /// How many its table has; none is kept if there are none.
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
    /// How many bytes it has in the text of the plan, where it follows the one before.
    len: usize,
}

/// What was kept, read as far as its first part.
#[derive(Debug)]
pub(crate) struct Kept {
    bytes: Vec<u8>,
    text: Range<usize>,
    table: Range<usize>,
    files: usize,
    steps: usize,
}

/// A part of what was kept.
#[derive(Debug)]
pub(crate) struct KeptPart {
    kept: Arc<Kept>,
    range: Range<usize>,
}

impl AsRef<[u8]> for KeptPart {
    fn as_ref(&self) -> &[u8] {
        self.kept.bytes.get(self.range.clone()).unwrap_or_default()
    }
}

impl Kept {
    /// Reads what was kept; `None` if it cannot be used.
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
    pub(crate) fn shared_text(self: &Arc<Self>) -> KeptPart {
        KeptPart { kept: Arc::clone(self), range: self.text.clone() }
    }

    /// The table of the plan, if there is one, without copying it.
    pub(crate) fn shared_table(self: &Arc<Self>) -> Option<KeptPart> {
        let range = Some(self.table.clone()).filter(|range| !range.is_empty())?;
        Some(KeptPart { kept: Arc::clone(self), range })
    }

    /// All of it.
    pub(crate) fn composed(self: &Arc<Self>) -> Option<Composed> {
        let mut rest = self.bytes.get(self.table.end..)?;
        let mut outlines = Vec::new();
        for _ in 0..self.files {
            let found: Option<(usize, Vec<u8>)> = read(&mut rest)?;
            outlines.push(found.map(|(sections, lines)| Outline { sections, lines }));
        }
        let start: usize = read(&mut rest)?;
        let (mut bound, mut places) = (Vec::<Bound>::new(), Vec::new());
        let mut at = start;
        for _ in 0..self.steps {
            let Row { file, section, number, id, len } = read(&mut rest)?;
            let before = bound.last().filter(|before| before.file == file);
            let task = before.map_or(0, |before| before.task + 1);
            bound.push(Bound { file, section, task, number, id: StepId::kept(id.into_owned()) });
            places.push(at..at.checked_add(len)?);
            at += len;
        }
        let text = std::str::from_utf8(self.text()).ok()?;
        let is_whole = rest.is_empty() && bound.iter().all(|one| one.file < self.files);
        let fits = places.iter().all(|place| text.get(place.clone()).is_some());
        let plan = PlanText::Kept(Arc::clone(self));
        (is_whole && fits).then(|| Composed { plan, places, lists: Lists::new(outlines), bound })
    }
}

/// The files that it follows from.
pub(crate) fn sources(layout: &ForeignLayout) -> Vec<&str> {
    let plan = layout.plan.iter().map(|one| one.file.as_str());
    let own = layout.added.workflow.iter().chain([&layout.added.steps]).map(|path| path.as_str());
    std::iter::once(LAYOUT_FILE).chain(plan).chain(own).collect()
}

impl Adopted<'_> {
    /// What is to be kept of the files, with the plan that they come to.
    pub(crate) fn keep(&self, composed: &Composed, plan: &Plan) -> Option<Vec<u8>> {
        let Composed { plan: text, places, lists, bound } = composed;
        self.keep_all((text.as_str(), places), lists, bound, plan)
    }

    /// The same, with the text of the plan and the places of the tasks in it.
    pub(super) fn keep_all(
        &self,
        (text, places): (&str, &[Range<usize>]),
        lists: &Lists,
        bound: &[Bound],
        plan: &Plan,
    ) -> Option<Vec<u8>> {
        let table = plan.to_table().unwrap_or_default();
        let preface = Preface {
            format: FORMAT.into(),
            text: text.len(),
            table: table.len(),
            files: self.layout.plan.len(),
            steps: bound.len(),
        };
        let mut kept = Vec::with_capacity(text.len() + table.len() * 2);
        write(&mut kept, &preface)?;
        kept.extend_from_slice(text.as_bytes());
        kept.extend_from_slice(&table);
        for file in 0..self.layout.plan.len() {
            let outline = lists.outline(file, self.grammar().step);
            write(&mut kept, &outline.map(|outline| (outline.sections, outline.lines.clone())))?;
        }
        let start = places.first().map_or(0, |first| first.start);
        write(&mut kept, &start)?;
        for (one, place) in bound.iter().zip(places) {
            let id = one.id.as_str().into();
            let (file, section, number) = (one.file, one.section, one.number);
            write(&mut kept, &Row { file, section, number, id, len: place.len() })?;
        }
        Some(kept)
    }

    /// What the files come to, out of what was kept, or else read.
    ///
    /// # Errors
    /// As for [`Adopted::compose`].
    pub(crate) fn compose_or(
        &self,
        kept: Option<&Arc<Kept>>,
        raw: &Files,
    ) -> Result<Composed, crate::domain::ModelError> {
        match kept.and_then(|kept| kept.composed()) {
            Some(composed) => Ok(composed),
            None => self.compose(raw),
        }
    }
}
