//! Money and durations as people write them.

use std::fmt::Write;

const MICROS: i64 = 1_000_000;
const UNITS: [(u64, &[&str]); 5] = [
    (1, &["ms", "msec", "msecs", "millisecond", "milliseconds"]),
    (1_000, &["s", "sec", "secs", "second", "seconds"]),
    (60_000, &["m", "min", "mins", "minute", "minutes"]),
    (3_600_000, &["h", "hr", "hrs", "hour", "hours"]),
    (86_400_000, &["d", "day", "days"]),
];

/// Reads `$0.0200`, `0.02`, `0.5 USD`, `-$1,234.50`; the result is in millionths.
///
/// More than six decimals are rounded half away from zero. Anything else, or an amount too large,
/// gives `None`.
pub fn parse_money(text: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    let bare = strip_currency(text)?;
    let (whole, decimals) = bare.split_once('.').unwrap_or((bare, "0"));
    let whole = parse_grouped(whole)?;
    let micros = whole.checked_mul(MICROS)?.checked_add(parse_decimals(decimals)?)?;
    Some(if negative { -micros } else { micros })
}

/// Writes millionths as `$0.0200`: four decimals, six where they are needed.
pub fn format_money(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let size = micros.unsigned_abs();
    let (whole, decimals) = (size / 1_000_000, size % 1_000_000);
    if decimals.is_multiple_of(100) {
        format!("{sign}${whole}.{:04}", decimals / 100)
    } else {
        format!("{sign}${whole}.{decimals:06}")
    }
}

/// Reads `12s`, `1m 30s`, `1500ms`, `2 minutes`, `1h30m`, `0.5s`; a bare number means seconds.
///
/// Units must go from large to small, each at most once, and only the last may have decimals.
/// Anything else, or a duration too long, gives `None`.
pub fn parse_duration_ms(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut total = 0u64;
    let mut smallest = u64::MAX;
    let mut first = true;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (word, next) = after.split_at(letters);
        let next = next.trim_start_matches([' ', '\t', ',']);
        let unit = if word.is_empty() && first && next.is_empty() { 1_000 } else { unit(word)? };
        if unit >= smallest || (number.contains('.') && !next.is_empty()) {
            return None;
        }
        total = total.checked_add(parse_scaled(number, unit)?)?;
        (smallest, first, rest) = (unit, false, next);
    }
    (!first).then_some(total)
}

/// Writes milliseconds as `350ms`, `1.5s`, `1m 30s`, `2h 5m`; [`parse_duration_ms`] reads it back.
pub fn format_duration(ms: u64) -> String {
    if ms > 0 && ms < 1_000 {
        return format!("{ms}ms");
    }
    let (hours, minutes) = (ms / 3_600_000, ms / 60_000 % 60);
    let (seconds, millis) = (ms / 1_000 % 60, ms % 1_000);
    let mut text = String::new();
    for (count, letter) in [(hours, 'h'), (minutes, 'm')] {
        if count > 0 {
            let _ = write!(text, "{count}{letter} ");
        }
    }
    if millis > 0 {
        let decimals = format!("{millis:03}");
        let _ = write!(text, "{seconds}.{}s", decimals.trim_end_matches('0'));
    } else if seconds > 0 || text.is_empty() {
        let _ = write!(text, "{seconds}s");
    }
    text.trim_end().to_owned()
}

fn strip_currency(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('$') {
        return Some(rest.trim_start());
    }
    let is_usd = |part: Option<&str>| part.is_some_and(|part| part.eq_ignore_ascii_case("usd"));
    if is_usd(text.get(..3)) {
        return Some(text.get(3..)?.trim_start());
    }
    let cut = text.len().saturating_sub(3);
    if is_usd(text.get(cut..)) {
        return Some(text.get(..cut)?.trim_end());
    }
    Some(text)
}

/// Digits, or groups of three digits behind commas.
fn parse_grouped(text: &str) -> Option<i64> {
    let mut groups = text.split(',');
    let first = groups.next()?;
    let grouped = text.contains(',');
    if first.is_empty() || (grouped && first.len() > 3) || groups.any(|group| group.len() != 3) {
        return None;
    }
    text.bytes().filter(|byte| *byte != b',').try_fold(0i64, |all, byte| {
        let digit = byte.is_ascii_digit().then(|| i64::from(byte - b'0'))?;
        all.checked_mul(10)?.checked_add(digit)
    })
}

