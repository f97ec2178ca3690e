//! What may stand before the markdown of a document: a byte order mark and front matter.

use std::ops::Range;

use crate::text::markdown::line;

const BOM: &str = "\u{feff}";

/// The bytes before the markdown, and the front matter among them.
pub(crate) struct Preamble {
    /// Where the markdown begins.
    pub end: usize,
    /// The front matter with both of its fences.
    pub front_matter: Option<Range<usize>>,
}

/// Steps over the byte order mark and the front matter of `source`.
///
/// Front matter is a line `---`, then at once a line that is not blank, then somewhere a line
/// `---` or `...`. A rule with a blank line below it is therefore still a rule.
pub(crate) fn preamble(source: &str) -> Preamble {
    let start = if source.starts_with(BOM) { BOM.len() } else { 0 };
    match front_matter_end(source, start) {
        Some(end) => Preamble { end, front_matter: Some(start..end) },
        None => Preamble { end: start, front_matter: None },
    }
}

fn front_matter_end(source: &str, start: usize) -> Option<usize> {
    let fence = |at: usize| source[at..line::text_end(source, at)].trim_end_matches([' ', '\t']);
    if fence(start) != "---" {
        return None;
    }
    let mut at = line::next_line(source, start);
    if line::blank_at(source, at) {
        return None;
    }
    while at < source.len() {
        let next = line::next_line(source, at);
        if matches!(fence(at), "---" | "...") {
            return Some(next);
        }
        at = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(source: &str) -> Option<&str> {
        preamble(source).front_matter.map(|range| &source[range])
    }

    #[test]
    fn front_matter_is_recognised_only_at_the_very_start() {
        assert_eq!(front("---\na: 1\n---\n# T\n"), Some("---\na: 1\n---\n"));
        assert_eq!(front("\u{feff}---\r\na: 1\r\n...\r\nx"), Some("---\r\na: 1\r\n...\r\n"));
        assert_eq!(front("---\n---\n"), Some("---\n---\n"));
        assert_eq!(front("\n---\na: 1\n---\n"), None);
    }

    #[test]
    fn a_rule_or_an_unclosed_fence_is_no_front_matter() {
        assert_eq!(front("---\n\n# T\n\n---\n"), None);
        assert_eq!(front("---\na: 1\n# T\n"), None);
        assert_eq!(front("---"), None);
        assert_eq!(front("----\na\n---\n"), None);
    }
}
