//! From the text of an error to its class.

use std::sync::OnceLock;

use serde::Serialize;

use super::{
    ErrorClass, http,
    vocabulary::{self, BETWEEN, FAULT, Phrase, SETTING, Strength, THING, is_denied},
    words::{Word, words},
};

/// An error, understood as far as its text allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ClassifiedError {
    /// What kind of error it was.
    pub class: ErrorClass,
    /// Whether the same attempt may succeed later.
    pub recoverable: bool,
    /// The words that decided, as written.
    pub because: Vec<String>,
    /// How long to wait, if the text itself says so, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl ClassifiedError {
    /// How long to wait before attempt `attempt`, in milliseconds.
    pub(crate) fn backoff_ms(&self, attempt: u32) -> u64 {
        let usual = self.class.backoff_ms(attempt);
        if self.recoverable { self.retry_after_ms.unwrap_or(0).max(usual) } else { 0 }
    }
}

/// A phrase that was found.
struct Match {
    class: ErrorClass,
    strength: Strength,
    text: String,
}

/// Says what kind of error a text tells about.
///
/// The strongest words count; of equally strong ones, those of the first class in
/// [`ErrorClass::ALL`]. A text without any known word is an execution error, for somebody took
/// the trouble to write it; one that says nothing is unknown.
pub(crate) fn classify(text: &str) -> ClassifiedError {
    let words = words(text);
    let found = find(text, &words);
    let strongest = found.iter().map(|found| found.strength).max();
    let class = match strongest {
        Some(Strength::Hint | Strength::Subject | Strength::Plain) => {
            let strong = found.iter().filter(|found| Some(found.strength) == strongest);
            strong.map(|found| found.class).min().unwrap_or(ErrorClass::Unknown)
        }
        _ if says_nothing(&words) => ErrorClass::Unknown,
        _ => ErrorClass::ExecutionError,
    };
    let mut because: Vec<String> = Vec::new();
    for found in found.into_iter().filter(|found| found.class == class) {
        if because.len() < 5 && !because.contains(&found.text) {
            because.push(found.text);
        }
    }
    let recoverable = class.is_recoverable();
    let retry_after_ms = if recoverable { retry_after(text, &words) } else { None };
    ClassifiedError { class, recoverable, because, retry_after_ms }
}

