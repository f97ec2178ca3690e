//! Which step of one plan is which of the other, and what became of each.

use std::{
    collections::{HashMap, VecDeque},
    ops::Range,
};

use super::{
    difference::{Difference, StepName, Subject},
    order,
    pairing::pair,
    sections::Found,
    unit::{Reading, plain, units},
};
use crate::{
    domain::{Plan, StateFile, Step},
    text::markdown::{Document, SectionId},
};

const FILE: StateFile = StateFile::Plan;

/// Compares the steps of two plans.
pub(super) fn compare(before: &Plan, after: &Plan, found: &mut Found) {
    let pairs = matched(&before.steps, &after.steps);
    let mut partner: HashMap<usize, usize> = HashMap::new();
    let mut is_old = vec![false; before.steps.len()];
    for (from, to) in &pairs {
        partner.insert(*to, *from);
        is_old[*from] = true;
    }
    let whole = |step: &Step, added: bool| {
        let subject = Subject::Step { step: StepName::of(step) };
        let status = Some(step.status.clone().unwrap_or_default());
        let (old, new) = if added { (None, status) } else { (status, None) };
        Difference::new(FILE, subject, old, new)
    };
    let gone = before.steps.iter().enumerate().filter(|(at, _)| !is_old[*at]);
    found.differences.extend(gone.map(|(_, step)| whole(step, false)));
    let places: Vec<usize> = pairs.iter().map(|(_, to)| *to).collect();
    // One that is where it was has not moved for anybody who reads it, whatever moved around it.
    let elsewhere = |at: &usize| pairs[*at].0 != pairs[*at].1;
    let found_moved = order::moved(&places);
    let mut told: Vec<usize> = found_moved.iter().copied().filter(elsewhere).collect();
    if told.is_empty() && !found_moved.is_empty() {
        told = (0..pairs.len()).filter(elsewhere).collect();
    }
    let mut moved: HashMap<usize, usize> =
        told.into_iter().map(|at| (pairs[at].1, pairs[at].0)).collect();
    for (to, step) in after.steps.iter().enumerate() {
        match partner.get(&to) {
            None => found.differences.push(whole(step, true)),
            Some(from) => {
                if moved.remove(&to).is_some() {
                    let subject = Subject::StepPlace { step: StepName::of(step) };
                    let (old, new) = (Some(from + 1), Some(to + 1));
                    found.differences.push(Difference::new(FILE, subject, old, new));
                }
                one(before, &before.steps[*from], after, step, found);
            }
        }
    }
}

/// The pairs of places that are the same step, in the order of the plan before.
///
/// An id that stands on both sides decides. A step without one, on either side, is known by
/// number and title, else by title, else by number.
fn matched(before: &[Step], after: &[Step]) -> Vec<(usize, usize)> {
    let mut matching =
        Matching { before, after, old: vec![None; before.len()], new: vec![None; after.len()] };
    let id = |step: &Step| step.id.as_ref().map(|id| id.as_str().to_owned());
    matching.by(true, |step| id(step).map(|id| (id, step.number, step.title.clone())));
    matching.by(true, id);
    let titled = |step: &Step| Some(step.title.clone()).filter(|title| !title.is_empty());
    matching.by(false, |step| Some((step.number, step.title.clone())));
    matching.by(false, titled);
    matching.by(false, |step| Some(step.number));
    let pairs = matching.old.into_iter().enumerate();
    pairs.filter_map(|(from, to)| Some((from, to?))).collect()
}

struct Matching<'s> {
    before: &'s [Step],
    after: &'s [Step],
    old: Vec<Option<usize>>,
    new: Vec<Option<usize>>,
}

impl Matching<'_> {
    /// Pairs what has the same key, in order. Two steps with ids are paired by these alone.
    fn by<K: std::hash::Hash + Eq>(&mut self, by_id: bool, key: impl Fn(&Step) -> Option<K>) {
        // Per key: before without and with id, after without and with id.
        let mut groups: HashMap<K, [Vec<usize>; 4]> = HashMap::new();
        let sides = [(self.before, &self.old, 0), (self.after, &self.new, 2)];
        for (steps, taken, offset) in sides {
            for (at, step) in steps.iter().enumerate().filter(|(at, _)| taken[*at].is_none()) {
                if let Some(key) = key(step) {
                    let with_id = usize::from(step.id.is_some());
                    groups.entry(key).or_default()[offset + with_id].push(at);
                }
            }
        }
        for [old_bare, old_named, new_bare, new_named] in groups.into_values() {
            let count = old_bare.len().min(new_bare.len());
            self.join(&old_bare, &new_bare);
            self.join(&old_bare[count..], &new_named);
            self.join(&old_named, &new_bare[count..]);
            if by_id {
                self.join(&old_named, &new_named);
            }
        }
    }

    fn join(&mut self, old: &[usize], new: &[usize]) {
        for (from, to) in old.iter().zip(new) {
            self.old[*from] = Some(*to);
            self.new[*to] = Some(*from);
        }
    }
}

