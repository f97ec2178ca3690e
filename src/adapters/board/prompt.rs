//! What is asked before a command is run: the command itself, and a text where it needs one.

use super::actions::Offer;
use crate::text::shell::command_line;

/// The longest text.
const MOST: usize = 4000;

/// A command that waits for a confirmation or a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) offer: Offer,
    /// The revision that was shown when it was asked for.
    pub(super) revision: String,
    /// What else there is to know.
    pub(super) about: Vec<String>,
    pub(super) text: String,
    /// Where the next character goes, in bytes.
    pub(super) cursor: usize,
    /// Why it could not be run.
    pub(super) complaint: Option<String>,
}

impl Prompt {
    pub(super) fn new(offer: Offer, revision: String, about: Vec<String>) -> Self {
        Self { offer, revision, about, text: String::new(), cursor: 0, complaint: None }
    }

    /// The question, if a text is asked for.
    pub(super) fn question(&self) -> Option<&'static str> {
        self.offer.ask.question()
    }

    /// The words of the command with the text that was typed.
    ///
    /// # Errors
    /// A text is needed, or it cannot be used.
    pub(super) fn words(&self) -> Result<Vec<String>, &'static str> {
        self.offer.ask.answered(self.offer.words.clone(), &self.text)
    }

    /// The command as it will be run, ready to be pasted.
    pub(super) fn command(&self, named: Option<&str>) -> String {
        let words = self.words().unwrap_or_else(|_| self.offer.words.clone());
        literal(&words, &self.revision, named)
    }

    /// Adds what was typed or pasted.
    pub(super) fn insert(&mut self, text: &str) {
        if self.question().is_none() {
            return;
        }
        for c in text.chars() {
            let c = if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c };
            if c.is_control() || self.text.len() + c.len_utf8() > MOST {
                continue;
            }
            self.text.insert(self.cursor, c);
            self.cursor += c.len_utf8();
        }
        self.complaint = None;
    }

    /// Deletes the character before the cursor.
    pub(super) fn delete_back(&mut self) {
        if let Some((at, _)) = self.text[..self.cursor].char_indices().next_back() {
            self.text.remove(at);
            self.cursor = at;
        }
    }

    /// Deletes the character at the cursor.
    pub(super) fn delete(&mut self) {
        if self.cursor < self.text.len() {
            self.text.remove(self.cursor);
        }
    }

    /// Deletes everything before the cursor.
    pub(super) fn delete_line(&mut self) {
        self.text.drain(..self.cursor);
        self.cursor = 0;
    }

    /// Deletes the word before the cursor.
    pub(super) fn delete_word(&mut self) {
        let before = self.text[..self.cursor].trim_end();
        let at = before.rfind(' ').map_or(0, |blank| blank + 1);
        self.text.drain(at..self.cursor);
        self.cursor = at;
    }

    /// Moves the cursor by a character.
    pub(super) fn step(&mut self, forward: bool) {
        if forward {
            let next = self.text[self.cursor..].chars().next();
            self.cursor += next.map_or(0, char::len_utf8);
        } else {
            let before = self.text[..self.cursor].chars().next_back();
            self.cursor -= before.map_or(0, char::len_utf8);
        }
    }
}

/// A command with its condition, ready to be pasted.
pub(super) fn literal(words: &[String], revision: &str, named: Option<&str>) -> String {
    let (head, tail) = match words.iter().position(|word| word == "--") {
        Some(at) => words.split_at(at),
        None => (words, &[][..]),
    };
    let directory = named.into_iter().flat_map(|dir| ["-C", dir]);
    let head = head.iter().map(String::as_str);
    let tail = tail.iter().map(String::as_str);
    command_line(directory.chain(head).chain(["--if-match", revision]).chain(tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::offers::Ask;

    fn prompt(words: &[&str], ask: Ask) -> Prompt {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let offer = Offer { key: None, label: String::new(), words, ask };
        Prompt::new(offer, "8f3a2c91b0d4".to_owned(), Vec::new())
    }

    #[test]
    fn a_text_becomes_an_option_that_nothing_in_it_ends() {
        let ask = Ask::Option { question: "?", name: "--error", is_required: true };
        let mut fail = prompt(&["step", "fail", "3"], ask);
        assert!(fail.words().is_err());
        fail.insert("--force it's\nbroken\u{1b}");
        assert_eq!(fail.words().unwrap(), ["step", "fail", "3", "--error=--force it's broken"]);
        assert_eq!(
            fail.command(None),
            r"statedir step fail 3 '--error=--force it'\''s broken' --if-match 8f3a2c91b0d4"
        );
        assert_eq!(fail.command(Some("a b")).split(" step").next(), Some("statedir -C 'a b'"));
        fail.delete_line();
        fail.insert("-");
        assert!(fail.words().is_err(), "standard input is not read");
    }

    #[test]
    fn a_text_can_be_an_argument() {
        let mut note =
            prompt(&["history", "add", "step=3"], Ask::Argument { question: "?", after: 2 });
        note.insert("- a dash");
        assert_eq!(note.words().unwrap(), ["history", "add", "--", "- a dash", "step=3"]);
        assert_eq!(
            note.command(None),
            "statedir history add --if-match 8f3a2c91b0d4 -- '- a dash' step=3"
        );
    }

    #[test]
    fn the_text_can_be_edited_anywhere() {
        let mut note = prompt(&["history", "add"], Ask::Argument { question: "?", after: 2 });
        note.insert("naïve 数据");
        note.step(false);
        note.delete_back();
        note.insert("x");
        assert_eq!(note.text, "naïve x据");
        note.delete();
        note.delete_word();
        assert_eq!(note.text, "naïve ");
        note.delete_word();
        assert_eq!((note.text.as_str(), note.cursor), ("", 0));
        note.delete_back();
        note.step(false);
        note.step(true);
        note.insert(&"y".repeat(10_000));
        assert_eq!(note.text.len(), MOST);
    }
}
