//! What differs between two documents, value by value.

use std::{collections::HashMap, ops::Range};

use serde_json::Value;

use super::tree::{Kind, NodeId, Tree};
use super::{JsonDocument, Path};

/// A value that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonDifference {
    /// Where it is; on the side after, if it is there.
    pub path: Path,
    /// What was there.
    pub before: Option<Value>,
    /// What is there.
    pub after: Option<Value>,
    /// Whether this is the end of an array: the values are lists of what stands there.
    pub is_end: bool,
}

impl JsonDocument {
    /// What differs from `self` to `after`. Objects are compared key by key; of an array what is
    /// the same at its beginning and end is left out. White space, the order of keys and escapes
    /// do not count; the text of a number does.
    pub fn differences(&self, after: &Self) -> Vec<JsonDifference> {
        let mut found = Vec::new();
        let (old, new) = (self.tree(), after.tree());
        let sides = Sides { old, new };
        sides.compare(old.root(), new.root(), &mut Path::root(), &mut found);
        found
    }
}

struct Sides<'t> {
    old: &'t Tree,
    new: &'t Tree,
}

impl Sides<'_> {
    fn compare(&self, a: NodeId, b: NodeId, path: &mut Path, found: &mut Vec<JsonDifference>) {
        if self.old.same_tokens(a, self.new, b) {
            return;
        }
        match (self.old.kind(a), self.new.kind(b)) {
            (Kind::Object, Kind::Object) => self.objects(a, b, path, found),
            (Kind::Array, Kind::Array) => self.arrays(a, b, path, found),
            (one, other) => {
                let (mut before, mut after) = (self.old.value(a), self.new.value(b));
                if before == after && (one, other) != (Kind::Number, Kind::Number) {
                    return;
                }
                // Two numbers that are the same double are compared by their text.
                if before == after {
                    before = self.old.raw(a).into();
                    after = self.new.raw(b).into();
                }
                let (before, after) = (Some(before), Some(after));
                found.push(JsonDifference { path: path.clone(), before, after, is_end: false });
            }
        }
    }

    fn objects(&self, a: NodeId, b: NodeId, path: &Path, found: &mut Vec<JsonDifference>) {
        let mut gone: HashMap<_, _> =
            self.old.children(a).map(|child| (self.old.key(child), child)).collect();
        let mut added = Vec::new();
        for child in self.new.children(b) {
            let key = self.new.key(child);
            match gone.remove(&key) {
                Some(old) => self.compare(old, child, &mut path.join(key), found),
                None => added.push(one(path.join(key), None, Some(self.new.value(child)))),
            }
        }
        for child in self.old.children(a).filter(|child| gone.contains_key(&self.old.key(*child))) {
            let path = path.join(self.old.key(child));
            found.push(one(path, Some(self.old.value(child)), None));
        }
        found.append(&mut added);
    }

    fn arrays(&self, a: NodeId, b: NodeId, path: &Path, found: &mut Vec<JsonDifference>) {
        let old: Vec<NodeId> = self.old.children(a).collect();
        let new: Vec<NodeId> = self.new.children(b).collect();
        let same = |(x, y): &(&NodeId, &NodeId)| self.old.same_tokens(**x, self.new, **y);
        let start = old.iter().zip(&new).take_while(same).count();
        let pairs = old[start..].iter().rev().zip(new[start..].iter().rev());
        let end = pairs.take_while(same).count();
        let (x, y) = (start..old.len() - end, start..new.len() - end);
        // As many on both sides, or at the very end: place by place.
        let both = x.len().min(y.len());
        for at in start..start + both {
            self.compare(old[at], new[at], &mut path.join(at.to_string()), found);
        }
        let rest = |range: Range<usize>, all: &[NodeId], tree: &Tree| -> Vec<Value> {
            range.map(|at| tree.value(all[at])).collect()
        };
        let went = rest(start + both..x.end, &old, self.old);
        let came = rest(start + both..y.end, &new, self.new);
        if end == 0 && (!went.is_empty() || !came.is_empty()) {
            let list = |all: Vec<Value>| (!all.is_empty()).then_some(Value::Array(all));
            let (before, after) = (list(went), list(came));
            found.push(JsonDifference { path: path.clone(), before, after, is_end: true });
            return;
        }
        let at = |place: usize| path.join((start + both + place).to_string());
        found.extend(went.into_iter().enumerate().map(|(i, value)| one(at(i), Some(value), None)));
        found.extend(came.into_iter().enumerate().map(|(i, value)| one(at(i), None, Some(value))));
    }
}

fn one(path: Path, before: Option<Value>, after: Option<Value>) -> JsonDifference {
    JsonDifference { path, before, after, is_end: false }
}
