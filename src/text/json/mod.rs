//! Lossless JSON: a strict parser that keeps byte ranges, and edits that splice the source.
//!
//! A [`JsonDocument`] is its source plus a flat index of spans. A [`JsonEdit`] keeps a draft
//! over that index: what is untouched points back into the source, what is new is held as text.
//! The draft is turned into splices, the result is parsed again, and the edit is refused unless
//! the new document is exactly the draft.
//!
//! ```
//! use statedir::text::json::{JsonDocument, Path};
//!
//! let document = JsonDocument::parse("{ \"a\" : 1.50,\n  \"b\": [1,2] }")?;
//! let mut edit = document.edit();
//! edit.set(&Path::parse("b.0")?, &7.into())?;
//! assert_eq!(edit.finish().document.source(), "{ \"a\" : 1.50,\n  \"b\": [7,2] }");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is accepted is RFC 8259 without its loose ends: names in an object are unique, `\u`
//! escapes form whole characters and numbers fit a double, so that every document can be read
//! out without loss of meaning. A byte order mark is tolerated and kept.

mod difference;
mod document;
mod draft;
mod draft_editor;
mod edit;
mod error;
mod layout;
mod literal;
mod parser;
mod patch;
mod path;
mod scan;
mod splicing;
mod tree;
mod write;

pub use difference::JsonDifference;
pub use document::JsonDocument;
pub use edit::{Edited, JsonEdit, Put};
pub use error::JsonError;
pub use literal::Literal;
pub use path::{Path, PathError};
pub(crate) use scan::escape;

/// The largest document that is read or written.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How many arrays and objects may lie within one another.
///
/// `serde_json` and many other readers stop at 127. A few levels are left for documents that
/// contain this one, such as the merged state or a message of a protocol.
pub const MAX_DEPTH: usize = 120;

#[cfg(test)]
mod tests;
