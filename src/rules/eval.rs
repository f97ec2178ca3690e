//! Whether a condition holds, and the values that decide it.

use std::{borrow::Cow, cmp::Ordering};

use serde::Serialize;

use super::{Condition, Op, Operand};
use crate::domain::{FactValue, Facts, facts::value::same_text};

/// True, false, or unknown because a fact is missing or has another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Truth {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Unknown; a rule does not fire on this.
    Unknown,
}

/// A fact that a condition looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObservedFact {
    /// Its name.
    pub fact: String,
    /// The value it had.
    pub value: FactValue,
}

/// Whether a condition holds, with every fact it speaks of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether it holds.
    pub truth: Truth,
    /// The facts, in the order in which the condition names them.
    pub seen: Vec<ObservedFact>,
}

impl Verdict {
    /// The facts that are not known.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.seen.iter().filter(|seen| seen.value.is_missing()).map(|seen| seen.fact.as_str())
    }
}

impl Condition {
    /// Whether the condition holds, with the values seen.
    pub fn eval(&self, facts: &Facts) -> Verdict {
        Verdict { truth: self.truth(facts), seen: self.observed_facts(facts) }
    }

    /// Whether the condition is true; an unknown one is not.
    pub fn holds(&self, facts: &Facts) -> bool {
        self.truth(facts) == Truth::True
    }

    /// The facts that the condition speaks of, each once.
    pub(super) fn observed_facts(&self, facts: &Facts) -> Vec<ObservedFact> {
        let mut seen: Vec<ObservedFact> = Vec::new();
        self.visit_facts(&mut |name| {
            if !seen.iter().any(|other| other.fact == name) {
                seen.push(ObservedFact { fact: name.to_owned(), value: facts.get(name).clone() });
            }
        });
        seen
    }

    fn truth(&self, facts: &Facts) -> Truth {
        match self {
            Self::All(parts) => {
                fold(parts.iter().map(|part| part.truth(facts)), Truth::True, Truth::False)
            }
            Self::Any(parts) => {
                fold(parts.iter().map(|part| part.truth(facts)), Truth::False, Truth::True)
            }
            Self::Not(inner) => match inner.truth(facts) {
                Truth::True => Truth::False,
                Truth::False => Truth::True,
                Truth::Unknown => Truth::Unknown,
            },
            Self::Known { fact } => truth(!facts.get(fact).is_missing()),
            Self::Compare { fact, op, with } => compare(facts, fact, *op, with),
            Self::In { fact, values } => match facts.get(fact) {
                FactValue::Missing | FactValue::List(_) => Truth::Unknown,
                FactValue::Text(text) => truth(values.iter().any(|value| same_text(value, text))),
                other => {
                    let plain = other.to_plain();
                    truth(values.iter().any(|value| same_text(value, &plain)))
                }
            },
            Self::Contains { fact, text } => match facts.get(fact) {
                FactValue::List(items) => truth(items.iter().any(|item| same_text(item, text))),
                FactValue::Text(whole) => {
                    truth(whole.to_lowercase().contains(&text.to_lowercase()))
                }
                _ => Truth::Unknown,
            },
        }
    }
}

/// Kleene's strong logic: one decisive part decides, an unknown one otherwise spoils.
fn fold(parts: impl Iterator<Item = Truth>, neutral: Truth, decisive: Truth) -> Truth {
    let mut result = neutral;
    for part in parts {
        if part == decisive {
            return decisive;
        }
        if part == Truth::Unknown {
            result = Truth::Unknown;
        }
    }
    result
}

fn compare(facts: &Facts, fact: &str, op: Op, with: &Operand) -> Truth {
    let left = facts.get(fact);
    let right = match with {
        Operand::Value(value) => Cow::Borrowed(value),
        Operand::Fact(name) => Cow::Borrowed(facts.get(name)),
        Operand::Share { percent, of } => match FactValue::percent_of(*percent, facts.get(of)) {
            Some(share) => Cow::Owned(share),
            None => return Truth::Unknown,
        },
    };
    if !left.is_comparable(&right) {
        return Truth::Unknown;
    }
    let order = left.compare(&right);
    match op {
        Op::Equal => truth(order == Some(Ordering::Equal)),
        Op::NotEqual => truth(order != Some(Ordering::Equal)),
        _ => match order {
            Some(order) => truth(match op {
                Op::Above => order.is_gt(),
                Op::AtLeast => order.is_ge(),
                Op::Below => order.is_lt(),
                _ => order.is_le(),
            }),
            None => Truth::Unknown,
        },
    }
}

fn truth(holds: bool) -> Truth {
    if holds { Truth::True } else { Truth::False }
}
