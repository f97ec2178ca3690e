//! What the parser complains about, before it is known which line that is.

use super::{JsonError, MAX_DEPTH};
use crate::text::Place;

pub(super) const BOM: char = '\u{feff}';

/// A refusal by the parser, by byte offset.
#[derive(Debug)]
pub(super) enum Fault {
    Syntax { offset: usize, message: String },
    TooDeep { offset: usize },
    Duplicate { key: String, first: usize, second: usize },
}

impl Fault {
    pub(super) fn syntax(offset: usize, message: impl Into<String>) -> Self {
        Self::Syntax { offset, message: message.into() }
    }

    /// The text at `offset` is not what is `wanted` there; names the habits of JSON's relatives.
    pub(super) fn unexpected(source: &str, offset: usize, wanted: &str) -> Self {
        let rest = source.get(offset..).unwrap_or_default();
        let Some(next) = rest.chars().next() else {
            return Self::syntax(offset, format!("the JSON ends where {wanted} is expected"));
        };
        let message = match next {
            '/' | '#' => format!("comments are not part of JSON; expected {wanted}"),
            '\'' => format!("strings are written in double quotes; expected {wanted}"),
            '+' => format!("a number does not begin with `+`; expected {wanted}"),
            '.' => format!("a number begins with a digit; expected {wanted}"),
            c if c.is_alphabetic() || c == '_' || c == '$' => {
                let word: String = rest.chars().take_while(|c| is_word(*c)).take(24).collect();
                format!("unexpected `{word}`; expected {wanted}")
            }
            c => format!("unexpected `{}`; expected {wanted}", c.escape_debug()),
        };
        Self::syntax(offset, message)
    }

    /// The same refusal with lines and columns.
    pub(super) fn located(self, source: &str) -> JsonError {
        match self {
            Self::Syntax { offset, message } => {
                JsonError::Syntax { message, place: place(source, offset), offset }
            }
            Self::TooDeep { offset } => {
                JsonError::TooDeep { limit: MAX_DEPTH, place: place(source, offset), offset }
            }
            Self::Duplicate { key, first, second } => JsonError::DuplicateKey {
                key,
                first: place(source, first),
                second: place(source, second),
                offset: second,
            },
        }
    }
}

/// The place of `offset`; a byte order mark is not a column.
pub(super) fn place(source: &str, offset: usize) -> Place {
    match source.strip_prefix(BOM) {
        Some(text) => Place::at(text, offset.saturating_sub(BOM.len_utf8())),
        None => Place::at(source, offset),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$' || c == '-'
}
