//! Numbers with their units: money, durations, percentages.

use super::FactValue;

/// Millionths in one.
pub(crate) const MICROS: f64 = 1e6;
/// Larger numbers are refused: beyond them a float no longer counts in ones.
pub(crate) const LARGEST: f64 = 9e15;

/// Reads a quantity that makes up the whole text.
pub(crate) fn parse(text: &str) -> Option<FactValue> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('$') {
        return money(decimal(rest.trim_start())?);
    }
    if let Some(rest) = text.strip_suffix('%') {
        return Some(FactValue::Percent(decimal(rest.trim_end())?));
    }
    let end = number_length(text);
    let number = decimal(text.get(..end)?)?;
    let unit = text.get(end..)?.trim_start();
    if unit.is_empty() {
        return Some(FactValue::Number(number));
    }
    if is_dollar(unit) {
        return money(number);
    }
    if unit.eq_ignore_ascii_case("percent") {
        return Some(FactValue::Percent(number));
    }
    parse_duration(text).map(FactValue::Duration)
}

/// The milliseconds in one `unit`: `s`, `sec`, `minutes`, `h`, `ms`, `days` …
pub(crate) fn unit_millis(unit: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 22] = [
        ("s", 1e3),
        ("sec", 1e3),
        ("secs", 1e3),
        ("second", 1e3),
        ("seconds", 1e3),
        ("ms", 1.0),
        ("msec", 1.0),
        ("millisecond", 1.0),
        ("milliseconds", 1.0),
        ("m", 6e4),
        ("min", 6e4),
        ("mins", 6e4),
        ("minute", 6e4),
        ("minutes", 6e4),
        ("h", 3.6e6),
        ("hr", 3.6e6),
        ("hrs", 3.6e6),
        ("hour", 3.6e6),
        ("hours", 3.6e6),
        ("d", 8.64e7),
        ("day", 8.64e7),
        ("days", 8.64e7),
    ];
    UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, millis)| *millis)
}

/// Whether `word` names dollars.
pub(crate) fn is_dollar(word: &str) -> bool {
    ["usd", "dollar", "dollars"].iter().any(|name| name.eq_ignore_ascii_case(word))
}

/// Money from dollars; `None` if there is too much of it.
pub(crate) fn money(dollars: f64) -> Option<FactValue> {
    micros(dollars).map(FactValue::Money)
}

/// Millionths of a dollar; `None` if there are too many.
pub(crate) fn micros(dollars: f64) -> Option<i64> {
    let micros = (dollars * MICROS).round();
    (micros.abs() < LARGEST).then_some(micros as i64)
}

/// A duration from milliseconds; `None` if it is longer than any clock counts.
pub(crate) fn duration(millis: f64) -> Option<FactValue> {
    (millis.abs() < LARGEST).then_some(FactValue::Duration(millis.round() as i64))
}

/// The length of the decimal number `text` begins with: digits, `1,000`, one point.
pub(crate) fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let mut end = digits(0);
    if (1..=3).contains(&end) {
        while bytes.get(end) == Some(&b',') && digits(end + 1) == 3 {
            end += 4;
        }
    }
    if end > 0 && bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    end
}

/// The number that `text` spells in full.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    if text.is_empty() || number_length(text) != text.len() {
        return None;
    }
    let number: f64 = match text.contains(',') {
        true => text.replace(',', "").parse().ok()?,
        false => text.parse().ok()?,
    };
    (number.abs() < LARGEST).then_some(number)
}

fn parse_duration(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut millis = 0.0;
    while !rest.is_empty() {
        let end = number_length(rest);
        let number = decimal(rest.get(..end)?)?;
        rest = rest.get(end..)?.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        millis += number * unit_millis(rest.get(..end)?)?;
        rest = rest.get(end..)?.trim_start();
    }
    match duration(millis)? {
        FactValue::Duration(millis) => Some(millis),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        for (text, expected) in [
            ("12", FactValue::Number(12.0)),
            ("1,000", FactValue::Number(1000.0)),
            ("$0.50", FactValue::Money(500_000)),
            ("0.5 USD", FactValue::Money(500_000)),
            ("300 seconds", FactValue::Duration(300_000)),
            ("1h 30m", FactValue::Duration(5_400_000)),
            ("1h30m", FactValue::Duration(5_400_000)),
            ("250ms", FactValue::Duration(250)),
            ("80%", FactValue::Percent(80.0)),
            ("80 percent", FactValue::Percent(80.0)),
        ] {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
        for text in ["", "x", "5 parsecs", "1,00", "1h x", "$", "%", "1e5", "99999999999999999999"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
