//! Where in a text something is, and how to show it.

use std::fmt;

use super::display::byte_prefix;

/// A position in a text: both numbers count from one, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character within the line.
    pub column: usize,
}

impl Place {
    /// The place of byte `offset` in `source`; an offset past the end gives the end.
    ///
    /// `\n`, `\r\n` and a lone `\r` all end a line, as they do in CommonMark. For many places
    /// in one text there is `LineIndex`.
    pub fn at(source: &str, offset: usize) -> Self {
        let end = byte_prefix(source, offset).len();
        let (mut line, mut start) = (1, 0);
        for next in line_ends(source, end) {
            line += 1;
            start = next;
        }
        Self { line, column: source[start..end].chars().count() + 1 }
    }
}

/// Where the lines of a text begin: places in it are found without reading it from its start.
#[derive(Clone, Debug)]
pub(crate) struct LineIndex {
    starts: Box<[usize]>,
}

impl LineIndex {
    /// Finds the lines of `source`.
    pub(crate) fn of(source: &str) -> Self {
        Self { starts: std::iter::once(0).chain(line_ends(source, source.len())).collect() }
    }

    /// The line that holds the byte at `offset`, from one.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).max(1)
    }

    /// The same as [`Place::at`]. `source` is the text that these are the lines of.
    pub(crate) fn place(&self, source: &str, offset: usize) -> Place {
        let end = byte_prefix(source, offset).len();
        let line = self.line(end);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let before = source.get(start..end).unwrap_or_default();
        Place { line, column: before.chars().count() + 1 }
    }
}

/// Where the lines after the first begin, of those that begin at `end` or before.
fn line_ends(source: &str, end: usize) -> impl Iterator<Item = usize> {
    let bytes = source.as_bytes();
    let ends = move |(at, byte): (usize, &u8)| {
        let ends = *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
        ends.then_some(at + 1)
    };
    bytes[..end].iter().enumerate().filter_map(ends)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The line of `source` that holds byte `offset`, with a caret below the character meant.
///
/// Control characters are shown as spaces and a long line is cut around the place, so that the
/// snippet is safe to print and stays narrow.
pub(crate) fn snippet(source: &str, offset: usize) -> String {
    const MARGIN: usize = 40;
    let place = Place::at(source, offset);
    let line = source.split(['\n', '\r']).scan(0usize, |at, text| {
        let start = *at;
        *at += text.len() + 1;
        Some((start, text))
    });
    let text = line
        .take_while(|(start, _)| *start <= offset)
        .last()
        .map(|(_, text)| text)
        .unwrap_or_default();
    let column = place.column - 1;
    let from = column.saturating_sub(MARGIN);
    let shown: String = text
        .chars()
        .skip(from)
        .take(2 * MARGIN)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let cut = if from > 0 { "…" } else { "" };
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    let pad = " ".repeat(column - from + cut.chars().count());
    format!("{gutter} |\n{number} | {cut}{shown}\n{gutter} | {pad}^")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_ending_counts_once() {
        let source = "a\r\nb\rc\nd";
        assert_eq!(Place::at(source, 0), Place { line: 1, column: 1 });
        assert_eq!(Place::at(source, 3), Place { line: 2, column: 1 });
        assert_eq!(Place::at(source, 5), Place { line: 3, column: 1 });
        assert_eq!(Place::at(source, 7), Place { line: 4, column: 1 });
        assert_eq!(Place::at(source, 99), Place { line: 4, column: 2 });
    }

    proptest::proptest! {
        #[test]
        fn lines_give_the_places_that_counting_from_the_start_gives(
            source in "[a\r\né→]{0,40}",
            offset in 0usize..90,
        ) {
            let lines = LineIndex::of(&source);
            proptest::prop_assert_eq!(lines.place(&source, offset), Place::at(&source, offset));
        }
    }

    #[test]
    fn a_snippet_points_at_the_character() {
        assert_eq!(snippet("one\ntwo é x\n", 11), "  |\n2 | two é x\n  |       ^");
    }
}
