//! Numbers with their units: money, durations, percentages. One reading and one writing of each.

mod duration;
pub(crate) mod exact;
mod money;
mod number;

use super::FactValue;

pub(crate) use duration::{duration, in_one_unit, in_words, unit_millis};
pub(crate) use duration::{format_age, format_duration, parse_duration_ms};
pub use money::Money;
pub(crate) use money::{MICROS, format_plain_money, micros, money, per_dollar};
pub(crate) use money::{format_money, parse_money};
pub(crate) use number::{LARGEST, decimal, number_length, number_word};

/// Reads a quantity that makes up the whole text.
pub(crate) fn parse(text: &str) -> Option<FactValue> {
    let text = text.trim();
    if money::has_currency(text) {
        return parse_money(text).filter(is_countable).map(FactValue::Money);
    }
    let (number, unit) = text.split_at(number_length(text));
    let unit = unit.trim_start();
    let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(unit));
    if is(&["%", "percent", "per cent"]) {
        return decimal(number).map(FactValue::Percent);
    }
    if unit.is_empty() {
        return decimal(number).map(FactValue::Number);
    }
    let millis = i64::try_from(parse_duration_ms(text)?).ok()?;
    Some(FactValue::Duration(millis)).filter(|_| is_countable(&millis))
}

fn is_countable(number: &i64) -> bool {
    (*number as f64).abs() < LARGEST
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
            ("2 msecs", FactValue::Duration(2)),
            ("1s 1m", FactValue::Duration(61_000)),
            ("50 cents", FactValue::Money(500_000)),
            ("-$0.25", FactValue::Money(-250_000)),
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

    proptest::proptest! {
        #[test]
        fn whatever_is_written_as_money_reads_back(micros in -8_000_000_000_000_000i64..8_000_000_000_000_000) {
            let value = FactValue::Money(micros);
            for text in [format_money(micros), value.to_string(), Money(micros).to_string()] {
                proptest::prop_assert_eq!(parse_money(&text), Some(micros));
                proptest::prop_assert_eq!(parse(&text), Some(value.clone()));
            }
            proptest::prop_assert_eq!(parse_money(&value.to_plain()), Some(micros));
        }

        #[test]
        fn whatever_is_written_as_a_duration_reads_back(
            ms in proptest::prop_oneof![0u64..8_000_000_000_000_000, 0u64..100_000_000],
        ) {
            let value = FactValue::Duration(i64::try_from(ms).unwrap());
            for text in [format_duration(ms), value.to_string(), value.to_plain(), format!("{value:#}")] {
                proptest::prop_assert_eq!(parse_duration_ms(&text), Some(ms), "{}", text);
                proptest::prop_assert_eq!(parse(&text), Some(value.clone()), "{}", text);
            }
        }

        #[test]
        fn the_readers_agree_on_any_text(text in proptest::prop_oneof![
            ".{0,40}",
            "[-$0-9., ]{0,8} ?(ms|msecs|s|min|h|usd|cents|%)? ?[0-9]{0,3}(s|m)?",
        ]) {
            match parse(&text) {
                Some(FactValue::Money(micros)) => {
                    proptest::prop_assert_eq!(parse_money(&text), Some(micros));
                }
                Some(FactValue::Duration(ms)) => {
                    proptest::prop_assert_eq!(parse_duration_ms(&text), u64::try_from(ms).ok());
                }
                _ => {}
            }
            let _ = (parse_money(&text), parse_duration_ms(&text));
        }
    }
}
