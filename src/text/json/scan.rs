//! The scalars of JSON: where each ends, and what it means.

use super::error::Fault;
use serde_json::{Number, Value};
use std::borrow::Cow;

/// The first offset from `at` on that is not whitespace.
pub(super) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The offset after the string that begins with the quote at `at`.
pub(super) fn string_end(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    let mut here = at + 1;
    loop {
        match bytes.get(here) {
            Some(b'"') => return Ok(here + 1),
            Some(b'\\') => match escape(bytes, here) {
                Ok((_, length)) => here += length,
                Err(message) => return Err(Fault::syntax(here, message)),
            },
            Some(b'\n' | b'\r') => {
                return Err(Fault::syntax(
                    here,
                    "a string cannot contain a line break; write `\\n`",
                ));
            }
            Some(c) if *c < 0x20 => {
                let message = format!("a control character in a string is written `\\u{c:04x}`");
                return Err(Fault::syntax(here, message));
            }
            Some(_) => here += 1,
            None => {
                return Err(Fault::syntax(at, "the string that begins here is not closed"));
            }
        }
    }
}

/// What the string literal `raw`, quotes included, says.
pub(super) fn unescape(raw: &str) -> Cow<'_, str> {
    let inner = raw.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(raw);
    let Some(mut slash) = inner.find('\\') else {
        return Cow::Borrowed(inner);
    };
    let mut text = String::with_capacity(inner.len());
    let mut done = 0;
    loop {
        text.push_str(&inner[done..slash]);
        // The parser let no other escapes through.
        let (meant, length) =
            escape(inner.as_bytes(), slash).unwrap_or((char::REPLACEMENT_CHARACTER, 1));
        text.push(meant);
        done = slash + length;
        match inner[done..].find('\\') {
            Some(next) => slash = done + next,
            None => break,
        }
    }
    text.push_str(&inner[done..]);
    Cow::Owned(text)
}

/// The string literal for `text`: control characters escaped, everything else as it is.
pub(super) fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// The offset after the number at `at`. Numbers too large for a double are refused.
pub(super) fn number_end(source: &str, at: usize) -> Result<usize, Fault> {
    let bytes = source.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let required = |at: usize| match digits(at) {
        end if end > at => Ok(end),
        _ => Err(Fault::unexpected(source, at, "a digit")),
    };
    let whole = at + usize::from(bytes.get(at) == Some(&b'-'));
    let mut end = required(whole)?;
    if bytes.get(whole) == Some(&b'0') && end > whole + 1 {
        return Err(Fault::syntax(at, "a number does not begin with a zero"));
    }
    if bytes.get(end) == Some(&b'.') {
        end = required(end + 1)?;
    }
    let exponent = matches!(bytes.get(end), Some(b'e' | b'E'));
    if exponent {
        let sign = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        end = required(end + 1 + usize::from(sign))?;
    }
    const SURELY_FINITE: usize = 300;
    if (exponent || end - at > SURELY_FINITE) && !source[at..end].parse().is_ok_and(f64::is_finite)
    {
        return Err(Fault::syntax(at, "the number is out of range"));
    }
    Ok(end)
}

/// The number that `raw` says: an integer where it is one and fits, else the nearest double.
pub(super) fn number(raw: &str) -> Value {
    let integer = match raw {
        "-0" => None,
        _ if raw.starts_with('-') => raw.parse::<i64>().ok().map(Number::from),
        _ => raw.parse::<u64>().ok().map(Number::from),
    };
    let double = || raw.parse().ok().and_then(Number::from_f64);
    integer.or_else(double).map_or(Value::Null, Value::Number)
}

/// The character that the escape at `at` means, and the length of the escape.
pub(crate) fn escape(bytes: &[u8], at: usize) -> Result<(char, usize), &'static str> {
    let plain = match bytes.get(at + 1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(bytes, at),
        _ => return Err("unknown escape; a backslash is written `\\\\`"),
    };
    Ok((plain, 2))
}

fn unicode_escape(bytes: &[u8], at: usize) -> Result<(char, usize), &'static str> {
    const HALF: &str = "half of a surrogate pair is not a character";
    let unit = code_unit(bytes, at).ok_or("`\\u` is followed by four hexadecimal digits")?;
    if let Some(meant) = char::from_u32(unit) {
        return Ok((meant, 6));
    }
    let low = code_unit(bytes, at + 6).ok_or(HALF)?;
    if !(0xd800..0xdc00).contains(&unit) || !(0xdc00..0xe000).contains(&low) {
        return Err(HALF);
    }
    let meant = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    char::from_u32(meant).map(|meant| (meant, 12)).ok_or(HALF)
}

/// The number in an escape `\uXXXX` at `at`, if there is one.
fn code_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_mean_characters() {
        let raw = r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é""#;
        assert_eq!(string_end(raw.as_bytes(), 0).unwrap(), raw.len());
        assert_eq!(unescape(raw), "\"\\/\u{8}\u{c}\n\r\té😀é");
    }

    #[test]
    fn halves_of_surrogate_pairs_are_refused() {
        for raw in [
            r#""\ud800""#, r#""\udc00""#, r#""\ud800\ud800""#, r#""\ud800x12345""#,
            r#""\ud800\n12345""#,
        ] {
            assert!(string_end(raw.as_bytes(), 0).is_err(), "{raw}");
        }
    }

    #[test]
    fn numbers_are_read_exactly() {
        assert_eq!(number("18446744073709551615"), Value::from(u64::MAX));
        assert_eq!(number("-9223372036854775808"), Value::from(i64::MIN));
        assert_eq!(number("1e2"), Value::from(100.0));
        assert_eq!(
            number("123456789012345678901234567890"),
            Value::from(123456789012345678901234567890.0)
        );
        assert!(number("-0").as_f64().is_some_and(|zero| zero.is_sign_negative()));
        assert_eq!(number("7.2057594037927933e+16"), Value::from(72057594037927940.0));
    }
}
