//! What belongs to a step and follows from something else: its mark, its bookkeeping line, its
//! result, and the names of the steps it waits for. None of it is ever a conflict.

use std::collections::{HashMap, HashSet};

use super::markdown::{BASE, MergedThing, OURS, THEIRS};
use crate::domain::{
    StepRef, StepRole,
    outline::{MARK, Outline, StepHeading, ThingId, ThingKind},
    plan::{
        bookkeeping::{ATTEMPTS, CLAIMED_BY, COMPLETED_AT, STARTED_AT, prefix_of},
        dependencies::{self, StepLabel, StepLabels},
    },
};

/// Whether a field of a step follows from what was done with it.
pub(super) fn is_derived(name: &str) -> bool {
    matches!(name, MARK | ATTEMPTS | CLAIMED_BY | STARTED_AT | COMPLETED_AT | "result")
}

/// The lists of dependencies that name steps with their titles, in each version.
pub(super) type TitledLists = [HashSet<ThingId>; 3];

/// Names the steps in `depends_on` by their ids where they are named by their titles, or where the
/// versions number them differently.
pub(super) fn name_dependencies(outlines: &mut [Outline<'_>; 3]) -> TitledLists {
    let numbers = outlines.each_ref().map(|outline| -> HashMap<u32, StepHeading> {
        outline.all_steps().map(|(_, step)| (step.number, step.clone())).collect()
    });
    let names = |number: &u32| -> HashSet<String> {
        let named = numbers.iter().filter_map(|known| known.get(number));
        named.map(|step| step.id.clone().unwrap_or_else(|| step.title.clone())).collect()
    };
    let all: HashSet<u32> = numbers.iter().flat_map(|known| known.keys().copied()).collect();
    let is_renumbered = all.iter().any(|number| names(number).len() > 1);
    let mut titled = TitledLists::default();
    for (side, outline) in outlines.iter_mut().enumerate() {
        let steps: Vec<StepHeading> = outline.all_steps().map(|(_, step)| step.clone()).collect();
        let known = StepLabels::from(steps.iter().map(label).collect::<Vec<_>>());
        let is_list = |id: &ThingId| {
            outline.get(*id).kind == ThingKind::Item
                && outline.name(*id).as_deref() == Some("depends_on")
        };
        let lists: Vec<ThingId> = outline.ids().filter(is_list).collect();
        for id in lists {
            let value = outline.get(id).value.to_string();
            let Ok(found) = dependencies::parse(&value, &known) else { continue };
            let is_titled = found.iter().any(dependencies::Dependency::is_titled);
            if is_titled || is_renumbered {
                let value = if is_titled {
                    with_ids(&found, &known)
                } else {
                    let id_of = |number| numbers[side].get(&number)?.id.clone();
                    dependencies::with_ids(&value, &found, id_of)
                };
                outline.set_value(id, value);
            }
            if is_titled {
                titled[side].insert(id);
            }
        }
    }
    titled
}

/// What a step can be called in a list of dependencies.
pub(super) fn label(step: &StepHeading) -> StepLabel<'_> {
    StepLabel { number: step.number, id: step.id.as_deref(), title: &step.title }
}

/// The steps by their ids; one without an id by its number and title.
fn with_ids(found: &[dependencies::Dependency], known: &StepLabels<'_>) -> String {
    let one = |step: &StepRef| match step {
        StepRef::Id(_) | StepRef::Label(_) => step.to_string(),
        StepRef::Number(number) => {
            let mut same = known.iter().filter(|step| step.number == *number);
            match same.next() {
                Some(StepLabel { id: Some(id), .. }) => (*id).to_owned(),
                Some(step) => dependencies::write([(*number, step.title)]),
                None => number.to_string(),
            }
        }
    };
    found.iter().map(|found| one(&found.step)).collect::<Vec<_>>().join(", ")
}

/// Writes a list that had titles with those of the merged steps.
pub(super) fn title_dependencies(
    step: &mut MergedThing,
    steps: &[StepHeading],
    titled: &TitledLists,
) {
    let known = StepLabels::from(steps.iter().map(label).collect::<Vec<_>>());
    let is_list = |child: &&mut MergedThing| {
        let is_titled =
            |side: usize| child.sources[side].is_some_and(|id| titled[side].contains(&id));
        child.name.as_deref() == Some("depends_on") && (is_titled(OURS) || is_titled(THEIRS))
    };
    for list in step.children.iter_mut().filter(is_list) {
        let Ok(found) = dependencies::parse(&list.value, &known) else { continue };
        let step_of = |wanted: &StepRef| {
            known.iter().find(|step| match wanted {
                StepRef::Id(id) => step.id == Some(id.as_str()),
                StepRef::Number(number) => step.number == *number,
                StepRef::Label(_) => false,
            })
        };
        // What is gone stays as it was named.
        let one = |found: &dependencies::Dependency| match step_of(&found.step) {
            Some(step) => dependencies::write([(step.number, step.title)]),
            None => found.step.to_string(),
        };
        list.value = found.iter().map(one).collect::<Vec<_>>().join(", ");
    }
}

