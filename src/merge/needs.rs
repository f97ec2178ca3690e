//! How often each step is referred to. A step that one side removed while the other came to rely on
//! it is a conflict, as no command would remove it.

use std::collections::HashMap;

use super::{references, step::label};
use crate::domain::{
    StepRef,
    outline::{Outline, ThingId, ThingKind},
    plan::dependencies::{self, StepLabel, StepLabels},
};

/// For each version how many dependencies and references lead to each of its steps.
pub(super) struct Needs([HashMap<ThingId, usize>; 3]);

impl Needs {
    /// Counts what leads to each step, in outlines that name steps by their ids.
    pub(super) fn count(outlines: &[Outline<'_>; 3]) -> Self {
        Self(outlines.each_ref().map(count))
    }

    /// Whether more leads to a step of that version than to the same step of the base.
    pub(super) fn has_grown(&self, base: ThingId, (side, left): (usize, ThingId)) -> bool {
        let count = |side: usize, step: ThingId| self.0[side].get(&step).copied().unwrap_or(0);
        count(side, left) > count(super::markdown::BASE, base)
    }
}

fn count(outline: &Outline<'_>) -> HashMap<ThingId, usize> {
    let mut counts = HashMap::new();
    let steps: Vec<ThingId> = outline.all_steps().map(|(id, _)| id).collect();
    let known: Vec<StepLabel<'_>> = outline.all_steps().map(|(_, step)| label(step)).collect();
    let labels = StepLabels::from(known.clone());
    let mut refer = |is_meant: &dyn Fn(&StepLabel<'_>) -> bool| {
        if let Some(at) = known.iter().position(is_meant) {
            *counts.entry(steps[at]).or_default() += 1;
        }
    };
    for id in outline.ids().filter(|id| outline.get(*id).kind == ThingKind::Item) {
        let value = &outline.get(id).value;
        references::ids(value).for_each(|id| refer(&|step| step.id == Some(id)));
        if outline.name(id).as_deref() != Some("depends_on") {
            continue;
        }
        for found in dependencies::parse(value, &labels).into_iter().flatten() {
            refer(&|step| match &found.step {
                StepRef::Id(id) => step.id == Some(id.as_str()),
                StepRef::Number(number) => step.number == *number,
                StepRef::Label(_) => false,
            });
        }
    }
    counts
}
