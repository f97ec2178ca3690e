//! Why a document or an edit was refused.

use super::{MAX_DEPTH, Path, PathError};
use crate::text::Place;

/// Why a document could not be read, or an edit could not be made.
///
/// A refused edit leaves the document as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The bytes are not text.
    #[error("not valid UTF-8 at {place}")]
    NotUtf8 {
        /// Where the first bad byte is.
        place: Place,
        /// The same as a byte offset.
        offset: usize,
    },
    /// The document is, or would become, larger than allowed.
    #[error("the JSON has {bytes} bytes or more, the limit is {limit}")]
    TooLarge {
        /// How many bytes were seen before giving up.
        bytes: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// Arrays and objects lie within one another too deeply.
    #[error("nested deeper than {limit} levels at {place}")]
    TooDeep {
        /// How deep is allowed.
        limit: usize,
        /// Where the first bracket too many is.
        place: Place,
        /// The same as a byte offset.
        offset: usize,
    },
    /// An object has the same key twice.
    #[error("duplicate key `{key}` at {second}, first at {first}")]
    DuplicateKey {
        /// The key, unescaped.
        key: String,
        /// Where it is first.
        first: Place,
        /// Where it is again.
        second: Place,
        /// The byte offset of the second one.
        offset: usize,
    },
    /// The text is not JSON.
    #[error("{message} at {place}")]
    Syntax {
        /// What is wrong.
        message: String,
        /// Where it is wrong.
        place: Place,
        /// The same as a byte offset.
        offset: usize,
    },
    /// A path could not be read.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A value to be written nests too deeply for its place.
    #[error("the value for {} would be nested deeper than {limit} levels", .path.named())]
    ValueTooDeep {
        /// Where the value was to go.
        path: Path,
        /// How deep is allowed.
        limit: usize,
    },
    /// Nothing is there.
    #[error("{} does not exist{}", .path.named(), suggestion(.nearest))]
    NotFound {
        /// What was looked for.
        path: Path,
        /// The existing path that looks most like it.
        nearest: Option<String>,
    },
    /// A path leads through a value that has no members.
    #[error("{} is {found} and has no members", .path.named())]
    NotContainer {
        /// The value in the way.
        path: Path,
        /// What it is, with its article: `a string`.
        found: &'static str,
    },
    /// An array was needed.
    #[error("{} is {found}, not an array", .path.named())]
    NotArray {
        /// The value in the way.
        path: Path,
        /// What it is, with its article: `a string`.
        found: &'static str,
    },
    /// A path segment that leads into an array is not an index.
    #[error("{} is an array, and `{segment}` is not an index", .path.named())]
    NotIndex {
        /// The array.
        path: Path,
        /// The segment.
        segment: String,
    },
    /// An index lies after the end of its array.
    #[error("index {index} is out of range: {} has {length} {}", .path.named(), items(.length))]
    IndexOutOfRange {
        /// The array.
        path: Path,
        /// The index.
        index: usize,
        /// How many items the array has.
        length: usize,
    },
    /// The whole document cannot be removed, only replaced.
    #[error("the whole document cannot be removed")]
    RemoveRoot,
    /// A patch is not made as RFC 6902 says.
    #[error("{0}")]
    BadPatch(String),
    /// The `test` operation of a patch found another value.
    #[error("{} is not the value that the patch expects", .path.named())]
    TestFailed {
        /// What was tested.
        path: Path,
    },
    /// An operation of a patch failed, and so the whole patch did.
    #[error("operation {} of the patch: {source}", .index + 1)]
    Operation {
        /// Which one, counting from zero.
        index: usize,
        /// Why.
        source: Box<JsonError>,
    },
    /// The edited text did not read back as intended; nothing was changed.
    #[error("the edit could not be proven by reading it back")]
    Unproven,
}

impl JsonError {
    /// Where in the source the error is, if it is in the source.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::NotUtf8 { place, .. }
            | Self::TooDeep { place, .. }
            | Self::DuplicateKey { second: place, .. }
            | Self::Syntax { place, .. } => Some(*place),
            _ => None,
        }
    }

    /// The byte offset of [`JsonError::place`].
    pub fn offset(&self) -> Option<usize> {
        match self {
            Self::NotUtf8 { offset, .. }
            | Self::TooDeep { offset, .. }
            | Self::DuplicateKey { offset, .. }
            | Self::Syntax { offset, .. } => Some(*offset),
            _ => None,
        }
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    match nearest {
        Some(nearest) => format!(", did you mean `{nearest}`?"),
        None => String::new(),
    }
}

fn items(length: &usize) -> &'static str {
    if *length == 1 { "item" } else { "items" }
}

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
