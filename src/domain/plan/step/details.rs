//! What a step says besides its number and its progress: most commands ask for it of one step or few.

use std::{
    fmt,
    ops::Range,
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Serialize};

use crate::domain::Claim;

/// The title of a step, who has it, how it is to be done, and its result, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepDetails {
    /// The title after the number.
    pub title: String,
    /// What is before the title, without a known mark: `Step 4: `.
    pub(crate) heading_prefix: String,
    /// Who started it last, or took it over.
    pub claimed_by: Option<Claim>,
    /// When it was completed, if it is done.
    pub completed_at: Option<String>,
    /// The component that does it.
    pub component: Option<String>,
    /// The tool it maps to.
    pub tool_mapping: Option<String>,
    /// Parameters, in order.
    pub inputs: Vec<(String, String)>,
    /// Results it should give, in order.
    pub expected_outputs: Vec<(String, String)>,
    /// The estimate as written.
    pub estimated_cost: Option<String>,
    /// The estimate as written.
    pub estimated_time: Option<String>,
    /// What it changes in the world.
    pub side_effects: Option<String>,
    /// The result, in a line.
    pub result: Option<String>,
    /// The text under it that is not a field: markdown, as written.
    pub description: Option<String>,
    /// Fields this tool has no meaning for.
    pub other: Vec<(String, String)>,
}

/// Details that are read when they are first asked for, if they come from a table.
#[derive(Clone, Default)]
pub(crate) struct LateDetails {
    kept: Option<Kept>,
    read: OnceLock<Box<StepDetails>>,
}

/// Where in a table they are.
#[derive(Clone)]
struct Kept {
    table: Arc<Vec<u8>>,
    /// Where the row of the step begins.
    row: u32,
    /// Where the details begin, which end with the row.
    start: u32,
    end: u32,
    has_description: bool,
}

impl LateDetails {
    /// Those at the end of a row of a table, from `start` on.
    pub(crate) fn kept(
        table: &Arc<Vec<u8>>,
        row: Range<usize>,
        start: usize,
        has_description: bool,
    ) -> Option<Self> {
        let kept = Kept {
            table: Arc::clone(table),
            row: u32::try_from(row.start).ok()?,
            start: u32::try_from(start).ok()?,
            end: u32::try_from(row.end).ok()?,
            has_description,
        };
        Some(Self { kept: Some(kept), read: OnceLock::new() })
    }

    /// The row of the step that they were read from, if they come from a table.
    pub(crate) fn row(&self) -> Option<&[u8]> {
        let kept = self.kept.as_ref()?;
        kept.table.get(kept.row as usize..kept.end as usize)
    }

    /// Whether there is a description, without reading any.
    pub(crate) fn has_description(&self) -> bool {
        match (self.read.get(), &self.kept) {
            (Some(read), _) => read.description.is_some(),
            (None, kept) => kept.as_ref().is_some_and(|kept| kept.has_description),
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

    pub(crate) fn get(&self) -> &StepDetails {
        self.read.get_or_init(|| {
            let read = self.kept.as_ref().and_then(Kept::read);
            // That they are as they were written was seen when the table was read.
            Box::new(read.unwrap_or_default())
        })
    }

    /// The same as they are in a table.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        postcard::to_extend(self.get(), Vec::new()).ok()
    }
}

impl Kept {
    fn bytes(&self) -> Option<&[u8]> {
        self.table.get(self.start as usize..self.end as usize)
    }

    fn read(&self) -> Option<StepDetails> {
        postcard::from_bytes(self.bytes()?).ok()
    }

    /// What they begin with.
    fn title(&self) -> Option<&str> {
        postcard::take_from_bytes(self.bytes()?).ok().map(|(title, _)| title)
    }
}

/// Tells texts that were written whole from others, without reading them.
pub(crate) fn sum(details: &[u8]) -> u32 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let add = |sum: u64, word: u64| (sum.rotate_left(23) ^ word).wrapping_mul(ODD);
    let (words, rest) = details.as_chunks();
    let sum = words.iter().fold(ODD, |sum, word| add(sum, u64::from_le_bytes(*word)));
    let sum = rest.iter().fold(sum, |sum, byte| add(sum, u64::from(*byte)));
    (sum >> 32) as u32
}

impl From<StepDetails> for LateDetails {
    fn from(details: StepDetails) -> Self {
        Self { kept: None, read: OnceLock::from(Box::new(details)) }
    }
}

impl fmt::Debug for LateDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
