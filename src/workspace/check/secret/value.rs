//! Decides whether a value is a secret or only a placeholder or reference.

use super::patterns::{ALGORITHMS, PLACEHOLDERS, REFERENCES, SecretKind};
use crate::text::display::byte_prefix;

/// How many bytes of a value are checked, so that the time stays linear.
const CHECKED_BYTES: usize = 256;

/// The part of a value that is checked.
pub(super) fn head(value: &str) -> &str {
    byte_prefix(value, CHECKED_BYTES)
}

/// Whether a value after a name is a secret.
pub(super) fn is_secret(value: &str, kind: SecretKind, quoted: bool) -> bool {
    let value = head(value);
    if is_reference(value) || is_dummy(value) || (!quoted && is_code(value)) {
        return false;
    }
    let word = value.split_whitespace().next().unwrap_or_default();
    match kind {
        SecretKind::Password => is_password(word),
        SecretKind::Secret => is_machine_made(word, 10),
        SecretKind::Token => is_machine_made(word, 10) && !is_uuid(word),
        SecretKind::Authorization | SecretKind::Cookie => is_credential(word),
    }
}

/// Whether a value after `Bearer` or `session=` is a credential: at least eight characters, not words.
pub(super) fn is_credential(value: &str) -> bool {
    let value = head(value);
    let counts = CharacterCounts::of(value);
    value.len() >= 8
        && !is_reference(value)
        && !is_dummy(value)
        && !is_code(value)
        && !is_date(value)
        && (counts.digits >= 1 && counts.letters >= 1 && !is_wordy(value)
            || counts.switches >= 2
            || value.len() >= 12 && value.ends_with('='))
}

/// Whether the body of a key looks random: neither words nor one repeated character.
pub(super) fn is_key_body(body: &str) -> bool {
    let body = head(body);
    let counts = CharacterCounts::of(body);
    (counts.digits >= 1 || counts.switches >= 4) && !is_wordy(body) && !is_blank(body)
}

/// A value that refers to a secret kept elsewhere.
pub(super) fn is_reference(value: &str) -> bool {
    let starts =
        |start: &str| value.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let variable = value.strip_prefix('$').is_some_and(|rest| {
        let named = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        rest.starts_with(['{', '(', '$']) || named && rest.trim_end_matches('/').chars().all(name)
    });
    let percent = value.len() > 2 && value.starts_with('%') && value.ends_with('%');
    variable
        || percent
        || ["://", "{{", "${"].iter().any(|mark| words_before(value, mark))
        || value.starts_with(['<', '[', '{', '('])
        || is_path(value)
        || REFERENCES.iter().any(|start| starts(start))
}

/// Whether a mark is there, and nothing but words before it.
fn words_before(value: &str, mark: &str) -> bool {
    value.find(mark).is_some_and(|at| is_wordy(&value[..at]))
}

/// `/run/secrets/db`, `~/.netrc`; a key of forty signs may begin with a slash too.
fn is_path(value: &str) -> bool {
    let rooted = ["/", "~/", "./", "../"].iter().any(|root| value.starts_with(root));
    rooted && !(value.len() == 40 && CharacterCounts::of(value).switches >= 4)
}

/// `changeme`, `your-api-key`, `xxxx`, `****`, `...`.
pub(super) fn is_dummy(value: &str) -> bool {
    let listed =
        |words: &[&str], part: &str| words.iter().any(|word| word.eq_ignore_ascii_case(part));
    is_blank(value)
        || listed(ALGORITHMS, value)
        || is_wordy(value)
            && value.split(|c: char| !c.is_alphanumeric()).any(|part| listed(PLACEHOLDERS, part))
}

/// A few repeated characters, or an omission in the middle.
fn is_blank(value: &str) -> bool {
    let mut seen: Vec<u8> = Vec::new();
    for byte in value.bytes().filter(|byte| !matches!(byte, b'-' | b'_' | b'.')) {
        if !seen.contains(&byte) {
            seen.push(byte);
        }
        if seen.len() > 2 {
            break;
        }
    }
    let has_x = value.len() < 64
        && value
            .as_bytes()
            .windows(4)
            .any(|four| four.iter().all(|byte| matches!(byte, b'x' | b'X')));
    seen.len() <= 2 || has_x || ["***", "...", "…"].iter().any(|mark| words_before(value, mark))
}

/// A call, a type or a reference of a programming language.
fn is_code(value: &str) -> bool {
    let rest = value.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_.:?".contains(c));
    let called = rest.len() < value.len() && rest.starts_with(['(', '<', '[']);
    called || value.starts_with(['&', '|', '!', '@', '*']) && !rest[1..].contains(char::is_numeric)
}

/// A password chosen by a person: at least six characters, with a digit or punctuation inside.
fn is_password(word: &str) -> bool {
    let counts = CharacterCounts::of(word);
    let signs = |c: char| "!#$%^&*~?@+".contains(c);
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
    let mail = word.contains('@') && word.rsplit('@').next().is_some_and(|host| host.contains('.'));
    let long = word.chars().count() >= 6;
    let named = is_wordy(word) && ends_with_secret_name(word);
    long && !named
        && !is_date(word)
        && (counts.digits >= 1 && counts.letters >= 1
            || counts.digits == word.len()
            || !mail && counts.letters >= 3 && inner.contains(signs))
}

/// `config.db1.password`: the name of a secret, not a secret.
fn ends_with_secret_name(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let last = lower.rsplit(['.', '_', '-']).next().filter(|last| last.len() < lower.len());
    last.is_some_and(|last| ["password", "passwd", "secret", "token", "key", "pwd"].contains(&last))
}

/// Generated at random: neither words nor a date.
fn is_machine_made(word: &str, least: usize) -> bool {
    word.len() >= least && CharacterCounts::of(word).random() && !is_wordy(word) && !is_date(word)
}

/// Words, short numbers and words with a short number, with something between them.
fn is_wordy(value: &str) -> bool {
    value.split(|c: char| !c.is_ascii_alphanumeric()).all(|part| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = part.len() - letters.len();
        letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            && CharacterCounts::of(letters).switches < 4
            && (digits <= 3 || letters.is_empty() && digits <= 8)
    })
}

fn is_date(value: &str) -> bool {
    let shape = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    value.len() >= 10 && value.bytes().take(10).enumerate().all(shape)
}

fn is_uuid(value: &str) -> bool {
    let shape = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    value.len() == 36 && value.bytes().enumerate().all(shape)
}

/// CharacterCounts of the kinds of characters in a value.
struct CharacterCounts {
    letters: usize,
    digits: usize,
    /// How often a capital follows a small letter.
    switches: usize,
}

impl CharacterCounts {
    fn of(value: &str) -> Self {
        let bytes = value.as_bytes();
        let switched = |pair: &&[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
        Self {
            letters: bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count(),
            digits: bytes.iter().filter(|byte| byte.is_ascii_digit()).count(),
            switches: bytes.windows(2).filter(switched).count(),
        }
    }

    /// Letters and digits together, or capitals in the middle of words.
    fn random(&self) -> bool {
        self.digits >= 2 && self.letters >= 3 || self.letters >= 16 && self.switches >= 4
    }
}
