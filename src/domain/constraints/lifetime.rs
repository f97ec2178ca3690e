//! For how many steps a directive still holds.

use std::ops::Range;

use crate::domain::quantity::number_word;

/// What may enclose a lifetime: `**For the next 2 steps**, …`, `… (for the next 2 steps).`
const ENCLOSING: &[char] = &['*', '_', '`', '"', '\'', '(', ')'];

/// Words after `for the next 2 steps` that say which steps are meant rather than what to do.
const WHICH: [&str; 16] = [
    "of", "that", "which", "who", "where", "when", "in", "on", "at", "to", "from", "with",
    "before", "after", "and", "or",
];

/// A directive with `for the next N steps` at its beginning or at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lifetime<'t> {
    /// What is before the number.
    before: &'t str,
    steps: u32,
    /// What follows `steps`.
    after: &'t str,
}

impl<'t> Lifetime<'t> {
    /// Finds the lifetime of a directive, if it has one.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let words = words(text);
        (0..words.len()).find_map(|at| {
            let phrase = Phrase::read(text, &words[at..])?;
            (phrase.introduces(text) || phrase.ends(text)).then(|| Self {
                before: &text[..phrase.number],
                steps: phrase.steps,
                after: &text[phrase.end..],
            })
        })
    }

    /// For how many steps it still holds.
    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// What it limits, if it is at the beginning: the end of the text.
    pub(crate) fn limited(&self) -> Option<&'t str> {
        let limited = self.after.trim_start_matches(ENCLOSING).trim_start();
        let limited = limited.trim_start_matches([',', ':', ';', '–', '—']).trim_start();
        (!is_end(limited)).then_some(limited)
    }

    /// Whether both are the same directive, for however many steps.
    pub(crate) fn is_of_same(&self, other: &Self) -> bool {
        (self.before, self.after) == (other.before, other.after)
    }

    /// The directive with another number of steps.
    pub(crate) fn with_steps(&self, steps: u32) -> String {
        let noun = if steps == 1 { "step" } else { "steps" };
        format!("{}{steps} {noun}{}", self.before, self.after)
    }
}

/// `for the next N steps` somewhere in a text.
struct Phrase {
    start: usize,
    /// Where the number begins; where the noun does if there is none.
    number: usize,
    end: usize,
    steps: u32,
    /// Whether it says `next` or `following`.
    says_next: bool,
}

impl Phrase {
    /// Reads the phrase that begins with the first of these words.
    fn read(text: &str, words: &[Range<usize>]) -> Option<Self> {
        let mut at = 0;
        // Nothing but blanks may stand between the words.
        let mut accept = |accepted: &[&str]| {
            let word = words.get(at)?;
            let gap = at.checked_sub(1).map_or("", |last| &text[words[last].end..word.start]);
            let is_accepted = accepted.iter().any(|a| a.eq_ignore_ascii_case(&text[word.clone()]));
            let is_number = accepted.is_empty() && number(&text[word.clone()]).is_some();
            let is_next = gap.trim().is_empty() && (is_accepted || is_number);
            at += usize::from(is_next);
            is_next.then(|| word.clone())
        };
        let start = accept(&["for", "during", "over", "within"])?.start;
        let has_article = accept(&["the"]).is_some();
        let says_next =
            accept(&["next"]).is_some() || has_article && accept(&["following"]).is_some();
        let given = accept(&[]);
        accept(&["more", "further"]);
        let noun = accept(&["steps", "step"])?;
        let steps = match &given {
            Some(given) => number(&text[given.clone()])?,
            None => 1,
        };
        let number = given.as_ref().map_or(noun.start, |given| given.start);
        let is_limit = (given.is_some() || says_next) && steps > 0;
        is_limit.then_some(Self { start, number, end: noun.end, steps, says_next })
    }

    /// Whether it is what the text begins with, and what it limits follows.
    fn introduces(&self, text: &str) -> bool {
        let rest = text[self.end..].trim_start_matches(ENCLOSING);
        if !is_blank(&text[..self.start]) {
            return false;
        }
        if let Some(rest) = rest.trim_start().strip_prefix([',', ':', ';', '–', '—']) {
            return !is_blank(rest);
        }
        let word = rest.split_whitespace().next().unwrap_or_default();
        let says_which = WHICH.iter().any(|which| which.eq_ignore_ascii_case(word));
        self.says_next && word.starts_with(char::is_alphabetic) && !says_which
    }

    /// Whether it is what the text ends with.
    fn ends(&self, text: &str) -> bool {
        !is_blank(&text[..self.start]) && is_end(&text[self.end..])
    }
}

/// Whether there is nothing but blanks and what may enclose a lifetime.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || ENCLOSING.contains(&c))
}

/// Whether there is nothing but what may end a directive.
fn is_end(text: &str) -> bool {
    is_blank(text.replace(['.', '!'], "").as_str())
}

fn number(word: &str) -> Option<u32> {
    let digits = word.replace(',', "").parse().ok();
    digits.or_else(|| number_word(word).map(|number| number as u32))
}

/// Where the words are; a number such as `1,000` or `1.5` is one.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let is_digit_next = || text[end..].starts_with(|c: char| c.is_ascii_digit());
        let goes_on = words.last().is_some_and(|word| word.end == at);
        if c.is_alphanumeric() && goes_on || goes_on && matches!(c, ',' | '.') && is_digit_next() {
            if let Some(last) = words.last_mut() {
                last.end = end;
            }
        } else if c.is_alphanumeric() {
            words.push(at..end);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn less(text: &str) -> Option<String> {
        Lifetime::parse(text).map(|life| life.with_steps(life.steps() - 1))
    }

    #[test]
    fn the_number_counts_down_in_words_and_digits() {
        for (text, one_less) in [
            ("For the next 2 steps, be brief", "For the next 1 step, be brief"),
            ("Be brief for the next three steps.", "Be brief for the next 2 steps."),
            ("For 3 steps, be brief", "For 2 steps, be brief"),
            ("Over the following 1,000 steps: be brief", "Over the following 999 steps: be brief"),
            ("**For the next 2 steps**, be brief", "**For the next 1 step**, be brief"),
            ("For the next 3 more steps, be brief", "For the next 2 steps, be brief"),
            // What comes next is not always steps.
            ("Plan the next release for 2 steps", "Plan the next release for 1 step"),
            // A comma is easily left out.
            ("For the next 2 steps prefer caches", "For the next 1 step prefer caches"),
            ("Answer briefly (for the next 2 steps).", "Answer briefly (for the next 1 step)."),
            ("Keep logs `for the next 2 steps`", "Keep logs `for the next 1 step`"),
        ] {
            assert_eq!(less(text).as_deref(), Some(one_less), "{text}");
        }
        assert_eq!(Lifetime::parse("For the next step: ask a human").unwrap().steps(), 1);
    }

    #[test]
    fn what_is_said_about_some_steps_has_no_lifetime() {
        for text in [
            "no lifetime",
            "For the next 2 steps",
            "Wait for 2 steps of the dance",
            "For the next 2 steps of the migration, ask first",
            "For the next 2 steps that touch the database, ask first",
            "Be brief for the next 2 steps, then tell all",
            "For the next 0 steps, be brief",
            "For the next 1.5 steps, be brief",
            "For 2 steps be brief",
            "For the next, 2 steps are left",
            "For the next 2 tasks, be brief",
        ] {
            assert_eq!(Lifetime::parse(text), None, "{text}");
        }
    }
}
