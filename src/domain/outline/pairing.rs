//! Pairs the things of two versions of a file.

use std::{collections::HashMap, hash::Hash};

use super::{Outline, SectionRole, StepHeading, Thing, ThingId, ThingKind, single_spaced};

/// Beyond this many pairs, texts are not compared by similarity.
const MAX_PAIRS: usize = 4_000;
/// At most this many words of a text are compared.
const MAX_WORDS: usize = 400;

/// Which thing of the old version is which thing of the new one; one to one.
///
/// Takes time in proportion to the outlines, and is the mirror image when they are swapped.
#[derive(Clone, Debug)]
pub(crate) struct Pairing {
    to_new: Vec<Option<ThingId>>,
    to_old: Vec<Option<ThingId>>,
}

impl Pairing {
    /// Pairs the things of two versions of a file.
    pub(crate) fn of(old: &Outline<'_>, new: &Outline<'_>) -> Self {
        let pairing =
            Self { to_new: vec![None; old.ids().len()], to_old: vec![None; new.ids().len()] };
        let mut pairer = Pairer { old, new, pairing };
        pairer.join(Outline::ROOT, Outline::ROOT);
        pairer.steps();
        pairer.sections();
        for id in old.ids().filter(|id| old.is_section(*id)) {
            if let Some(partner) = pairer.pairing.to_new[id] {
                pairer.contents(id, partner);
            }
        }
        pairer.pairing
    }

    /// The new version of a thing.
    pub(crate) fn to_new(&self, old: ThingId) -> Option<ThingId> {
        self.to_new[old]
    }

    /// The pairs of steps as indexes among the steps of each version, in the old order.
    pub(crate) fn steps(&self, old: &Outline<'_>, new: &Outline<'_>) -> Vec<(usize, usize)> {
        let places: HashMap<ThingId, usize> =
            new.all_steps().enumerate().map(|(place, (id, _))| (id, place)).collect();
        let partner = |id: ThingId| places.get(&self.to_new[id]?).copied();
        let steps = old.all_steps().enumerate();
        steps.filter_map(|(place, (id, _))| Some((place, partner(id)?))).collect()
    }

    /// Separates a pair.
    pub(crate) fn separate(&mut self, old: ThingId) {
        if let Some(new) = self.to_new[old].take() {
            self.to_old[new] = None;
        }
    }

    /// The old version of a thing.
    pub(crate) fn to_old(&self, new: ThingId) -> Option<ThingId> {
        self.to_old[new]
    }
}

struct Pairer<'o> {
    old: &'o Outline<'o>,
    new: &'o Outline<'o>,
    pairing: Pairing,
}

impl<'o> Pairer<'o> {
    fn join(&mut self, old: ThingId, new: ThingId) {
        self.pairing.to_new[old] = Some(new);
        self.pairing.to_old[new] = Some(old);
    }

    /// The things that are not paired yet.
    fn free(&self, (old, new): (&[ThingId], &[ThingId])) -> (Vec<ThingId>, Vec<ThingId>) {
        let free = |ids: &[ThingId], partners: &[Option<ThingId>]| -> Vec<ThingId> {
            ids.iter().copied().filter(|id| partners[*id].is_none()).collect()
        };
        (free(old, &self.pairing.to_new), free(new, &self.pairing.to_old))
    }

    /// Pairs free things with the same key, in order, and returns the new pairs.
    fn by<K: Hash + Eq>(
        &mut self,
        ids: (&[ThingId], &[ThingId]),
        key: impl Fn(&'o Outline<'o>, ThingId) -> Option<K>,
    ) -> Vec<(ThingId, ThingId)> {
        let (old, new) = self.free(ids);
        let mut waiting: HashMap<K, Vec<ThingId>> = HashMap::new();
        for id in old.into_iter().rev() {
            if let Some(key) = key(self.old, id) {
                waiting.entry(key).or_default().push(id);
            }
        }
        let mut pairs = Vec::new();
        if waiting.is_empty() {
            return pairs;
        }
        for id in new {
            let found = key(self.new, id).and_then(|key| waiting.get_mut(&key)?.pop());
            if let Some(found) = found {
                pairs.push((found, id));
            }
        }
        pairs.iter().for_each(|(old, new)| self.join(*old, *new));
        pairs
    }

