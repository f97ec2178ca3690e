//! What differs between two plans: their title, metadata and reviews, then step by step.

use std::collections::{HashMap, HashSet};

use super::{
    difference::Subject,
    steps,
    walk::{Changes, Walk},
};
use crate::{
    domain::{
        Plan, Review, StateFile, StepRef,
        outline::{Outline, StepHeading, ThingId},
        plan::{
            dependencies::{self, StepLabels},
            labels::StepIndex,
        },
    },
    text::markdown::{Document, ItemId},
};

const FILE: StateFile = StateFile::Plan;

/// Compares two plans.
pub(super) fn compare(before: Document, after: Document) -> Changes {
    let (before, after) = (Plan::read(before), Plan::read(after));
    let mut old = Outline::read(FILE, &before.document);
    let mut new = Outline::read(FILE, &after.document);
    name_dependencies((&before, &mut old), (&after, &mut new));
    let reviewed = |plan: &Plan| plan.reviews.iter().map(|review| review.item).collect();
    let walk = Walk::new(FILE, &old, &new, [reviewed(&before), reviewed(&after)]);
    let mut changes = Changes::default();
    if before.title != after.title {
        let subject = Subject::Plan { field: "title".to_owned() };
        let (old, new) = (before.title.clone(), after.title.clone());
        changes.push(FILE, subject, Some(old), Some(new));
    }
    let mut rest = Changes::default();
    walk.sections(&mut rest);
    if before.title != after.title {
        // The heading that the title is from says the same once more.
        let (old, new) = (heading(&before.document), heading(&after.document));
        rest.differences.retain(|difference| {
            let is_heading = difference.subject == Subject::SectionTitle;
            !(is_heading && difference.before == old && difference.after == new)
        });
    }
    let (metadata, other): (Vec<_>, Vec<_>) = rest
        .differences
        .into_iter()
        .partition(|difference| matches!(difference.subject, Subject::Plan { .. }));
    changes.layout |= rest.layout;
    changes.differences.extend(metadata);
    steps::compare(&walk, &before, &after, &mut changes);
    reviews(&walk, &before, &after, &mut changes);
    changes.differences.extend(other);
    changes
}

/// Names the steps in `depends_on` as they are named afterwards, so that a step which got another
/// number or title, or is named in another way, makes no difference to those that wait for it.
fn name_dependencies(
    (before, old): (&Plan, &mut Outline<'_>),
    (after, new): (&Plan, &mut Outline<'_>),
) {
    let lists = |outline: &Outline<'_>| -> Vec<(ThingId, Option<String>, String)> {
        let list = |(id, step): (ThingId, &StepHeading)| {
            let list = outline.field(id, "depends_on")?;
            Some((list, step.id.clone(), outline.get(list).value.to_string()))
        };
        outline.all_steps().filter_map(list).collect()
    };
    let (left, right) = (lists(old), lists(new));
    let (earlier, later) = (before.step_index(), after.step_index());
    let name = |step: &StepRef, plan: &StepIndex<'_>| {
        let known = plan.get(step);
        let id = known.and_then(|step| step.id.clone());
        let by_id = id.and_then(|id| later.first_with_id(&id));
        let named = by_id.or_else(|| later.get(step)).or(known);
        named.map_or(step.to_string(), |step| {
            dependencies::write([(step.number, step.title.as_str())])
        })
    };
    let named = |(plan, labels): (&StepIndex<'_>, &StepLabels<'_>), list: &str| {
        let found = dependencies::parse(list, labels).ok()?;
        Some(found.iter().map(|found| name(&found.step, plan)).collect::<Vec<_>>().join(", "))
    };
    let is_same = |one: &(ThingId, Option<String>, String), others: &HashSet<_>| {
        others.contains(&(one.1.clone(), one.2.clone()))
    };
    let known = |lists: &[(ThingId, Option<String>, String)]| -> HashSet<_> {
        lists.iter().map(|(_, id, list)| (id.clone(), list.clone())).collect()
    };
    let [old_labels, new_labels] = [before, after].map(|plan| StepLabels::from(plan.names()));
    let (in_left, in_right) = (known(&left), known(&right));
    for list in left.iter().filter(|list| !is_same(list, &in_right)) {
        named((&earlier, &old_labels), &list.2)
            .into_iter()
            .for_each(|text| old.set_value(list.0, text));
    }
    for list in right.iter().filter(|list| !is_same(list, &in_left)) {
        named((&later, &new_labels), &list.2)
            .into_iter()
            .for_each(|text| new.set_value(list.0, text));
    }
}

fn heading(document: &Document) -> Option<serde_json::Value> {
    let sections = document.sections().map(|id| document.section(id));
    sections.into_iter().find(|section| section.level == 1).map(|first| first.title.trim().into())
}

fn reviews(walk: &Walk<'_>, before: &Plan, after: &Plan, changes: &mut Changes) {
    let raw = |plan: &Plan, review: &Review| {
        let span = plan.document.item(review.item).span.clone();
        plan.document.source().get(span).unwrap_or_default().to_owned()
    };
    let decided = |review: &Review| serde_json::to_value(review.decision).ok();
    let mut gone: HashMap<ItemId, &Review> =
        before.reviews.iter().map(|review| (review.item, review)).collect();
    // The pairs that are reviews of one name on both sides.
    let ids = walk.new.ids().filter(|_| !after.reviews.is_empty());
    let partners: HashMap<ItemId, ItemId> = ids
        .filter_map(|id| {
            let old = walk.pairing.to_old(id)?;
            Some((walk.new.get(id).item?, walk.old.get(old).item?))
        })
        .collect();
    for new in &after.reviews {
        let partner = partners.get(&new.item);
        let same = partner.filter(|item| gone.get(*item).is_some_and(|old| old.id == new.id));
        let old = same.and_then(|item| gone.remove(item));
        let (id, text) = (new.id.clone(), new.text.clone());
        match old {
            Some(old) if old.decision == new.decision => {
                if old.text != new.text {
                    let (old, new) = (old.text.clone(), new.text.clone());
                    changes.push(FILE, Subject::ReviewText { id }, Some(old), Some(new));
                } else {
                    changes.layout |= raw(before, old) != raw(after, new);
                }
            }
            old => {
                let subject = Subject::Review { id, text };
                changes.push(FILE, subject, old.and_then(decided), decided(new));
            }
        }
    }
    for old in before.reviews.iter().filter(|review| gone.contains_key(&review.item)) {
        let subject = Subject::Review { id: old.id.clone(), text: old.text.clone() };
        changes.push(FILE, subject, decided(old), None::<&str>);
    }
}
