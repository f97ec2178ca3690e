//! How steps are written in adopted files: what markers mean, and what an id looks like.

use serde::{Deserialize, Serialize};

use super::boxes::bullet_width;
use crate::domain::StepRole;

/// The grammar of the steps in one layout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Grammar {
    pub step: StepForm,
    /// The markers in boxes, and what they mean. A marker that is not listed counts as open.
    pub markers: Vec<Marker>,
    /// The words of a status line, and what they mean; the first for a role is the one written.
    pub words: Vec<StatusWord>,
    /// The shapes of an id; `#` stands for digits, `A` for letters.
    pub ids: Vec<String>,
    /// The headings below which steps are looked for; empty means everywhere.
    pub sections: Vec<String>,
}

/// What one step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StepForm {
    /// A list item with a box.
    #[default]
    Box,
    /// A numbered heading with a status line; boxes below it are its details.
    Heading,
}

/// What a marker means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Marker {
    /// The character in the box.
    pub mark: char,
    /// What it means.
    pub role: StepRole,
    /// Whether it is only read, and never written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}

/// What a word after `Status:` means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatusWord {
    /// The word; case does not matter.
    pub word: String,
    /// What it means.
    pub role: StepRole,
}

impl Default for Grammar {
    fn default() -> Self {
        let read = |mark, role| Marker { mark, role, read_only: true };
        let written = |mark, role| Marker { mark, role, read_only: false };
        let word = |word: &str, role| StatusWord { word: word.to_owned(), role };
        Self {
            step: StepForm::Box,
            markers: vec![
                written(' ', StepRole::Open),
                written('x', StepRole::Done),
                written('X', StepRole::Done),
                written('✓', StepRole::Done),
                written('✔', StepRole::Done),
                written('✅', StepRole::Done),
                read('~', StepRole::Active),
                read('-', StepRole::Active),
                read('>', StepRole::Active),
                read('/', StepRole::Active),
            ],
            words: vec![
                word("pending", StepRole::Open),
                word("not_started", StepRole::Open),
                word("todo", StepRole::Open),
                word("open", StepRole::Open),
                word("blocked", StepRole::Open),
                word("to_do", StepRole::Open),
                word("planned", StepRole::Open),
                word("未开始", StepRole::Open),
                word("待办", StepRole::Open),
                word("待处理", StepRole::Open),
                word("in_progress", StepRole::Active),
                word("active", StepRole::Active),
                word("doing", StepRole::Active),
                word("wip", StepRole::Active),
                word("started", StepRole::Active),
                word("进行中", StepRole::Active),
                word("進行中", StepRole::Active),
                word("complete", StepRole::Done),
                word("completed", StepRole::Done),
                word("done", StepRole::Done),
                word("finished", StepRole::Done),
                word("完成", StepRole::Done),
                word("已完成", StepRole::Done),
                word("skipped", StepRole::Skipped),
                word("cancelled", StepRole::Skipped),
                word("canceled", StepRole::Skipped),
                word("deferred", StepRole::Skipped),
                word("failed", StepRole::Failed),
            ],
            ids: Vec::new(),
            sections: Vec::new(),
        }
    }
}

impl Grammar {
    /// What a marker means; `None` if it is not known.
    pub(crate) fn role_of(&self, mark: char) -> Option<StepRole> {
        self.markers.iter().find(|known| known.mark == mark).map(|known| known.role)
    }

    /// The marker to write for a role; `None` if there is none.
    pub(crate) fn mark_of(&self, role: StepRole) -> Option<char> {
        let written = |known: &&Marker| known.role == role && !known.read_only;
        self.markers.iter().find(written).map(|known| known.mark)
    }

    /// The mark of a role that a text has first, of those that may be written.
    pub(crate) fn mark_in(&self, text: &str, role: StepRole) -> Option<char> {
        let is_written = |mark: char| {
            let same = |one: &Marker| one.mark == mark && one.role == role && !one.read_only;
            self.markers.iter().any(same)
        };
        text.lines().find_map(|line| {
            let line = line.trim_start();
            let mut inside = line[bullet_width(line)?..].trim_start().strip_prefix('[')?.chars();
            let mark = inside.next().filter(|mark| is_written(*mark));
            let is_box =
                inside.next() == Some(']') && inside.next().is_none_or(char::is_whitespace);
            mark.filter(|_| is_box)
        })
    }

    /// What a word after `Status:` means.
    pub(crate) fn role_of_word(&self, text: &str) -> Option<StepRole> {
        let same = |known: &&StatusWord| {
            let plain = |c: char| if matches!(c, '-' | ' ') { '_' } else { c.to_ascii_lowercase() };
            known.word.chars().map(plain).eq(text.trim().chars().map(plain))
        };
        self.words.iter().find(same).map(|known| known.role)
    }

    /// The word to write for a role.
    pub(crate) fn word_of(&self, role: StepRole) -> Option<&str> {
        self.words.iter().find(|known| known.role == role).map(|known| known.word.as_str())
    }

    /// A box content that is read as a role: a marker, or else a word.
    pub(crate) fn box_of(&self, role: StepRole) -> String {
        let mark = self.markers.iter().find(|known| known.role == role).map(|known| known.mark);
        let word = || self.word_of(role).map(str::to_owned);
        mark.map(String::from).or_else(word).unwrap_or_else(|| " ".to_owned())
    }

    /// Whether a word has one of the shapes of an id.
    pub(super) fn is_id(&self, word: &str) -> bool {
        self.ids.iter().any(|shape| fits(shape, word))
    }
}

/// Whether `word` has the shape: `#` is one digit or more, `A` one letter or more.
fn fits(shape: &str, word: &str) -> bool {
    let mut shapes = shape.chars();
    let Some(first) = shapes.next() else { return word.is_empty() };
    let rest = shapes.as_str();
    let is_of: fn(char) -> bool = match first {
        '#' => |c| c.is_ascii_digit(),
        'A' => |c| c.is_ascii_alphabetic(),
        literal => {
            let stripped = word.strip_prefix(literal);
            return stripped.is_some_and(|word| fits(rest, word));
        }
    };
    let longest = word.find(|c| !is_of(c)).unwrap_or(word.len());
    longest > 0 && fits(rest, &word[longest..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_an_id_is_digits_letters_and_what_is_literal() {
        assert!(fits("T#", "T001") && fits("#.#", "1.12") && fits("A-#", "AUTH-7"));
        assert!(!fits("T#", "T") && !fits("T#", "T1a") && !fits("#.#", "1.") && !fits("", "x"));
    }

    #[test]
    fn every_role_is_written_as_it_is_read() {
        let grammar = Grammar::default();
        assert_eq!(grammar.mark_of(StepRole::Done), Some('x'));
        assert_eq!(grammar.role_of('X'), Some(StepRole::Done));
        assert_eq!(grammar.mark_of(StepRole::Active), None);
        assert_eq!(grammar.role_of('?'), None);
        assert_eq!(grammar.box_of(StepRole::Active), "~");
        assert_eq!(grammar.box_of(StepRole::Skipped), "skipped");
        assert_eq!(grammar.role_of_word("In Progress"), Some(StepRole::Active));
        assert_eq!(grammar.word_of(StepRole::Done), Some("complete"));
    }
}
