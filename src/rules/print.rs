//! The canonical form: what `rule check` shows, and what reads back as the same rule.

use std::fmt::{self, Display, Formatter};

use super::{Action, Condition, Op, Operand, Rule};
use crate::domain::{FactValue, value::write_quoted};

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(label) = &self.label {
            write!(f, "**{label}**: ")?;
        }
        write!(f, "if {} → ", self.condition)?;
        for (i, action) in self.actions.iter().enumerate() {
            let separator = if i > 0 { ", " } else { "" };
            write!(f, "{separator}{action}")?;
        }
        Ok(())
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(parts) => joined(f, parts, " and "),
            Self::Any(parts) => joined(f, parts, " or "),
            Self::Not(inner) => write!(f, "not ({inner})"),
            Self::Compare { fact, op, with } => write!(f, "{fact} {op} {with}"),
            Self::In { fact, values } => {
                write!(f, "{fact} in (")?;
                for (i, value) in values.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write_quoted(f, value)?;
                }
                f.write_str(")")
            }
            Self::Contains { fact, text } => {
                write!(f, "{fact} contains ")?;
                write_quoted(f, text)
            }
            Self::Known { fact } => write!(f, "{fact} is set"),
        }
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Equal => "=",
            Self::NotEqual => "!=",
        })
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Fact(name) => f.write_str(name),
            Self::Share { percent, of } => write!(f, "{percent}% of {of}"),
        }
    }
}

impl Display for Action {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { modifier, value } => write!(f, "set {modifier} to {value}"),
            Self::Shift { modifier, steps } => {
                let verb = if *steps < 0 { "lower" } else { "raise" };
                write!(f, "{verb} {modifier} by {}", steps.unsigned_abs())
            }
            Self::Adjust { modifier, by } => {
                let (verb, amount) = unsigned(by);
                write!(f, "{verb} {modifier} by {amount}")
            }
            Self::Directive { text, steps } => directive(f, "add directive ", text, *steps),
            Self::Advice { text, steps } => directive(f, "advise ", text, *steps),
            Self::Review { reason } => explained(f, "require human review", reason),
            Self::Pause { reason } => explained(f, "pause", reason),
            Self::Checkpoint { name: None } => f.write_str("checkpoint"),
            Self::Checkpoint { name: Some(name) } => {
                f.write_str("checkpoint ")?;
                write_quoted(f, name)
            }
        }
    }
}

fn joined(f: &mut Formatter<'_>, parts: &[Condition], word: &str) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(word)?;
        }
        if matches!(part, Condition::All(_) | Condition::Any(_)) {
            write!(f, "({part})")?;
        } else {
            write!(f, "{part}")?;
        }
    }
    Ok(())
}

fn unsigned(by: &FactValue) -> (&'static str, FactValue) {
    let verb = |negative| if negative { "lower" } else { "raise" };
    match by {
        FactValue::Number(n) => (verb(*n < 0.0), FactValue::Number(n.abs())),
        FactValue::Percent(n) => (verb(*n < 0.0), FactValue::Percent(n.abs())),
        FactValue::Money(n) => (verb(*n < 0), FactValue::Money(n.saturating_abs())),
        FactValue::Duration(n) => (verb(*n < 0), FactValue::Duration(n.saturating_abs())),
        other => ("raise", other.clone()),
    }
}

fn directive(f: &mut Formatter<'_>, verb: &str, text: &str, steps: Option<u32>) -> fmt::Result {
    f.write_str(verb)?;
    write_quoted(f, text)?;
    match steps {
        None => Ok(()),
        Some(1) => f.write_str(" for the next 1 step"),
        Some(steps) => write!(f, " for the next {steps} steps"),
    }
}

fn explained(f: &mut Formatter<'_>, what: &str, reason: &Option<String>) -> fmt::Result {
    f.write_str(what)?;
    if let Some(reason) = reason {
        f.write_str(": ")?;
        write_quoted(f, reason)?;
    }
    Ok(())
}
