//! Finds the secrets of a line in one pass, in linear time.

use std::ops::Range;

use super::{
    KEY_LABEL, PRIVATE_KEY, SecretMatch,
    patterns::{Alphabet, HARMLESS_NAMES, KEYS, NAMES, SCHEMES, SHORTEST_KEY, SecretKind},
    value::{head, is_credential, is_key_body, is_reference, is_secret},
};
use crate::text::display::byte_prefix;

/// How much of the line before a separator can be a name.
const LONGEST_NAME: usize = 64;
/// How much of an address can be a user and a password.
const LONGEST_USER: usize = 1024;
/// Within how much of a value the next field of a form is looked for.
const LONGEST_FORM: usize = 512;
/// How many pairs of a cookie are read.
const MOST_COOKIES: usize = 64;
/// How long the words of a private key's first line are at most.
pub(super) const LONGEST_LABEL: usize = 64;
/// How often a quote is escaped at most: JSON in JSON in JSON.
const DEEPEST_QUOTE: usize = 7;

const NAMED: &str = "a secret";

/// All secrets of a line, in order, without overlaps.
pub(super) fn secrets_in(line: &str) -> Vec<SecretMatch> {
    scan(line, |matcher, at| matcher.after_word(at))
}

/// The same without skipping any byte, to compare with.
#[cfg(test)]
pub(super) fn secrets_in_bytewise(line: &str) -> Vec<SecretMatch> {
    scan(line, |_, at| (at + 1, false))
}

/// Looks at the bytes of a line; `after` says where the next one is that matters, and whether
/// nothing can begin at this one.
fn scan(line: &str, after: impl Fn(&Matcher<'_>, usize) -> (usize, bool)) -> Vec<SecretMatch> {
    let mut matcher = Matcher { line, bytes: line.as_bytes(), runs: Default::default(), bare: 0 };
    let mut matches: Vec<SecretMatch> = Vec::new();
    let mut next = 0;
    while let Some(&byte) = matcher.bytes.get(next) {
        let at = next;
        if !matcher.may_begin(at, byte) {
            next += 1;
            continue;
        }
        let is_plain;
        (next, is_plain) = after(&matcher, at);
        if is_plain {
            continue;
        }
        for found in matcher.at(at) {
            let last = matches.last_mut().filter(|last| found.range.start < last.range.end);
            match last {
                Some(last) => {
                    last.range.end = last.range.end.max(found.range.end);
                    // A key continues on the next lines, whatever it is in.
                    if found.what == PRIVATE_KEY {
                        last.what = PRIVATE_KEY;
                    }
                }
                None => matches.push(found),
            }
        }
        if matches.last().is_some_and(|last| last.what == PRIVATE_KEY) {
            break;
        }
    }
    matches
}

struct Matcher<'a> {
    line: &'a str,
    bytes: &'a [u8],
    /// The run of each alphabet that was measured last.
    runs: [Range<usize>; Alphabet::COUNT],
    /// Where the value without quotes ends that was measured last.
    bare: usize,
}