/// Puts mark and bookkeeping where they belong. Where both sides wrote them, the side that started
/// the step later wins.
pub(super) fn finish_step(
    step: &mut MergedThing,
    outlines: &[Outline<'_>; 3],
    role: Option<StepRole>,
) {
    let later = later_side(step, outlines);
    let attempts = same_attempts(step, outlines);
    if role != Some(StepRole::Done) {
        step.children.retain(|child| child.name.as_deref() != Some(COMPLETED_AT));
    }
    for child in &mut step.children {
        if let (Some(ATTEMPTS), Some(attempts)) = (child.name.as_deref(), &attempts) {
            child.value.clone_from(attempts);
        }
        let Some(CLAIMED_BY | "result") = child.name.as_deref() else { continue };
        let value_on = |side: usize| {
            child.sources[side].map(|id| outlines[side].get(id).value.trim().to_owned())
        };
        let (base, ours, theirs) = (value_on(BASE), value_on(OURS), value_on(THEIRS));
        let both =
            ours.is_some() && theirs.is_some() && ours != theirs && ours != base && theirs != base;
        if both && let Some(value) = value_on(later) {
            child.value = value;
        }
    }
    let (parts, rest): (Vec<MergedThing>, Vec<MergedThing>) = std::mem::take(&mut step.children)
        .into_iter()
        .partition(|child| matches!(child.kind, ThingKind::Part(_)));
    step.children = rest;
    let (marks, mut parts): (Vec<MergedThing>, Vec<MergedThing>) =
        parts.into_iter().partition(|part| part.kind == ThingKind::Part(MARK));
    place_parts(step, &mut parts);
    if let Some(mut mark) = marks.into_iter().next()
        && let Some(sign) = role.and_then(StepRole::mark)
    {
        mark.prefix = if step.value.is_empty() { String::new() } else { " ".to_owned() };
        mark.value = sign.to_string();
        step.children.insert(0, mark);
    }
}

/// The attempts where both sides have the same ones: the last began at the same moment, so that one
/// side has it from the other.
fn same_attempts(step: &MergedThing, outlines: &[Outline<'_>; 3]) -> Option<String> {
    let value_on = |side: usize, name: &str| {
        let field = outlines[side].field(step.sources[side]?, name)?;
        Some(outlines[side].get(field).value.trim().to_owned())
    };
    let [base, ours, theirs] = [BASE, OURS, THEIRS].map(|side| value_on(side, STARTED_AT));
    let is_same = ours.is_some() && ours == theirs && ours != base;
    let [ours, theirs] = [OURS, THEIRS].map(|side| value_on(side, ATTEMPTS));
    ours.filter(|ours| is_same && theirs.as_ref() == Some(ours))
}

/// The parts of the bookkeeping line follow the id, in their order.
fn place_parts(step: &mut MergedThing, parts: &mut [MergedThing]) {
    let rank = |part: &MergedThing| match part.kind {
        ThingKind::Part(ATTEMPTS) => 0,
        ThingKind::Part(CLAIMED_BY) => 1,
        ThingKind::Part(STARTED_AT) => 2,
        ThingKind::Part(COMPLETED_AT) => 3,
        _ => 4,
    };
    parts.sort_by_key(rank);
    let is_id =
        |child: &MergedThing| child.kind == ThingKind::Item && child.name.as_deref() == Some("id");
    let mut at = step.children.iter().position(is_id);
    let mut is_behind_claim = false;
    for part in parts.iter() {
        let ThingKind::Part(name) = part.kind else { continue };
        let mut part = part.clone();
        match &mut at {
            Some(at) => {
                let is_first = part.prefix.starts_with(" since") && !is_behind_claim;
                if is_first || is_behind_claim || !part.prefix.contains('·') {
                    part.prefix = prefix_of(name, is_behind_claim).to_owned();
                }
                *at += 1;
                step.children.insert(*at, part);
            }
            // The side that has no such line names them as fields.
            None => {
                part.kind = ThingKind::Item;
                part.prefix = format!("- **{name}**: ");
                step.children.push(part);
            }
        }
        is_behind_claim = name == CLAIMED_BY;
    }
}

/// The side on which the step was started later; ours if neither was.
fn later_side(step: &MergedThing, outlines: &[Outline<'_>; 3]) -> usize {
    let started = |side: usize| {
        let field = outlines[side].field(step.sources[side]?, STARTED_AT)?;
        Some(outlines[side].get(field).value.trim().to_owned())
    };
    let source_on = |side: usize| step.sources[side].map(|id| outlines[side].source(id).to_owned());
    let (ours, theirs) = ((started(OURS), source_on(OURS)), (started(THEIRS), source_on(THEIRS)));
    if theirs > ours { THEIRS } else { OURS }
}
