//! The canonical form, which reads back as the same rule; with `{:#}` as `rule check` shows it to
//! people, durations as `3m 20s`, which reads back, too.

use std::fmt::{self, Display, Formatter};

use super::{Action, Condition, Op, Operand, Rule};
use crate::domain::{FactValue, facts::value::write_quoted};

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(label) = &self.label {
            write!(f, "**{label}**: ")?;
        }
        f.write_str("if ")?;
        self.condition.fmt(f)?;
        f.write_str(" → ")?;
        for (i, action) in self.actions.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            action.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(parts) => joined(f, parts, " and "),
            Self::Any(parts) => joined(f, parts, " or "),
            Self::Not(inner) => enclosed(f, "not (", inner),
            Self::Compare { fact, op, with } => {
                write!(f, "{fact} {op} ")?;
                with.fmt(f)
            }
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
            Self::Value(value) => value.fmt(f),
            Self::Fact(name) => f.write_str(name),
            Self::Share { percent, of } => write!(f, "{percent}% of {of}"),
        }
    }
}

impl Display for Action {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { modifier, value: FactValue::Missing } => write!(f, "unset {modifier}"),
            Self::Set { modifier, value } => {
                write!(f, "set {modifier} to ")?;
                value.fmt(f)
            }
            Self::Shift { modifier, steps } => {
                let verb = if *steps < 0 { "lower" } else { "raise" };
                write!(f, "{verb} {modifier} by {}", steps.unsigned_abs())
            }
            Self::Adjust { modifier, by } => {
                let (verb, amount) = unsigned(by);
                write!(f, "{verb} {modifier} by ")?;
                amount.fmt(f)
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
            enclosed(f, "(", part)?;
        } else {
            part.fmt(f)?;
        }
    }
    Ok(())
}

fn enclosed(f: &mut Formatter<'_>, opening: &str, inner: &Condition) -> fmt::Result {
    f.write_str(opening)?;
    inner.fmt(f)?;
    f.write_str(")")
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
