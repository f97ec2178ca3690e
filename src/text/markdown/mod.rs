//! Lossless markdown: a document is its source plus an index of sections and list items.
//!
//! Reading goes through spans and never rebuilds source from parser events. Writing goes
//! through [`Edit`]: a list of splices whose result is parsed again and compared with what was
//! there before, so that text which looks like structure can never become structure.
//!
//! ```
//! use statedir::text::markdown::Document;
//!
//! let document = Document::parse("# Plan\n\n## Metadata\n*   **status**:   PENDING   <!-- why -->\n")?;
//! let metadata = document.find(&["Metadata"])?;
//! let status = document.field(metadata, "status")?.ok_or("no status")?;
//! let mut edit = document.edit();
//! edit.set_value(status, "RUNNING");
//! let edited = edit.finish()?.document;
//! assert_eq!(edited.source(), document.source().replace("PENDING", "RUNNING"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - Only headings at the top level begin sections: one in a fence, a quote, a list item or an
//!   HTML comment is text. Items in quotes are text too.
//! - A byte order mark and front matter are stepped over; `\n`, `\r\n` and a lone `\r` all end
//!   a line; only ASCII white space is trimmed, so a no-break space is content.

mod document;
mod error;
mod html;
mod line;
mod placeholder;
mod read;
mod section;
mod title;
mod value;
mod write;

#[cfg(test)]
mod tests;

pub use body_blocks::BodyBlock;
pub(crate) use contents::HeadingLine;
pub use document::{Document, Item, ItemId};
pub use edit::{Edit, Edited};
pub use error::{EditError, Hidden, HiddenKind, LookupError, ParseError};
pub(crate) use html::to_html;
pub(crate) use passage::demoted;
pub(crate) use placeholder::is_placeholder;
use read::{block, body_blocks, contents, depth, field, hidden, index, item, preamble, reparse};
pub(crate) use render::{render_code_field, render_field, render_item, render_raw_field};
pub(crate) use reparse::Touched;
pub use section::{Section, SectionId};
use write::{change, edit, edit_items, passage, proof, render, style};

/// The largest document that is read.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// How deep lists and quotes may be nested.
pub const MAX_DEPTH: usize = 100;

/// The dialect: CommonMark with task lists and tables.
///
/// Metadata blocks stay off because that option matches anywhere in a file, not only at its
/// start; heading attributes stay off because they would hide part of a title.
fn options() -> pulldown_cmark::Options {
    pulldown_cmark::Options::ENABLE_TASKLISTS | pulldown_cmark::Options::ENABLE_TABLES
}
