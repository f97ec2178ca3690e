//! Why a rule was not understood.

use std::ops::Range;

use serde::Serialize;
use thiserror::Error;
use winnow::{error::ParserError, stream::Stream};

/// What was not understood, where, and the nearest thing that would be.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[error("{message}{}", meant(.nearest))]
pub struct RuleError {
    /// The bytes of the text it is about.
    pub span: Range<usize>,
    /// What is wrong with them.
    pub message: String,
    /// What was probably meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl RuleError {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), nearest: None }
    }

    #[must_use]
    pub(super) fn meant(mut self, nearest: Option<&str>) -> Self {
        self.nearest = nearest.map(str::to_owned);
        self
    }
}

/// A parser that does not recognise its input says nothing more: backtracking must cost nothing.
impl<I: Stream> ParserError<I> for RuleError {
    type Inner = Self;

    fn from_input(_: &I) -> Self {
        Self::new(0..0, String::new())
    }

    fn into_inner(self) -> Result<Self::Inner, Self> {
        Ok(self)
    }
}

fn meant(nearest: &Option<String>) -> String {
    nearest.as_deref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
