//! Durations, exact to a millisecond.

use std::fmt::Write;

use super::{
    super::FactValue,
    number::{LARGEST, millionths, number_length},
};

/// Milliseconds and the names of the unit that has so many.
const UNITS: [(u64, &[&str]); 5] = [
    (1, &["ms", "msec", "msecs", "millisecond", "milliseconds"]),
    (1_000, &["s", "sec", "secs", "second", "seconds"]),
    (60_000, &["m", "min", "mins", "minute", "minutes"]),
    (3_600_000, &["h", "hr", "hrs", "hour", "hours"]),
    (86_400_000, &["d", "day", "days"]),
];

/// Reads `12s`, `1m 30s`, `1500ms`, `2 minutes`, `1h30m`, `1 hour, 5 min`, `0.5s`; a bare number
/// means seconds.
///
/// The parts are added, in whatever order they come. Anything else, or a duration too long, gives
/// `None`.
pub(crate) fn parse_duration_ms(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut total = 0u64;
    let mut first = true;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(number_length(rest));
        let after = after.trim_start();
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (word, next) = after.split_at(letters);
        let next = next.trim_start_matches([' ', '\t', ',']);
        let bare = word.is_empty() && first && next.is_empty();
        let unit = if bare { 1_000 } else { unit(word)? };
        total = total.checked_add(scaled(number, unit)?)?;
        (first, rest) = (false, next);
    }
    (!first).then_some(total)
}

/// Writes milliseconds as `350ms`, `1.5s`, `1m 30s`, `2h 5m`; [`parse_duration_ms`] reads it back.
pub(crate) fn format_duration(ms: u64) -> String {
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

/// The same in one unit, as the rule language and JSON have it: `200s`, `41424ms`.
pub(crate) fn in_one_unit(millis: i64) -> String {
    match millis % 1_000 {
        0 => format!("{}s", millis / 1_000),
        _ => format!("{millis}ms"),
    }
}

/// The same as a setting has it: `300 seconds`.
pub(crate) fn in_words(millis: i64) -> String {
    match millis % 1_000 {
        0 => format!("{} seconds", millis / 1_000),
        _ => format!("{millis} ms"),
    }
}

/// Writes a length of time as people say it, in its largest unit and the next: `3d`, `2h 5m`, `7m`.
pub(crate) fn format_age(ms: u64) -> String {
    let (minutes, hours) = (ms / 60_000, ms / 3_600_000);
    match hours {
        48.. => format!("{}d", hours / 24),
        1.. => format!("{hours}h {}m", minutes % 60),
        0 if minutes > 0 => format!("{minutes}m"),
        0 => format!("{}s", ms / 1_000),
    }
}

/// The milliseconds in one `unit`: `s`, `sec`, `minutes`, `h`, `ms`, `days` …
pub(crate) fn unit_millis(word: &str) -> Option<f64> {
    unit(word).map(|millis| millis as f64)
}

/// A duration from milliseconds; `None` if it is longer than any clock counts.
pub(crate) fn duration(millis: f64) -> Option<FactValue> {
    (millis.abs() < LARGEST).then_some(FactValue::Duration(millis.round() as i64))
}

fn unit(word: &str) -> Option<u64> {
    let named = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(word));
    UNITS.iter().find(|(_, names)| named(names)).map(|(unit, _)| *unit)
}

/// `number` times `unit`, rounded to whole milliseconds.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u64 = whole.replace(',', "").parse().ok()?;
    let part = millionths(decimals)?.unsigned_abs();
    let part = part.checked_mul(unit)?.checked_add(500_000)? / 1_000_000;
    whole.checked_mul(unit)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("1.5m 3s", Some(93_000)),
            ("2 msecs", Some(2)),
            ("1,500 ms", Some(1_500)),
            ("30s 1m", Some(90_000)),
            ("1s 1s", Some(2_000)),
            ("1m,", Some(60_000)),
            ("1m, x", None),
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
    fn durations_are_written_short() {
        assert_eq!(format_duration(0), "0s");
        assert_eq!(format_duration(350), "350ms");
        assert_eq!(format_duration(1_500), "1.5s");
        assert_eq!(format_duration(40_000), "40s");
        assert_eq!(format_duration(90_000), "1m 30s");
        assert_eq!(format_duration(9_240_000), "2h 34m");
        assert_eq!(format_age(59_999), "59s");
        assert_eq!(format_age(9_299_000), "2h 34m");
        assert_eq!(format_age(200_000_000), "2d");
    }

    proptest::proptest! {
        #[test]
        fn a_duration_reads_back(
            ms in proptest::prop_oneof![proptest::prelude::any::<u64>(), 0u64..100_000_000],
        ) {
            proptest::prop_assert_eq!(parse_duration_ms(&format_duration(ms)), Some(ms));
        }
    }
}
