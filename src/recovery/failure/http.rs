//! Status codes of HTTP among the numbers of a text.

use super::{ErrorClass, words::Word};
use crate::text::Words;

/// The class of a status code, if it tells one.
pub(super) fn class_of(code: u32) -> Option<ErrorClass> {
    Some(match code {
        401 | 407 | 511 => ErrorClass::Authentication,
        403 => ErrorClass::Permission,
        404 | 410 => ErrorClass::NotFound,
        408 | 504 | 522 | 524 => ErrorClass::Timeout,
        425 | 429 | 529 => ErrorClass::RateLimit,
        501 | 505 | 506 | 510 => ErrorClass::ExecutionError,
        500..=599 => ErrorClass::Network,
        _ => return None,
    })
}

/// Whether the number at `at` is a status code rather than a count, a line or a port.
pub(super) fn is_status(text: &str, words: &[Word<'_>], at: usize) -> bool {
    let word = &words[at];
    let whole = word.text.len() == 3 && word.text.bytes().all(|byte| byte.is_ascii_digit());
    if !whole || is_part_of_number(text, word) {
        return false;
    }
    // The text is the code, or begins with it as a heading does.
    let behind = text[word.end..].trim_start_matches([')', ']', '"', '\'', '`', '*']);
    let closed = behind.is_empty() || behind.starts_with([':', ';', ',', '.', '!', '\n', '\r']);
    let dash = behind.starts_with(" -") || behind.starts_with(" –") || behind.starts_with(" —");
    let next = words.get(at + 1).map_or("", |next| next.text.as_str());
    let free = closed || dash || BEHIND.contains(next);
    if at == 0 && (closed || dash) {
        return true;
    }
    // `HTTP/1.1 503`, `status code: 503`, `http error 503`.
    let mut seen: Vec<&str> = Vec::new();
    for before in words[..at].iter().rev().take(4) {
        let before = before.text.as_str();
        match before {
            "exit" | "line" | "port" | "pid" | "step" | "row" | "rows" | "page" | "item" => {
                return false;
            }
            "http" | "https" | "statuscode" => return true,
            "status" if seen.is_empty() || seen == ["code"] => {
                return !follows_exit(words, at, seen.len() + 1) && free;
            }
            _ => {}
        }
        let skipped = before.len() == 1 || matches!(before, "code" | "is" | "was" | "error");
        if !skipped {
            break;
        }
        seen.push(before);
    }
    let before = at.checked_sub(1).map_or("", |before| words[before].text.as_str());
    BEFORE.contains(before) && free && !follows_exit(words, at, 1)
}

/// Whether `exit` is before the word `back` words before the number.
fn follows_exit(words: &[Word<'_>], at: usize, back: usize) -> bool {
    let word = at.checked_sub(back + 1).map_or("", |before| words[before].text.as_str());
    matches!(word, "exit" | "exited" | "return" | "errno" | "process")
}

/// `1,404`, `404.5`, `-404`, `0x404`, `:404`.
fn is_part_of_number(text: &str, word: &Word<'_>) -> bool {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let (mut before, mut behind) = (text[..word.start].chars().rev(), text[word.end..].chars());
    let joined = match before.next() {
        Some('.' | ',') => digit(before.next()),
        Some('-' | '/' | '_' | '$') => true,
        Some(':') => before.next().is_some_and(char::is_alphanumeric),
        _ => false,
    };
    joined
        || match behind.next() {
            Some('.' | ',' | ':') => digit(behind.next()),
            Some('%' | '/' | '_') => true,
            _ => false,
        }
}

/// Words before a status code.
const BEFORE: Words = Words(
    "error errors returned returns got received with code response responded answered replied gave \
    a by server",
);

/// Words that may follow a status code; a count is followed by what was counted.
const BEHIND: Words = Words(
    "not unauthorized forbidden too request internal bad service gateway gone from on when while \
    for at after and but because response error status during in to by again with client server \
    proxy method via page please",
);
