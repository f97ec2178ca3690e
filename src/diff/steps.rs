//! What happened to each step.

use super::{
    difference::{StepName, Subject},
    walk::{Changes, Walk},
};
use crate::domain::{
    Plan, StateFile, Step,
    outline::{Outline, ThingId, moved, single_spaced},
};

const FILE: StateFile = StateFile::Plan;

/// Compares the steps of two plans, which are in the outlines of the walk in the same order.
pub(super) fn compare(walk: &Walk<'_>, before: &Plan, after: &Plan, changes: &mut Changes) {
    let things =
        |outline: &Outline<'_>| -> Vec<ThingId> { outline.all_steps().map(|(id, _)| id).collect() };
    let (old, new) = (things(walk.old), things(walk.new));
    let (before, after) = (&before.steps, &after.steps);
    let pairs = walk.pairing.steps(walk.old, walk.new);
    let mut from_place = vec![None; after.len()];
    let mut is_kept = vec![false; before.len()];
    for (from, to) in &pairs {
        from_place[*to] = Some(*from);
        is_kept[*from] = true;
    }
    for (from, step) in before.iter().enumerate().filter(|(from, _)| !is_kept[*from]) {
        let status = status(walk.old, old[from], step).unwrap_or_default();
        let subject = Subject::Step { step: StepName::of(step) };
        changes.push(FILE, subject, Some(status), None::<&str>);
    }
    let has_moved = moved_steps(&pairs, after.len());
    for (to, step) in after.iter().enumerate() {
        let Some(from) = from_place[to] else {
            let status = status(walk.new, new[to], step).unwrap_or_default();
            let subject = Subject::Step { step: StepName::of(step) };
            changes.push(FILE, subject, None::<&str>, Some(status));
            continue;
        };
        if has_moved[to] {
            let subject = Subject::StepPlace { step: StepName::of(step) };
            changes.push(FILE, subject, Some(from + 1), Some(to + 1));
        }
        one(walk, (&before[from], old[from]), (step, new[to]), changes);
    }
}

/// The status of a step as written; of a box without one, the box.
fn status<'s>(outline: &'s Outline<'_>, id: ThingId, step: &'s Step) -> Option<&'s str> {
    let thing = outline.get(id);
    let mark = || {
        thing.boxed.as_ref()?;
        let at = thing.prefix.find('[')?;
        Some(thing.prefix[at..].trim_end())
    };
    step.status().or_else(mark)
}

/// Which of the steps after were moved.
fn moved_steps(pairs: &[(usize, usize)], count: usize) -> Vec<bool> {
    let places: Vec<usize> = pairs.iter().map(|(_, to)| *to).collect();
    // A step in the same place has not moved for a reader, whatever moved around it.
    let elsewhere = |at: &usize| pairs[*at].0 != pairs[*at].1;
    let fewest = moved(&places);
    let mut named: Vec<usize> = fewest.iter().copied().filter(elsewhere).collect();
    if named.is_empty() && !fewest.is_empty() {
        named = (0..pairs.len()).filter(elsewhere).collect();
    }
    let mut has_moved = vec![false; count];
    named.into_iter().for_each(|at| has_moved[pairs[at].1] = true);
    has_moved
}

/// What happened to one step.
fn one(
    walk: &Walk<'_>,
    (old, from): (&Step, ThingId),
    (new, to): (&Step, ThingId),
    changes: &mut Changes,
) {
    if walk.old.source(from) == walk.new.source(to) {
        return;
    }
    let step = StepName::of(new);
    let is_box = walk.new.get(to).boxed.is_some();
    // The number of a box is only its place.
    if old.number != new.number && !is_box {
        let subject = Subject::StepNumber { step: step.clone() };
        changes.push(FILE, subject, Some(old.number), Some(new.number));
    }
    let field = |field: String| Subject::StepField { step: step.clone(), field };
    if old.title != new.title {
        let (old, new) = (old.title.clone(), new.title.clone());
        changes.push(FILE, field("title".into()), Some(old), Some(new));
    }
    if is_box {
        let (old, new) = (status(walk.old, from, old), status(walk.new, to, new));
        if old != new {
            changes.push(FILE, field("status".into()), old, new);
        } else {
            changes.layout |= walk.old.get(from).prefix.trim() != walk.new.get(to).prefix.trim();
        }
    } else {
        let is_same_name = old.number == new.number && old.title == new.title;
        changes.layout |= is_same_name && walk.heading(false, from) != walk.heading(true, to);
    }
    for change in walk.body(from, to, vec![new.name()], changes) {
        if is_box && change.field.as_deref() == Some("status") {
            continue;
        }
        let subject = match change.field {
            Some(key) => field(key),
            None if !change.under.is_empty() => field(change.under),
            None => Subject::StepText { step: step.clone() },
        };
        changes.push(FILE, subject, change.before, change.after);
    }
    sections(walk, from, to, field, changes);
}

/// The sections inside a step, each a field with its heading as the name.
fn sections(
    walk: &Walk<'_>,
    from: ThingId,
    to: ThingId,
    subject: impl Fn(String) -> Subject,
    changes: &mut Changes,
) {
    let inside = |outline: &Outline<'_>, id: ThingId| -> Vec<ThingId> {
        (id + 1..outline.end(id)).filter(|inner| outline.is_section(*inner)).collect()
    };
    let (old, new) = (inside(walk.old, from), inside(walk.new, to));
    // One with another heading is another field.
    let partner = |id: ThingId| {
        let partner = walk.pairing.to_old(id)?;
        (walk.old.value(partner) == walk.new.value(id)).then_some(partner)
    };
    let partners: Vec<ThingId> = new.iter().filter_map(|id| partner(*id)).collect();
    changes.layout |= !partners.is_sorted();
    for id in new {
        let text = walk.body_text(true, id);
        let before = partner(id).map(|partner| walk.body_text(false, partner));
        match before {
            Some(before) if single_spaced(before) == single_spaced(text) => {
                changes.layout |= before != text
            }
            before => {
                let title = walk.new.value(id).0;
                changes.push(
                    FILE,
                    subject(title),
                    before.map(single_spaced),
                    Some(single_spaced(text)),
                );
            }
        }
    }
    for id in old.into_iter().filter(|id| !partners.contains(id)) {
        let text = single_spaced(walk.body_text(false, id));
        changes.push(FILE, subject(walk.old.value(id).0), Some(text), None::<&str>);
    }
}
