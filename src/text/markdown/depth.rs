//! Refusing absurd nesting before the parser has to work through it.
//!
//! The parser walks all open containers on every line, so a line of a million `>` followed by a
//! million short lines would take days. Real nesting needs markers, which can be counted much
//! faster than they can be parsed.

use pulldown_cmark::{Event, Parser, Tag};

use super::{MAX_DEPTH, line, options};

/// How often a line may look too deep without being so, as in a code block.
const FALSE_ALARMS: usize = 16;

/// What a quick look at the lines of a source tells about it.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The first line on which lists and quotes are nested too deeply.
    pub too_deep: Option<usize>,
    /// About how many list items there are.
    pub items: usize,
    /// About how many headings there are.
    pub headings: usize,
}

/// Looks at the beginning of every line of `source`.
///
/// The estimate of the depth never falls below the truth. A suspicious line is parsed together
/// with all that precedes it, which is cheap because nothing before it was deep.
pub(super) fn survey(source: &str) -> Survey {
    let mut found = Survey::default();
    let mut estimate = 0;
    let mut alarms = 0;
    let mut at = 0;
    let returns = source.contains('\r');
    while at < source.len() {
        let next = match returns {
            true => line::next_line(source, at),
            false => source[at..].find('\n').map_or(source.len(), |width| at + width + 1),
        };
        let text = &source[at..next];
        found.headings += usize::from(text.starts_with('#'));
        if let Some(markers) = markers(text) {
            found.items += markers.count;
            estimate = markers.columns.min(estimate) + markers.count;
            if estimate > MAX_DEPTH {
                estimate = true_depth(&source[..next]);
                alarms += 1;
                if estimate > MAX_DEPTH || alarms > FALSE_ALARMS {
                    found.too_deep = Some(at);
                    return found;
                }
            }
        }
        at = next;
    }
    found
}

struct Markers {
    /// How many containers the line may open.
    count: usize,
    /// How many columns stand before its content; each open container needs one at least.
    columns: usize,
}

/// The container markers at the beginning of a line; none for a line that opens nothing and
/// may be a lazy continuation of whatever is open.
fn markers(text: &str) -> Option<Markers> {
    let bytes = text.as_bytes();
    let mut found = Markers { count: 0, columns: 0 };
    let mut at = 0;
    loop {
        let width = match &bytes[at..] {
            [b'\t', ..] => {
                found.columns += 3;
                1
            }
            [b' ', ..] => 1,
            [b'>', ..] => {
                found.count += 1;
                1
            }
            [b'-' | b'+' | b'*', b' ' | b'\t' | b'\n' | b'\r', ..] => {
                found.count += 1;
                1
            }
            [b'0'..=b'9', rest @ ..] => {
                let digits = 1 + rest.iter().take(8).take_while(|b| b.is_ascii_digit()).count();
                match bytes[at + digits..] {
                    [b'.' | b')', b' ' | b'\t' | b'\n' | b'\r', ..] => {
                        found.count += 1;
                        digits + 1
                    }
                    _ => break,
                }
            }
            _ => break,
        };
        found.columns += width;
        at += width;
    }
    (found.count > 0).then_some(found)
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
            Event::End(pulldown_cmark::TagEnd::Item | pulldown_cmark::TagEnd::BlockQuote(_)) => {
                depth -= 1;
            }
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn too_deep(source: &str) -> Option<usize> {
        survey(source).too_deep
    }

    #[test]
    fn deep_quotes_and_lists_are_found_where_they_are() {
        assert_eq!(too_deep(&format!("a\n{}x\n", "> ".repeat(101))), Some(2));
        assert_eq!(too_deep(&format!("a\n{}x\n", "> ".repeat(100))), None);
        let stairs: String = (0..120).map(|i| format!("{}- x\n", "  ".repeat(i))).collect();
        let at = too_deep(&stairs).unwrap();
        assert_eq!(stairs[..at].lines().count(), 100);
    }

    #[test]
    fn code_that_looks_deep_is_not_refused() {
        assert_eq!(too_deep(&format!("```\n{}x\n```\n", "> ".repeat(300))), None);
        assert_eq!(too_deep(&"- ".repeat(300)), None);
        assert_eq!(too_deep(&"- x\n\n".repeat(300)), None);
    }
}
