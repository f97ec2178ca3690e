//! A text as words: split at everything that is not a letter or digit, and inside `CamelCase`.

use crate::text::display::byte_prefix;

/// The most bytes of an error that are looked at, half of them at each end: the beginning and the
/// end say what it is.
const MOST: usize = 64 << 10;

/// One word, in small letters, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word<'t> {
    pub(super) text: String,
    /// The word as written.
    pub(super) written: &'t str,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The words of a text in order.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    if text.len() <= MOST {
        split(text, 0, text.len(), &mut words);
        return words;
    }
    let head = byte_prefix(text, MOST / 2).len();
    let mut tail = text.len() - MOST / 2;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    split(text, 0, head, &mut words);
    split(text, tail, text.len(), &mut words);
    words
}

/// Adds the words between two places.
fn split<'t>(text: &'t str, from: usize, to: usize, words: &mut Vec<Word<'t>>) {
    let mut start: Option<usize> = None;
    let mut before: Option<char> = None;
    let mut chars = text[from..to].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let at = from + at;
        if !c.is_alphanumeric() {
            push(words, text, start.take(), at);
            before = None;
            continue;
        }
        let next = chars.peek().map(|(_, next)| *next);
        if start.is_some() && before.is_some_and(|before| is_seam(before, c, next)) {
            push(words, text, start.take(), at);
        }
        start.get_or_insert(at);
        before = Some(c);
    }
    push(words, text, start, to);
}

fn push<'t>(words: &mut Vec<Word<'t>>, text: &'t str, start: Option<usize>, end: usize) {
    if let Some(start) = start {
        let written = &text[start..end];
        words.push(Word { text: written.to_lowercase(), written, start, end });
    }
}

/// Whether a word ends between two characters: `timeoutError`, `HTTPError`.
fn is_seam(before: char, c: char, next: Option<char>) -> bool {
    let rises = before.is_lowercase() && c.is_uppercase();
    let acronym_ends =
        before.is_uppercase() && c.is_uppercase() && next.is_some_and(char::is_lowercase);
    rises || acronym_ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn names_of_exceptions_are_several_words() {
        assert_eq!(texts("FileNotFoundError: x"), ["file", "not", "found", "error", "x"]);
        assert_eq!(texts("HTTPError rate_limit"), ["http", "error", "rate", "limit"]);
        assert_eq!(texts("ETIMEDOUT"), ["etimedout"]);
        assert_eq!(texts("HTTP/1.1 503"), ["http", "1", "1", "503"]);
        assert_eq!(texts("404ms"), ["404ms"]);
        assert_eq!(texts(""), Vec::<String>::new());
    }
}
