//! What a step says besides its number and its progress: most commands ask for it of one step or few.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Serialize};

use crate::domain::{Claim, plan::read::row::StepTable};

/// The title of a step, who has it, how it is to be done, and its result, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepDetails<T = String> {
    /// The title after the number.
    pub title: T,
    /// Fields this tool has no meaning for. With the title, they come first in a table: a field that
    /// sorts the steps into groups is looked up for each of them.
    pub other: Vec<(T, T)>,
    /// What is before the title, without a known mark: `Step 4: `.
    pub(crate) heading_prefix: T,
    /// The status as written; `None` when absent or a placeholder.
    pub status: Option<T>,
    /// When it was started last.
    pub started_at: Option<T>,
    /// Who started it last, or took it over.
    pub claimed_by: Option<Claim>,
    /// When it was completed, if it is done.
    pub completed_at: Option<T>,
    /// The component that does it.
    pub component: Option<T>,
    /// The tool it maps to.
    pub tool_mapping: Option<T>,
    /// Parameters, in order.
    pub inputs: Vec<(T, T)>,
    /// Results it should give, in order.
    pub expected_outputs: Vec<(T, T)>,
    /// The estimate as written.
    pub estimated_cost: Option<T>,
    /// The estimate as written.
    pub estimated_time: Option<T>,
    /// What it changes in the world.
    pub side_effects: Option<T>,
    /// The result, in a line.
    pub result: Option<T>,
    /// The text under it that is not a field: markdown, as written.
    pub description: Option<T>,
}

impl<T> StepDetails<T> {
    /// The same with texts of another kind.
    fn with_texts<'s, U>(&'s self, text: impl Fn(&'s T) -> U) -> StepDetails<U> {
        let text = &text;
        let one = |found: &'s Option<T>| found.as_ref().map(text);
        let pairs = |found: &'s Vec<(T, T)>| {
            found.iter().map(|(key, value)| (text(key), text(value))).collect()
        };
        StepDetails {
            title: text(&self.title),
            other: pairs(&self.other),
            heading_prefix: text(&self.heading_prefix),
            status: one(&self.status),
            started_at: one(&self.started_at),
            claimed_by: self.claimed_by.clone(),
            completed_at: one(&self.completed_at),
            component: one(&self.component),
            tool_mapping: one(&self.tool_mapping),
            inputs: pairs(&self.inputs),
            expected_outputs: pairs(&self.expected_outputs),
            estimated_cost: one(&self.estimated_cost),
            estimated_time: one(&self.estimated_time),
            side_effects: one(&self.side_effects),
            result: one(&self.result),
            description: one(&self.description),
        }
    }
}

/// A text as it is in a table. Most are in its section as they are, and their place takes less room.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum KeptText<'t> {
    /// Where it begins in the section of the step, and its length.
    At(u32, u32),
    Own(&'t str),
}

impl<'t> KeptText<'t> {
    /// A text of a step, whose section has the source `section`.
    fn of(section: &str, text: &'t str) -> Self {
        let place = section.find(text).map(|at| (u32::try_from(at), u32::try_from(text.len())));
        match place {
            Some((Ok(at), Ok(len))) => Self::At(at, len),
            _ => Self::Own(text),
        }
    }

    fn text(self, section: &'t str) -> &'t str {
        match self {
            Self::At(at, len) => {
                let (at, len) = (at as usize, len as usize);
                section.get(at..at.saturating_add(len)).unwrap_or_default()
            }
            Self::Own(text) => text,
        }
    }
}

/// Details that are read when they are first asked for, if they come from a table.
#[derive(Clone, Default)]
pub(crate) struct LazyDetails {
    kept: Option<Kept>,
    read: OnceLock<Box<StepDetails>>,
}

/// Where in a table they are.
#[derive(Clone)]
struct Kept {
    table: Arc<StepTable>,
    /// Where the row of the step begins.
    row: u32,
    /// Where its section begins in the text that the table is about.
    section: u32,
}

impl LazyDetails {
    /// Those of a row of a table, of a step whose section begins at `section`.
    pub(crate) fn kept(table: &Arc<StepTable>, row: usize, section: usize) -> Option<Self> {
        let (row, section) = (u32::try_from(row).ok()?, u32::try_from(section).ok()?);
        let kept = Kept { table: Arc::clone(table), row, section };
        Some(Self { kept: Some(kept), read: OnceLock::new() })
    }