/// The millionths that the digits after the point stand for.
fn parse_decimals(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digit = |at: usize| text.as_bytes().get(at).map_or(0, |byte| i64::from(byte - b'0'));
    let micros = (0..6).fold(0, |all, at| all * 10 + digit(at));
    Some(micros + i64::from(digit(6) >= 5))
}

fn unit(word: &str) -> Option<u64> {
    let named = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(word));
    UNITS.iter().find(|(_, names)| named(names)).map(|(unit, _)| *unit)
}

/// `number` times `unit`, rounded to whole milliseconds.
fn parse_scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u64 = whole.parse().ok()?;
    let part = parse_decimals(decimals)?.unsigned_abs();
    let part = part.checked_mul(unit)?.checked_add(500_000)? / 1_000_000;
    whole.checked_mul(unit)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn money_is_read_as_people_write_it() {
        let table = [
            ("$0.0200", Some(20_000)),
            ("0.02", Some(20_000)),
            ("0", Some(0)),
            ("12", Some(12_000_000)),
            ("$ 3", Some(3_000_000)),
            ("0.5 USD", Some(500_000)),
            ("usd 0.5", Some(500_000)),
            ("1.5usd", Some(1_500_000)),
            ("-$0.25", Some(-250_000)),
            ("$1,234.50", Some(1_234_500_000)),
            ("0.0000005", Some(1)),
            ("0.9999999", Some(1_000_000)),
            ("9223372036854", Some(9_223_372_036_854_000_000)),
            ("9223372036855", None),
            ("$X.XX", None),
            ("", None),
            ("$", None),
            (".", None),
            (".5", None),
            ("5.", None),
            ("1,2", None),
            ("1e2", None),
            ("--1", None),
            ("€5", None),
            ("1.2.3", None),
            ("USD", None),
            ("é", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse_money(text), expected, "{text}");
        }
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        let table = [
            ("12s", Some(12_000)),
            ("1m 30s", Some(90_000)),
            ("1m30s", Some(90_000)),
            ("1500ms", Some(1_500)),
            ("2 minutes", Some(120_000)),
            ("300 seconds", Some(300_000)),
            ("1 hour, 5 min", Some(3_900_000)),
            ("1.5h", Some(5_400_000)),
            ("0.0004s", Some(0)),
            ("45", Some(45_000)),
            ("2.5", Some(2_500)),
            ("1d", Some(86_400_000)),
            ("", None),
            ("Xs", None),
            ("s", None),
            ("1.5m 3s", None),
            ("30s 1m", None),
            ("1s 1s", None),
            ("1m 30", None),
            ("-1s", None),
            ("1 fortnight", None),
            ("1..2s", None),
            ("99999999999999999999s", None),
            ("18446744073709551615d", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse_duration_ms(text), expected, "{text}");
        }
    }

    #[test]
    fn quantities_are_written_short() {
        assert_eq!(format_money(20_000), "$0.0200");
        assert_eq!(format_money(-1_234_567), "-$1.234567");
        assert_eq!(format_duration(0), "0s");
        assert_eq!(format_duration(350), "350ms");
        assert_eq!(format_duration(1_500), "1.5s");
        assert_eq!(format_duration(90_000), "1m 30s");
        assert_eq!(format_duration(7_500_000), "2h 5m");
    }

    proptest! {
        #[test]
        fn money_reads_back(micros in (i64::MIN + 1)..=i64::MAX) {
            prop_assert_eq!(parse_money(&format_money(micros)), Some(micros));
        }

        #[test]
        fn a_duration_reads_back(ms in prop_oneof![any::<u64>(), 0u64..100_000_000]) {
            prop_assert_eq!(parse_duration_ms(&format_duration(ms)), Some(ms));
        }

        #[test]
        fn no_text_makes_the_parsers_panic(text in ".{0,40}") {
            let _ = (parse_money(&text), parse_duration_ms(&text));
        }
    }
}
