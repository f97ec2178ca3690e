//! A text diff in which the words that differ stand out.

use similar::{ChangeTag, TextDiff};

use crate::workspace::FileDiff;

/// One line of a diff.
pub(super) struct WordLine {
    /// ` `, `-` or `+`; `@` for the line above a hunk and `~` for the name of a file.
    pub(super) sign: char,
    /// Its text in parts; whether each part is what differs.
    pub(super) parts: Vec<(bool, String)>,
}

/// The lines of a file that differ, with two lines around them.
pub(super) fn word_lines(file: &FileDiff) -> Vec<WordLine> {
    let (old, new) = file.headers();
    let plain = |sign: char, text: String| WordLine { sign, parts: vec![(false, text)] };
    let mut lines = vec![plain('~', format!("--- {old}")), plain('~', format!("+++ {new}"))];
    let diff = TextDiff::from_lines(&file.before, &file.after);
    for hunk in diff.unified_diff().context_radius(2).iter_hunks() {
        lines.push(plain('@', hunk.header().to_string()));
        for op in hunk.ops() {
            for change in diff.iter_inline_changes(op) {
                let sign = match change.tag() {
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                    ChangeTag::Equal => ' ',
                };
                let part = |(differs, text): (bool, std::borrow::Cow<'_, str>)| {
                    (differs, text.trim_end_matches('\n').to_owned())
                };
                let parts = change.iter_strings_lossy().map(part);
                let parts = parts.filter(|(_, text)| !text.is_empty()).collect();
                lines.push(WordLine { sign, parts });
                if change.missing_newline() {
                    lines.push(plain('~', "\\ No newline at end of file".to_owned()));
                }
            }
        }
    }
    lines
}

impl WordLine {
    /// The line for a pipe: `[-old-]` and `{+new+}` around the words that differ.
    pub(super) fn marked(&self) -> String {
        let mut text = String::new();
        if matches!(self.sign, ' ' | '-' | '+') {
            text.push(self.sign);
        }
        for (differs, part) in &self.parts {
            match (differs, self.sign) {
                (true, '-') => text.push_str(&format!("[-{part}-]")),
                (true, '+') => text.push_str(&format!("{{+{part}+}}")),
                _ => text.push_str(part),
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::StateFile;

    #[test]
    fn words_that_differ_are_marked() {
        let (before, after) = (b"- a status PENDING\n", b"- a status DONE\n");
        let lines = word_lines(&FileDiff::new(StateFile::Plan, before, after));
        let marked: Vec<String> = lines.iter().map(WordLine::marked).collect();
        let expected = [
            "--- a/plan.md",
            "+++ b/plan.md",
            "@@ -1 +1 @@",
            "-- a status [-PENDING-]",
            "+- a status {+DONE+}",
        ];
        assert_eq!(marked, expected);
    }

    #[test]
    fn a_missing_line_end_is_seen() {
        let lines = word_lines(&FileDiff::new(StateFile::Plan, b"a\n", b"a"));
        assert_eq!(lines.last().unwrap().marked(), "\\ No newline at end of file");
    }
}
