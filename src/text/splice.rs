//! Replacing ranges of a text, and nothing else of it.

use std::ops::Range;

/// One replacement: the bytes in `at` give way to `new`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The range of the old text that is replaced; empty for an insertion.
    pub at: Range<usize>,
    /// What stands there afterwards.
    pub new: String,
}

/// Two splices of one edit want the same bytes.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("two changes overlap at byte {0}")]
pub struct OverlappingSplices(pub usize);

/// Sorts `splices` by position and returns `source` with all of them applied.
///
/// Insertions at one position keep the order in which they were given.
///
/// # Errors
/// Refuses splices that overlap, lie outside the source or cut a character.
pub(crate) fn apply_splices(
    source: &str,
    splices: &mut [Splice],
) -> Result<String, OverlappingSplices> {
    splices.sort_by_key(|s| (s.at.start, s.at.end));
    let added: usize = splices.iter().map(|s| s.new.len()).sum();
    let mut out = String::with_capacity(source.len() + added);
    let mut done = 0;
    for splice in splices.iter() {
        if splice.at.start < done || splice.at.end < splice.at.start {
            return Err(OverlappingSplices(splice.at.start));
        }
        let kept = source.get(done..splice.at.start);
        let replaced = source.get(splice.at.clone());
        let (Some(kept), Some(_)) = (kept, replaced) else {
            return Err(OverlappingSplices(splice.at.start));
        };
        out.push_str(kept);
        out.push_str(&splice.new);
        done = splice.at.end;
    }
    out.push_str(&source[done..]);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splice(at: Range<usize>, new: &str) -> Splice {
        Splice { at, new: new.to_owned() }
    }

    #[test]
    fn splices_apply_in_order_of_place() {
        let mut splices = [splice(4..5, "E"), splice(0..1, "A"), splice(2..2, "+")];
        assert_eq!(apply_splices("abcde", &mut splices).unwrap(), "Ab+cdE");
    }

    #[test]
    fn overlapping_and_cutting_splices_are_refused() {
        assert!(apply_splices("abc", &mut [splice(0..2, ""), splice(1..3, "")]).is_err());
        assert!(apply_splices("é", &mut [splice(1..2, "")]).is_err());
        assert!(apply_splices("a", &mut [splice(0..9, "")]).is_err());
    }
}
