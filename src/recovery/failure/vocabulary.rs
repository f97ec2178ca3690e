//! The words and phrases of each class.

use super::ErrorClass::{self, ExecutionError, RateLimit, Timeout};
use crate::text::Words;

/// How much a phrase says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Something went wrong, whatever it was.
    Any,
    /// It may mean that.
    Hint,
    /// The subject is named; that it failed is said by a word beside it, see [`FAULT`].
    Subject,
    /// It says so.
    Plain,
}

impl Strength {
    fn parse(word: &str) -> Option<Self> {
        match word {
            "any" => Some(Self::Any),
            "hint" => Some(Self::Hint),
            "subject" => Some(Self::Subject),
            "plain" => Some(Self::Plain),
            _ => None,
        }
    }
}

/// A phrase of a class, as words.
pub(super) struct Phrase {
    pub class: ErrorClass,
    pub strength: Strength,
    pub words: Vec<&'static str>,
}

/// Every phrase of `vocabulary.txt`, in its order.
pub(super) fn all() -> impl Iterator<Item = Phrase> {
    let lines = include_str!("vocabulary.txt").lines().filter(|line| !line.starts_with('#'));
    let mut heading = None;
    lines.flat_map(move |line| {
        let mut phrases = "";
        match line.strip_prefix("= ").and_then(|line| line.split_once(' ')) {
            Some((class, strength)) => {
                heading = ErrorClass::parse(class).zip(Strength::parse(strength));
            }
            None => phrases = line,
        }
        let of_class = move |(class, strength)| {
            let words = |phrase: &'static str| phrase.split_whitespace().collect::<Vec<_>>();
            let words = phrases.split('|').map(words).filter(|words| !words.is_empty());
            words.map(move |words| Phrase { class, strength, words })
        };
        heading.into_iter().flat_map(of_class)
    })
}

/// Words after which a phrase of a class says the opposite, or means something else.
pub(super) fn is_denied(class: ErrorClass, first: &str, before: &[&str]) -> bool {
    let previous = before.last().copied().unwrap_or_default();
    let second = before.len().checked_sub(2).map_or("", |at| before[at]);
    let denies = |word: &str| matches!(word, "no" | "not" | "without" | "zero" | "0" | "never");
    let article = matches!(previous, "a" | "any" | "the" | "to" | "due");
    match class {
        Timeout | RateLimit if first != "no" && first != "not" && first != "did" => {
            denies(previous)
                || (article && denies(second))
                || (class == RateLimit && previous == "disk")
        }
        // "no errors", "0 failed".
        ExecutionError => denies(previous) && matches!(first, "error" | "errors" | "failed"),
        _ => false,
    }
}

/// Words that say of the subject beside them that something is wrong with it: `login failed`, but
/// not `login still broken`, where something else is.
pub(super) const FAULT: Words = Words(
    "error errors fail fails failed failing failure failures invalid expired missing required \
    needed rejected denied refused unavailable unreachable down lost incorrect wrong bad exceeded \
    reached insufficient revoked timeout cannot issue problem not err changed",
);

/// Words between a subject and what is said of it.
pub(super) const BETWEEN: Words = Words("is are was were has have been to the seems");

/// Words behind `timeout` that make it the name of a setting.
pub(super) const SETTING: Words =
    Words("option parameter setting argument flag value config must ms seconds");

/// Words behind `timeout` that make it the name of a thing.
pub(super) const THING: Words =
    Words("table column field module class function variable constant property key");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_understood() {
        let headings = include_str!("vocabulary.txt").lines().filter(|line| line.starts_with('='));
        for heading in headings {
            let words: Vec<&str> = heading.split(' ').collect();
            let known = matches!(words.as_slice(), ["=", class, strength]
                if ErrorClass::parse(class).is_some() && Strength::parse(strength).is_some());
            assert!(known, "{heading}");
        }
        for class in ErrorClass::ALL.into_iter().filter(|class| *class != ErrorClass::Unknown) {
            assert!(all().any(|phrase| phrase.class == class), "{class:?} has no phrase");
        }
        let small =
            |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        for phrase in all() {
            assert!(phrase.words.iter().all(small), "{:?}", phrase.words);
        }
    }
}