    /// Pairs free things with a key that is unique on both sides.
    fn by_unique<K: Hash + Eq>(
        &mut self,
        ids: (&[ThingId], &[ThingId]),
        key: impl Fn(&'o Outline<'o>, ThingId) -> Option<K>,
    ) -> Vec<(ThingId, ThingId)> {
        let (old, new) = self.free(ids);
        let mut found: HashMap<K, [Vec<ThingId>; 2]> = HashMap::new();
        for (side, outline, ids) in [(0, self.old, old), (1, self.new, new)] {
            for id in ids {
                let key = key(outline, id);
                key.into_iter().for_each(|key| found.entry(key).or_default()[side].push(id));
            }
        }
        let only = |[old, new]: [Vec<ThingId>; 2]| {
            Some((*old.first()?, *new.first()?)).filter(|_| old.len() == 1 && new.len() == 1)
        };
        let mut pairs: Vec<(ThingId, ThingId)> = found.into_values().filter_map(only).collect();
        pairs.sort_unstable();
        pairs.iter().for_each(|(old, new)| self.join(*old, *new));
        pairs
    }

    /// Pairs steps by id. If a step has none on either side, by number and title, else by title, else
    /// by number.
    fn steps(&mut self) {
        fn heading<'o>(outline: &'o Outline<'o>, id: ThingId) -> Option<&'o StepHeading> {
            outline.get(id).step.as_deref()
        }
        let steps = |outline: &Outline<'_>, has_id: bool| -> Vec<ThingId> {
            let wanted = outline.steps().filter(|(_, step)| step.id.is_some() == has_id);
            wanted.map(|(id, _)| id).collect()
        };
        let [old, new] = [self.old, self.new].map(|side| [false, true].map(|is| steps(side, is)));
        let ids = (old[1].as_slice(), new[1].as_slice());
        self.by(ids, |side, id| heading(side, id).map(|step| (&step.id, step.number, &step.title)));
        self.by(ids, |side, id| heading(side, id).map(|step| &step.id));
        let sides = [(&old[0], &new[0]), (&old[0], &new[1]), (&old[1], &new[0])];
        for (old, new) in sides {
            self.by((old, new), |side, id| heading(side, id).map(|s| (s.number, &s.title)));
        }
        for (old, new) in sides {
            let title = |side, id| heading(side, id).map(|step| step.title.as_str());
            self.by((old, new), |side, id| title(side, id).filter(|title| !title.is_empty()));
        }
        for (old, new) in sides {
            // An implied number may have been that of another step before.
            self.by((old, new), |side, id| {
                heading(side, id).filter(|step| step.is_numbered).map(|step| step.number)
            });
        }
    }

    /// Pairs sections that are not steps: by name below the same parent, then by path or text
    /// anywhere, then by similarity below the same parent.
    fn sections(&mut self) {
        let mut pairs: Vec<(ThingId, ThingId)> =
            self.old.steps().filter_map(|(id, _)| Some((id, self.pairing.to_new[id]?))).collect();
        pairs.retain(|(old, new)| !self.is_unchanged_step(*old, *new));
        pairs.push((Outline::ROOT, Outline::ROOT));
        self.below(pairs);
        let (old, new) = (self.old.plain_sections(), self.new.plain_sections());
        let pairs = self.by((&old, &new), |outline, id| {
            let path: Vec<String> = outline.path(id).into_iter().map(super::normal_name).collect();
            (!path.is_empty()).then_some(path)
        });
        self.below(pairs);
        let pairs = self.by_unique((&old, &new), |outline, id| {
            let said = single_spaced(outline.document.body_text(outline.get(id).section));
            (!said.is_empty() && outline.get(id).role == SectionRole::Free).then_some(said)
        });
        self.below(pairs);
        for id in old {
            let Some(partner) = self.pairing.to_new[id] else { continue };
            let (old, new) = (subsections(self.old, id), subsections(self.new, partner));
            let pairs = self.by_similarity((&old, &new));
            self.below(pairs);
        }
    }

    /// Pairs the sections below pairs by name, all the way down.
    fn below(&mut self, mut pairs: Vec<(ThingId, ThingId)>) {
        while let Some((old, new)) = pairs.pop() {
            let (old, new) = (subsections(self.old, old), subsections(self.new, new));
            let ids = (old.as_slice(), new.as_slice());
            let named = |outline: &'o Outline<'o>, id: ThingId| {
                outline.get(id).step.is_none().then(|| outline.name(id)).flatten()
            };
            pairs.extend(self.by_doubled(ids, named));
            pairs.extend(self.by(ids, named));
            pairs.extend(self.by(ids, |outline, id| {
                Some(outline.get(id).role).filter(|role| *role != SectionRole::Free)
            }));
            // A file has only one title.
            pairs.extend(self.by(ids, |outline, id| {
                let thing = outline.get(id);
                (thing.kind == ThingKind::Section(1) && thing.step.is_none()).then_some(())
            }));
        }
    }

    /// Pairs things whose name appears twice on either side by name and text.
    fn by_doubled(
        &mut self,
        (old, new): (&[ThingId], &[ThingId]),
        name: impl Fn(&'o Outline<'o>, ThingId) -> Option<String>,
    ) -> Vec<(ThingId, ThingId)> {
        let mut counts: HashMap<String, [usize; 2]> = HashMap::new();
        for (side, (outline, ids)) in [(self.old, old), (self.new, new)].into_iter().enumerate() {
            for name in ids.iter().filter_map(|id| name(outline, *id)) {
                counts.entry(name).or_default()[side] += 1;
            }
        }
        if counts.values().flatten().all(|count| *count < 2) {
            return Vec::new();
        }
        self.by((old, new), |outline, id| {
            let name = name(outline, id)?;
            let is_doubled = counts.get(&name).is_some_and(|count| *count != [1, 1]);
            is_doubled.then(|| (name, outline.full_text(id, &|_| true)))
        })
    }

    /// Whether a step is unchanged, as most are: its contents can be paired in order.
    fn is_unchanged_step(&self, old: ThingId, new: ThingId) -> bool {
        let below = |outline: &Outline<'_>, id: ThingId| outline.end(id) - id;
        self.old.get(old).step.is_some()
            && self.old.source(old) == self.new.source(new)
            && below(self.old, old) == below(self.new, new)
    }

    /// Pairs the items and blocks of a pair, and what is nested in them.
    fn contents(&mut self, old: ThingId, new: ThingId) {
        if self.is_unchanged_step(old, new) {
            (old + 1..self.old.end(old)).zip(new + 1..).for_each(|(old, new)| self.join(old, new));
            return;
        }
        let items = |outline: &Outline<'_>, id: ThingId| -> Vec<ThingId> {
            outline.children(id).filter(|child| !outline.is_section(*child)).collect()
        };
        let (old, new) = (items(self.old, old), items(self.new, new));
        let pairs = self.items(&old, &new);
        for (old, new) in pairs {
            if self.old.get(old).kind == ThingKind::Item {
                self.contents(old, new);
            }
        }
    }

    fn items(&mut self, old: &[ThingId], new: &[ThingId]) -> Vec<(ThingId, ThingId)> {
        let mut pairs = self.unchanged_ends(old, new);
        let (left, right) = self.free((old, new));
        if left.is_empty() || right.is_empty() {
            return pairs;
        }
        let ids = (left.as_slice(), right.as_slice());
        pairs.extend(self.boxes(ids));
        pairs.extend(self.by_doubled(ids, |outline, id| outline.name(id)));
        pairs.extend(self.by(ids, |outline, id| outline.name(id)));
        // Things without a name.
        let free = |outline: &'o Outline<'o>,
                    id: ThingId,
                    text: fn(&Outline<'_>, ThingId) -> String| {
            outline.written_name(id).is_none().then(|| (outline.get(id).kind, text(outline, id)))
        };
        pairs.extend(self.by(ids, |o, id| free(o, id, |o, id| o.full_text(id, &|_| true))));
        pairs.extend(self.by(ids, |o, id| free(o, id, |o, id| o.own_text(id))));
        pairs.extend(self.by(ids, |o, id| free(o, id, |o, id| without_numbers(&o.own_text(id)))));
        pairs.extend(self.by_place(old, new));
        pairs.extend(self.by_similarity(ids));
        pairs
    }

    /// Pairs steps that are boxes by id. If a step has none on either side, by title.
    fn boxes(&mut self, (old, new): (&[ThingId], &[ThingId])) -> Vec<(ThingId, ThingId)> {
        let boxes = |outline: &Outline<'_>, ids: &[ThingId], has_id: bool| -> Vec<ThingId> {
            let step = |id: ThingId| outline.get(id).boxed.as_deref();
            let wanted = |id: &ThingId| step(*id).is_some_and(|step| step.id.is_some() == has_id);
            ids.iter().copied().filter(wanted).collect()
        };
        let old = [false, true].map(|has_id| boxes(self.old, old, has_id));
        let new = [false, true].map(|has_id| boxes(self.new, new, has_id));
        let step = |outline: &'o Outline<'o>, id: ThingId| outline.get(id).boxed.as_deref();
        let mut pairs = self.by((&old[1], &new[1]), |outline, id| {
            Some((&step(outline, id)?.id, &step(outline, id)?.title))
        });
        pairs.extend(self.by((&old[1], &new[1]), |outline, id| Some(&step(outline, id)?.id)));
        for (old, new) in [(&old[0], &new[0]), (&old[0], &new[1]), (&old[1], &new[0])] {
            pairs.extend(self.by((old, new), |outline, id| Some(&step(outline, id)?.title)));
        }
        pairs
    }

    /// Pairs the common beginning and end of both lists, so that of several equal things the ones that
    /// stayed are paired.
    fn unchanged_ends(&mut self, old: &[ThingId], new: &[ThingId]) -> Vec<(ThingId, ThingId)> {
        let same = |(left, right): (&ThingId, &ThingId)| {
            let (one, other) = (self.old.source(*left), self.new.source(*right));
            let kinds = (self.old.get(*left).kind, self.new.get(*right).kind);
            let named = [self.old.written_name(*left), self.new.written_name(*right)];
            one == other && kinds.0 == kinds.1 && named[0].is_some() == named[1].is_some()
        };
        let front = old.iter().zip(new).take_while(|pair| same(*pair)).count();
        let (rest, others) = (&old[front..], &new[front..]);
        let back =
            rest.iter().rev().zip(others.iter().rev()).take_while(|pair| same(*pair)).count();
        let begin = old[..front].iter().zip(&new[..front]);
        let end = rest[rest.len() - back..].iter().zip(&others[others.len() - back..]);
        let pairs: Vec<_> = begin.chain(end).map(|(old, new)| (*old, *new)).collect();
        pairs.iter().for_each(|(old, new)| self.join(*old, *new));
        pairs
    }

    /// Pairs texts at the same place, after the same thing, that are somewhat similar.
    fn by_place(&mut self, old: &[ThingId], new: &[ThingId]) -> Vec<(ThingId, ThingId)> {
        let mut gaps: HashMap<Option<ThingId>, Vec<ThingId>> = HashMap::new();
        let mut anchor = None;
        for &id in old {
            match self.pairing.to_new[id] {
                Some(_) => anchor = Some(id),
                None => gaps.entry(anchor).or_default().push(id),
            }
        }
        let mut pairs = Vec::new();
        let mut place = (None, 0);
        for &id in new {
            match self.pairing.to_old[id] {
                Some(partner) => place = (Some(partner), 0),
                None => {
                    let rival = gaps.get(&place.0).and_then(|gap| gap.get(place.1));
                    place.1 += 1;
                    let rival = rival.filter(|rival| self.may_be_versions(**rival, id));
                    let rival = rival.filter(|rival| {
                        let old = self.old.full_text(**rival, &|_| true);
                        let (common, all) = common_words(&old, &self.new.full_text(id, &|_| true));
                        common * 5 >= all * 2
                    });
                    pairs.extend(rival.map(|rival| (*rival, id)));
                }
            }
        }
        pairs.iter().for_each(|(old, new)| self.join(*old, *new));
        pairs
    }

    /// Pairs what was moved and edited, or renamed, by similarity.
    fn by_similarity(&mut self, ids: (&[ThingId], &[ThingId])) -> Vec<(ThingId, ThingId)> {
        let (left, right) = self.free(ids);
        if left.len() * right.len() > MAX_PAIRS {
            return Vec::new();
        }
        let texts = |outline: &Outline<'_>, ids: &[ThingId]| -> Vec<String> {
            ids.iter().map(|id| outline.full_text(*id, &|_| true)).collect()
        };
        let (old_texts, new_texts) = (texts(self.old, &left), texts(self.new, &right));
        let mut candidates = Vec::new();
        for (from, &old) in left.iter().enumerate() {
            for (to, &new) in right.iter().enumerate() {
                if !self.may_be_versions(old, new) {
                    continue;
                }
                let (common, all) = common_words(&old_texts[from], &new_texts[to]);
                // One common word, such as a status, is not enough.
                if common * 2 >= all && common > 2 {
                    // Symmetric in both sides, so that a swap gives the mirror image.
                    candidates.push((common as f64 / all as f64, from + to, old, new));
                }
            }
        }
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut pairs = Vec::new();
        for (_, _, old, new) in candidates {
            if self.pairing.to_new[old].is_none() && self.pairing.to_old[new].is_none() {
                self.join(old, new);
                pairs.push((old, new));
            }
        }
        pairs
    }

    /// Whether two things without a common identity may be versions of each other.
    fn may_be_versions(&self, old: ThingId, new: ThingId) -> bool {
        let (one, other) = (self.old.get(old), self.new.get(new));
        let has_id = |thing: &Thing<'_>| thing.any_step().is_some_and(|step| step.id.is_some());
        let is_field = |outline: &Outline<'_>, id| {
            !outline.is_section(id) && outline.written_name(id).is_some()
        };
        one.kind == other.kind
            && one.step.is_some() == other.step.is_some()
            && !(has_id(one) && has_id(other))
            && !is_field(self.old, old)
            && !is_field(self.new, new)
    }
}

fn subsections(outline: &Outline<'_>, id: ThingId) -> Vec<ThingId> {
    outline.children(id).filter(|child| outline.is_section(*child)).collect()
}

/// Twice the number of common words, and the number of words of both texts.
fn common_words(one: &str, other: &str) -> (usize, usize) {
    let (mut left, mut count): (HashMap<&str, usize>, usize) = (HashMap::new(), 0);
    for word in words(one) {
        *left.entry(word).or_default() += 1;
        count += 1;
    }
    let mut common = 0;
    for word in words(other) {
        count += 1;
        if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            common += 2;
        }
    }
    (common, count)
}

/// The words of a text, as far as they are compared; a box is none.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().filter(|word| !matches!(*word, "[" | "]" | "[x]"));
    words.take(MAX_WORDS)
}

/// The words of a text without numbers and plurals, for texts that count down.
fn without_numbers(text: &str) -> String {
    let word = |word: &str| {
        let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return "#".to_owned();
        }
        word.strip_suffix('s').unwrap_or(word).to_lowercase()
    };
    text.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}
