//! What differs between two plans: their title, metadata and reviews, then step by step.

use std::collections::HashMap;

use super::{
    difference::Subject,
    steps,
    walk::{Changes, Walk},
};
use crate::{
    domain::{Plan, Review, StateFile, outline::Outline},
    text::markdown::{Document, ItemId},
};

const FILE: StateFile = StateFile::Plan;

/// Compares two plans.
pub(super) fn compare(before: Document, after: Document) -> Changes {
    let (before, after) = (Plan::read(before), Plan::read(after));
    let (old, new) = (Outline::read(FILE, &before.document), Outline::read(FILE, &after.document));
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
