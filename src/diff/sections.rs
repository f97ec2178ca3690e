//! Comparing documents section by section.

use std::collections::{HashMap, HashSet};

use super::{
    difference::{Difference, Subject},
    pairing::{UnitChange, pair},
    unit::{Reading, Unit, plain, units},
};
use crate::{
    domain::{SettingGroup, StateFile},
    text::markdown::{Document, ItemId, SectionId},
};

/// What a section is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// Free text.
    Free,
    /// The plan's metadata.
    Metadata,
    /// Modifiers or limits.
    Settings(SettingGroup),
    /// Directives.
    Directives,
    /// Adaptation rules.
    Rules,
    /// Behaviours by kind of task.
    Behaviours,
    /// Reviews; those that have a name are compared elsewhere.
    Reviews,
}

/// One side of a comparison: a document and the sections in it that take part.
pub(super) struct Side<'d> {
    pub document: &'d Document,
    pub sections: Vec<SectionId>,
    pub roles: HashMap<SectionId, Role>,
    /// Items that are compared elsewhere.
    pub leave_out: HashSet<ItemId>,
}

/// What came of a comparison.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub differences: Vec<Difference>,
    /// Whether something is written differently and says the same.
    pub layout: bool,
}

/// Names a section across versions: the headings that lead to it, and the how manieth it is.
type Key = (Vec<String>, usize);

impl Side<'_> {
    fn role(&self, id: SectionId) -> Role {
        self.roles.get(&id).copied().unwrap_or(Role::Free)
    }

    fn keys(&self) -> Vec<(Key, SectionId)> {
        let mut seen: HashMap<Vec<String>, usize> = HashMap::new();
        let key = |&id: &SectionId| {
            let path = path(self.document, id);
            let count = seen.entry(path.clone()).or_default();
            *count += 1;
            ((path, *count), id)
        };
        self.sections.iter().map(key).collect()
    }

    fn units(&self, id: SectionId, role: Role) -> Vec<Unit<'_>> {
        let lines = matches!(role, Role::Directives | Role::Rules);
        let reading = if lines { Reading::Lines } else { Reading::Fields };
        let mut units = units(self.document, id, reading);
        units.retain(|unit| unit.item.is_none_or(|item| !self.leave_out.contains(&item)));
        units
    }
}

/// The titles that lead to a section; that of the document itself is not one of them.
pub(super) fn path(document: &Document, section: SectionId) -> Vec<String> {
    let chain = std::iter::successors(Some(section), |id| document.section(*id).parent);
    let mut path: Vec<String> = chain
        .filter(|id| document.section(*id).level > 1)
        .map(|id| document.section(id).title.trim().to_owned())
        .collect();
    path.reverse();
    path
}

/// Compares all sections of both sides.
pub(super) fn compare(file: StateFile, before: &Side<'_>, after: &Side<'_>) -> Found {
    let mut found = Found::default();
    let (old, new) = (before.keys(), after.keys());
    let mut gone: HashMap<&Key, SectionId> = old.iter().map(|(key, id)| (key, *id)).collect();
    let mut pairs = Vec::new();
    let mut fresh = Vec::new();
    for (key, id) in &new {
        match gone.remove(key) {
            Some(from) => pairs.push((from, *id)),
            None => fresh.push(*id),
        }
    }
    let left = old.iter().filter(|(key, _)| gone.contains_key(key));
    let mut left: Vec<SectionId> = left.map(|(_, id)| *id).collect();
    respelled(before, after, (&mut left, &mut fresh), &mut pairs);
    renamed(before, after, (&mut left, &mut fresh), &mut pairs);
    if !pairs.is_sorted_by_key(|(from, _)| *from) {
        // The pairs are in the order of the side after.
        let order = Subject::Order { section: Vec::new() };
        found.differences.push(Difference::new(file, order, None::<&str>, None::<&str>));
    }
    for (from, to) in pairs {
        section(file, (before, from), (after, to), &mut found);
    }
    for id in left {
        whole(file, before, id, false, &mut found);
    }
    for id in fresh {
        whole(file, after, id, true, &mut found);
    }
    found
}

/// Sections for the same thing are paired, whatever their heading.
fn respelled(
    before: &Side<'_>,
    after: &Side<'_>,
    (left, fresh): (&mut Vec<SectionId>, &mut Vec<SectionId>),
    pairs: &mut Vec<(SectionId, SectionId)>,
) {
    for role in before.roles.values().filter(|role| **role != Role::Free) {
        let of =
            |side: &Side<'_>, ids: &[SectionId]| ids.iter().position(|id| side.role(*id) == *role);
        if let (Some(from), Some(to)) = (of(before, left), of(after, fresh)) {
            pairs.push((left.remove(from), fresh.remove(to)));
        }
    }
    pairs.sort_by_key(|(_, to)| *to);
}

