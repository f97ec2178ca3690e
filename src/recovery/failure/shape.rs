//! An error without what differs from one time to the next.

/// The longest shape.
const MOST: usize = 160;

/// The first line of an error with `#` for numbers and `…` for paths, addresses and ids, so that
/// two errors of the same cause look the same.
pub(crate) fn shape(error: &str) -> String {
    let line = error.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut shape = String::new();
    for word in line.split_whitespace() {
        if shape.len() >= MOST {
            break;
        }
        if !shape.is_empty() {
            shape.push(' ');
        }
        let bare = word.trim_matches(|c: char| "()[]{}<>\"'`,;:.!?".contains(c));
        let (head, tail) = match word.find(bare) {
            Some(at) if !bare.is_empty() => (&word[..at], &word[at + bare.len()..]),
            _ => (word, ""),
        };
        if bare.is_empty() {
            shape.push_str(word);
            continue;
        }
        shape.push_str(head);
        if is_place(bare) || is_id(bare) {
            shape.push('…');
        } else {
            numbers(bare, &mut shape);
        }
        shape.push_str(tail);
    }
    shape.chars().take(MOST).collect()
}

fn is_place(word: &str) -> bool {
    word.contains("://") || word.matches(['/', '\\']).count() >= 2 || word.starts_with('/')
}

/// Hexadecimal digits and dashes with a digit among them, and long: a hash, a UUID.
fn is_id(word: &str) -> bool {
    let word = word.strip_prefix("0x").unwrap_or(word);
    let fits = word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    fits && word.len() >= 8
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| !byte.is_ascii_digit())
}

fn numbers(word: &str, shape: &mut String) {
    for c in word.chars() {
        match c {
            c if c.is_ascii_digit() && shape.ends_with('#') => {}
            c if c.is_ascii_digit() => shape.push('#'),
            c => shape.push(c),
        }
    }
}
