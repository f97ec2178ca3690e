//! The values of facts and modifiers: how they are read, compared and written.

use std::{cmp::Ordering, fmt};

use serde::{Serialize, Serializer};

use crate::domain::quantity::{
    self, LARGEST, MICROS, format_duration, format_money, format_plain_money, in_one_unit, in_words,
};

/// A value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum FactValue {
    /// A plain number; always finite.
    Number(f64),
    /// Money in millionths of a dollar.
    Money(i64),
    /// A duration in milliseconds.
    Duration(i64),
    /// A share: `Percent(80.0)` is 80%.
    Percent(f64),
    /// A text.
    Text(String),
    /// True or false.
    Bool(bool),
    /// A list of texts.
    List(Vec<String>),
    /// Nothing is known.
    Missing,
}

impl FactValue {
    /// A number, or `Missing` if it is not finite.
    pub(crate) fn number(number: f64) -> Self {
        if number.is_finite() { Self::Number(number) } else { Self::Missing }
    }

    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The value a JSON value stands for; `null` and objects are `Missing`.
    pub(crate) fn from_json(value: &serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null | Value::Object(_) => Self::Missing,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => number.as_f64().map_or(Self::Missing, Self::number),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(items) => Self::List(
                items
                    .iter()
                    .map(|item| match item {
                        Value::String(text) => text.clone(),
                        other => other.to_string(),
                    })
                    .collect(),
            ),
        }
    }

    /// Reads `12`, `$0.50`, `0.5 USD`, `300 seconds`, `1h 30m`, `80%`; `None` for anything else.
    pub(crate) fn parse_quantity(text: &str) -> Option<Self> {
        quantity::parse(text)
    }

    /// Whether nothing is known.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// The order of two values, if they can be compared at all.
    ///
    /// A plain number takes the unit of the other side (dollars, seconds, percent), and a text that
    /// reads as a quantity is one when the other side is. Texts are equal without regard to letter
    /// case and have no order.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Missing, _) | (_, Self::Missing) => None,
            (Self::Bool(a), Self::Bool(b)) => (a == b).then_some(Ordering::Equal),
            (Self::List(a), Self::List(b)) => (a == b).then_some(Ordering::Equal),
            (Self::Text(a), Self::Text(b)) => same_text(a, b).then_some(Ordering::Equal),
            (Self::Text(text), Self::Bool(flag)) | (Self::Bool(flag), Self::Text(text)) => {
                same_text(text, if *flag { "true" } else { "false" }).then_some(Ordering::Equal)
            }
            (Self::Text(text), quantity) => Self::parse_quantity(text)?.compare(quantity),
            (quantity, Self::Text(text)) => quantity.compare(&Self::parse_quantity(text)?),
            (a, b) => {
                let (a, b) = (a.in_unit_of(b)?, b.in_unit_of(a)?);
                a.partial_cmp(&b)
            }
        }
    }

    /// Whether two values can be compared at all; a number and a text that is not a quantity cannot.
    pub(crate) fn is_comparable(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Missing, _) | (_, Self::Missing) => false,
            (Self::Bool(_), Self::Bool(_))
            | (Self::List(_), Self::List(_))
            | (Self::Text(_), Self::Text(_) | Self::Bool(_))
            | (Self::Bool(_), Self::Text(_)) => true,
            _ => self.compare(other).is_some(),
        }
    }

    /// This share of `whole`, in the unit of `whole`.
    pub(crate) fn percent_of(percent: f64, whole: &Self) -> Option<Self> {
        let share = |amount: f64| amount * percent / 100.0;
        Some(match whole {
            Self::Number(number) => Self::number(share(*number)),
            Self::Percent(number) => Self::Percent(share(*number)),
            Self::Money(micros) => Self::Money(share(*micros as f64).round() as i64),
            Self::Duration(millis) => Self::Duration(share(*millis as f64).round() as i64),
            Self::Text(text) => match Self::parse_quantity(text)? {
                Self::Text(_) => return None,
                quantity => return Self::percent_of(percent, &quantity),
            },
            Self::Bool(_) | Self::List(_) | Self::Missing => return None,
        })
    }

    /// The value as written in a state file, without quotes: `low`, `0.50`, `300 seconds`.
    pub(crate) fn to_plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Money(micros) => format_plain_money(*micros),
            Self::Duration(millis) => in_words(*millis),
            Self::Missing => String::new(),
            other => other.to_string(),
        }
    }

    fn in_unit_of(&self, other: &Self) -> Option<f64> {
        Some(match (self, other) {
            (Self::Number(n), Self::Number(_) | Self::Percent(_)) => *n,
            (Self::Number(n), Self::Money(_)) => (n * MICROS).round(),
            (Self::Number(n), Self::Duration(_)) => n * 1000.0,
            (Self::Percent(n), Self::Number(_) | Self::Percent(_)) => *n,
            (Self::Money(n), Self::Number(_) | Self::Money(_)) => *n as f64,
            (Self::Duration(n), Self::Number(_) | Self::Duration(_)) => *n as f64,
            _ => return None,
        })
    }
}

