//! Refusing absurd nesting before the parser has to work through it.
//!
//! The parser walks all open containers on every line, so a line of a million `>` followed by a
//! million short lines would take days. How deep a line can reach is bounded by what is at
//! its beginning, and that is counted much faster than it is parsed.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::text::markdown::{MAX_DEPTH, line, options};

/// How deep a line may seem before it is looked into. Far beyond the limit, because indented
/// code seems deep too, and near enough for the parser to cope.
const SUSPICIOUS: usize = 4 * MAX_DEPTH;

/// How often a line may seem too deep without being so, as in a code block.
const FALSE_ALARMS: usize = 16;

/// A line on which lists and quotes are nested far too deeply, told by the beginning of every line
/// of `source`.
///
/// A suspicious line is parsed together with all that precedes it, which is cheap because
/// nothing before it was deep.
pub(crate) fn too_deep(source: &str) -> Option<usize> {
    let mut alarms = 0;
    let mut at = 0;
    let returns = source.contains('\r');
    while at < source.len() {
        let next = match returns {
            true => line::next_line(source, at),
            false => source[at..].find('\n').map_or(source.len(), |width| at + width + 1),
        };
        if Lead::of(&source.as_bytes()[at..next]).depth() > SUSPICIOUS {
            alarms += 1;
            if alarms > FALSE_ALARMS || true_depth(&source[..next]) > MAX_DEPTH {
                return Some(at);
            }
        }
        at = next;
    }
    None
}

/// What is at the beginning of a line.
struct Lead {
    quotes: usize,
    items: usize,
    /// Columns of white space; a tab counts as four.
    blanks: usize,
}

impl Lead {
    fn of(text: &[u8]) -> Self {
        let mut lead = Self { quotes: 0, items: 0, blanks: 0 };
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            let marker = match byte {
                b' ' | b'\t' => {
                    lead.blanks += if *byte == b' ' { 1 } else { 4 };
                    at += 1;
                    continue;
                }
                b'>' => {
                    lead.quotes += 1;
                    at += 1;
                    continue;
                }
                b'-' | b'+' | b'*' => 1,
                b'0'..=b'9' => {
                    let digits = text[at..].iter().take(9).take_while(|b| b.is_ascii_digit());
                    digits.count() + 1
                }
                _ => break,
            };
            let ends = marker == 1 || matches!(text.get(at + marker - 1), Some(b'.' | b')'));
            if !ends || text.get(at + marker).is_some_and(|b| !line::is_space(*b)) {
                break;
            }
            lead.items += 1;
            at += marker;
        }
        lead
    }

    /// How many containers can be open after the line, if it opens any: each quote needs its
    /// marker, each item its marker or two columns.
    fn depth(&self) -> usize {
        match self.quotes + self.items {
            0 => 0,
            markers => markers + self.blanks / 2,
        }
    }
}

fn true_depth(source: &str) -> usize {
    let mut depth = 0;
    let mut deepest = 0;
    for event in Parser::new_ext(source, options()) {
        match event {
            Event::Start(Tag::Item | Tag::BlockQuote(_)) => {
                depth += 1;
                deepest = depth.max(deepest);
            }
            Event::End(TagEnd::Item | TagEnd::BlockQuote(_)) => depth -= 1,
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn absurd_nesting_is_found_without_parsing_what_follows() {
        assert_eq!(too_deep(&format!("a\n{}x\n", "> ".repeat(401))), Some(2));
        assert_eq!(too_deep(&format!("a\r{}x\r", ">".repeat(401))), Some(2));
        assert_eq!(too_deep(&format!("{}x\n", "> 1. - ".repeat(134))), Some(0));
        let stairs: String = (0..500).map(|i| format!("{}- x\n", "  ".repeat(i))).collect();
        assert!(too_deep(&stairs).is_some());
    }

    #[test]
    fn code_that_looks_deep_is_not_refused() {
        assert_eq!(too_deep(&format!("```\n{}x\n```\n", "> ".repeat(900))), None);
        assert_eq!(too_deep(&"- ".repeat(900)), None);
        let far = format!("{}- x\n", " ".repeat(700)).repeat(500);
        assert_eq!(too_deep(&format!("```\n{far}```\n")), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn no_line_reaches_deeper_than_its_beginning_tells(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "> ", ">", "- ", "* ", "-\t", "1. ", "10) ", " ", "  ", "    ", "\t", "x",
                    "\n", "x\n", "\r", "\r\n", "-\n", "\\", "```",
                ]),
                0..60,
            ),
        ) {
            let source = parts.concat();
            let mut deepest = 0;
            let mut at = 0;
            while at < source.len() {
                let next = line::next_line(&source, at);
                deepest = deepest.max(Lead::of(&source.as_bytes()[at..next]).depth());
                at = next;
            }
            prop_assert!(true_depth(&source) <= deepest, "{:?}", source);
        }
    }
}
