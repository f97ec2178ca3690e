//! What differs between two versions of the history.

use std::collections::HashMap;

use super::{
    difference::{Difference, Execution, Subject},
    walk::Changes,
};
use crate::{
    domain::StateFile,
    history::{Entry, EntryKind, each_entry},
};

const FILE: StateFile = StateFile::History;

/// Compares two whole histories.
pub(super) fn compare(before: &[u8], after: &[u8]) -> Changes {
    // Nearly always one is the beginning of the other; then only the end has to be read.
    if let Some(added) = after.strip_prefix(before).filter(|_| begins_line(before)) {
        return only(added, false);
    }
    if let Some(removed) = before.strip_prefix(after).filter(|_| begins_line(after)) {
        return only(removed, true);
    }
    let (old, new) = (entries(before), entries(after));
    let mut gone: HashMap<Key, &Entry> = numbered(&old).collect();
    let mut differences = Vec::new();
    let places: HashMap<Key, usize> =
        numbered(&old).enumerate().map(|(at, (key, _))| (key, at)).collect();
    let mut order: Vec<usize> = Vec::new();
    for (key, entry) in numbered(&new) {
        order.extend(places.get(&key).copied());
        match gone.remove(&key) {
            None => differences.push(entry_difference(None, Some(entry))),
            Some(old) if !same(old, entry) => {
                differences.push(entry_difference(Some(old), Some(entry)));
            }
            Some(_) => {}
        }
    }
    let left = numbered(&old).filter(|(key, _)| gone.contains_key(key));
    differences.extend(left.map(|(_, entry)| entry_difference(Some(entry), None)));
    if !order.is_sorted() {
        let subject = Subject::Order { section: Vec::new() };
        differences.push(Difference::new(FILE, subject, None::<&str>, None::<&str>));
    }
    Changes { differences, layout: false }
}

/// Whether an entry says the same as another of the same id.
fn same(one: &Entry, other: &Entry) -> bool {
    let says = |entry: &Entry| (entry.title.clone(), entry.time.clone(), entry.verified);
    says(one) == says(other) && one.fields == other.fields
}

/// The entries in bytes that stand on one side only.
fn only(bytes: &[u8], removed: bool) -> Changes {
    let entries = entries(bytes);
    let side = |entry| if removed { (Some(entry), None) } else { (None, Some(entry)) };
    let difference = |entry| {
        let (before, after) = side(entry);
        entry_difference(before, after)
    };
    let differences = entries.iter().map(difference).collect();
    Changes { differences, layout: false }
}

fn begins_line(before: &[u8]) -> bool {
    before.last().is_none_or(|byte| *byte == b'\n')
}

/// An id, or the title and time of an entry by hand; and its ordinal among equal ones.
type Key = (String, usize);

fn numbered(entries: &[Entry]) -> impl Iterator<Item = (Key, &Entry)> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    entries.iter().map(move |entry| {
        let name = match &entry.id {
            Some(id) => format!("#{id}"),
            None => format!("{} {:?} {:?}", entry.title, entry.time, entry.fields),
        };
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        ((name, *count), entry)
    })
}

pub(super) fn entries(bytes: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    // Reading from memory cannot fail; if it did, the text summary still tells of the bytes.
    let _ = each_entry(bytes, |entry| entries.push(entry));
    entries
}

fn entry_difference(before: Option<&Entry>, after: Option<&Entry>) -> Difference {
    let either = after.or(before);
    let id = either.and_then(|entry| entry.id).map(|id| id.to_string());
    let subject = Subject::Entry {
        id,
        time: either.and_then(|entry| entry.time.clone()),
        headline: either.map(|entry| entry.summary().heading).unwrap_or_default(),
        execution: either.and_then(execution),
    };
    let title = |entry: Option<&Entry>| entry.map(|entry| entry.title.clone());
    Difference::new(FILE, subject, title(before), title(after))
}

fn execution(entry: &Entry) -> Option<Execution> {
    entry.outcome().filter(|_| entry.kind == EntryKind::Step)?;
    let measured = ["actual_time", "actual_cost"].into_iter().filter_map(|key| entry.field(key));
    Some(Execution {
        step: entry.field("step")?.to_owned(),
        measured: measured.collect::<Vec<_>>().join(", "),
        error: entry.error().map(str::to_owned),
    })
}
