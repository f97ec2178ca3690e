//! Lines of the files, for the places in the document.

use serde::Serialize;

use crate::{domain::StateFile, text::LineIndex};

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Located {
    /// The file.
    pub file: StateFile,
    /// The line, from one.
    pub line: usize,
}

/// Finds lines of one file.
pub(super) struct FileLines {
    file: StateFile,
    index: LineIndex,
}

impl FileLines {
    /// Finds the lines of a file; `\n`, `\r\n` and a lone `\r` end one.
    pub(super) fn of(file: StateFile, source: &str) -> Self {
        Self { file, index: LineIndex::of(source) }
    }

    /// The line that holds a byte.
    pub(super) fn at(&self, offset: usize) -> Located {
        Located { file: self.file, line: self.index.line(offset) }
    }
}
