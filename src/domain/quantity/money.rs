//! Amounts of money, exact to a millionth.

use std::{fmt, ops::Add};

use serde_json::{Number, Value};

use super::{
    super::FactValue,
    number::{LARGEST, millionths, number_length},
};

/// Millionths in one.
pub(crate) const MICROS: f64 = 1e6;

/// Reads `$0.02`, `0.02`, `0.5 USD`, `2 dollars`, `50 cents`, `-$1,234.50`; the result is in
/// millionths.
///
/// More than six decimals are rounded half away from zero. Anything else, or an amount too large,
/// gives `None`.
pub(crate) fn parse_money(text: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    let (number, divisor) = strip_currency(text).unwrap_or((text, 1));
    if number.is_empty() || number_length(number) != number.len() {
        return None;
    }
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let whole: i64 = whole.replace(',', "").parse().ok()?;
    let micros = whole.checked_mul(1_000_000)?.checked_add(millionths(decimals)?)? / divisor;
    Some(if negative { -micros } else { micros })
}

/// Writes millionths as `$0.50`: two decimals, more where they are needed, as in `$0.0035`.
pub(crate) fn format_money(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    format!("{sign}${}", format_amount(micros.unsigned_abs()))
}

/// The same without the sign of the currency, as a setting has it: `0.50`.
pub(crate) fn format_plain_money(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    format!("{sign}{}", format_amount(micros.unsigned_abs()))
}

fn format_amount(micros: u64) -> String {
    let mut decimals = format!("{:06}", micros % 1_000_000);
    while decimals.len() > 2 && decimals.ends_with('0') {
        decimals.pop();
    }
    format!("{}.{decimals}", micros / 1_000_000)
}

/// Whether a text names a currency, so that it can be nothing but money.
pub(super) fn has_currency(text: &str) -> bool {
    let text = text.trim();
    strip_currency(text.strip_prefix('-').unwrap_or(text).trim_start()).is_some()
}

/// The number, and how many of what it counts make a dollar.
fn strip_currency(text: &str) -> Option<(&str, i64)> {
    if let Some(rest) = text.strip_prefix('$') {
        return Some((rest.trim_start(), 1));
    }
    if let Some(prefix) = text.get(..3)
        && prefix.eq_ignore_ascii_case("usd")
    {
        return Some((text.get(3..)?.trim_start(), 1));
    }
    let letters = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let divisor = per_dollar(text.get(letters.len()..)?)?;
    Some((letters.trim_end(), divisor))
}

/// How many of `unit` make a dollar: `USD`, `dollars`, `cents`.
pub(crate) fn per_dollar(unit: &str) -> Option<i64> {
    let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(unit));
    if is(&["usd", "dollar", "dollars"]) {
        return Some(1);
    }
    is(&["cent", "cents"]).then_some(100)
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

/// An amount in millionths of the unit, so that sums stay exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(pub i64);

impl Money {
    /// Reads `$0.50`, `0.5`, `0.5 USD`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        parse_money(text).map(Self)
    }

    /// Reads a JSON number.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Self::parse(&number.to_string()).or_else(|| {
                let micros = number.as_f64()? * 1e6;
                (micros.abs() < 9e18).then_some(Self(micros.round() as i64))
            }),
            Value::String(text) => Self::parse(text),
            _ => None,
        }
    }

    /// The amount as a JSON number, `0.3` and never `0.30000000000000004`.
    pub(crate) fn to_json(self) -> Value {
        let float = self.0 as f64 / 1e6;
        Number::from_f64(float).map_or(Value::Null, Value::Number)
    }
}

impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_money(self.0))
    }
}

impl serde::Serialize for Money {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("2 dollars", Some(2_000_000)),
            ("50 cents", Some(500_000)),
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
    fn money_is_written_with_two_decimals_and_more_where_needed() {
        assert_eq!(format_money(0), "$0.00");
        assert_eq!(format_money(20_000), "$0.02");
        assert_eq!(format_money(3_500), "$0.0035");
        assert_eq!(format_money(-1_234_567), "-$1.234567");
        assert_eq!(format_plain_money(500_000), "0.50");
    }

    proptest::proptest! {
        #[test]
        fn money_reads_back(micros in (i64::MIN + 1)..=i64::MAX) {
            proptest::prop_assert_eq!(parse_money(&format_money(micros)), Some(micros));
        }
    }
}
