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
        let command = format!("web: {}", self.words.join(" "));
        let caller = Caller { if_match: Some(self.revision.clone()), command, ..caller };
        match in_process::request(&self.words) {
            Ok(request) => in_process::run(&caller, request),
            Err(_) => {
                CommandAnswer::refusal(ErrorCode::Usage, "this is not a command of the page", None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A form with the words of a command, and fields such as `revision=a`.
    fn read(words: &str, fields: &[&str]) -> Result<PageCommand, &'static str> {
        let words = words.split_whitespace().map(|word| ("word".to_owned(), word.to_owned()));
        let fields = fields.iter().filter_map(|field| field.split_once('='));
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        PageCommand::read(&words.chain(fields).collect::<Vec<_>>())
    }

    #[test]
    fn only_what_the_page_offers_is_run() {
        let fine = read("step done 3", &["revision=abc", "back=graph"]);
        assert_eq!(fine.unwrap().words, ["step", "done", "3"]);
        let asked = read("review reject r1", &["revision=a", "reason=--force"]);
        assert_eq!(asked.unwrap().words, ["review", "reject", "r1", "--why=--force"]);
        for (words, fields) in [
            ("gc", &["revision=a"][..]),
            ("step remove 1", &["revision=a"]),
            ("step done --force", &["revision=a"]),
            ("step done 1", &[]),
            ("step done 1", &["revision= "]),
            ("step done 1", &["revision=a", "revision=b"]),
            ("step fail 1", &["revision=a"]),
            ("step fail 1", &["revision=a", "reason=-"]),
            ("review reject r1", &["revision=a", "reason= "]),
            ("", &["revision=a"]),
        ] {
            assert!(read(words, fields).is_err(), "{words} {fields:?}");
        }
    }
}