impl<'a> Matcher<'a> {
    /// The bytes from a place on.
    fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    fn text(&self, range: Range<usize>) -> &'a str {
        self.line.get(range).unwrap_or_default()
    }

    /// Whether a secret or its name can begin at a byte, so that most of a long text is skipped.
    fn may_begin(&self, at: usize, byte: u8) -> bool {
        match byte {
            b':' | b'=' | b'-' => true,
            b'a'..=b'z' | b'A'..=b'Z' => !self.in_word(at),
            _ => false,
        }
    }

    /// The secrets that begin or are named at a byte.
    fn at(&mut self, at: usize) -> Vec<SecretMatch> {
        match self.bytes[at] {
            b':' | b'=' => self.after_separator(at),
            b'-' => self.private_key(at).or_else(|| self.flag(at)).into_iter().collect(),
            byte if byte.is_ascii_alphabetic() => {
                self.key(at).or_else(|| self.scheme(at)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Where the word ends that begins at a byte, inside of which nothing else begins; and whether it
    /// is too short for a key, and no scheme: most words are.
    fn after_word(&self, at: usize) -> (usize, bool) {
        let is_line_break = self.bytes[at] == b'n' && at > 0 && self.bytes[at - 1] == b'\\';
        if !self.bytes[at].is_ascii_alphabetic() || is_line_break {
            return (at + 1, false);
        }
        let in_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let end = at + self.rest(at).iter().take_while(in_word).count();
        let goes_on = self.bytes.get(end).is_some_and(|byte| Alphabet::Wide.has(*byte));
        let may_be_scheme = SCHEMES[..2].iter().any(|scheme| scheme.len() == end - at);
        (end, end - at < SHORTEST_KEY && !goes_on && !may_be_scheme)
    }

    /// Whether the byte before belongs to the same word; not every script parts its words.
    fn in_word(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| self.bytes[before]);
        before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            // The `n` of an escaped line break is not part of the word after it.
            && !(before == Some(b'n') && at >= 2 && self.bytes[at - 2] == b'\\')
    }

    /// Where a run of an alphabet ends that contains `at`.
    fn run(&mut self, alphabet: Alphabet, at: usize) -> usize {
        let rest = self.rest(at);
        let run = &mut self.runs[alphabet as usize];
        if !run.contains(&at) {
            *run = at..at + rest.iter().take_while(|byte| alphabet.has(**byte)).count();
        }
        run.end
    }

    fn key(&mut self, at: usize) -> Option<SecretMatch> {
        if self.run(Alphabet::Wide, at) - at < SHORTEST_KEY {
            return None;
        }
        let rest = self.rest(at);
        for key in KEYS.iter().filter(|key| rest.starts_with(key.prefix.as_bytes())) {
            let body = at + key.prefix.len();
            let end = self.run(key.body, body);
            let (least, most) = key.length;
            let whole = most == usize::MAX
                || !self.bytes.get(end).is_some_and(|byte| Alphabet::Word.has(*byte));
            let length = end - body;
            if (least..=most).contains(&length) && whole && is_key_body(self.text(body..end)) {
                return Some(SecretMatch { range: at..end, what: key.what });
            }
        }
        None
    }

    /// `Bearer 8f3a…`, wherever it is.
    fn scheme(&mut self, at: usize) -> Option<SecretMatch> {
        let rest = self.rest(at);
        let scheme = SCHEMES[..2].iter().find(|scheme| {
            let name = rest.get(..scheme.len());
            name.is_some_and(|name| name.eq_ignore_ascii_case(scheme.as_bytes()))
                && rest.get(scheme.len()) == Some(&b' ')
        })?;
        let start = at + scheme.len() + 1;
        let end = self.run(Alphabet::Wide, start);
        let value = self.text(start..end);
        let value = value.strip_suffix('.').unwrap_or(value);
        let long = value.len() >= 16 && is_credential(value) && is_key_body(value);
        long.then(|| SecretMatch { range: start..start + value.len(), what: NAMED })
    }

    fn private_key(&self, at: usize) -> Option<SecretMatch> {
        const FIRST: &[u8] = b"-----BEGIN ";
        let rest = self.rest(at).strip_prefix(FIRST)?;
        let label = &rest[..rest.len().min(LONGEST_LABEL)];
        let is_key = label.windows(KEY_LABEL.len()).any(|part| part == KEY_LABEL.as_bytes());
        is_key.then_some(SecretMatch { range: at..self.line.len(), what: PRIVATE_KEY })
    }

    /// `--password hunter2`, `-u name:password`.
    fn flag(&mut self, at: usize) -> Option<SecretMatch> {
        let before = at.checked_sub(1).map(|before| self.bytes[before]);
        if before.is_some_and(|byte| !byte.is_ascii_whitespace() && !b"\"'`([".contains(&byte)) {
            return None;
        }
        let rest = self.text(at..self.line.len());
        if let Some(user) = rest.strip_prefix("-u ").or_else(|| rest.strip_prefix("--user ")) {
            let start = self.line.len() - user.len();
            let (_, value) = self.value(start)?;
            let colon = self.text(value.clone()).find(':')? + value.start;
            let password = colon + 1..value.end;
            let text = self.text(password.clone());
            return (!text.is_empty()
                && !is_reference(text)
                && is_secret(text, SecretKind::Password, false))
            .then_some(SecretMatch { range: password, what: NAMED });
        }
        let name = rest.strip_prefix("--")?;
        let length = name.bytes().take(LONGEST_NAME).take_while(|byte| Alphabet::Word.has(*byte));
        let end = at + 2 + length.count();
        if self.bytes.get(end) != Some(&b' ') {
            return None;
        }
        let kind = kind_of(&self.bytes[at..end])?;
        self.named(end, kind).into_iter().next()
    }

    fn after_separator(&mut self, at: usize) -> Vec<SecretMatch> {
        if self.rest(at).starts_with(b"://") {
            return self.address(at).into_iter().collect();
        }
        if let Some(found) = self.telegram(at) {
            return vec![found];
        }
        let around = |at: Option<usize>| at.and_then(|at| self.bytes.get(at)) == Some(&b':');
        if self.bytes[at] == b':' && (around(Some(at + 1)) || around(at.checked_sub(1))) {
            // `token::Kind`; `:=` assigns.
            return Vec::new();
        }
        match kind_of(self.name_before(at)) {
            Some(kind) => self.named(at + 1, kind),
            None => Vec::new(),
        }
    }

    /// The bytes before a separator that can be a name, without quotes and emphasis around it.
    fn name_before(&self, at: usize) -> &[u8] {
        let mut end = at;
        let around = |byte: u8| matches!(byte, b'"' | b'\'' | b'*' | b'`' | b' ' | b'\\' | b']');
        while end > 0 && at - end < 12 && around(self.bytes[end - 1]) {
            end -= 1;
        }
        &self.bytes[end.saturating_sub(LONGEST_NAME)..end]
    }

    /// The secrets of the value that begins after a separator.
    fn named(&mut self, from: usize, kind: SecretKind) -> Vec<SecretMatch> {
        let Some((quoted, range)) = self.value(from) else { return Vec::new() };
        match kind {
            SecretKind::Authorization => self.authorization(range).into_iter().collect(),
            SecretKind::Cookie => self.cookies(range.start),
            _ => {
                let secret = is_secret(self.text(range.clone()), kind, quoted);
                secret.then_some(SecretMatch { range, what: NAMED }).into_iter().collect()
            }
        }
    }

    /// Where a value is, and whether it is between quotes.
    fn value(&mut self, from: usize) -> Option<(bool, Range<usize>)> {
        let mut start = from;
        let skipped = |byte: &u8| matches!(byte, b' ' | b'\t' | b'*' | b'=' | b'>' | b'`');
        start += self.rest(start).iter().take(16).take_while(|byte| skipped(byte)).count();
        let escapes = self.rest(start).iter().take(DEEPEST_QUOTE + 1);
        let escapes = escapes.take_while(|byte| **byte == b'\\').count();
        let range = match self.bytes.get(start + escapes) {
            Some(&quote @ (b'"' | b'\'')) if escapes <= DEEPEST_QUOTE => {
                let first = start + escapes + 1;
                let end = self.quote_end(first, quote, escapes);
                return Some((true, first..end.unwrap_or_else(|| self.bare_end(first))));
            }
            _ => start..self.bare_end(start),
        };
        (!range.is_empty()).then_some((false, range))
    }

    /// Where the quote closes that is escaped as often as the one that opened it; an inner one is
    /// escaped more often, and the one around it less.
    fn quote_end(&self, from: usize, quote: u8, escapes: usize) -> Option<usize> {
        let mut run = 0;
        for (at, byte) in self.rest(from).iter().enumerate() {
            match *byte {
                b'\\' => run += 1,
                b'\n' => return None,
                byte if byte == quote
                    && (run < escapes || run % (2 * (escapes + 1)) == escapes) =>
                {
                    return Some(from + at - run.min(escapes));
                }
                _ => run = 0,
            }
        }
        None
    }

    /// Where a value without quotes ends.
    fn bare_end(&mut self, start: usize) -> usize {
        if self.bare <= start {
            let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';');
            let end = self.line.len();
            self.bare = self.text(start..end).find(ends).map_or(end, |found| start + found);
        }
        let mut end = self.bare;
        // The next field of a form or an address.
        let text = byte_prefix(self.text(start..end), LONGEST_FORM);
        for (at, _) in text.match_indices('&') {
            let name = text[at + 1..].bytes().take_while(|byte| Alphabet::Word.has(*byte)).count();
            if name > 0 && text[at + 1 + name..].starts_with('=') {
                end = start + at;
                break;
            }
        }
        let mut value = self.text(start..end);
        for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
            if value.ends_with(close) && !head(value).contains(open) {
                value = &value[..value.len() - close.len_utf8()];
            }
        }
        start + value.strip_suffix(['.', '\\']).unwrap_or(value).len()
    }

    /// `Authorization: Bearer …`: the scheme stays.
    fn authorization(&mut self, first: Range<usize>) -> Option<SecretMatch> {
        let word = self.rest(first.start).iter().take(LONGEST_NAME);
        let word = word.take_while(|byte| Alphabet::Word.has(**byte)).count();
        let text = &self.bytes[first.start..first.start + word];
        let scheme = SCHEMES.iter().any(|scheme| text.eq_ignore_ascii_case(scheme.as_bytes()))
            && self.bytes.get(first.start + word) == Some(&b' ');
        let start = if scheme { first.start + word + 1 } else { first.start };
        let end = self.bare_end(start);
        is_credential(self.line.get(start..end)?)
            .then_some(SecretMatch { range: start..end, what: NAMED })
    }

    /// The values of `a=…; b=…` that are not words.
    fn cookies(&mut self, from: usize) -> Vec<SecretMatch> {
        let mut matches = Vec::new();
        let mut at = from;
        for _ in 0..MOST_COOKIES {
            at += self.rest(at).iter().take(8).take_while(|byte| **byte == b' ').count();
            let name = self.rest(at).iter().take(LONGEST_NAME);
            let name = name.take_while(|byte| Alphabet::Dotted.has(**byte)).count();
            if name == 0 || self.bytes.get(at + name) != Some(&b'=') {
                return matches;
            }
            let start = at + name + 1;
            let end = self.bare_end(start).max(start);
            if is_credential(self.text(start..end)) {
                matches.push(SecretMatch { range: start..end, what: NAMED });
            }
            if self.bytes.get(end) != Some(&b';') {
                return matches;
            }
            at = end + 1;
        }
        matches
    }

    /// The password of `scheme://name:password@host`.
    fn address(&self, at: usize) -> Option<SecretMatch> {
        let start = at + 3;
        let ends = |c: char| {
            c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>')
        };
        let text = byte_prefix(self.text(start..self.line.len()), LONGEST_USER);
        let authority = &text[..text.find(ends).unwrap_or(text.len())];
        let user = &authority[..authority.rfind('@')?];
        let range = match user.find(':') {
            Some(colon) => start + colon + 1..start + user.len(),
            None if user.len() >= SHORTEST_KEY && is_key_body(user) => start..start + user.len(),
            None => return None,
        };
        let password = self.text(range.clone());
        let stars = password.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.'));
        let masked = password.starts_with(['[', '$', '{', '%']) && is_reference(password);
        (!stars && !masked).then_some(SecretMatch { range, what: "a password in an address" })
    }

    /// `123456789:AA…`, a bot of Telegram.
    fn telegram(&mut self, at: usize) -> Option<SecretMatch> {
        if !self.rest(at).starts_with(b":A") {
            return None;
        }
        let digits =
            self.bytes[..at].iter().rev().take(13).take_while(|byte| byte.is_ascii_digit());
        let digits = digits.count();
        let end = self.run(Alphabet::Word, at + 1);
        let fits = (7..=12).contains(&digits) && end - at == 36;
        fits.then(|| SecretMatch { range: at - digits..end, what: "a Telegram bot's token" })
    }
}

/// The bytes that names of secrets end with: few separators stand after one.
const ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let mut kind = 0;
    while kind < NAMES.len() {
        let names = NAMES[kind].1;
        let mut at = 0;
        while at < names.len() {
            let name = names[at].as_bytes();
            ends[name[name.len() - 1] as usize] = true;
            at += 1;
        }
        kind += 1;
    }
    ends
};

/// What kind of secret a name announces.
fn kind_of(name: &[u8]) -> Option<SecretKind> {
    if !name.last().is_some_and(|byte| ENDS[usize::from(byte.to_ascii_lowercase())]) {
        return None;
    }
    let ends = |ending: &str| {
        name.len() >= ending.len()
            && name[name.len() - ending.len()..].iter().zip(ending.bytes()).all(|(byte, wanted)| {
                match byte {
                    b'-' | b'.' => wanted == b'_',
                    byte => byte.to_ascii_lowercase() == wanted,
                }
            })
    };
    let (kind, _) = NAMES.iter().find(|(_, names)| names.iter().any(|name| ends(name)))?;
    (!HARMLESS_NAMES.iter().any(|harmless| ends(harmless))).then_some(*kind)
}
