//! The headings of a document as they can be kept beside it, so that it need not be read as a whole
//! again.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::text::markdown::section::{Entry, link, plain_title};
use crate::text::markdown::{Document, opening};

/// A heading: what is needed to find it again in the same source.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HeadingLine<'a> {
    level: u8,
    /// How many bytes the body before it has.
    distance: usize,
    len: usize,
    /// The title, where it is not what follows the marks.
    #[serde(borrow)]
    title: Option<&'a str>,
}

impl<'a> HeadingLine<'a> {
    /// Adds it to a table.
    pub(crate) fn write(&self, table: &mut Vec<u8>) -> Option<()> {
        let title = self.title.map_or(Some(0), |title| title.len().checked_add(1));
        let words = [usize::from(self.level), self.distance, self.len, title?];
        for word in words {
            table.extend_from_slice(&u32::try_from(word).ok()?.to_le_bytes());
        }
        table.extend_from_slice(self.title.unwrap_or_default().as_bytes());
        Some(())
    }

    /// The next one of a table.
    pub(crate) fn read(rest: &mut &'a [u8]) -> Option<Self> {
        let (words, behind) = rest.split_first_chunk::<16>()?;
        let (words, _) = words.as_chunks();
        let [level, distance, len, title] =
            <[[u8; 4]; 4]>::try_from(words).ok()?.map(|word| u32::from_le_bytes(word) as usize);
        let (title, behind) = match title.checked_sub(1) {
            Some(len) => {
                let (title, behind) = behind.split_at_checked(len)?;
                (Some(std::str::from_utf8(title).ok()?), behind)
            }
            None => (None, behind),
        };
        *rest = behind;
        Some(Self { level: u8::try_from(level).ok()?, distance, len, title })
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
        let opening = opening::opening(&source);
        let mut sections = Vec::with_capacity(count);
        sections.push(Entry::new(0, opening.end..opening.end));
        for at in 1..count {
            let HeadingLine { level, distance, len, title } = lines.next()?;
            let start = sections[at - 1].heading().end.checked_add(distance)?;
            let heading = start..start.checked_add(len)?;
            source.get(heading.clone()).filter(|_| (1..=6).contains(&level))?;
            let mut section = Entry::new(level, heading.clone());
            match title {
                Some(title) => section.set_title(&source, title),
                None => drop(plain_title(&source, level, heading)?),
            }
            sections.push(section);
        }
        link(&mut sections);
        let mut bodies = Vec::new();
        bodies.resize_with(count, OnceLock::new);
        Some(Self {
            newline: OnceLock::new(),
            lines: OnceLock::new(),
            sections,
            bodies,
            front_matter: opening.front_matter,
            hidden: None,
            is_divisible: true,
            source,
        })
    }
}

/// The second of two sections, as it follows the first.
fn heading_line(pair: &[Entry]) -> Option<HeadingLine<'_>> {
    let [before, section] = pair else { return None };
    let heading = section.heading();
    let distance = heading.start - before.heading().end;
    let (level, title) = (section.level, section.own_title());
    Some(HeadingLine { level, distance, len: heading.len(), title })
}
