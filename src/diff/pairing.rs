//! Which unit of one version is which of the other.

use std::collections::{HashMap, HashSet};

use super::unit::{Unit, with_rest};

/// What differs between two lists of units.
#[derive(Debug, Default)]
pub(super) struct Paired {
    /// Units that differ, in the order of the side that has them.
    pub changes: Vec<UnitChange>,
    /// Whether what stayed is in another order.
    pub reordered: bool,
    /// Whether something is written differently and says the same.
    pub layout: bool,
}

/// One unit, before and after.
#[derive(Debug)]
pub(super) struct UnitChange {
    /// The path of the field it stands under.
    pub under: String,
    /// Its own path if it is a field.
    pub key: Option<String>,
    /// What it said.
    pub before: Option<String>,
    /// What it says.
    pub after: Option<String>,
}

impl UnitChange {
    /// What it stands under, and on which sides it is there.
    fn place(&self) -> (String, bool, bool) {
        (self.under.clone(), self.before.is_some(), self.after.is_some())
    }
}

/// Pairs fields by key, and free text by what it says; free text that took the place of other
/// text much like it has changed. Takes time in proportion to the lists, and gives the mirror
/// image when they are swapped.
pub(super) fn pair(before: &[Unit<'_>], after: &[Unit<'_>]) -> Paired {
    let mut paired = Paired::default();
    fields(before, after, &mut paired);
    free(before, after, &mut paired);
    paired
}

/// Numbers equal keys: the second `x` is another one than the first.
fn numbered<'u, K: std::hash::Hash + Eq + Copy>(
    units: impl Iterator<Item = (usize, K)> + 'u,
) -> Vec<(usize, (K, usize))> {
    let mut seen: HashMap<K, usize> = HashMap::new();
    let mut all = Vec::new();
    for (at, key) in units {
        let count = seen.entry(key).or_default();
        all.push((at, (key, *count)));
        *count += 1;
    }
    all
}

fn fields(before: &[Unit<'_>], after: &[Unit<'_>], paired: &mut Paired) {
    fn keyed<'u>(units: &'u [Unit<'_>]) -> Vec<(usize, (&'u str, usize))> {
        let keys = units.iter().enumerate();
        numbered(keys.filter_map(|(at, unit)| Some((at, unit.key.as_deref()?))))
    }
    let old: HashMap<_, _> = keyed(before).into_iter().map(|(at, key)| (key, at)).collect();
    let mut gone: HashMap<_, _> = old.clone();
    let mut order = Vec::new();
    let mut added = Vec::new();
    for (at, key) in keyed(after) {
        let new = &after[at];
        match gone.remove(&key) {
            None => added.push(change(None, Some(new))),
            Some(from) => {
                let old = &before[from];
                order.push(from);
                if old.text != new.text || old.rest != new.rest {
                    paired.changes.push(change(Some(old), Some(new)));
                }
                paired.layout |= old.raw != new.raw && old.text == new.text && old.rest == new.rest;
            }
        }
    }
    paired.layout |= !order.is_sorted();
    let mut removed: Vec<usize> = gone.into_values().collect();
    removed.sort_unstable();
    paired.changes.extend(removed.into_iter().map(|at| change(Some(&before[at]), None)));
    paired.changes.append(&mut added);
    // A list that came or went is told by what is in it.
    let told: HashSet<(String, bool, bool)> =
        paired.changes.iter().map(UnitChange::place).collect();
    paired.changes.retain(|change| {
        let says = |side: &Option<String>| side.as_ref().is_some_and(|text| !text.is_empty());
        let (_, before, after) = change.place();
        let key = change.key.clone().unwrap_or_default();
        says(&change.before) || says(&change.after) || !told.contains(&(key, before, after))
    });
}

fn free(before: &[Unit<'_>], after: &[Unit<'_>], paired: &mut Paired) {
    type Text<'u> = (&'u str, &'u str);
    fn texts<'u>(units: &'u [Unit<'_>]) -> Vec<(usize, (Text<'u>, usize))> {
        let free = units.iter().enumerate().filter(|(_, unit)| unit.key.is_none());
        numbered(free.map(|(at, unit)| (at, (unit.under.as_str(), unit.text.as_str()))))
    }
    let (old, new) = (texts(before), texts(after));
    let places: HashMap<_, _> = new.iter().map(|(at, key)| (*key, *at)).collect();
    let kept: HashMap<usize, usize> =
        old.iter().filter_map(|(at, key)| Some((*at, *places.get(key)?))).collect();
    let back: HashMap<usize, usize> = kept.iter().map(|(from, to)| (*to, *from)).collect();
    let mut last = None;
    for (from, _) in &old {
        let Some(to) = kept.get(from) else { continue };
        paired.layout |= before[*from].raw != after[*to].raw;
        paired.reordered |= last.is_some_and(|last| last > *to);
        last = Some(*to);
    }
    let old: Vec<usize> = old.into_iter().map(|(at, _)| at).collect();
    let new: Vec<usize> = new.into_iter().map(|(at, _)| at).collect();
    let mut became = recounted(before, after, (&old, &new), (&kept, &back));
    replaced(before, after, (&old, &new), (&kept, &back), &mut became);
    let came: HashSet<usize> = became.values().copied().collect();
    for at in old.iter().filter(|at| !kept.contains_key(at)) {
        paired.changes.push(change(Some(&before[*at]), became.get(at).map(|to| &after[*to])));
    }
    let added = new.iter().filter(|at| !back.contains_key(at) && !came.contains(at));
    paired.changes.extend(added.map(|at| change(None, Some(&after[*at]))));
}

