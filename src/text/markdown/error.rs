//! Why a document cannot be read, searched or changed.

use std::fmt;

use crate::text::Place;

/// A source that is not a document this module can hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// More bytes than [`MAX_BYTES`](super::MAX_BYTES).
    #[error("the document has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// How many it has.
        bytes: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// The bytes are not UTF-8.
    #[error("the document is not valid UTF-8 at {place}")]
    NotUtf8 {
        /// The first offending byte.
        offset: usize,
        /// Where that byte is.
        place: Place,
    },
    /// A NUL byte, which no text editor writes and which markdown replaces silently.
    #[error("the document contains a NUL byte at {place}")]
    ContainsNul {
        /// Where the byte is.
        place: Place,
    },
    /// Lists and quotes nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("lists and quotes are nested deeper than {limit} levels at {place}")]
    TooDeep {
        /// How deep is allowed.
        limit: usize,
        /// The first block that is too deep.
        place: Place,
    },
}

impl ParseError {
    pub(super) fn too_deep(source: &str, offset: usize) -> Self {
        Self::TooDeep { limit: super::MAX_DEPTH, place: Place::at(source, offset) }
    }
}

/// A section or field that cannot be named unambiguously.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// Nothing has that name.
    #[error("there is no `{name}`{}", Suffix(nearest.as_deref(), hidden.as_ref()))]
    NotFound {
        /// The name looked for.
        name: String,
        /// A name that exists and is spelt much the same.
        nearest: Option<String>,
        /// Something unclosed that may be hiding it.
        hidden: Option<Hidden>,
    },
    /// Several things have that name.
    #[error("`{name}` is ambiguous: it is at {}", Places(places))]
    Ambiguous {
        /// The name looked for.
        name: String,
        /// Where each of them is.
        places: Vec<Place>,
    },
}

/// A change that cannot be made without changing something else too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The result would differ from the document in more than the change asked for.
    #[error("the change would alter the structure of the document at {place}: {reason}")]
    WouldChangeStructure {
        /// Where in the old document the first difference is.
        place: Place,
        /// What would be different.
        reason: String,
    },
    /// Text to be written contains a NUL byte.
    #[error("the text for `{name}` contains a NUL byte")]
    ContainsNul {
        /// What the text was meant for.
        name: String,
    },
    /// A key that would not be read back as the same key.
    #[error("`{key}` cannot be a key")]
    BadKey {
        /// The key given.
        key: String,
    },
    /// A title that would not be read back as the same title.
    #[error("`{title}` cannot be a title: {reason}")]
    BadTitle {
        /// The title given.
        title: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A heading level that does not fit where the section is to go.
    #[error("a section of level {level} cannot be put under one of level {parent}")]
    BadLevel {
        /// The level asked for.
        level: u8,
        /// The level of the section above.
        parent: u8,
    },
    /// A one-line text was needed and something else was given.
    #[error("the text for `{name}` must be one line and must stay inline")]
    NotInline {
        /// What the text was meant for.
        name: String,
    },
    /// Two changes of one edit want the same bytes.
    #[error("two changes of one edit overlap at {place}")]
    Overlap {
        /// Where they meet.
        place: Place,
    },
    /// The thing to be changed has no such part, or belongs to another place.
    #[error("`{name}` at {place} {reason}")]
    Misplaced {
        /// What it is.
        name: String,
        /// Where it is.
        place: Place,
        /// Why it does not do.
        reason: &'static str,
    },
    /// The result is not a document at all.
    #[error("the result cannot be read back")]
    Unreadable(#[from] ParseError),
}

/// Something unclosed that swallows the rest of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// What is not closed.
    pub kind: HiddenKind,
    /// Where it begins.
    pub place: Place,
}

/// What can swallow headings that follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenKind {
    /// A code fence without its closing fence.
    Fence,
    /// A `<!--` without its `-->`.
    Comment,
    /// An HTML block that no blank line ends before the next heading.
    Html,
}

impl fmt::Display for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            HiddenKind::Fence => "the code fence",
            HiddenKind::Comment => "the HTML comment",
            HiddenKind::Html => "the HTML block",
        };
        write!(f, "{what} opened at {} hides the headings after it", self.place)
    }
}

struct Suffix<'a>(Option<&'a str>, Option<&'a Hidden>);

impl fmt::Display for Suffix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(nearest) = self.0 {
            write!(f, "; did you mean `{nearest}`?")?;
        }
        if let Some(hidden) = self.1 {
            write!(f, "; {hidden}")?;
        }
        Ok(())
    }
}

struct Places<'a>(&'a [Place]);

impl fmt::Display for Places<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, place) in self.0.iter().enumerate() {
            let separator = match i {
                0 => "",
                _ if i + 1 == self.0.len() => " and ",
                _ => ", ",
            };
            write!(f, "{separator}{place}")?;
        }
        Ok(())
    }
}
