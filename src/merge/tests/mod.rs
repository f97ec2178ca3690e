mod agreement;
mod boxes;
mod files;
mod laws;
mod log;
mod resolving;

use super::{Conflict, merge};
use crate::domain::{StateFile, Workflow};

/// The merged text and its conflicts; swapping the sides must give the same meaning.
fn merged(file: StateFile, base: &str, ours: &str, theirs: &str) -> (String, Vec<Conflict>) {
    let bytes = |text: &str| Some(text.to_owned().into_bytes());
    let one = |a: &str, b: &str| {
        let (base, a, b) = (bytes(base), bytes(a), bytes(b));
        let workflow = Workflow::builtin();
        let merged = merge(file, base.as_deref(), a.as_deref(), b.as_deref(), workflow);
        let merged = merged.unwrap().unwrap();
        (String::from_utf8(merged.bytes).unwrap(), merged.conflicts)
    };
    let (text, conflicts) = one(ours, theirs);
    let (other, swapped) = one(theirs, ours);
    assert_eq!(conflicts.len(), swapped.len(), "{text}\n-----\n{other}");
    for (conflict, swapped) in conflicts.iter().zip(&swapped) {
        assert_eq!(conflict.field, swapped.field);
        assert_eq!((&conflict.ours, &conflict.theirs), (&swapped.theirs, &swapped.ours));
    }
    if conflicts.is_empty() {
        assert_eq!(text, other, "swapping the sides changed the outcome");
    }
    (text, conflicts)
}

/// The merged text, which has no conflicts.
fn clean(file: StateFile, base: &str, ours: &str, theirs: &str) -> String {
    let (text, conflicts) = merged(file, base, ours, theirs);
    assert!(conflicts.is_empty(), "{text}");
    text
}
