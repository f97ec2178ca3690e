//! What was found inside a code fence, held back until it is clear whether the fence is a quotation.

use crate::history::{read::entry_body::EntryBody, trailer::Trailer};

/// No quotation of a log is this long: more than this inside one fence means a broken fence.
const MAX_BYTES: usize = 4 << 20;

/// Something that counts only if the fence around it turns out to be broken.
pub(in crate::history) enum FencedPiece {
    Signed {
        trailer: Trailer,
        section: EntryBody,
        intact: bool,
    },
    /// The line of a heading below an entry.
    Heading(Vec<u8>),
    BadTrailer {
        offset: u64,
        line: u64,
        torn: bool,
    },
}

/// Everything that was found inside one fence.
#[derive(Default)]
pub(in crate::history) struct FenceContent {
    found: Vec<FencedPiece>,
    bytes: usize,
    has_entries: bool,
    is_closed: bool,
}

impl FenceContent {
    pub(in crate::history) fn push(&mut self, found: FencedPiece) {
        self.bytes += size_of::<FencedPiece>();
        self.bytes += match &found {
            FencedPiece::Signed { section, .. } => section.len(),
            FencedPiece::Heading(line) => line.len(),
            FencedPiece::BadTrailer { .. } => 0,
        };
        self.has_entries |= matches!(found, FencedPiece::Signed { .. });
        if self.bytes > MAX_BYTES && !self.has_entries {
            self.clear();
        }
        self.found.push(found);
    }

    /// Whether an entry is among it.
    pub(in crate::history) fn has_entries(&self) -> bool {
        self.has_entries
    }

    /// Whether there is too much of it to be a quotation.
    pub(in crate::history) fn is_too_long_to_quote(&self) -> bool {
        self.bytes > MAX_BYTES
    }

    /// Notes that the fence has ended.
    pub(in crate::history) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether the fence has ended.
    pub(in crate::history) fn is_closed(&self) -> bool {
        self.is_closed
    }

    pub(in crate::history) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Drops what was found in a fence that has ended: nothing can show any more that it is broken.
    pub(in crate::history) fn drop_if_closed(&mut self) {
        if self.is_closed {
            self.clear();
        }
    }

    pub(in crate::history) fn take(&mut self) -> Vec<FencedPiece> {
        std::mem::take(self).found
    }
}
