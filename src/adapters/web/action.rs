//! What a form asks for: one of the commands that a page offers, and no other.

use crate::{
    adapters::{
        cli::in_process::{self, Caller, CommandAnswer},
        offers::Ask,
    },
    domain::ErrorCode,
};

/// The longest reason.
const MOST: usize = 4000;

/// A command with the revision that the page showed.
#[derive(Debug, PartialEq)]
pub(super) struct PageCommand {
    words: Vec<String>,
    revision: String,
    /// The view to show afterwards.
    pub(super) back: Option<String>,
}

impl PageCommand {
    /// Reads a form.
    pub(super) fn read(form: &[(String, String)]) -> Result<Self, &'static str> {
        let all = |name: &str| {
            form.iter()
                .filter(|(known, _)| known == name)
                .map(|(_, value)| value.as_str())
                .collect::<Vec<_>>()
        };
        let only = |name: &str| match all(name).as_slice() {
            [one] => Some((*one).to_owned()).filter(|text| !text.trim().is_empty()),
            _ => None,
        };
        let given = all("word");
        if given.iter().any(|word| word.starts_with('-') || word.is_empty() || word.len() > 200) {
            return Err("an argument of the command is not allowed");
        }
        let reason = only("reason");
        if reason.as_deref().is_some_and(|reason| reason.len() > MOST) {
            return Err("the reason cannot be used");
        }
        let ask = Ask::of(&given).ok_or("this is not a command of the page")?;
        let words = given.into_iter().map(str::to_owned).collect();
        let words = ask.answered(words, reason.as_deref().unwrap_or_default())?;
        let revision = only("revision").ok_or("the revision that the page showed is missing")?;
        Ok(Self { words, revision, back: only("back") })
    }

    /// Runs the command for a caller, on the revision that the page showed.
    pub(super) fn run(&self, caller: Caller) -> CommandAnswer {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let command = format!("web: {}", words.join(" "));
        let caller = Caller { if_match: Some(self.revision.clone()), command, ..caller };
        match in_process::request(&words) {
            Some(request) => in_process::run(&caller, request),
            None => {
                CommandAnswer::refusal(ErrorCode::Usage, "this is not a command of the page", None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: &[(&str, &str)]) -> Result<PageCommand, &'static str> {
        let form: Vec<_> =
            form.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        PageCommand::read(&form)
    }

    #[test]
    fn only_what_the_page_offers_is_run() {
        let fine = read(&[
            ("word", "step"),
            ("word", "done"),
            ("word", "3"),
            ("revision", "abc"),
            ("back", "graph"),
        ]);
        assert_eq!(fine.unwrap().words, ["step", "done", "3"]);
        let asked = read(&[
            ("word", "review"),
            ("word", "reject"),
            ("word", "r1"),
            ("revision", "a"),
            ("reason", "--force"),
        ]);
        assert_eq!(asked.unwrap().words, ["review", "reject", "r1", "--why=--force"]);
        for wrong in [
            &[("word", "gc"), ("revision", "a")][..],
            &[("word", "step"), ("word", "remove"), ("word", "1"), ("revision", "a")],
            &[("word", "step"), ("word", "done"), ("word", "--force"), ("revision", "a")],
            &[("word", "step"), ("word", "done"), ("word", "1")],
            &[("word", "step"), ("word", "done"), ("word", "1"), ("revision", " ")],
            &[
                ("word", "step"),
                ("word", "done"),
                ("word", "1"),
                ("revision", "a"),
                ("revision", "b"),
            ],
            &[("word", "step"), ("word", "fail"), ("word", "1"), ("revision", "a")],
            &[
                ("word", "step"),
                ("word", "fail"),
                ("word", "1"),
                ("revision", "a"),
                ("reason", "-"),
            ],
            &[
                ("word", "review"),
                ("word", "reject"),
                ("word", "r1"),
                ("revision", "a"),
                ("reason", " "),
            ],
            &[("revision", "a")],
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
