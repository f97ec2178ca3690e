//! A step without an id gets one at the first change that touches it, and so one on each side: both
//! sides call it by the same one while they are compared, and afterwards.

use super::markdown::{BASE, OURS, THEIRS};
use crate::domain::{
    outline::{Outline, Pairing, ThingId, ThingKind},
    plan::bookkeeping::ATTEMPTS,
};

/// A step of a side, with the id that it has there and the one that it gets.
struct Renamed {
    side: usize,
    step: ThingId,
    from: String,
    to: String,
}

/// Gives steps that the base has without an id the same one on both sides: that of the side that
/// worked on it, under which its results are.
pub(super) fn unite(outlines: &mut [Outline<'_>; 3]) {
    if outlines[BASE].all_steps().all(|(_, step)| step.id.is_some()) {
        return;
    }
    let pairings = [OURS, THEIRS].map(|side| Pairing::of(&outlines[BASE], &outlines[side]));
    let renamed = |id: ThingId| {
        let steps = [pairings[0].to_new(id)?, pairings[1].to_new(id)?];
        let name = |side: usize| outlines[side].get(steps[side - 1]).any_step()?.id.clone();
        let is_worked_on = |side: usize| outlines[side].field(steps[side - 1], ATTEMPTS).is_some();
        let (our, their) = (name(OURS)?, name(THEIRS)?);
        let is_ours = match (is_worked_on(OURS), is_worked_on(THEIRS)) {
            (ours, theirs) if ours == theirs => our < their,
            (ours, _) => ours,
        };
        let (side, from, to) = if is_ours { (THEIRS, their, our) } else { (OURS, our, their) };
        (from != to).then_some(Renamed { side, step: steps[side - 1], from, to })
    };
    let without_id = outlines[BASE].all_steps().filter(|(_, step)| step.id.is_none());
    let all: Vec<Renamed> = without_id.filter_map(|(id, _)| renamed(id)).collect();
    for Renamed { side, step, from, to } in all {
        let outline = &mut outlines[side];
        outline.set_step_id(step, &to);
        let lists: Vec<ThingId> = outline
            .ids()
            .filter(|id| outline.get(*id).kind == ThingKind::Item)
            .filter(|id| outline.name(*id).as_deref() == Some("depends_on"))
            .collect();
        for list in lists {
            let value = outline.get(list).value.to_string();
            let words = value.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
            let word = |word: &str| match word.strip_prefix(from.as_str()) {
                Some(rest) if !rest.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
                    to.clone() + rest
                }
                _ => word.to_owned(),
            };
            let written: String = words.map(word).collect();
            if written != value {
                outline.set_value(list, written);
            }
        }
    }
}
