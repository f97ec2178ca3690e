//! An AI agent's execution state as a directory of plain files.
//!
//! The layers, and who may use whom (an arrow means "may use"; a test holds the rule):
//!
//! ```text
//! adapters ──► workspace ──► brief, rules, recovery, diff, merge, history ──► domain ──► text
//!                  │
//!                  └──► store      (bytes and paths only; knows no markdown)
//! ```
//!
//! Only `store` and `adapters` do I/O; `workspace` is where pure logic meets the disk.

pub mod adapters;
pub mod brief;
pub mod diff;
pub mod domain;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
pub mod history;
pub mod merge;
pub mod recovery;
pub mod rules;
pub mod store;
pub mod text;
pub mod workspace;
