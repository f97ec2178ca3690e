//! The append-only log and its proof.
//!
//! An entry is a heading, a line that says when and by whom, fields, and a comment that nobody sees
//! when the file is rendered:
//!
//! ```text
//!
//! ### ✓ Step 3: Fetch the pages (12s, $0.02)
//! *2026-11-16 08:00:00 UTC · ada · tool WebFetch · id k3f9*
//! - **real_outputs**: {"pages":7}
//! <!-- 01M7… after 01M6… -->
//! ```
//!
//! `journal` describes the notation, `trailer` the comment and how strong its proof is. The comment
//! names the entry and those that it follows. The body is everything from the heading down to the
//! comment; the digest is
//!
//! ```text
//! sha256( first ten characters of the id ‖ LF ‖ after ‖ LF ‖ body with LF as line end )
//! ```
//!
//! and the last sixteen characters of the id are its first 80 bits. An id so commits to the text of
//! its entry and to all entries before it: whoever changes one must change the ids of all that
//! follow, and then the heads that were noted elsewhere are gone. Line ends may be converted.
//!
//! The log is a set of entries in which each is below those it follows. Two branches are
//! united by putting their entries one after another; the next entry names both heads.
//!
//! Text that belongs to no entry may stand anywhere between entries. A section by hand whose
//! heading tells a time is an entry too, only one that proves nothing.

mod counts;
mod entry;
mod error;
mod facts;
mod journal;
mod read;

mod render;
mod reported;
mod trailer;
mod ulid;
mod undone;
mod verify;

pub use counts::Counts;
pub use entry::EntryKind;
pub use entry::NewEntry;
#[cfg(feature = "board")]
pub(crate) use entry::Proof;
pub(crate) use entry::{Entry, PAUSED};
pub(crate) use error::HistoryError;
pub use facts::HistoryFacts;
pub(crate) use read::scan::each_entry;

pub(crate) use read::search::search;
pub(crate) use read::segment::{Segment, SegmentKind, segments};
pub(crate) use read::tail::{last_entries, last_entries_where, last_entries_within};
pub use render::render;
pub(crate) use trailer::signed_ids;
pub use ulid::EntryId;
pub(crate) use ulid::Ulid;
pub(crate) use undone::UndoneSteps;
pub(crate) use verify::{HistoryProblem, LET_GO, ProblemKind, Verification, WentBack, verify};

/// The largest body that is written or verified, in bytes.
pub(crate) const MAX_ENTRY_BYTES: usize = 8 << 20;
/// The most entries that one entry can name as those it follows.
pub(crate) const MAX_PARENTS: usize = 64;

#[cfg(test)]
mod tests;
