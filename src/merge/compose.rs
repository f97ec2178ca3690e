//! Writing merged things: their order, and the white space that keeps them apart.

use super::markdown::{BASE, MergedThing, OURS, THEIRS};
use crate::domain::outline::{MARK, ThingKind, join};
use std::collections::{HashMap, HashSet};

/// The text of a merged file.
pub(super) fn compose(root: &MergedThing, tail: &str, newline: &str) -> String {
    let mut writer = Writer { out: String::new(), newline, last: None };
    writer.node(root);
    writer.out.push_str(tail);
    writer.out
}

/// White space of the side that changed it; if both did, of either, whichever side is which.
pub(super) fn space<'s>(base: &str, ours: &'s str, theirs: &'s str) -> &'s str {
    match () {
        () if base == ours => theirs,
        () if base == theirs => ours,
        () => ours.max(theirs),
    }
}

struct Writer<'w> {
    out: String,
    newline: &'w str,
    last: Option<&'w MergedThing>,
}

impl<'w> Writer<'w> {
    fn node(&mut self, node: &'w MergedThing) {
        if node.kind != ThingKind::Root {
            let gap = self.gap(node);
            self.out.push_str(&gap);
            self.out.push_str(&join(&node.prefix, &node.value));
        }
        self.last = Some(node);
        for child in &node.children {
            self.node(child);
        }
    }

    /// The gap of a side on which it follows the same thing, else what the two need between them.
    fn gap(&self, node: &MergedThing) -> String {
        let Some(last) = self.last else { return String::new() };
        let kept = |side: usize| {
            let follows = last.sources[side].is_some_and(|seq| node.sources[side] == Some(seq + 1));
            node.gaps[side].as_ref().filter(|_| follows)
        };
        let gap = match [kept(BASE), kept(OURS), kept(THEIRS)] {
            [Some(base), Some(ours), Some(theirs)] => Some(space(base, ours, theirs)),
            [_, ours, theirs] => ours.max(theirs).map(String::as_str),
        };
        if let Some(gap) = gap {
            return gap.to_owned();
        }
        if let ThingKind::Part(_) = node.kind {
            return String::new();
        }
        let last_kind = match last.kind {
            ThingKind::Part(MARK) => ThingKind::Section(0),
            ThingKind::Part(_) => ThingKind::Item,
            kind => kind,
        };
        let lines = |gap: &str| gap.matches('\n').count();
        let own = node.gaps[OURS].as_ref().max(node.gaps[THEIRS].as_ref());
        let own = own.filter(|gap| gap.trim_matches([' ', '\t', '\r', '\n']).is_empty());
        let own = |least: usize| own.filter(|gap| lines(gap) >= least).cloned();
        match (last_kind, node.kind) {
            (ThingKind::Root, _) => String::new(),
            (ThingKind::Item, ThingKind::Item) => self.newline.to_owned(),
            (ThingKind::Section(_), ThingKind::Item | ThingKind::Text) => {
                own(1).unwrap_or_else(|| self.newline.to_owned())
            }
            (_, ThingKind::Section(_)) => own(2).unwrap_or_else(|| self.newline.repeat(2)),
            _ => self.newline.repeat(2),
        }
    }
}

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
