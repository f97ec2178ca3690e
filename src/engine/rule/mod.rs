//! The rule language: `If cost exceeds 80% of budget → set priority to "cost_efficiency"`.
//!
//! A rule is read by a grammar over tokens ([`Rule::parse`]), printed in a canonical form that
//! reads back as the same rule, evaluated against [`Facts`](super::Facts), and fired when an event
//! makes its condition true. A sentence either means exactly what the canonical form says or is
//! refused with the place and the nearest thing that would be understood.

mod action;
mod ast;
mod condition;
mod directive;
mod error;
mod eval;
mod explain;
mod fire;
mod grammar;
mod idiom;
mod idiom_count;
mod language;
mod lexer;
mod operand;
mod operator;
mod phrase;
mod print;
mod prose;
#[cfg(test)]
mod tests;
mod vocabulary;

pub use ast::{Action, Condition, Op, Operand, Rule};
pub use directive::Directive;
pub use error::RuleError;
pub use eval::{Seen, Truth, Verdict};
pub use explain::{Explanation, WhyNot, explain};
pub use fire::{
    Change, Cycle, Entry, NewDirective, NotUnderstood, Outcome, Request, RuleChange, TraceLine,
    apply, fire,
};
pub use language::LANGUAGE;