/// In the rule language: `12`, `$0.50`, `200s`, `80%`, `"low"`; with `{:#}` for people: `3m 20s`.
impl fmt::Display for FactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Money(micros) => f.write_str(&format_money(*micros)),
            Self::Duration(millis) if f.alternate() => {
                let sign = if *millis < 0 { "-" } else { "" };
                write!(f, "{sign}{}", format_duration(millis.unsigned_abs()))
            }
            Self::Duration(millis) => f.write_str(&in_one_unit(*millis)),
            Self::Percent(number) => write!(f, "{number}%"),
            Self::Text(text) => write_quoted(f, text),
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write_quoted(f, item)?;
                }
                f.write_str("]")
            }
            Self::Missing => f.write_str("missing"),
        }
    }
}

/// Numbers and truth values as JSON ones, everything with a unit as its text.
impl Serialize for FactValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(n) if n.fract() == 0.0 && n.abs() < LARGEST => {
                serializer.serialize_i64(*n as i64)
            }
            Self::Number(n) => serializer.serialize_f64(*n),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => items.serialize(serializer),
            Self::Missing => serializer.serialize_none(),
            other => serializer.collect_str(other),
        }
    }
}

/// Writes `text` in double quotes so that the rule language reads it back unchanged.
pub(crate) fn write_quoted(f: &mut impl fmt::Write, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

/// Whether two texts are the same without regard to letter case.
pub(crate) fn same_text(a: &str, b: &str) -> bool {
    a.chars().flat_map(char::to_lowercase).eq(b.chars().flat_map(char::to_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_number_takes_the_unit_of_the_other_side() {
        let less = Some(Ordering::Less);
        assert_eq!(FactValue::Money(400_000).compare(&FactValue::Number(0.5)), less);
        assert_eq!(FactValue::Number(199.0).compare(&FactValue::Duration(200_000)), less);
        assert_eq!(FactValue::text("0.40").compare(&FactValue::Money(500_000)), less);
        assert_eq!(FactValue::Money(1).compare(&FactValue::Duration(2)), None);
        assert_eq!(FactValue::text("soon").compare(&FactValue::Duration(2)), None);
        assert_eq!(FactValue::Missing.compare(&FactValue::Missing), None);
    }

    #[test]
    fn values_are_written_as_people_write_them() {
        assert_eq!(FactValue::Money(500_000).to_plain(), "0.50");
        assert_eq!(FactValue::Money(1_234_560).to_string(), "$1.23456");
        assert_eq!(FactValue::Duration(300_000).to_plain(), "300 seconds");
        assert_eq!(FactValue::Duration(200_000).to_string(), "200s");
        assert_eq!(format!("{:#}", FactValue::Duration(200_000)), "3m 20s");
        assert_eq!(format!("{:#}", FactValue::Duration(-41_424)), "-41.424s");
        assert_eq!(FactValue::text("a \"b\"").to_string(), r#""a \"b\"""#);
        assert_eq!(FactValue::List(vec!["Read".into()]).to_plain(), r#"["Read"]"#);
    }

    #[test]
    fn a_share_keeps_the_unit_of_the_whole() {
        let share = FactValue::percent_of(80.0, &FactValue::Money(500_000));
        assert_eq!(share, Some(FactValue::Money(400_000)));
        assert_eq!(FactValue::percent_of(80.0, &FactValue::text("soon")), None);
    }
}
