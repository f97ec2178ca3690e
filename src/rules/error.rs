//! Why a rule was not understood.

use std::ops::Range;

use serde::Serialize;
use thiserror::Error;
use winnow::{error::ParserError, stream::Stream};

/// What was not understood, where, and the nearest thing that would be.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[error("{message}{}", suggestion(.nearest))]
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
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), nearest: None }
    }

    /// The same error in a longer text, in which that one begins `by` bytes later.
    #[must_use]
    pub(super) fn moved_by(mut self, by: usize) -> Self {
        self.span = self.span.start + by..self.span.end + by;
        self
    }

    #[must_use]
    pub(super) fn with_nearest(mut self, nearest: Option<&str>) -> Self {
        self.nearest = nearest.map(str::to_owned);
        self
    }
}

/// How a parser fails. One that does not recognise its input says nothing more: backtracking is
/// common and must cost nothing.
#[derive(Debug)]
pub(super) struct Failure(Option<Box<RuleError>>);

impl Failure {
    /// The error that was reported, if one was.
    pub(super) fn reported(self) -> Option<RuleError> {
        self.0.map(|error| *error)
    }

    /// Changes the error that was reported, if one was.
    pub(super) fn map(self, change: impl FnOnce(RuleError) -> RuleError) -> Self {
        Self(self.0.map(|error| Box::new(change(*error))))
    }
}

impl From<RuleError> for Failure {
    fn from(error: RuleError) -> Self {
        Self(Some(Box::new(error)))
    }
}

impl<I: Stream> ParserError<I> for Failure {
    type Inner = Self;

    fn from_input(_: &I) -> Self {
        Self(None)
    }

    fn into_inner(self) -> Result<Self::Inner, Self> {
        Ok(self)
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_deref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
