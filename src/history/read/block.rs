//! Code fences and comments, in which nothing is a heading.

use serde::{Deserialize, Serialize};

/// A block that is open. `item` is the indent of the list item around it; `0` when there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::history) enum Block {
    /// A code fence of this many marks.
    Fence { mark: u8, length: usize, item: usize },
    /// An HTML comment that goes on over several lines.
    Comment { item: usize },
}

/// What a line is with regard to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::history) enum LineKind {
    /// Outside of any block.
    Outside,
    /// The first line of a block.
    Opens,
    /// Inside, or the last line of a block.
    Inside,
}

/// Follows blocks line by line.
///
/// A block inside a list item ends with the item, that is with the first line that is indented
/// less; so a line at column 0 is inside a block only if the block is not part of a list.
#[derive(Clone, Debug, Default)]
pub(in crate::history) struct Blocks {
    open: Option<Block>,
    item: usize,
}

impl Blocks {
    pub(in crate::history) fn resume(open: Option<Block>) -> Self {
        Self { open, item: 0 }
    }

    pub(in crate::history) fn open(&self) -> Option<Block> {
        self.open
    }

    /// Forgets whatever is open.
    pub(in crate::history) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Ends the list item, as a line at column 0 does, and returns the block that is still open.
    pub(in crate::history) fn at_column_zero(&mut self) -> Option<Block> {
        self.item = 0;
        self.open = self.open.filter(|block| block.is_at_column_zero());
        self.open
    }

    /// Takes in a line.
    pub(in crate::history) fn feed(&mut self, line: &[u8]) -> LineKind {
        let (indent, text) = split_indent(line);
        let Some(&first) = text.first() else {
            return if self.open.is_some() { LineKind::Inside } else { LineKind::Outside };
        };
        if let Some(block) = self.open {
            if indent >= block.item() {
                if block.is_closed_by(indent, text) {
                    self.open = None;
                }
                return LineKind::Inside;
            }
            self.open = None;
        }
        if indent < self.item {
            self.item = 0;
        }
        let (indent, text) = match bullet(first, text) {
            Some(width) if self.item > 0 || indent < 4 => {
                let (spaces, rest) = split_indent(text.get(width..).unwrap_or_default());
                let inner = indent + width + if (1..5).contains(&spaces) { spaces } else { 1 };
                if self.item == 0 {
                    self.item = inner;
                }
                (inner, rest)
            }
            _ => (indent, text),
        };
        if self.item == 0 && indent >= 4 {
            return LineKind::Outside;
        }
        self.open = starts(text, self.item);
        if self.open.is_some() { LineKind::Opens } else { LineKind::Outside }
    }
}

impl Block {
    /// Whether lines at column 0 are inside the block.
    pub(in crate::history) fn is_at_column_zero(self) -> bool {
        self.item() == 0
    }

    /// The line that closes the block, if it does not end by itself before a heading.
    pub(in crate::history) fn closing_line(self) -> Option<String> {
        match self {
            Self::Fence { mark, length, item: 0 } => {
                Some(char::from(mark).to_string().repeat(length))
            }
            Self::Comment { item: 0 } => Some("-->".to_owned()),
            _ => None,
        }
    }

    fn item(self) -> usize {
        match self {
            Self::Fence { item, .. } | Self::Comment { item } => item,
        }
    }

    fn is_closed_by(self, indent: usize, text: &[u8]) -> bool {
        match self {
            Self::Fence { mark, length, item } => {
                let run = run_of(mark, text);
                let rest = text.get(run..).unwrap_or_default();
                run >= length && rest.trim_ascii().is_empty() && (item > 0 || indent < 4)
            }
            Self::Comment { .. } => contains(text, b"-->"),
        }
    }
}

fn starts(text: &[u8], item: usize) -> Option<Block> {
    let mark = *text.first()?;
    match mark {
        b'`' | b'~' => {
            let length = run_of(mark, text);
            let info = text.get(length..).unwrap_or_default();
            let is_code_span = mark == b'`' && info.contains(&b'`');
            (length >= 3 && !is_code_span).then_some(Block::Fence { mark, length, item })
        }
        b'<' => {
            let rest = text.strip_prefix(b"<!--")?;
            (!contains(rest, b"-->")).then_some(Block::Comment { item })
        }
        _ => None,
    }
}

/// The width of a list marker at the start of `text`.
fn bullet(first: u8, text: &[u8]) -> Option<usize> {
    let width = match first {
        b'-' | b'*' | b'+' => 1,
        b'0'..=b'9' => {
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let ends = matches!(text.get(digits), Some(b'.' | b')'));
            (digits < 10 && ends).then_some(digits + 1)?
        }
        _ => return None,
    };
    matches!(text.get(width), None | Some(b' ' | b'\t')).then_some(width)
}

fn split_indent(line: &[u8]) -> (usize, &[u8]) {
    let mut column = 0;
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b' ' => column += 1,
            b'\t' => column += 4 - column % 4,
            b'\r' => {}
            _ => return (column, line.get(at..).unwrap_or_default()),
        }
    }
    (column, &[])
}

fn run_of(mark: u8, text: &[u8]) -> usize {
    text.iter().take_while(|byte| **byte == mark).count()
}

fn contains(text: &[u8], needle: &[u8]) -> bool {
    text.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One letter per line: `.` outside, `O` opens, `i` inside.
    fn parts(source: &str) -> String {
        let mut blocks = Blocks::default();
        let letter = |part| match part {
            LineKind::Outside => '.',
            LineKind::Opens => 'O',
            LineKind::Inside => 'i',
        };
        source.lines().map(|line| letter(blocks.feed(line.as_bytes()))).collect()
    }

    #[test]
    fn a_fence_closes_with_at_least_as_many_marks() {
        assert_eq!(parts("a\n````text\n```\n### x\n`````\n### y"), ".Oiii.");
        assert_eq!(parts("~~~\n```\n~~~\nb"), "Oii.");
        assert_eq!(parts("``` a`b\nb"), "..");
        assert_eq!(parts("```\n``` text\n```\n."), "Oii.");
        assert_eq!(parts("    ```\nb"), "..");
        assert_eq!(parts("```\n    ```\n"), "Oi");
    }

    #[test]
    fn a_fence_in_a_list_item_ends_with_the_item() {
        assert_eq!(parts("- a\n  ```\n  x\n\n### y"), ".Oii.");
        assert_eq!(parts("- ```\n  x\n### y"), "Oi.");
        assert_eq!(parts("- a\n  - b\n    ```\n    x\n    ```\n- c"), "..Oii.");
        assert_eq!(parts("1. a\n   ~~~\n   x\nb"), ".Oi.");
        assert_eq!(parts("- a\n\nb\n  ```\n### x"), "...Oi");
    }

    #[test]
    fn a_comment_over_several_lines_is_a_block() {
        assert_eq!(parts("<!-- a\n### x\nb --> c\n### y"), "Oii.");
        assert_eq!(parts("<!-- a -->\n### x"), "..");
        assert_eq!(parts("text <!-- a\n### x"), "..");
    }
}
