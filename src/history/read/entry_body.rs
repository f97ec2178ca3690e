//! The text from a level 3 heading on, while it is being read.

use std::borrow::Cow;

use crate::history::{MAX_ENTRY_BYTES, read::lines::RawLine, trailer::Trailer};

/// A body and where its heading is. The lines of the body end with LF.
#[derive(Clone, Copy, Debug)]
pub(in crate::history) struct Text<'a> {
    pub(in crate::history) body: &'a [u8],
    pub(in crate::history) offset: u64,
    pub(in crate::history) line: u64,
}

impl<'a> Text<'a> {
    /// The body as text; what is no UTF-8 is replaced.
    pub(in crate::history) fn to_str(self) -> Cow<'a, str> {
        std::str::from_utf8(self.body)
            .map_or_else(|_| String::from_utf8_lossy(self.body), Cow::Borrowed)
    }
}

/// A body that grows line by line, up to the size that an entry may have.
pub(in crate::history) struct EntryBody {
    body: Vec<u8>,
    lines: u64,
    offset: u64,
    line: u64,
    is_cut: bool,
}

impl EntryBody {
    pub(in crate::history) fn starting_with(line: &RawLine<'_>) -> Self {
        let mut section = Self::empty_at(line);
        section.push(line.text);
        section
    }

    pub(in crate::history) fn empty_at(line: &RawLine<'_>) -> Self {
        Self { body: Vec::new(), lines: 0, offset: line.offset, line: line.number, is_cut: false }
    }

    pub(in crate::history) fn push(&mut self, text: &[u8]) {
        self.lines += 1;
        if self.is_cut || self.body.len() + text.len() >= MAX_ENTRY_BYTES {
            self.is_cut = true;
            return;
        }
        self.body.extend_from_slice(text);
        self.body.push(b'\n');
    }

    /// Whether it begins with a bullet.
    pub(in crate::history) fn is_bullet(&self) -> bool {
        self.body.first().is_some_and(|first| *first != b'#')
    }

    pub(in crate::history) fn len(&self) -> usize {
        self.body.len()
    }

    pub(in crate::history) fn truncate(&mut self, length: usize) {
        self.body.truncate(length);
    }

    pub(in crate::history) fn fits(&self, trailer: &Trailer) -> bool {
        !self.is_cut && trailer.fits(&self.body, self.lines)
    }

    pub(in crate::history) fn text(&self) -> Text<'_> {
        Text { body: &self.body, offset: self.offset, line: self.line }
    }
}
