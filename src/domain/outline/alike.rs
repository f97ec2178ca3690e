//! How alike two texts are.

use std::collections::HashMap;

/// Words beyond this do not count.
const MAX_WORDS: usize = 400;

/// Twice the number of words that two texts have in common, and the number of words of both.
pub(super) fn common_words(one: &str, other: &str) -> (usize, usize) {
    let words = |text: &'_ str| -> usize { text.split_whitespace().take(MAX_WORDS).count() };
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in one.split_whitespace().take(MAX_WORDS) {
        *left.entry(word).or_default() += 1;
    }
    let mut common = 0;
    for word in other.split_whitespace().take(MAX_WORDS) {
        if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            common += 2;
        }
    }
    (common, words(one) + words(other))
}

/// The words of a text without its numbers and plurals, for texts that count something down.
pub(super) fn without_numbers(text: &str) -> String {
    let word = |word: &str| {
        let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return "#".to_owned();
        }
        word.strip_suffix('s').unwrap_or(word).to_lowercase()
    };
    text.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}
