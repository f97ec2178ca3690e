//! What differs between two plans.

use std::collections::{HashMap, HashSet};

use super::{
    difference::{Difference, Subject},
    sections::{self, Found, Role, Side},
    steps,
};
use crate::{
    domain::{Plan, Review, StateFile},
    text::markdown::{Document, SectionId},
};

const FILE: StateFile = StateFile::Plan;

/// Compares two plans.
pub(super) fn compare(before: Document, after: Document) -> Found {
    let (before, after) = (Plan::read(before), Plan::read(after));
    let mut found = Found::default();
    if before.title != after.title {
        let subject = Subject::Plan { field: "title".to_owned() };
        let (old, new) = (before.title.clone(), after.title.clone());
        found.differences.push(Difference::new(FILE, subject, Some(old), Some(new)));
    }
    let mut rest = sections::compare(FILE, &side(&before), &side(&after));
    if before.title != after.title {
        // The heading that the title is from says the same once more.
        let (old, new) = (heading(&before.document), heading(&after.document));
        rest.differences.retain(|difference| {
            let told = difference.subject == Subject::SectionTitle;
            !(told && difference.before == old && difference.after == new)
        });
    }
    let (metadata, other): (Vec<_>, Vec<_>) = rest
        .differences
        .into_iter()
        .partition(|difference| matches!(difference.subject, Subject::Plan { .. }));
    found.layout |= rest.layout;
    found.differences.extend(metadata);
    steps::compare(&before, &after, &mut found);
    reviews(&before, &after, &mut found);
    found.differences.extend(other);
    found
}

fn heading(document: &Document) -> Option<serde_json::Value> {
    let sections = document.sections().map(|id| document.section(id));
    sections.into_iter().find(|section| section.level == 1).map(|first| first.title.trim().into())
}

/// The sections of a plan that are no steps and no parts of steps.
pub(super) fn side(plan: &Plan) -> Side<'_> {
    let document = &plan.document;
    let steps: HashSet<SectionId> = plan.steps.iter().map(|step| step.section).collect();
    let mut inside = HashSet::new();
    let mut sections = Vec::new();
    // A section comes after the one it is part of.
    for id in document.sections() {
        let parent = document.section(id).parent;
        if steps.contains(&id) || parent.is_some_and(|parent| inside.contains(&parent)) {
            inside.insert(id);
        } else {
            sections.push(id);
        }
    }
    let mut roles = HashMap::new();
    roles.extend(plan.reviews.iter().map(|r| (document.item(r.item).section, Role::Reviews)));
    roles.extend(plan.metadata_section().map(|id| (id, Role::Metadata)));
    let leave_out = plan.reviews.iter().map(|review| review.item).collect();
    Side { document, sections, roles, leave_out }
}

fn reviews(before: &Plan, after: &Plan, found: &mut Found) {
    type Key = (String, usize);
    fn keyed(plan: &Plan) -> Vec<(Key, &Review)> {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut all = Vec::new();
        for review in &plan.reviews {
            let count = seen.entry(review.id.as_str()).or_default();
            *count += 1;
            all.push(((review.id.clone(), *count), review));
        }
        all
    }
    let raw = |plan: &Plan, review: &Review| {
        let span = plan.document.item(review.item).span.clone();
        plan.document.source().get(span).unwrap_or_default().to_owned()
    };
    let decided = |review: &Review| serde_json::to_value(review.decision).ok();
    let mut gone: HashMap<Key, &Review> = keyed(before).into_iter().collect();
    for (key, new) in keyed(after) {
        let old = gone.remove(&key);
        let (id, text) = (new.id.clone(), new.text.clone());
        match old {
            Some(old) if old.decision == new.decision => {
                if old.text != new.text {
                    let (old, new) = (old.text.clone(), new.text.clone());
                    let subject = Subject::ReviewText { id };
                    found.differences.push(Difference::new(FILE, subject, Some(old), Some(new)));
                } else {
                    found.layout |= raw(before, old) != raw(after, new);
                }
            }
            old => {
                let subject = Subject::Review { id, text };
                let old = old.and_then(decided);
                found.differences.push(Difference::new(FILE, subject, old, decided(new)));
            }
        }
    }
    for (key, old) in keyed(before) {
        if gone.contains_key(&key) {
            let subject = Subject::Review { id: old.id.clone(), text: old.text.clone() };
            let nothing = None::<&str>;
            found.differences.push(Difference::new(FILE, subject, decided(old), nothing));
        }
    }
}
