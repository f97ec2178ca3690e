//! A JSON file that is ours alone, and what was in its place before.

/// What was there before the file; its end tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nothing; so many of the folders above it were there already, the last of them empty.
    Absent(usize),
    /// A file without a word.
    Blank(String),
}

const MARK: char = '\u{feff}';

impl Origin {
    /// What is there, unless it says something.
    pub(super) fn of(there: Option<&str>, folders: usize) -> Option<Self> {
        match there {
            None => Some(Self::Absent(folders)),
            Some(text) => text
                .trim_start_matches(MARK)
                .trim()
                .is_empty()
                .then(|| Self::Blank(text.to_owned())),
        }
    }

    /// What was there before a file that holds `body` and nothing else.
    pub(super) fn before(text: &str, body: &str) -> Option<Self> {
        let (mark, text) = split(text);
        let tail = text.strip_prefix(body.trim_end())?;
        let folders = tail.strip_suffix('\n').filter(|blanks| blanks.chars().all(|c| c == ' '));
        match folders {
            Some(blanks) if mark.is_empty() => Some(Self::Absent(blanks.len())),
            _ => {
                let blank = tail.strip_prefix("\n\n").filter(|rest| rest.trim().is_empty())?;
                Some(Self::Blank(format!("{mark}{blank}")))
            }
        }
    }

    /// The file.
    pub(super) fn file(&self, body: &str) -> String {
        let body = body.trim_end();
        match self {
            Self::Absent(folders) => format!("{body}{}\n", " ".repeat(*folders)),
            Self::Blank(text) => {
                let (mark, rest) = split(text);
                format!("{mark}{body}\n\n{rest}")
            }
        }
    }
}

fn split(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(MARK) { MARK.len_utf8() } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_before_is_known_by_the_end() {
        for origin in
            [None, Some(""), Some("\n"), Some("\n\n"), Some(" \r\n\t"), Some("\u{feff}\n")]
        {
            for folders in [0, 2] {
                let was = Origin::of(origin, folders).unwrap();
                let file = was.file("{}\n");
                assert_eq!(Origin::before(&file, "{}\n"), Some(was), "{file:?}");
            }
        }
        assert_eq!(Origin::of(Some("{}"), 0), None);
        assert_eq!(Origin::before("{}\nmore", "{}\n"), None);
        assert_eq!(Origin::before("{}", "{}\n"), None);
    }
}
