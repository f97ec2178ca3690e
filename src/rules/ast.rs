//! What a rule says, once understood.

use super::RuleError;
use crate::{
    domain::{FactValue, Workflow},
    rules::parse::grammar,
};

/// A condition and what happens when it becomes true.
///
/// `Display` prints the canonical form, which reads back as the same rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The bold title in front of the rule, if it has one.
    pub label: Option<String>,
    /// When it fires.
    pub condition: Condition,
    /// What it then does, in order; never empty.
    pub actions: Vec<Action>,
}

/// Something that is true, false or unknown of a set of facts.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Every one holds.
    All(Vec<Self>),
    /// At least one holds.
    Any(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// A fact compared with something.
    Compare {
        /// The fact's full name.
        fact: String,
        /// How it is compared.
        op: Op,
        /// With what.
        with: Operand,
    },
    /// The fact is one of these texts.
    In {
        /// The fact's full name.
        fact: String,
        /// The texts.
        values: Vec<String>,
    },
    /// The fact, a text or a list, contains this text.
    Contains {
        /// The fact's full name.
        fact: String,
        /// The text.
        text: String,
    },
    /// The fact has a value.
    Known {
        /// The fact's full name.
        fact: String,
    },
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
}

/// What a fact is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A value.
    Value(FactValue),
    /// Another fact.
    Fact(String),
    /// A share of another fact: `80% of budget`.
    Share {
        /// The percentage.
        percent: f64,
        /// The whole.
        of: String,
    },
}

/// Something a rule does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Gives a modifier a value.
    Set {
        /// The modifier.
        modifier: String,
        /// Its new value.
        value: FactValue,
    },
    /// Moves a modifier up or down its ordered scale, as far as the scale goes.
    Shift {
        /// The modifier.
        modifier: String,
        /// How far up; negative is down.
        steps: i32,
    },
    /// Raises or lowers a modifier that is a quantity, never below zero.
    Adjust {
        /// The modifier.
        modifier: String,
        /// By how much; negative lowers. A percentage is one of its present value, unless the
        /// modifier is itself a percentage.
        by: FactValue,
    },
    /// Adds a directive.
    Directive {
        /// Its text.
        text: String,
        /// For how many steps it holds; without a number until it is removed.
        steps: Option<u32>,
    },
    /// Passes prose on to the agent, word for word.
    Advice {
        /// The prose.
        text: String,
        /// For how many steps it holds; without a number until it is removed.
        steps: Option<u32>,
    },
    /// Asks a person to look.
    Review {
        /// Why, if the rule says so.
        reason: Option<String>,
    },
    /// Pauses the plan.
    Pause {
        /// Why, if the rule says so.
        reason: Option<String>,
    },
    /// Saves a checkpoint.
    Checkpoint {
        /// Its name, if the rule gives one.
        name: Option<String>,
    },
}

impl Rule {
    /// Reads a rule with the modifiers and statuses of the default workflow.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        Self::parse_with(text, Workflow::builtin())
    }

    /// Reads a rule with the modifiers and statuses of `workflow`.
    pub fn parse_with(text: &str, workflow: &Workflow) -> Result<Self, RuleError> {
        grammar::rule(text, workflow)
    }

    /// The names of the facts its condition looks at.
    pub fn facts(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.condition.visit_facts(&mut |name| names.push(name));
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Condition {
    /// Reads a condition on its own, such as `cost > 80% of budget`.
    pub fn parse(text: &str, workflow: &Workflow) -> Result<Self, RuleError> {
        grammar::condition(text, workflow)
    }

    pub(super) fn compare(fact: &str, op: Op, value: FactValue) -> Self {
        Self::Compare { fact: fact.to_owned(), op, with: Operand::Value(value) }
    }

    pub(super) fn compare_count(fact: &str, op: Op, count: f64) -> Self {
        Self::compare(fact, op, FactValue::Number(count))
    }

    pub(super) fn is_text(fact: &str, text: &str) -> Self {
        Self::compare(fact, Op::Equal, FactValue::text(text))
    }

    pub(super) fn negate(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// All of several conditions, without nesting one such list in another.
    pub(super) fn all(parts: Vec<Self>) -> Self {
        Self::flat(parts, Self::All, |part| match part {
            Self::All(inner) => inner,
            other => vec![other],
        })
    }

    /// Any of several conditions, without nesting one such list in another.
    pub(super) fn any(parts: Vec<Self>) -> Self {
        Self::flat(parts, Self::Any, |part| match part {
            Self::Any(inner) => inner,
            other => vec![other],
        })
    }

    fn flat(mut parts: Vec<Self>, list: fn(Vec<Self>) -> Self, of: fn(Self) -> Vec<Self>) -> Self {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        list(parts.into_iter().flat_map(of).collect())
    }

    /// Calls `see` with every fact name, in order of appearance.
    pub(crate) fn visit_facts<'a>(&'a self, see: &mut impl FnMut(&'a str)) {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.visit_facts(see);
                }
            }
            Self::Not(inner) => inner.visit_facts(see),
            Self::In { fact, .. } | Self::Contains { fact, .. } | Self::Known { fact } => see(fact),
            Self::Compare { fact, with, .. } => {
                see(fact);
                match with {
                    Operand::Fact(name) | Operand::Share { of: name, .. } => see(name),
                    Operand::Value(_) => {}
                }
            }
        }
    }
}

impl Op {
    /// The operator that says the opposite.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Above => Self::AtMost,
            Self::AtLeast => Self::Below,
            Self::Below => Self::AtLeast,
            Self::AtMost => Self::Above,
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
        }
    }

    /// The operator that says the same with the sides swapped.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Above => Self::Below,
            Self::AtLeast => Self::AtMost,
            Self::Below => Self::Above,
            Self::AtMost => Self::AtLeast,
            same => same,
        }
    }
}

impl Action {
    /// Reads a list of actions with the modifiers of `workflow`, such as
    /// `Increase error_tolerance to "strict", require human review`.
    pub fn parse_all(text: &str, workflow: &Workflow) -> Result<Vec<Self>, RuleError> {
        grammar::actions(text, workflow)
    }

    /// Whether this is prose for the agent rather than something the engine executes.
    pub fn is_advice(&self) -> bool {
        matches!(self, Self::Advice { .. })
    }
}
