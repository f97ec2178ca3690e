//! The headings of a document as they can be kept beside it, so that it need not be read as a whole
//! again.

use std::sync::{Arc, OnceLock};

use crate::text::LazyList;
use crate::text::markdown::section::{SectionEntry, link};
use crate::text::markdown::{Document, preamble};

/// A heading: what is needed to find it again in the same source.
#[derive(Debug)]
pub(crate) struct HeadingLine<'a> {
    level: u8,
    /// How many bytes the body before it has.
    distance: usize,
    len: usize,
    /// The title, where it is not what follows the marks.
    title: Option<&'a str>,
}

impl<'a> HeadingLine<'a> {
    /// Adds it to a table: the length with the level and whether a title follows, then the distance.
    pub(crate) fn write(&self, table: &mut Vec<u8>) -> Option<()> {
        let len = u32::try_from(self.len).ok().filter(|len| *len < 1 << 28)?;
        let form = len << 4 | u32::from(self.title.is_some()) << 3 | u32::from(self.level);
        table.extend_from_slice(&form.to_le_bytes());
        table.extend_from_slice(&u32::try_from(self.distance).ok()?.to_le_bytes());
        if let Some(title) = self.title {
            table.extend_from_slice(&u32::try_from(title.len()).ok()?.to_le_bytes());
            table.extend_from_slice(title.as_bytes());
        }
        Some(())
    }

    /// The next one of a table.
    pub(crate) fn read(rest: &mut &'a [u8]) -> Option<Self> {
        let form = word(rest)?;
        let distance = word(rest)? as usize;
        let title = match form & 1 << 3 {
            0 => None,
            _ => {
                let len = word(rest)? as usize;
                let (title, behind) = rest.split_at_checked(len)?;
                *rest = behind;
                Some(std::str::from_utf8(title).ok()?)
            }
        };
        Some(Self { level: (form & 7) as u8, distance, len: (form >> 4) as usize, title })
    }
}

impl Document {
    /// How many sections there are, the root included.
    pub(crate) fn section_count(&self) -> usize {
        self.sections.len()
    }

    /// The headings, in order; `None` for a document that can only be read as a whole.
    pub(crate) fn contents(&self) -> Option<impl Iterator<Item = HeadingLine<'_>>> {
        let lines = self.sections.windows(2).filter_map(heading_line);
        self.is_divisible.then_some(lines)
    }

    /// The document with that source and those headings, of which no body has been read. `None` if
    /// they do not fit together; whether they belong together is for the caller to know.
    pub(crate) fn with_contents<'a>(
        source: Arc<String>,
        count: usize,
        mut lines: impl Iterator<Item = HeadingLine<'a>>,
    ) -> Option<Self> {
        let preamble = preamble::preamble(&source);
        let mut sections = Vec::with_capacity(count);
        sections.push(SectionEntry::new(0, preamble.end..preamble.end));
        for at in 1..count {
            let HeadingLine { level, distance, len, title } = lines.next()?;
            let start = sections[at - 1].heading().end.checked_add(distance)?;
            let heading = start..start.checked_add(len)?;
            source.get(heading.clone()).filter(|_| (1..=6).contains(&level))?;
            let mut section = SectionEntry::new(level, heading);
            match title {
                Some(title) => section.set_title(&source, title),
                None => section.set_plain_title(&source),
            }
            sections.push(section);
        }
        link(&mut sections);
        Some(Self {
            newline: OnceLock::new(),
            lines: OnceLock::new(),
            sections,
            bodies: LazyList::new(count),
            front_matter: preamble.front_matter,
            hidden: None,
            is_divisible: true,
            source,
        })
    }
}

/// The next number of a table.
fn word(rest: &mut &[u8]) -> Option<u32> {
    let (word, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(u32::from_le_bytes(*word))
}

/// The second of two sections, as it follows the first.
fn heading_line(pair: &[SectionEntry]) -> Option<HeadingLine<'_>> {
    let [before, section] = pair else { return None };
    let heading = section.heading();
    let distance = heading.start - before.heading().end;
    let (level, title) = (section.level, section.own_title());
    Some(HeadingLine { level, distance, len: heading.len(), title })
}