/// Sections that only have another heading are paired by what they say.
fn renamed(
    before: &Side<'_>,
    after: &Side<'_>,
    (left, fresh): (&mut Vec<SectionId>, &mut Vec<SectionId>),
    pairs: &mut Vec<(SectionId, SectionId)>,
) {
    if left.is_empty() || fresh.is_empty() {
        return;
    }
    let said = |side: &Side<'_>, id: SectionId| plain(side.document.body_text(id));
    let by_text = |side: &Side<'_>, ids: &[SectionId]| {
        let mut all: HashMap<String, Vec<SectionId>> = HashMap::new();
        for id in ids.iter().filter(|id| side.role(**id) == Role::Free) {
            all.entry(said(side, *id)).or_default().push(*id);
        }
        all.remove("");
        all
    };
    let (old, new) = (by_text(before, left), by_text(after, fresh));
    let mut gone = Vec::new();
    for to in fresh.clone() {
        let text = said(after, to);
        // Only what is certain: a text that stands once on each side.
        let (Some([from]), Some([_])) =
            (old.get(&text).map(Vec::as_slice), new.get(&text).map(Vec::as_slice))
        else {
            continue;
        };
        pairs.push((*from, to));
        gone.push((*from, to));
    }
    pairs.sort_by_key(|(_, to)| *to);
    left.retain(|id| !gone.iter().any(|(from, _)| from == id));
    fresh.retain(|id| !gone.iter().any(|(_, to)| to == id));
}

fn section(
    file: StateFile,
    (before, from): (&Side<'_>, SectionId),
    (after, to): (&Side<'_>, SectionId),
    found: &mut Found,
) {
    let heading = |side: &Side<'_>, id| {
        let range = side.document.section(id).heading.clone();
        side.document.source().get(range).unwrap_or_default().to_owned()
    };
    found.layout |= heading(before, from) != heading(after, to);
    let (old, new) = (name(before.document, from), name(after.document, to));
    if old != new {
        let (old, new) = (Some(old.join(" / ")), Some(new.join(" / ")));
        found.differences.push(Difference::new(file, Subject::SectionTitle, old, new));
    }
    if before.document.body_text(from) == after.document.body_text(to) {
        return;
    }
    // A list that is empty on one side may not be known there for what it is.
    let role = match (before.role(from), after.role(to)) {
        (Role::Free, role) | (role, Role::Free) => role,
        (one, other) if one == other => one,
        _ => Role::Free,
    };
    let (old, new) = (before.units(from, role), after.units(to, role));
    let paired = pair(&old, &new);
    found.layout |= paired.layout;
    let section = name(after.document, to);
    if paired.reordered {
        let order = Subject::Order { section: section.clone() };
        found.differences.push(Difference::new(file, order, None::<&str>, None::<&str>));
    }
    for change in paired.changes {
        found.differences.push(difference(file, role, &section, change));
    }
}

fn difference(file: StateFile, role: Role, section: &[String], change: UnitChange) -> Difference {
    let section = section.to_vec();
    let both = (&change.before, &change.after);
    let subject = match (role, change.key) {
        (Role::Metadata, Some(field)) => Subject::Plan { field },
        (Role::Settings(group), Some(name)) => Subject::Setting { group, name },
        (Role::Behaviours, Some(task_type)) => Subject::Behaviour { task_type },
        (Role::Directives, None) => {
            if let (Some(before), Some(after)) = both
                && let (Some((old, old_text)), Some((new, new_text))) =
                    (lifetime(before), lifetime(after))
                && old_text == new_text
                && old != new
            {
                let subject = Subject::Lifetime { text: after.clone() };
                return Difference::new(file, subject, Some(old), Some(new));
            }
            Subject::Directive
        }
        (Role::Rules, None) => Subject::Rule,
        (_, Some(field)) => Subject::SectionField { section, field },
        (_, None) if !change.under.is_empty() => {
            Subject::SectionField { section, field: change.under }
        }
        (_, None) => Subject::Item { section },
    };
    Difference::new(file, subject, change.before, change.after)
}

fn whole(file: StateFile, side: &Side<'_>, id: SectionId, added: bool, found: &mut Found) {
    // A section that holds nothing but reviews is told by them.
    if side.role(id) == Role::Reviews && side.units(id, Role::Reviews).is_empty() {
        return;
    }
    let document = side.document;
    let text = document.body_text(id).trim().to_owned();
    let (before, after) = if added { (None, Some(text)) } else { (Some(text), None) };
    let subject = Subject::Section { section: name(document, id) };
    found.differences.push(Difference::new(file, subject, before, after));
}

/// What a section is called, the document's own title included.
fn name(document: &Document, id: SectionId) -> Vec<String> {
    match document.section(id).level {
        0 => vec!["(before the first heading)".to_owned()],
        1 => vec![document.section(id).title.trim().to_owned()],
        _ => path(document, id),
    }
}

/// How many steps a directive still holds, and the text without the number.
fn lifetime(text: &str) -> Option<(u64, String)> {
    let lower = text.to_ascii_lowercase();
    let next = lower.find("next ")? + "next ".len();
    let number = text[next..].find(' ')? + next;
    let rest = text[number..].trim_start();
    let tail = rest.get(4..).filter(|_| rest[..4].eq_ignore_ascii_case("step"))?;
    let tail = tail.strip_prefix(['s', 'S']).unwrap_or(tail);
    let word = lower.get(next..number)?;
    let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let spelled = || words.iter().position(|name| *name == word).map(|at| at as u64 + 1);
    let count = word.parse().ok().or_else(spelled)?;
    Some((count, format!("{}\u{0}{tail}", &text[..next])))
}