    /// The row of the step that they were read from, if they come from a table.
    pub(crate) fn row(&self) -> Option<&[u8]> {
        let kept = self.kept.as_ref()?;
        kept.table.row(kept.row as usize)
    }

    /// Whether there is a description, without reading any.
    pub(crate) fn has_description(&self) -> bool {
        match (self.read.get(), &self.kept) {
            (Some(read), _) => read.description.is_some(),
            (None, kept) => kept.as_ref().is_some_and(Kept::has_description),
        }
    }

    /// The title, without reading the others.
    pub(crate) fn title(&self) -> &str {
        match (self.read.get(), &self.kept) {
            (Some(read), _) => &read.title,
            (None, Some(kept)) => kept.title().unwrap_or_default(),
            (None, None) => "",
        }
    }

    /// The status, without reading the others.
    pub(crate) fn status(&self) -> Option<&str> {
        match (self.read.get(), &self.kept) {
            (Some(read), _) => read.status.as_deref(),
            (None, kept) => kept.as_ref().and_then(Kept::status),
        }
    }

    /// When the step was started, without reading the others.
    pub(crate) fn started_at(&self) -> Option<&str> {
        match (self.read.get(), &self.kept) {
            (Some(read), _) => read.started_at.as_deref(),
            (None, kept) => kept.as_ref().and_then(Kept::started_at),
        }
    }

    /// The value of the first field without a known meaning whose key is meant, without keeping the others.
    pub(crate) fn other(&self, is_meant: impl Fn(&str) -> bool) -> Option<&str> {
        match (self.read.get(), &self.kept) {
            (None, Some(kept)) => kept.other(is_meant),
            _ => {
                let found = self.get().other.iter().find(|(key, _)| is_meant(key))?;
                Some(&found.1)
            }
        }
    }

    pub(crate) fn get(&self) -> &StepDetails {
        self.read.get_or_init(|| {
            let read = self.kept.as_ref().and_then(Kept::read);
            // That they are as they were written was seen when the table was read.
            Box::new(read.unwrap_or_default())
        })
    }

    /// The same as they are in a table; `section` is the source of the section of the step.
    pub(crate) fn to_bytes(&self, section: &str) -> Option<Vec<u8>> {
        let kept = self.get().with_texts(|text| KeptText::of(section, text));
        postcard::to_extend(&kept, Vec::new()).ok()
    }
}

impl Kept {
    fn bytes(&self) -> Option<&[u8]> {
        self.table.details(self.row as usize)
    }

    fn text(&self) -> &str {
        self.table.text_from(self.section as usize)
    }

    fn has_description(&self) -> bool {
        self.table.has_description(self.row as usize)
    }

    fn status(&self) -> Option<&str> {
        self.table.status(self.row as usize, self.section as usize)
    }

    fn started_at(&self) -> Option<&str> {
        self.table.started_at(self.row as usize, self.text())
    }

    fn read(&self) -> Option<StepDetails> {
        let kept: StepDetails<KeptText<'_>> = postcard::from_bytes(self.bytes()?).ok()?;
        let section = self.text();
        Some(kept.with_texts(|text| text.text(section).to_owned()))
    }

    fn other(&self, is_meant: impl Fn(&str) -> bool) -> Option<&str> {
        type Text<'t> = KeptText<'t>;
        type Beginning<'t> = (Text<'t>, Vec<(Text<'t>, Text<'t>)>);
        let ((_, other), _): (Beginning<'_>, _) = postcard::take_from_bytes(self.bytes()?).ok()?;
        let section = self.text();
        let found = other.iter().find(|(key, _)| is_meant(key.text(section)))?;
        Some(found.1.text(section))
    }

    /// What they begin with.
    fn title(&self) -> Option<&str> {
        let (title, _): (KeptText<'_>, _) = postcard::take_from_bytes(self.bytes()?).ok()?;
        Some(title.text(self.text()))
    }
}

impl From<StepDetails> for LazyDetails {
    fn from(details: StepDetails) -> Self {
        Self { kept: None, read: OnceLock::from(Box::new(details)) }
    }
}

impl fmt::Debug for LazyDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
