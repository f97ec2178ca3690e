//! Amounts and times as people and programs give them.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::Value;

use crate::domain::{Money, format_duration, parse_duration_ms};

/// A cost: a number or `$0.02`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost(pub Money);

/// A length of time: a number of seconds, `12s`, `1m 30s`, `2 minutes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub u64);

impl Span {
    /// A time that was measured and not given: from a minute on, milliseconds only make it harder
    /// to read.
    pub(crate) fn measured(ms: u64) -> Self {
        Self(if ms < 60_000 { ms } else { ms - ms % 1_000 })
    }

    /// The milliseconds.
    pub(crate) fn millis(self) -> u64 {
        self.0
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&format_duration(self.0))
    }
}

impl FromStr for Cost {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Money::parse(text)
            .filter(|money| money.0 >= 0)
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not an amount; write `0.02` or `$0.02`"))
    }
}

impl FromStr for Span {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        // A JSON number may be written with an exponent.
        let seconds = || text.trim().parse::<f64>().ok().filter(|n| (0.0..1e12).contains(n));
        parse_duration_ms(text)
            .or_else(|| seconds().map(|seconds| (seconds * 1000.0).round() as u64))
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not a duration; write `12s` or `2 minutes`"))
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        scalar(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        scalar(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A JSON string or number, as text.
pub(super) fn scalar<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(D::Error::custom(format!("expected text or a number, found `{other}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_and_times_come_as_numbers_or_text() {
        assert_eq!("$0.02".parse(), Ok(Cost(Money(20_000))));
        assert_eq!("1.5".parse(), Ok(Span(1500)));
        assert_eq!("2 minutes".parse(), Ok(Span(120_000)));
        assert!("-1".parse::<Cost>().is_err());
        assert!("soon".parse::<Span>().is_err());
        assert_eq!(serde_json::from_str::<Cost>("0.5").ok(), Some(Cost(Money(500_000))));
    }

    #[test]
    fn a_measured_time_is_as_exact_as_anybody_reads_it() {
        let written = [316, 59_999, 60_001, 7_542_519].map(|ms| Span::measured(ms).to_string());
        assert_eq!(written, ["316ms", "59.999s", "1m", "2h 5m 42s"]);
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_what_can_be_given(amount in 0i64..i64::MAX, ms in 0u64..u64::MAX) {
            proptest::prop_assert_eq!(Money(amount).to_string().parse(), Ok(Cost(Money(amount))));
            proptest::prop_assert_eq!(Span(ms).to_string().parse(), Ok(Span(ms)));
        }
    }
}
