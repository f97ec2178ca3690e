//! Reading a rule: from its text through tokens and phrases to what it says.

pub(in crate::rules) mod action;
pub(in crate::rules) mod ambiguity;
pub(in crate::rules) mod comparison;
pub(in crate::rules) mod condition;
pub(in crate::rules) mod grammar;
pub(in crate::rules) mod idiom;
pub(in crate::rules) mod idiom_count;
pub(in crate::rules) mod lexer;
pub(in crate::rules) mod operand;
pub(in crate::rules) mod operator;
pub(in crate::rules) mod phrase;
pub(in crate::rules) mod phrases;
pub(in crate::rules) mod prose;
pub(in crate::rules) mod setting;
pub(in crate::rules) mod vocabulary;