/// From places on the one side to places on the other.
type Places = HashMap<usize, usize>;

/// Texts that differ in their numbers only, such as directives that count down.
fn recounted(
    before: &[Unit<'_>],
    after: &[Unit<'_>],
    (old, new): (&[usize], &[usize]),
    (kept, back): (&Places, &Places),
) -> Places {
    let stems = |units: &[Unit<'_>], places: &[usize], stayed: &Places| {
        let differ = places.iter().filter(|at| !stayed.contains_key(at));
        let stems = differ.map(|at| (*at, (units[*at].under.clone(), stem(&units[*at].text))));
        stems.collect::<Vec<_>>()
    };
    let (old, new) = (stems(before, old, kept), stems(after, new, back));
    let places: HashMap<_, _> = numbered(new.iter().map(|(at, key)| (*at, key)))
        .into_iter()
        .map(|(at, k)| (k, at))
        .collect();
    let old = numbered(old.iter().map(|(at, key)| (*at, key)));
    old.into_iter().filter_map(|(at, key)| Some((at, *places.get(&key)?))).collect()
}

/// The words of a text without its numbers and plurals.
fn stem(text: &str) -> String {
    let word = |word: &str| {
        let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return "#".to_owned();
        }
        word.strip_suffix('s').unwrap_or(word).to_lowercase()
    };
    text.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Texts that stand where others stood, behind the same text that stayed, and are much like them.
fn replaced(
    before: &[Unit<'_>],
    after: &[Unit<'_>],
    (old, new): (&[usize], &[usize]),
    (kept, back): (&Places, &Places),
    became: &mut Places,
) {
    let mut gaps: HashMap<(&str, Option<usize>), Vec<usize>> = HashMap::new();
    let mut anchor: HashMap<&str, usize> = HashMap::new();
    for at in old {
        let under = before[*at].under.as_str();
        if kept.contains_key(at) || became.contains_key(at) {
            anchor.insert(under, *at);
        } else {
            gaps.entry((under, anchor.get(under).copied())).or_default().push(*at);
        }
    }
    let recounted: Places = became.iter().map(|(from, to)| (*to, *from)).collect();
    let mut anchor: HashMap<&str, usize> = HashMap::new();
    let mut nth: HashMap<(&str, Option<usize>), usize> = HashMap::new();
    for at in new {
        let under = after[*at].under.as_str();
        if let Some(from) = back.get(at).or_else(|| recounted.get(at)) {
            anchor.insert(under, *from);
            continue;
        }
        let gap = (under, anchor.get(under).copied());
        let count = nth.entry(gap).or_default();
        let rival = gaps.get(&gap).and_then(|gone| gone.get(*count)).copied();
        *count += 1;
        if let Some(from) = rival.filter(|from| alike(&before[*from].text, &after[*at].text)) {
            became.insert(from, *at);
        }
    }
}

fn change(before: Option<&Unit<'_>>, after: Option<&Unit<'_>>) -> UnitChange {
    let either = after.or(before);
    let rests = matches!((before, after), (Some(old), Some(new)) if old.rest != new.rest);
    // A value is shown without its comment unless the comment differs.
    let said = |unit: &Unit<'_>| match rests {
        true => with_rest(&unit.text, &unit.rest),
        false => unit.text.clone(),
    };
    UnitChange {
        under: either.map(|unit| unit.under.clone()).unwrap_or_default(),
        key: either.and_then(|unit| unit.key.clone()),
        before: before.map(said),
        after: after.map(said),
    }
}

/// Whether two texts have at least two fifths of their words in common.
pub(super) fn alike(one: &str, other: &str) -> bool {
    let mut words: HashMap<&str, isize> = HashMap::new();
    let (mut total, mut common) = (0usize, 0usize);
    for word in one.split_whitespace() {
        *words.entry(word).or_default() += 1;
        total += 1;
    }
    for word in other.split_whitespace() {
        total += 1;
        if let Some(left) = words.get_mut(word).filter(|left| **left > 0) {
            *left -= 1;
            common += 2;
        }
    }
    common * 5 >= total * 2
}
