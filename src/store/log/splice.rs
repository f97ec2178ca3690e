//! Splices: what is logged of a changed file, applied forwards and backwards.

use crate::store::{ByteSplice, SpliceRecord};

/// The one splice that turns `old` into `new`: what lies between common prefix and suffix.
pub(in crate::store) fn difference(old: &[u8], new: &[u8]) -> Vec<SpliceRecord> {
    if old == new {
        return Vec::new();
    }
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
    let suffix =
        old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    // The log prints text as text: a cut inside a character would turn both sides into hex.
    let mut start = prefix;
    while start > 0 && !(is_boundary(old, start) && is_boundary(new, start)) {
        start -= 1;
    }
    let mut keep = suffix;
    while keep > 0 && !(is_boundary(old, old.len() - keep) && is_boundary(new, new.len() - keep)) {
        keep -= 1;
    }
    vec![SpliceRecord {
        offset: start as u64,
        old: old[start..old.len() - keep].to_vec(),
        new: new[start..new.len() - keep].to_vec(),
    }]
}

/// Checks splices against the bytes they are for and adds what they replace.
pub(in crate::store) fn record(
    old: &[u8],
    splices: &[ByteSplice],
) -> Result<Vec<SpliceRecord>, String> {
    let mut done = 0;
    let mut records = Vec::with_capacity(splices.len());
    for splice in splices {
        let range = splice.at.clone();
        if range.start < done {
            return Err(format!("splices overlap or are out of order at byte {}", range.start));
        }
        let Some(gone) = old.get(range.clone()) else {
            return Err(format!(
                "bytes {}..{} are outside its {} bytes",
                range.start,
                range.end,
                old.len()
            ));
        };
        done = range.end;
        if gone != splice.new {
            records.push(SpliceRecord {
                offset: range.start as u64,
                old: gone.to_vec(),
                new: splice.new.clone(),
            });
        }
    }
    Ok(records)
}

/// The bytes after the splices; `None` when they do not fit `old`.
pub(in crate::store) fn apply(old: &[u8], splices: &[SpliceRecord]) -> Option<Vec<u8>> {
    let mut new = Vec::with_capacity(old.len());
    let mut done = 0;
    for splice in splices {
        let start = usize::try_from(splice.offset).ok()?;
        new.extend_from_slice(old.get(done..start)?);
        done = start.checked_add(splice.old.len())?;
        if old.get(start..done)? != splice.old {
            return None;
        }
        new.extend_from_slice(&splice.new);
    }
    new.extend_from_slice(old.get(done..)?);
    Some(new)
}

/// Whether `new` is what the splices make of `old`.
pub(in crate::store) fn lead_to(old: &[u8], splices: &[SpliceRecord], new: &[u8]) -> bool {
    let (mut done, mut rest) = (0, new);
    let mut next = |part: Option<&[u8]>| {
        rest = part.and_then(|part| rest.strip_prefix(part))?;
        Some(rest.len())
    };
    for splice in splices {
        let Ok(start) = usize::try_from(splice.offset) else { return false };
        let kept = next(old.get(done..start));
        done = start + splice.old.len();
        if kept.is_none() || next(Some(&splice.new)).is_none() {
            return false;
        }
    }
    next(old.get(done..)) == Some(0)
}

/// The splices that take `splices` back, in offsets of the bytes after them.
pub(in crate::store) fn invert(splices: &[SpliceRecord]) -> Vec<SpliceRecord> {
    let (mut grown, mut shrunk) = (0, 0);
    splices
        .iter()
        .map(|splice| {
            let offset = splice.offset + grown - shrunk;
            grown += splice.new.len() as u64;
            shrunk += splice.old.len() as u64;
            SpliceRecord { offset, old: splice.new.clone(), new: splice.old.clone() }
        })
        .collect()
}

fn is_boundary(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_difference_leads_from_old_to_new_and_back(
            old in prop::collection::vec(any::<u8>(), 0..40),
            new in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let there = difference(&old, &new);
            prop_assert_eq!(apply(&old, &there), Some(new.clone()));
            prop_assert_eq!(apply(&new, &invert(&there)), Some(old));
        }

        #[test]
        fn several_splices_invert_exactly(
            old in prop::collection::vec(any::<u8>(), 12..40),
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..5), 4),
        ) {
            let asked: Vec<ByteSplice> = pieces
                .into_iter()
                .enumerate()
                .map(|(i, new)| ByteSplice { at: i * 3..i * 3 + 2, new })
                .collect();
            let records = record(&old, &asked).unwrap();
            let new = apply(&old, &records).unwrap();
            prop_assert_eq!(apply(&new, &invert(&records)), Some(old));
        }

        #[test]
        fn a_difference_of_text_is_text(old in "[aäéß☃]{0,12}", new in "[aäéß☃]{0,12}") {
            for splice in difference(old.as_bytes(), new.as_bytes()) {
                prop_assert!(String::from_utf8(splice.old).is_ok());
                prop_assert!(String::from_utf8(splice.new).is_ok());
            }
        }
    }

    #[test]
    fn splices_that_overlap_or_leave_the_file_are_refused() {
        let splice = |at| ByteSplice { at, new: b"x".to_vec() };
        assert!(record(b"abcdef", &[splice(0..3), splice(2..4)]).is_err());
        assert!(record(b"abcdef", &[splice(5..9)]).is_err());
        #[expect(clippy::reversed_empty_ranges, reason = "the reversed range is the case")]
        let reversed = splice(4..2);
        assert!(record(b"abcdef", &[reversed]).is_err());
    }
}
