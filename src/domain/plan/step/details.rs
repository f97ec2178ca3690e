//! What a step says besides its name and its progress: most commands ask for it of one step or none.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Serialize};

/// The fields of a step that say how it is to be done, and its result, as written. With `&str` they
/// are looked at where they are, without a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepDetails<S = String> {
    /// The component that does it.
    pub component: Option<S>,
    /// The tool it maps to.
    pub tool_mapping: Option<S>,
    /// Parameters, in order.
    pub inputs: Vec<(S, S)>,
    /// Results it should give, in order.
    pub expected_outputs: Vec<(S, S)>,
    /// The estimate as written.
    pub estimated_cost: Option<S>,
    /// The estimate as written.
    pub estimated_time: Option<S>,
    /// What it changes in the world.
    pub side_effects: Option<S>,
    /// The result, in a line.
    pub result: Option<S>,
    /// The text under it that is not a field: markdown, as written.
    pub description: Option<S>,
    /// Fields this tool has no meaning for.
    pub other: Vec<(S, S)>,
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
    start: usize,
    len: usize,
    has_description: bool,
}

impl LateDetails {
    /// Those in that place of a table; `None` if they cannot be read there.
    pub(crate) fn kept(
        table: &Arc<Vec<u8>>,
        start: usize,
        len: usize,
        has_description: bool,
    ) -> Option<Self> {
        let kept = Kept { table: Arc::clone(table), start, len, has_description };
        let (_, rest) = postcard::take_from_bytes::<StepDetails<&str>>(kept.bytes()?).ok()?;
        rest.is_empty().then(|| Self { kept: Some(kept), read: OnceLock::new() })
    }

    /// Whether there is a description, without reading any.
    pub(crate) fn has_description(&self) -> bool {
        match (self.read.get(), &self.kept) {
            (Some(read), _) => read.description.is_some(),
            (None, kept) => kept.as_ref().is_some_and(|kept| kept.has_description),
        }
    }

    pub(crate) fn get(&self) -> &StepDetails {
        self.read.get_or_init(|| {
            let read = self.kept.as_ref().and_then(Kept::read);
            // That they can be read was seen when the table was.
            Box::new(read.unwrap_or_default())
        })
    }

    /// The same as they are in a table; those that have not been read since need not be.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        match (&self.kept, self.read.get()) {
            (Some(kept), _) => kept.bytes().map(<[u8]>::to_vec),
            (None, _) => postcard::to_extend(self.get(), Vec::new()).ok(),
        }
    }
}

impl Kept {
    fn bytes(&self) -> Option<&[u8]> {
        self.table.get(self.start..)?.get(..self.len)
    }

    fn read(&self) -> Option<StepDetails> {
        postcard::from_bytes(self.bytes()?).ok()
    }
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