/// Every phrase of the vocabulary and every status code in the text.
fn find(text: &str, words: &[Word<'_>]) -> Vec<Match> {
    let mut found = Vec::new();
    let mut covered = 0;
    for at in 0..words.len() {
        if http::is_status(text, words, at)
            && let Ok(code) = words[at].text.parse()
            && let Some(class) = http::class_of(code)
        {
            let text = words[at].written.to_owned();
            found.push(Match { class, strength: Strength::Plain, text });
        }
        for phrase in phrases(&words[at].text) {
            let len = phrase.words.len();
            let Some(run) = words.get(at..at + len) else { continue };
            let (start, end) = (run[0].start, run[len - 1].end);
            let same = run.iter().zip(&phrase.words).all(|(word, wanted)| word.text == *wanted);
            let tight = end - start < 200;
            // A longer phrase has said what this word of it says by itself: `host not found`.
            let inside = at + len <= covered && phrase.class == ErrorClass::NotFound;
            if !same || !tight || inside || is_excused(text, words, at, phrase) {
                continue;
            }
            if phrase.strength == Strength::Subject && !is_at_fault(words, at, at + len) {
                continue;
            }
            if phrase.class == ErrorClass::Network {
                covered = covered.max(at + len);
            }
            let text = text[start..end].to_owned();
            found.push(Match { class: phrase.class, strength: phrase.strength, text });
        }
    }
    found
}

/// Whether a word beside those from `from` to `to` says that something is wrong with them.
fn is_at_fault(words: &[Word<'_>], from: usize, to: usize) -> bool {
    let has_fault_word = |words: &mut dyn Iterator<Item = &Word<'_>>| {
        let mut words = words.map(|word| word.text.as_str());
        words.find(|word| !BETWEEN.contains(word)).is_some_and(|word| FAULT.contains(word))
    };
    has_fault_word(&mut words[to..].iter().take(3))
        || has_fault_word(&mut words[..from].iter().rev().take(3))
}

/// Whether the words around a phrase take it back.
fn is_excused(text: &str, words: &[Word<'_>], at: usize, phrase: &Phrase) -> bool {
    let before: Vec<&str> =
        words[at.saturating_sub(2)..at].iter().map(|word| word.text.as_str()).collect();
    if is_denied(phrase.class, phrase.words[0], &before) {
        return true;
    }
    if is_name(text, words, at, phrase) {
        return true;
    }
    let (timeout, timeouts) = (phrase.words == ["timeout"], phrase.words == ["timeouts"]);
    if !timeout && !timeouts {
        return false;
    }
    // `the timeouts table`: a thing of that name.
    if words.get(at + 1).is_some_and(|next| THING.contains(next.text.as_str())) {
        return true;
    }
    // `--timeout`, `timeout=30`, `the timeout option`, `timeout_ms`: a setting, not an event.
    let (start, end) = (words[at].start, words[at].end);
    let next = words.get(at + 1);
    let joined = next.is_some_and(|next| next.start == end + 1 && text[end..].starts_with('_'));
    text[..start].ends_with("--")
        || text[end..].trim_start().starts_with('=')
        || next.is_some_and(|next| {
            let setting = SETTING.contains(next.text.as_str());
            setting && (joined || !matches!(next.text.as_str(), "ms" | "seconds"))
        })
}

/// Whether a phrase is a part of a name in a program that says nothing about what happened:
/// `test_network_config`, but not `network_error`.
fn is_name(text: &str, words: &[Word<'_>], at: usize, phrase: &Phrase) -> bool {
    if phrase.class == ErrorClass::ExecutionError {
        return false;
    }
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let end = words[at + phrase.words.len() - 1].end;
    let before = text[..words[at].start].chars().rev().take(100).take_while(|c| part(*c));
    let before: String = before.collect::<Vec<_>>().into_iter().rev().collect();
    let after: String = text[end..].chars().take(100).take_while(|c| part(*c)).collect();
    let (before, after) = (before.to_lowercase(), after.to_lowercase());
    if before.starts_with("test_") || after.ends_with("_test") {
        return true;
    }
    let happens = |part: &str| {
        ["err", "fail", "unreach", "down", "timeout", "exception", "lost", "issue", "problem"]
            .iter()
            .any(|word| part.contains(word))
    };
    let joined = before.ends_with('_') || after.starts_with('_');
    phrase.words == ["network"] && joined && !happens(&before) && !happens(&after)
}

/// Whether a text is only a way of saying that something is wrong.
fn says_nothing(words: &[Word<'_>]) -> bool {
    const EMPTY: [&str; 22] = [
        "unknown", "error", "errors", "unspecified", "none", "n", "a", "na", "no", "message",
        "given", "failed", "failure", "an", "the", "was", "null", "undefined", "unclear", "reason",
        "occurred", "it",
    ];
    words.iter().all(|word| EMPTY.contains(&word.text.as_str()))
}

/// The wait that a text names: `retry after 30 seconds`, `Retry-After: 30`, `try again in 20s`.
fn retry_after(text: &str, words: &[Word<'_>]) -> Option<u64> {
    const LONGEST: u64 = 3_600_000;
    let is = |at: usize, wanted: &[&str]| {
        let run = words.get(at..at + wanted.len());
        run.is_some_and(|run| run.iter().zip(wanted).all(|(word, wanted)| word.text == **wanted))
    };
    let at = (0..words.len()).find_map(|at| {
        let openings: [&[&str]; 4] =
            [&["retry", "after"], &["retry", "in"], &["try", "again", "in"], &["wait"]];
        openings.iter().find(|opening| is(at, opening)).map(|opening| at + opening.len())
    })?;
    let word = words.get(at)?;
    let digits = word.text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = word.text.get(..digits)?.parse().ok()?;
    let next = words.get(at + 1).map_or("", |next| next.text.as_str());
    let unit = if digits < word.text.len() { &word.text[digits..] } else { next };
    // `1.5 seconds` is taken as two.
    let fraction = text[word.end..].starts_with('.') && digits == word.text.len();
    let factor = match unit {
        "ms" | "millisecond" | "milliseconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
        "h" | "hour" | "hours" => 3_600_000,
        _ => 1_000,
    };
    Some((number + u64::from(fraction)).saturating_mul(factor).min(LONGEST))
}

/// The phrases that begin with a word.
fn phrases(first: &str) -> &'static [Phrase] {
    static PHRASES: OnceLock<std::collections::HashMap<&'static str, Vec<Phrase>>> =
        OnceLock::new();
    let all = PHRASES.get_or_init(|| {
        let mut all: std::collections::HashMap<&'static str, Vec<Phrase>> = Default::default();
        for phrase in vocabulary::all() {
            if let Some(first) = phrase.words.first() {
                all.entry(first).or_default().push(phrase);
            }
        }
        all
    });
    all.get(first).map(Vec::as_slice).unwrap_or_default()
}
