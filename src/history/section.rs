//! The text from a level 3 heading on, while it is being read.

use std::borrow::Cow;

use super::MAX_ENTRY_BYTES;
use super::lines::Line;
use super::trailer::Trailer;

/// A body and where its heading is. The lines of the body end with LF.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    pub(super) body: &'a [u8],
    pub(super) offset: u64,
    pub(super) line: u64,
}

impl<'a> Text<'a> {
    /// The body as text; what is no UTF-8 is replaced.
    pub(super) fn to_str(self) -> Cow<'a, str> {
        std::str::from_utf8(self.body)
            .map_or_else(|_| String::from_utf8_lossy(self.body), Cow::Borrowed)
    }
}

/// A body that grows line by line, up to the size that an entry may have.
pub(super) struct Section {
    body: Vec<u8>,
    lines: u64,
    offset: u64,
    line: u64,
    is_cut: bool,
}

impl Section {
    pub(super) fn starting_with(line: &Line<'_>) -> Self {
        let mut section = Self::empty_at(line);
        section.push(line.text);
        section
    }

    pub(super) fn empty_at(line: &Line<'_>) -> Self {
        Self { body: Vec::new(), lines: 0, offset: line.offset, line: line.number, is_cut: false }
    }

    pub(super) fn push(&mut self, text: &[u8]) {
        self.lines += 1;
        if self.is_cut || self.body.len() + text.len() >= MAX_ENTRY_BYTES {
            self.is_cut = true;
            return;
        }
        self.body.extend_from_slice(text);
        self.body.push(b'\n');
    }

    pub(super) fn len(&self) -> usize {
        self.body.len()
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.body.truncate(length);
    }

    pub(super) fn fits(&self, trailer: &Trailer) -> bool {
        !self.is_cut && trailer.fits(&self.body, self.lines)
    }

    pub(super) fn text(&self) -> Text<'_> {
        Text { body: &self.body, offset: self.offset, line: self.line }
    }
}
