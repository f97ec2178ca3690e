//! The order of a merged list: that of the side which changed it, with what the other side added.

use std::collections::{HashMap, HashSet};

/// Puts the parts of a list in order.
///
/// Parts are numbered: those below `old` were in the base, in that order; the others were added,
/// and are numbered by what they say, so that the outcome does not depend on which side is which.
/// `ours` and `theirs` are the sides in their order.
pub(super) fn order(old: usize, ours: &[usize], theirs: &[usize]) -> Vec<usize> {
    let in_ours: HashSet<usize> = ours.iter().copied().collect();
    let in_theirs: HashSet<usize> = theirs.iter().copied().collect();
    let known = |side: &[usize]| -> Vec<usize> {
        let both = |p: &&usize| **p < old && in_ours.contains(p) && in_theirs.contains(p);
        side.iter().filter(both).copied().collect()
    };
    let (our_known, their_known) = (known(ours), known(theirs));
    let ours_lead = if our_known == their_known {
        ours <= theirs
    } else if their_known.is_sorted() || our_known.is_sorted() {
        their_known.is_sorted()
    } else {
        our_known < their_known
    };
    if ours_lead {
        weave(old, ours, theirs, &in_ours)
    } else {
        weave(old, theirs, ours, &in_theirs)
    }
}

fn weave(old: usize, lead: &[usize], other: &[usize], in_lead: &HashSet<usize>) -> Vec<usize> {
    // The runs that the other side has alone, by the part that they come after.
    let mut runs: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    let mut anchor = None;
    for &part in other {
        if in_lead.contains(&part) {
            anchor = Some(part);
        } else {
            runs.entry(anchor).or_default().push(part);
        }
    }
    let in_other: HashSet<usize> = other.iter().copied().collect();
    let mut out = Vec::with_capacity(lead.len() + other.len());
    let mut rest = lead.iter().copied().peekable();
    let mut anchor = None;
    loop {
        // The run that the leading side alone added after the same part.
        let mut mine = Vec::new();
        while let Some(part) = rest.next_if(|part| *part >= old && !in_other.contains(part)) {
            mine.push(part);
        }
        let theirs = runs.remove(&anchor).unwrap_or_default();
        let theirs_first = match (mine.first(), theirs.first()) {
            // What was in the base and is gone from the lead stays in its place.
            (_, Some(their)) if *their < old => true,
            (Some(mine), Some(theirs)) => theirs < mine,
            _ => false,
        };
        if theirs_first {
            out.extend(theirs);
            out.extend(mine);
        } else {
            out.extend(mine);
            out.extend(theirs);
        }
        let Some(part) = rest.next() else { break };
        out.push(part);
        anchor = Some(part).filter(|part| in_other.contains(part)).or(Some(usize::MAX));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(old: usize, ours: &[usize], theirs: &[usize]) -> Vec<usize> {
        let merged = order(old, ours, theirs);
        assert_eq!(merged, order(old, theirs, ours), "{ours:?} {theirs:?}");
        merged
    }

    #[test]
    fn additions_of_both_sides_follow_what_they_followed() {
        assert_eq!(both(2, &[0, 2, 1], &[0, 1, 3]), [0, 2, 1, 3]);
        assert_eq!(both(2, &[0, 1, 2, 3], &[0, 1, 4, 5]), [0, 1, 2, 3, 4, 5]);
        assert_eq!(both(0, &[1], &[0]), [0, 1]);
        assert_eq!(both(1, &[3, 0], &[2, 0]), [2, 3, 0]);
    }

    #[test]
    fn a_reordering_on_one_side_meets_an_addition_on_the_other() {
        assert_eq!(both(3, &[2, 0, 1], &[0, 1, 3, 2]), [2, 0, 1, 3]);
        assert_eq!(both(3, &[2, 1, 0], &[1, 2, 0]), [1, 2, 0]);
    }

    #[test]
    fn every_part_is_there_once() {
        let all = both(4, &[3, 1, 5, 0], &[0, 4, 2, 3, 6]);
        let mut sorted = all.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6], "{all:?}");
    }
}
