//! Lossless markdown and JSON: read through spans, write by splicing ranges.
//!
//! Nothing here knows what a plan or a step is. A document is its source plus an index of
//! spans; an edit is a list of splices, proven by parsing the result again.

pub(crate) mod display;
pub(crate) mod html;
pub mod json;
pub mod markdown;
pub(crate) mod nearest;
mod place;
pub(crate) mod shell;
mod splice;
mod words;
pub(crate) mod yaml;

pub use place::Place;
pub(crate) use place::{Lines, snippet};
pub(crate) use splice::apply_splices;
pub use splice::{OverlappingSplices, Splice};
pub(crate) use words::Words;

/// Where a byte is first. Eight bytes are looked at at once: in a long plan it may be missing.
pub(crate) fn find_byte(bytes: &[u8], wanted: u8) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let all_wanted = ONES * u64::from(wanted);
    // A byte that is zero now was the one; only there can subtracting one set its highest bit.
    let holds = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word) ^ all_wanted;
        word.wrapping_sub(ONES) & !word & HIGH != 0
    };
    let (words, _) = bytes.as_chunks();
    let start = words.iter().position(holds).unwrap_or(words.len()) * size_of::<u64>();
    let at = bytes.get(start..)?.iter().position(|byte| *byte == wanted)?;
    Some(start + at)
}

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

#[cfg(test)]
mod tests {
    #[test]
    fn a_byte_is_found_wherever_it_is() {
        for len in [0, 1, 255, 256, 257, 700] {
            let mut bytes = vec![b'a'; len];
            assert_eq!(super::find_byte(&bytes, b'<'), None);
            for at in (0..len).rev() {
                bytes[at] = b'<';
                assert_eq!(super::find_byte(&bytes, b'<'), Some(at), "{len}");
            }
        }
    }
}
