//! An AI agent's execution state as a directory of plain files.
//!
//! The layers, and who may use whom (an arrow means "may use"; a test holds the rule):
//!
//! ```text
//! adapters ──► workspace ──► brief ──► engine ──► model ──► text
//!                  │
//!                  └──► store      (bytes and paths only; knows no markdown)
//! ```
//!
//! Only `store` and `adapters` do I/O; `workspace` is where pure logic meets the disk.

pub mod adapters;
pub mod brief;
pub mod engine;
pub mod model;
pub mod store;
pub mod text;
pub mod workspace;
