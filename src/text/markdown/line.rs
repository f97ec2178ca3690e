//! Arithmetic on lines, where `\n`, `\r\n` and a lone `\r` all end one.

/// Whether the parser sees nothing in `byte`: a line of such bytes is blank to it.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// `text` without ASCII white space around it; other white space is content.
pub(super) fn trim(text: &str) -> &str {
    let bytes = text.as_bytes();
    let start = bytes.iter().take_while(|byte| is_space(**byte)).count();
    &text[start..trim_end(text, start, text.len())]
}

/// The end of what is not white space before `end`, but not before `start`.
pub(super) fn trim_end(source: &str, start: usize, end: usize) -> usize {
    let bytes = source.as_bytes();
    let mut at = end;
    while at > start && is_space(bytes[at - 1]) {
        at -= 1;
    }
    at
}

/// The first offset from `at` on that is neither space nor tab.
pub(super) fn skip_blanks(source: &str, at: usize) -> usize {
    let rest = &source.as_bytes()[at..];
    at + rest.iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// The first offset from `at` on that is not white space, but not after `end`.
pub(super) fn skip_space(source: &str, at: usize, end: usize) -> usize {
    let rest = &source.as_bytes()[at..end.max(at)];
    at + rest.iter().take_while(|&&b| is_space(b)).count()
}

/// Where the line that holds `at` begins.
pub(super) fn line_start(source: &str, at: usize) -> usize {
    let before = &source.as_bytes()[..at];
    before.iter().rposition(|b| matches!(b, b'\n' | b'\r')).map_or(0, |i| i + 1)
}

/// Where the line that holds `at` ends, before its line end.
pub(super) fn text_end(source: &str, at: usize) -> usize {
    let rest = &source.as_bytes()[at..];
    at + rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len())
}

/// Where the line that holds `at` ends, after its line end.
pub(super) fn next_line(source: &str, at: usize) -> usize {
    let end = text_end(source, at);
    match &source.as_bytes()[end..] {
        [b'\r', b'\n', ..] => end + 2,
        [_, ..] => end + 1,
        [] => end,
    }
}

/// Whether `at` is at the beginning of a line.
pub(super) fn begins_line(source: &str, at: usize) -> bool {
    at == 0 || matches!(source.as_bytes()[at - 1], b'\n' | b'\r')
}

/// Whether nothing but white space is on the line before `at`; true at the very beginning.
pub(super) fn blank_before(source: &str, at: usize) -> bool {
    let bytes = source.as_bytes();
    let end = match &bytes[..at] {
        [.., b'\r', b'\n'] => at - 2,
        [.., b'\n' | b'\r'] => at - 1,
        _ => at,
    };
    let start = line_start(source, end);
    bytes[start..end].iter().all(|&b| is_space(b))
}

/// Whether nothing but white space is on the line at `at`; true at the very end.
pub(super) fn blank_at(source: &str, at: usize) -> bool {
    source.as_bytes()[at..text_end(source, at)].iter().all(|&b| is_space(b))
}

/// Where the run of blank lines directly before `at` begins; `at` itself when there is none.
pub(super) fn blank_run_start(source: &str, at: usize) -> usize {
    let content = trim_end(source, 0, at);
    if content == 0 { 0 } else { next_line(source, content).min(at) }
}

/// The lines of `text`, without their ends; a final line end adds no empty line.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        (at < text.len()).then(|| {
            let line = &text[at..text_end(text, at)];
            at = next_line(text, at);
            line
        })
    })
}

/// `text` with every line end written as `newline`, and blank lines around it left out.
pub(super) fn normalise(text: &str, newline: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut pending = String::new();
    for line in lines(text) {
        let blank = trim(line).is_empty();
        if blank && out.is_empty() {
            continue;
        }
        pending.push_str(line);
        pending.push_str(newline);
        if !blank {
            out.push_str(&pending);
            pending.clear();
        }
    }
    out
}

/// How many columns `text` takes at the beginning of a line, with tab stops four apart.
pub(super) fn columns(text: &str) -> usize {
    text.chars().fold(0, |at, c| if c == '\t' { at / 4 * 4 + 4 } else { at + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_end_is_one_line_end() {
        let source = "a\r\nb\rc\nd";
        assert_eq!(lines(source).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!(next_line(source, 0), 3);
        assert_eq!(next_line(source, 3), 5);
        assert_eq!(line_start(source, 6), 5);
        assert!(begins_line(source, 5) && !begins_line(source, 8));
    }

    #[test]
    fn the_edges_of_a_text_count_as_blank() {
        assert!(blank_before("", 0) && blank_at("", 0));
        assert!(blank_before("a\n \n", 4) && !blank_before("a\n", 2) && !blank_before("a", 1));
        assert_eq!(blank_run_start("a\n\n \nb", 5), 2);
        assert_eq!(blank_run_start("a\nb", 2), 2);
    }

    #[test]
    fn tabs_reach_the_next_stop() {
        assert_eq!(columns("-\t"), 4);
        assert_eq!(columns("  - "), 4);
        assert_eq!(columns("\t- "), 6);
    }

    #[test]
    fn normalising_unifies_line_ends_and_drops_outer_blank_lines() {
        assert_eq!(normalise("\n \na\r\n\r  b\n\n", "\r\n"), "a\r\n\r\n  b\r\n");
        assert_eq!(normalise(" \n", "\n"), "");
    }
}
