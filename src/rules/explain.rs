//! Why a rule fired or did not.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::{ObservedFact, Rule, Truth, Verdict};
use crate::domain::Facts;

/// Why a rule does not fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WhyNot {
    /// Its condition is false.
    NotTrue,
    /// Its condition is unknown.
    Unknown,
    /// Its condition was true before already: a rule fires when it becomes true.
    TrueBefore,
}

/// Why a rule fires or does not, with the values seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Explanation {
    /// What the rule means, in canonical form.
    pub means: String,
    /// The same for people.
    #[serde(skip)]
    pub readable: String,
    /// Whether it fires.
    pub fires: bool,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<WhyNot>,
    /// The condition before the event.
    pub before: Verdict,
    /// The condition after the event.
    pub after: Verdict,
}

/// Explains what `rule` does between two sets of facts; for the present state give it twice.
pub(crate) fn explain(rule: &Rule, before: &Facts, after: &Facts) -> Explanation {
    let before = rule.condition.eval(before);
    let after = rule.condition.eval(after);
    let why_not = match (before.truth, after.truth) {
        (_, Truth::False) => Some(WhyNot::NotTrue),
        (_, Truth::Unknown) => Some(WhyNot::Unknown),
        (Truth::True, Truth::True) => Some(WhyNot::TrueBefore),
        (_, Truth::True) => None,
    };
    let (means, readable) = (rule.to_string(), format!("{rule:#}"));
    Explanation { means, readable, fires: why_not.is_none(), why_not, before, after }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "means: {}", self.readable)?;
        writeln!(f, "before: {}", self.before)?;
        writeln!(f, "after: {}", self.after)?;
        f.write_str(match self.why_not {
            None => "fires: the condition became true",
            Some(WhyNot::NotTrue) => "does not fire: the condition is false",
            Some(WhyNot::TrueBefore) => "does not fire: the condition was already true",
            Some(WhyNot::Unknown) => "does not fire: ",
        })?;
        if self.why_not == Some(WhyNot::Unknown) {
            let missing: Vec<_> = self.after.missing().map(|name| format!("`{name}`")).collect();
            match missing.as_slice() {
                [] => f.write_str("the values cannot be compared")?,
                [one] => write!(f, "{one} is not known")?,
                all => write!(f, "{} are not known", all.join(", "))?,
            }
        }
        Ok(())
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.truth {
            Truth::True => "true",
            Truth::False => "false",
            Truth::Unknown => "unknown",
        })?;
        for (i, seen) in self.seen.iter().enumerate() {
            write!(f, "{}{seen}", if i == 0 { " with " } else { ", " })?;
        }
        Ok(())
    }
}

impl Display for ObservedFact {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {:#}", self.fact, self.value)
    }
}
