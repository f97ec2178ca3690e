//! Sections: few bytes are kept of each, because a long plan has thousands.

use std::{iter::successors, ops::Range};

use super::{Document, line};

/// Names a section of one document.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SectionId(u32);

impl SectionId {
    /// The text before the first heading, and the parent of all.
    pub(crate) const ROOT: Self = Self(0);

    /// The section with that number, the root being number zero.
    pub(crate) fn nth(number: usize) -> Self {
        Self(narrow(number))
    }

    /// Which of all sections it is.
    pub(crate) fn number(self) -> usize {
        self.0 as usize
    }
}

/// A heading and what is below it.
#[derive(Clone, Debug)]
pub struct Section<'d> {
    /// Its own name.
    pub id: SectionId,
    /// Zero for the root, one to six for headings.
    pub level: u8,
    /// The unescaped text of the heading.
    pub title: &'d str,
    /// The whole heading including its line end; empty for the root.
    pub heading: Range<usize>,
    /// From after the heading to the next heading of any level.
    pub body: Range<usize>,
    /// From the start of the heading to the end of the last descendant.
    pub extent: Range<usize>,
    /// The section it is part of; none for the root.
    pub parent: Option<SectionId>,
}

/// What is kept of a section. Where it ends follows from the sections behind it.
#[derive(Clone, Debug)]
pub(crate) struct SectionEntry {
    /// Where the heading begins and ends.
    start: u32,
    end: u32,
    /// The section it is part of; of the root, itself.
    parent: u32,
    /// The first section that is neither this one nor part of it.
    next: u32,
    pub(crate) level: u8,
    /// The first byte of the title, where that is what follows the marks; or else zero.
    letter: u8,
    /// The title, where it is not what follows the marks.
    title: Option<Box<str>>,
}

impl SectionEntry {
    /// A section as the parser finds it: what is around it is known later.
    pub(crate) fn new(level: u8, heading: Range<usize>) -> Self {
        let (start, end) = (narrow(heading.start), narrow(heading.end));
        Self { start, end, parent: 0, next: 0, level, letter: 0, title: None }
    }

    pub(crate) fn start(&self) -> usize {
        self.start as usize
    }

    pub(crate) fn heading(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(crate) fn set_end(&mut self, end: usize) {
        self.end = narrow(end);
    }

    /// The unescaped text of the heading, which is in `source`.
    pub(crate) fn title<'e>(&'e self, source: &'e str) -> &'e str {
        let plain = || plain_title(source, self.level, self.heading()).unwrap_or_default();
        self.title.as_deref().unwrap_or_else(plain)
    }

    /// Whether the title may be `name`, in any letter case: most differ in the first letter already, and
    /// for that nothing has to be looked up in the source.
    pub(crate) fn may_be_titled(&self, name: &str) -> bool {
        match name.bytes().next() {
            Some(first) if self.letter != 0 => first.eq_ignore_ascii_case(&self.letter),
            _ => true,
        }
    }

    /// The title, where it is not what follows the marks.
    pub(crate) fn own_title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    pub(crate) fn set_title(&mut self, source: &str, title: &str) {
        let is_plain = plain_title(source, self.level, self.heading()) == Some(title);
        self.title = (!is_plain).then(|| title.into());
        self.letter = 0;
        if is_plain {
            self.set_plain_title(source);
        }
    }

    /// Says that the title is what follows the marks in `source`.
    pub(crate) fn set_plain_title(&mut self, source: &str) {
        let at = self.start() + usize::from(self.level) + 1;
        let first = source.as_bytes().get(at).copied();
        self.letter = first.filter(u8::is_ascii_graphic).unwrap_or_default();
    }

    /// Whether the title is that of another section: so it is where the headings are the same.
    pub(crate) fn has_title_of(&self, source: &str, other: &Self, other_source: &str) -> bool {
        let is_plain = self.title.is_none() && other.title.is_none() && self.level == other.level;
        let headings = (source.get(self.heading()), other_source.get(other.heading()));
        is_plain && headings.0 == headings.1 || self.title(source) == other.title(other_source)
    }

    /// The section it is part of; of the root, itself.
    pub(crate) fn parent(&self) -> SectionId {
        SectionId(self.parent)
    }

    /// The same heading at another place.
    pub(crate) fn moved_to(&self, start: usize) -> Self {
        let end = start + self.heading().len();
        Self { start: narrow(start), end: narrow(end), ..self.clone() }
    }
}

/// Works out from the levels of all sections, the root first, what is in which.
pub(crate) fn link(sections: &mut [SectionEntry]) {
    let mut open: Vec<usize> = Vec::new();
    for at in 0..sections.len() {
        let level = sections[at].level;
        while let Some(last) = open.pop_if(|last| level > 0 && sections[*last].level >= level) {
            sections[last].next = narrow(at);
        }
        sections[at].parent = open.last().copied().map_or(0, narrow);
        open.push(at);
    }
    for last in open {
        sections[last].next = narrow(sections.len());
    }
}

impl Document {
    /// The section of that name.
    ///
    /// # Panics
    /// When the name comes from another document.
    pub fn section(&self, id: SectionId) -> Section<'_> {
        let at = id.number();
        let entry = &self.sections[at];
        let heading = entry.heading();
        Section {
            id,
            level: entry.level,
            title: entry.title(&self.source),
            body: heading.end..self.start_of(at + 1),
            extent: heading.start..self.start_of(entry.next as usize),
            parent: (at > 0).then_some(SectionId(entry.parent)),
            heading,
        }
    }

    /// The sections directly below one, in order.
    ///
    /// # Panics
    /// When the name comes from another document.
    pub fn children(&self, id: SectionId) -> impl Iterator<Item = SectionId> + Clone {
        let end = self.sections[id.number()].next;
        let is_inside = move |at: &u32| *at < end;
        let next = move |at: &u32| Some(self.sections[*at as usize].next).filter(is_inside);
        successors(Some(id.0 + 1).filter(is_inside), next).map(SectionId)
    }

    /// Where the heading of a section begins.
    pub(crate) fn heading_start(&self, id: SectionId) -> usize {
        self.sections[id.number()].start()
    }

    /// The same by its number; the end of the text for the one behind the last.
    pub(crate) fn start_of(&self, number: usize) -> usize {
        self.sections.get(number).map_or(self.source.len(), SectionEntry::start)
    }
}

/// What follows the marks of a heading, if it is written in the plainest way.
fn plain_title(source: &str, level: u8, heading: Range<usize>) -> Option<&str> {
    let text = source.get(heading)?;
    let (marks, rest) = text.split_at_checked(usize::from(level))?;
    let is_plain = marks.bytes().all(|byte| byte == b'#');
    rest.strip_prefix(' ').filter(|_| is_plain).map(line::trim)
}

/// No document is so large that a place in it would not fit.
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
