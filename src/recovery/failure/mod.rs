//! What kind of error it was, by the words of its text, and what repeats itself.
//!
//! Words are compared as words: `authored` is not an authentication, `404 tests passed` is not
//! a missing page. Every class names the words that decided.

mod class;
mod classify;
mod http;
mod pattern;
mod vocabulary;
mod words;

pub use class::ErrorClass;
pub(crate) use classify::{ClassifiedError, classify};
pub(crate) use pattern::{Attempt, Pattern, PatternKind, patterns};

#[cfg(test)]
mod tests;
