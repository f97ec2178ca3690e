//! A note of several lines below the byline, as a quotation: it stays markdown, and nothing in it
//! is part of the log.

/// Whether a text is written as a quotation.
pub(super) fn fits(text: &str) -> bool {
    let is_blank = |line: Option<&str>| line.is_none_or(|line| line.trim().is_empty());
    let mut lines = text.split('\n');
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    text.contains('\n')
        && !is_blank(lines.next())
        && !is_blank(lines.next_back())
        && !text.contains(is_odd)
}

/// The lines of the quotation.
pub(super) fn write(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split('\n') {
        out.push_str(if line.is_empty() { ">" } else { "> " });
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// The text of a quotation that `body` begins with, and what follows it.
pub(super) fn parse(body: &str) -> (Option<String>, &str) {
    let mut rest = body;
    let mut lines = Vec::new();
    while let Some(text) = rest.strip_prefix('>') {
        let (line, behind) = text.split_once('\n').unwrap_or((text, ""));
        lines.push(line.strip_prefix(' ').unwrap_or(line));
        rest = behind;
    }
    let text = (!lines.is_empty()).then(|| lines.join("\n"));
    (text, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_reads_back() {
        for text in ["a\nb", "a\n\n> b\n- c\n### d", "a\n  b \n<!-- x -->", "- a\n\tb"] {
            assert!(fits(text), "{text:?}");
            let written = write(text) + "- **key**: value\n";
            assert_eq!(parse(&written), (Some(text.to_owned()), "- **key**: value\n"));
        }
        for text in ["", "one line", "\na", "a\n", "a\n \n", "a\r\nb", "a\u{7}\nb"] {
            assert!(!fits(text), "{text:?}");
        }
        assert_eq!(parse("- a\n"), (None, "- a\n"));
    }
}
