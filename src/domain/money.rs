//! Amounts of money, exact to a millionth.

use std::{fmt, ops::Add};

use serde_json::{Number, Value};

use super::units::{format_money, parse_money};

/// An amount in millionths of the unit, so that sums stay exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(pub i64);

impl Money {
    /// Reads `$0.50`, `0.5`, `0.5 USD`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        parse_money(text).map(Self)
    }

    /// Reads a JSON number.
    pub fn from_json(value: &Value) -> Option<Self> {
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
    pub fn to_json(self) -> Value {
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
