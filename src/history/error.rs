//! What can go wrong with an entry or the file it is in.

use crate::text::markdown::EditError;

/// An entry that cannot be written, or a file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The heading cannot hold this text.
    #[error("the {part} of a history entry {problem}")]
    Heading {
        /// `title` or `time`.
        part: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A field cannot be written as markdown.
    #[error("the field `{key}` cannot be written")]
    Field {
        /// The key of the field.
        key: String,
        /// Why it cannot.
        source: EditError,
    },
    /// The entry would read back as something else.
    #[error("the entry `{title}` would not read back as it was given: {part} would change")]
    NotReadBack {
        /// The title of the entry.
        title: String,
        /// The part that would change.
        part: String,
    },
    /// The entry is larger than any entry may be.
    #[error("the entry has {bytes} bytes; {limit} are allowed")]
    TooLarge {
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        limit: usize,
    },
    /// The text does not continue the file that the facts describe.
    #[error(
        "the appended text does not start with a line end and a heading: the facts must be scanned again"
    )]
    NoContinuation,
    /// Reading failed.
    #[error("the history cannot be read")]
    Io(#[from] std::io::Error),
}
