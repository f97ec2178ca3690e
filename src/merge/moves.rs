//! Things that a side put below another parent.

use std::collections::HashMap;

use super::markdown::{BASE, OURS, THEIRS, Versions};
use crate::domain::outline::{Outline, Pairing, ThingId};

/// Which thing of a side is which of the base, and what is below another parent now.
pub(super) struct Moves<'o> {
    outlines: &'o [Outline<'o>; 3],
    pairings: [Pairing; 2],
    /// For each thing of the base that was moved, the sides whose place it takes.
    moved: HashMap<ThingId, [bool; 3]>,
}

impl<'o> Moves<'o> {
    pub(super) fn find(outlines: &'o [Outline<'o>; 3], pairings: [Pairing; 2]) -> Self {
        let mut moves = Self { outlines, pairings, moved: HashMap::new() };
        loop {
            moves.moved.clear();
            let base = &outlines[BASE];
            for id in base.ids().skip(1).filter(|id| base.is_section(*id)) {
                if let Some(sides) = moves.place(id) {
                    moves.moved.insert(id, sides);
                }
            }
            let Some(cycle) =
                moves.moved.keys().copied().filter(|id| moves.is_in_itself(*id)).min()
            else {
                return moves;
            };
            // Each side put one into the other: they are removed here and added there.
            for pairing in &mut moves.pairings {
                (cycle..base.end(cycle)).for_each(|id| pairing.separate(id));
            }
        }
    }

    /// The thing of the base that a thing of a side is a version of.
    pub(super) fn base_of(&self, side: usize, id: ThingId) -> Option<ThingId> {
        if side == BASE { Some(id) } else { self.pairings[side - 1].to_old(id) }
    }

    /// All versions of a thing of the base.
    pub(super) fn of_base(&self, id: ThingId) -> Versions {
        [Some(id), self.pairings[0].to_new(id), self.pairings[1].to_new(id)]
    }

    /// All versions of a thing that was moved.
    pub(super) fn versions(&self, side: usize, id: ThingId) -> Option<Versions> {
        let base = self.base_of(side, id).filter(|base| self.moved.contains_key(base))?;
        Some(self.of_base(base))
    }

    /// Whether a thing of a side has its place there in the merged file.
    pub(super) fn stays(&self, side: usize, id: ThingId) -> bool {
        let moved = self.base_of(side, id).and_then(|base| self.moved.get(&base));
        moved.is_none_or(|sides| sides[side])
    }

    /// The sides whose place a thing of the base takes, if it was moved.
    fn place(&self, id: ThingId) -> Option<[bool; 3]> {
        let parent = self.outlines[BASE].get(id).parent;
        let [_, ours, theirs] = self.of_base(id);
        let above = |side: usize, id: Option<ThingId>| {
            let above = self.outlines[side].get(id?).parent;
            (self.base_of(side, above) != Some(parent)).then_some(above)
        };
        match (above(OURS, ours), above(THEIRS, theirs)) {
            (None, None) => None,
            (Some(_), None) => Some([false, true, false]),
            (None, Some(_)) => Some([false, false, true]),
            (Some(our), Some(their)) => {
                // Below different parents: one of them, whichever side is which.
                let place = |side: usize, above: ThingId| match self.base_of(side, above) {
                    Some(known) => (Some(known), Vec::new()),
                    None => (None, self.outlines[side].path(above)),
                };
                let (our, their) = (place(OURS, our), place(THEIRS, their));
                Some([false, our <= their, their <= our])
            }
        }
    }

    /// Whether the way up from the merged place of a thing leads to itself.
    fn is_in_itself(&self, start: ThingId) -> bool {
        let (mut side, mut at) = (BASE, start);
        // No way is longer than all outlines together.
        let longest: usize = self.outlines.iter().map(|outline| outline.ids().len()).sum();
        for _ in 0..longest {
            if let Some(base) = self.base_of(side, at) {
                let sides = self.moved.get(&base).copied().unwrap_or_default();
                let [_, ours, theirs] = self.of_base(base);
                (side, at) = match (sides, ours, theirs) {
                    ([_, true, _], Some(ours), _) => (OURS, ours),
                    ([_, _, true], _, Some(theirs)) => (THEIRS, theirs),
                    _ => (BASE, base),
                };
            }
            if at == Outline::ROOT {
                return false;
            }
            at = self.outlines[side].get(at).parent;
            if self.base_of(side, at) == Some(start) {
                return true;
            }
        }
        true
    }
}
