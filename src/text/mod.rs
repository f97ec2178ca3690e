//! Lossless markdown and JSON: read through spans, write by splicing ranges.
//!
//! Nothing here knows what a plan or a step is. A document is its source plus an index of
//! spans; an edit is a list of splices, proven by parsing the result again.

pub(crate) mod display;
pub(crate) mod html;
pub mod json;
pub mod markdown;
mod place;
pub(crate) mod shell;
mod splice;
pub(crate) mod yaml;

pub use place::Place;
pub(crate) use place::{Lines, snippet};
pub(crate) use splice::apply_splices;
pub use splice::{OverlappingSplices, Splice};
