//! Lossless markdown and JSON: read through spans, write by splicing ranges.
//!
//! Nothing here knows what a plan or a step is. A document is its source plus an index of
//! spans; an edit is a list of splices, proven by parsing the result again.

pub(crate) mod display;
pub(crate) mod html;
pub mod json;
mod lazy;
pub mod markdown;
pub(crate) mod nearest;
mod place;
pub(crate) mod shell;
mod short;
mod splice;
mod words;
pub(crate) mod yaml;

pub(crate) use lazy::LazyList;
pub use place::Place;
pub(crate) use place::{LineIndex, snippet};
pub(crate) use short::ShortText;
pub(crate) use splice::apply_splices;
pub use splice::{OverlappingSplices, Splice};
pub(crate) use words::Words;

/// How many cases a property is tried with: `PROPTEST_CASES`, or what is usual.
#[cfg(test)]
fn cases(usual: u32) -> proptest::prelude::ProptestConfig {
    let given = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    proptest::prelude::ProptestConfig {
        cases: given.unwrap_or(usual),
        failure_persistence: None,
        ..Default::default()
    }
}
