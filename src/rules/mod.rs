//! The rule language: `If cost exceeds 80% of budget → set priority to "cost_efficiency"`.
//!
//! A rule is read by a grammar over tokens ([`Rule::parse`]), printed in a canonical form that
//! reads back as the same rule, evaluated against [`Facts`](crate::domain::Facts), and fired when an event
//! makes its condition true. A sentence either means exactly what the canonical form says or is
//! refused with the place and the nearest thing that would be understood.

mod ast;
mod directive;
mod effect;
mod error;
mod eval;
mod explain;
mod fire;
mod language;
mod outcome;
mod parse;
mod print;
#[cfg(test)]
mod tests;
mod workflow_file;

pub(crate) use ast::{Action, Condition, Op, Operand, Rule};
pub(crate) use directive::Directive;
pub(crate) use effect::apply;
pub(crate) use error::RuleError;
pub(crate) use eval::{ObservedFact, Truth, Verdict};
pub(crate) use explain::{Explanation, explain};
pub use fire::{WrittenRule, fire};
pub(crate) use fire::{as_reported, variables_of};
pub(crate) use language::LANGUAGE;
pub(crate) use outcome::{
    Cycle, ModifierChange, NewDirective, NotUnderstood, RuleChange, RuleOutcome, RuleRequest,
    TraceLine,
};
pub(crate) use parse::grammar::{is_meant_as_rule, opens_condition};
pub(crate) use workflow_file::{
    WorkflowError, parse as parse_workflow, parse_or_builtin as workflow_or_builtin,
};
