//! Values as written, with their types.

use serde::Serialize;
use serde_json::{Number, Value};

use super::Located;
use crate::domain::{FactValue, Modifier, ModifierKind};

/// Lists and objects in a text that are nested deeper are shown as text.
const DEEPEST: usize = 16;

/// What a written value means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueType {
    /// A plain number.
    Number,
    /// An amount; the value is in the unit, such as dollars.
    Money,
    /// A length of time; the value is in seconds.
    Duration,
    /// A share; 80 is 80%.
    Percent,
    /// True or false.
    Boolean,
    /// A list.
    List,
    /// An object.
    Object,
    /// Anything else.
    Text,
    /// Nothing is written, or a template's placeholder.
    None,
}

/// A named value: the text as written, and what it means.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Written {
    /// Its name; empty for a list item without one.
    pub name: String,
    /// The text, without quotes.
    pub text: Option<String>,
    /// What the text means.
    #[serde(rename = "type")]
    pub kind: ValueType,
    /// The text as a JSON value of that type.
    pub value: Value,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Located>,
}

impl Written {
    /// Reads a text and infers its type.
    pub(super) fn read(name: &str, text: &str) -> Self {
        let (kind, value) = typed(text);
        let (name, text) = (name.to_owned(), Some(text.to_owned()));
        Self { name, text, kind, value, place: None }
    }

    /// Reads the text of a setting, whose kind may be known.
    pub(super) fn setting(name: &str, text: Option<&str>, modifier: Option<&Modifier>) -> Self {
        let Some(text) = text else {
            let (kind, value) = (ValueType::None, Value::Null);
            return Self { name: name.to_owned(), text: None, kind, value, place: None };
        };
        let mut written = Self::read(name, text);
        if modifier.is_some_and(|modifier| !matches!(modifier.kind(), ModifierKind::Text))
            && let Some((kind, value)) =
                modifier.and_then(|modifier| from_fact(&modifier.read(text).ok()?))
        {
            (written.kind, written.value) = (kind, value);
        }
        written
    }
}

/// What a text means by itself.
fn typed(text: &str) -> (ValueType, Value) {
    let json = serde_json::from_str::<Value>(text).ok().filter(|value| depth(value) <= DEEPEST);
    match json {
        Some(value @ Value::Number(_)) => return (ValueType::Number, value),
        Some(value @ Value::Bool(_)) => return (ValueType::Boolean, value),
        Some(value @ Value::Array(_)) => return (ValueType::List, value),
        Some(value @ Value::Object(_)) => return (ValueType::Object, value),
        _ => {}
    }
    let quantity = FactValue::parse_quantity(text).as_ref().and_then(from_fact);
    quantity.unwrap_or_else(|| (ValueType::Text, Value::from(text)))
}

fn from_fact(fact: &FactValue) -> Option<(ValueType, Value)> {
    Some(match fact {
        FactValue::Number(number) => (ValueType::Number, number_of(*number)),
        FactValue::Money(micros) => (ValueType::Money, number_of(*micros as f64 / 1e6)),
        FactValue::Duration(ms) => (ValueType::Duration, number_of(*ms as f64 / 1e3)),
        FactValue::Percent(percent) => (ValueType::Percent, number_of(*percent)),
        FactValue::Bool(flag) => (ValueType::Boolean, Value::from(*flag)),
        FactValue::List(items) => (ValueType::List, Value::from(items.clone())),
        FactValue::Text(text) => (ValueType::Text, Value::from(text.clone())),
        FactValue::Missing => return None,
    })
}

/// A whole number without a decimal point.
fn number_of(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_is_shown_as_what_it_means() {
        for (text, kind, value) in [
            ("12", ValueType::Number, json!(12)),
            ("$0.50", ValueType::Money, json!(0.5)),
            ("300 seconds", ValueType::Duration, json!(300)),
            ("80%", ValueType::Percent, json!(80)),
            ("true", ValueType::Boolean, json!(true)),
            ("[\"a\", 2]", ValueType::List, json!(["a", 2])),
            ("{{a.b}}", ValueType::Text, json!("{{a.b}}")),
            ("\"12\"", ValueType::Text, json!("\"12\"")),
            ("", ValueType::Text, json!("")),
        ] {
            assert_eq!(typed(text), (kind, value), "{text}");
        }
    }
}