/// What became of one step.
fn one(before: &Plan, old: &Step, after: &Plan, new: &Step, found: &mut Found) {
    let extent = |plan: &Plan, step: &Step| plan.document.section(step.section).extent.clone();
    if source(before, extent(before, old)) == source(after, extent(after, new)) {
        return;
    }
    let step = StepName::of(new);
    if old.number != new.number {
        let subject = Subject::StepNumber { step: step.clone() };
        found.differences.push(Difference::new(FILE, subject, Some(old.number), Some(new.number)));
    }
    let field = |field: String| Subject::StepField { step: step.clone(), field };
    if old.title != new.title {
        let (old, new) = (old.title.clone(), new.title.clone());
        found.differences.push(Difference::new(FILE, field("title".into()), Some(old), Some(new)));
    }
    let heading = |plan: &Plan, step: &Step| plan.document.section(step.section).heading.clone();
    let same_name = old.number == new.number && old.title == new.title;
    found.layout |=
        same_name && source(before, heading(before, old)) != source(after, heading(after, new));
    let paired = pair(
        &units(&before.document, old.section, Reading::Fields),
        &units(&after.document, new.section, Reading::Fields),
    );
    found.layout |= paired.layout;
    if paired.reordered {
        let subject = Subject::Order { section: vec![new.name()] };
        found.differences.push(Difference::new(FILE, subject, None::<&str>, None::<&str>));
    }
    for change in paired.changes {
        let subject = match change.key {
            Some(key) => field(key),
            None if !change.under.is_empty() => field(change.under),
            None => Subject::StepText { step: step.clone() },
        };
        found.differences.push(Difference::new(FILE, subject, change.before, change.after));
    }
    let (old, new) = (below(&before.document, old.section), below(&after.document, new.section));
    sections(old, new, field, found);
}

fn source(plan: &Plan, range: Range<usize>) -> &str {
    plan.document.source().get(range).unwrap_or_default()
}

/// The sections inside a step, each with its heading and text.
fn below(document: &Document, step: SectionId) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    let mut stack: Vec<SectionId> = document.section(step).children.iter().rev().copied().collect();
    while let Some(id) = stack.pop() {
        let section = document.section(id);
        found.push((section.title.trim().to_owned(), document.body_text(id)));
        stack.extend(section.children.iter().rev());
    }
    found
}

fn sections(
    old: Vec<(String, &str)>,
    new: Vec<(String, &str)>,
    subject: impl Fn(String) -> Subject,
    found: &mut Found,
) {
    let mut left: HashMap<String, VecDeque<&str>> = HashMap::new();
    let titles = |all: &[(String, &str)]| all.iter().map(|(title, _)| title.clone()).collect();
    let (mut before, mut after): (Vec<String>, Vec<String>) = (titles(&old), titles(&new));
    let same_order = before == after;
    before.sort_unstable();
    after.sort_unstable();
    found.layout |= before == after && !same_order;
    for (title, text) in &old {
        left.entry(title.clone()).or_default().push_back(text);
    }
    for (title, text) in new {
        let old = left.get_mut(&title).and_then(VecDeque::pop_front);
        match old {
            Some(old) if plain(old) == plain(text) => found.layout |= old != text,
            old => {
                let (old, new) = (old.map(plain), Some(plain(text)));
                found.differences.push(Difference::new(FILE, subject(title), old, new));
            }
        }
    }
    for (title, _) in old {
        let gone = left.get_mut(&title).and_then(VecDeque::pop_front);
        if let Some(gone) = gone {
            let subject = subject(title);
            found.differences.push(Difference::new(FILE, subject, Some(plain(gone)), None::<&str>));
        }
    }
}
