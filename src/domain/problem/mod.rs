//! Problems of state files, with a place and a hint.

pub(in crate::domain) mod error_code;

use serde::Serialize;

use super::{ErrorCode, StateFile};
use crate::text::{Place, json::JsonError, markdown, snippet};

/// What to do about two things of one name.
pub(crate) const RENAME: &str = "rename one of them";

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The state contradicts itself or cannot be read.
    Error,
    /// Worth attention, but nothing is refused because of it.
    Warning,
}

/// One finding, with a place and a hint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// A stable word for machines, such as `unknown_status`.
    pub code: ErrorCode,
    /// How bad it is.
    pub severity: Severity,
    /// The file it is in.
    pub file: StateFile,
    /// Where in the file, if the problem has one place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether `check --fix` repairs it.
    pub fixable: bool,
    /// Whether the message begins with the place, which is in a file of an adopted state.
    #[serde(skip)]
    pub(crate) is_placed: bool,
}

impl Problem {
    /// An error in `file`.
    pub(crate) fn error(code: ErrorCode, file: StateFile, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            file,
            place: None,
            message: message.into(),
            hint: None,
            fixable: false,
            is_placed: false,
        }
    }

    /// A warning about `file`.
    pub(crate) fn warning(code: ErrorCode, file: StateFile, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, file, message) }
    }

    /// Whether it reports an empty plan.
    pub(crate) fn is_lost_plan(&self) -> bool {
        self.code == ErrorCode::NoMetadata && self.severity == Severity::Error
    }

    /// The same problem at a place.
    #[must_use]
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// The same problem with a hint.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same problem, marked as one that can be repaired safely.
    #[must_use]
    pub(crate) fn fixable(mut self) -> Self {
        self.fixable = true;
        self
    }

    /// The place and the message.
    pub(crate) fn line(&self) -> String {
        match self.is_placed {
            true => self.message.clone(),
            false => format!("{}: {}", self.location(), self.message),
        }
    }

    /// `plan.md:12:5`, or the file's name alone.
    pub fn location(&self) -> String {
        match self.place {
            Some(place) => format!("{}:{place}", self.file),
            None => self.file.to_string(),
        }
    }
}

/// Why a state file could not be read or changed as a whole.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The file is not there.
    #[error("`{file}` is missing")]
    Missing { file: StateFile },
    /// The file cannot be read as what it should be.
    #[error("`{file}` cannot be read: {message}")]
    Unreadable {
        file: StateFile,
        /// Where reading stopped.
        place: Option<Place>,
        /// The line with a caret.
        snippet: Option<String>,
        /// Why.
        message: String,
    },
    /// Something asked for is not in the file.
    #[error("{message}")]
    NotFound {
        /// Which file was searched.
        file: StateFile,
        /// What was not found.
        message: String,
        /// The nearest existing name, or another hint.
        hint: Option<String>,
    },
    /// A name is ambiguous.
    #[error("{message}")]
    Ambiguous {
        file: StateFile,
        /// What is ambiguous.
        message: String,
        places: Vec<Place>,
        /// How to say which one is meant.
        hint: String,
    },
    /// The file is damaged where the command needs it.
    #[error("{}", .0.message)]
    Problem(Box<Problem>),
    /// The value is not allowed.
    #[error("{message}")]
    BadValue {
        /// Why not.
        message: String,
        /// What is allowed.
        hint: Option<String>,
    },
}

impl ModelError {
    /// A markdown file that could not be parsed.
    pub fn markdown(file: StateFile, error: &markdown::ParseError) -> Self {
        let place = match error {
            markdown::ParseError::TooLarge { .. } => None,
            markdown::ParseError::NotUtf8 { place, .. }
            | markdown::ParseError::ContainsNul { place }
            | markdown::ParseError::TooDeep { place, .. } => Some(*place),
        };
        Self::Unreadable { file, place, snippet: None, message: error.to_string() }
    }

    /// A field that cannot be removed without the text that somebody typed right below it.
    pub(crate) fn text_below(field: &str) -> Self {
        let message = format!("the text right below {field} would be lost");
        let hint = "put a blank line between them in the file".to_owned();
        Self::BadValue { message, hint: Some(hint) }
    }

    /// A JSON file that could not be parsed.
    pub fn json(file: StateFile, error: &JsonError, source: &str) -> Self {
        let snippet = error.offset().map(|offset| snippet(source, offset));
        Self::Unreadable { file, place: error.place(), snippet, message: error.to_string() }
    }

    /// A section, field or item that could not be looked up.
    pub fn lookup(file: StateFile, error: markdown::LookupError) -> Self {
        match error {
            markdown::LookupError::Ambiguous { name, places } => {
                let at: Vec<_> = places.iter().map(|place| format!("{file}:{place}")).collect();
                Self::Ambiguous {
                    file,
                    message: format!("`{name}` appears more than once: {}", at.join(", ")),
                    places,
                    hint: RENAME.to_owned(),
                }
            }
            markdown::LookupError::NotFound { name, nearest, hidden } => {
                let hint = match (hidden, nearest) {
                    (Some(hidden), _) => Some(hidden.to_string()),
                    (None, Some(nearest)) => Some(format!("did you mean `{nearest}`?")),
                    (None, None) => None,
                };
                let message = format!("`{name}` is not in `{file}`");
                Self::NotFound { file, message, hint }
            }
        }
    }

    /// An edit that was refused because it would have changed more than asked.
    pub fn edit(file: StateFile, error: &markdown::EditError) -> Self {
        Self::BadValue { message: format!("`{file}` was not changed: {error}"), hint: None }
    }
}
