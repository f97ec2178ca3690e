//! Where in a text something is, and how to show it.

use std::fmt;

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
    /// `\n`, `\r\n` and a lone `\r` all end a line, as they do in CommonMark.
    pub fn at(source: &str, offset: usize) -> Self {
        let mut end = offset.min(source.len());
        while !source.is_char_boundary(end) {
            end -= 1;
        }
        let before = &source[..end];
        let bytes = before.as_bytes();
        let mut line = 1;
        let mut start = 0;
        for (i, &b) in bytes.iter().enumerate() {
            let ends = b == b'\n' || (b == b'\r' && source.as_bytes().get(i + 1) != Some(&b'\n'));
            if ends {
                line += 1;
                start = i + 1;
            }
        }
        Self { line, column: before[start..].chars().count() + 1 }
    }
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
pub fn snippet(source: &str, offset: usize) -> String {
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

    #[test]
    fn a_snippet_points_at_the_character() {
        assert_eq!(snippet("one\ntwo é x\n", 11), "  |\n2 | two é x\n  |       ^");
    }
}
