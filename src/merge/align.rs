//! Matching the parts of two versions of a list.

use std::collections::HashMap;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::identity::Place;
use super::tree::{Kind, Node};

/// How alike two texts must be for one to be taken for an edit of the other.
const LIKENESS: f32 = 0.5;
/// Comparing every text with every other is left out beyond this.
const MAX_PAIRS: usize = 4_000;

/// For each node of `new`, the node of `old` that it is a version of.
pub(super) fn versions(place: Place<'_>, old: &[Node], new: &[Node]) -> Vec<Option<usize>> {
    let mut matching = Matching { of_new: vec![None; new.len()], taken: vec![false; old.len()] };
    matching.by_identity(place, old, new);
    matching.by_title(old, new);
    let texts: (Vec<String>, Vec<String>) =
        (old.iter().map(Node::full).collect(), new.iter().map(Node::full).collect());
    matching.by_text(old, new, &texts.0, &texts.1);
    matching.by_likeness(old, new, &texts.0, &texts.1);
    matching.of_new
}

/// For each of the added nodes `new`, the added node of `old` that says the same thing.
pub(super) fn same_additions(place: Place<'_>, old: &[&Node], new: &[&Node]) -> Vec<Option<usize>> {
    let mut free: HashMap<String, Vec<usize>> = HashMap::new();
    // A file has one title, whatever it says.
    let titles = |nodes: &[&Node]| nodes.iter().filter(|node| is_title(node)).count();
    let one_title = place.parent.is_none() && titles(old) == 1 && titles(new) == 1;
    let name = |node: &Node| {
        if one_title && is_title(node) {
            return "the title".to_owned();
        }
        let name = place.identity(node).filter(|_| !place.holds_reviews());
        match (name, &node.step) {
            // Two new steps of one id and different titles are different steps.
            (Some(name), Some(step)) => format!("{name} {}", step.title),
            (Some(name), None) => name,
            (None, _) => node.full(),
        }
    };
    for (at, node) in old.iter().enumerate().rev() {
        free.entry(name(node)).or_default().push(at);
    }
    new.iter().map(|node| free.get_mut(&name(node))?.pop()).collect()
}

fn is_title(node: &Node) -> bool {
    node.kind == Kind::Section(1) && node.step.is_none()
}

struct Matching {
    of_new: Vec<Option<usize>>,
    taken: Vec<bool>,
}

impl Matching {
    fn pair(&mut self, old: usize, new: usize) {
        self.of_new[new] = Some(old);
        self.taken[old] = true;
    }

    fn is_free(&self, old: usize, new: usize) -> bool {
        !self.taken[old] && self.of_new[new].is_none()
    }

    fn by_identity(&mut self, place: Place<'_>, old: &[Node], new: &[Node]) {
        let mut free: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, node) in old.iter().enumerate().rev() {
            if let Some(name) = place.identity(node) {
                free.entry(name).or_default().push(at);
            }
        }
        for (at, node) in new.iter().enumerate() {
            let Some(name) = place.identity(node) else { continue };
            if let Some(found) = free.get_mut(&name).and_then(Vec::pop) {
                self.pair(found, at);
            }
        }
    }

    /// A step that got its id on one side only is known by its title.
    fn by_title(&mut self, old: &[Node], new: &[Node]) {
        for (at, node) in new.iter().enumerate() {
            let Some(step) = &node.step else { continue };
            let same = |(found, other): &(usize, &Node)| {
                let other = other.step.as_ref();
                self.is_free(*found, at)
                    && other.is_some_and(|o| {
                        o.title == step.title && (o.id.is_none() || step.id.is_none())
                    })
            };
            let found = old.iter().enumerate().find(same).map(|(found, _)| found);
            if let Some(found) = found {
                self.pair(found, at);
            }
        }
    }

    fn by_text(&mut self, old: &[Node], new: &[Node], old_texts: &[String], new_texts: &[String]) {
        for op in capture_diff_slices(Algorithm::Myers, old_texts, new_texts) {
            if op.tag() != DiffTag::Equal {
                continue;
            }
            for (found, at) in op.old_range().zip(op.new_range()) {
                if self.is_free(found, at) && old[found].kind == new[at].kind {
                    self.pair(found, at);
                }
            }
        }
        // What was moved.
        let mut free: HashMap<(&str, Kind), Vec<usize>> = HashMap::new();
        for (found, text) in old_texts.iter().enumerate().rev() {
            if !self.taken[found] {
                free.entry((text, old[found].kind)).or_default().push(found);
            }
        }
        for (at, text) in new_texts.iter().enumerate() {
            if self.of_new[at].is_none()
                && let Some(found) = free.get_mut(&(text.as_str(), new[at].kind)).and_then(Vec::pop)
            {
                self.pair(found, at);
            }
        }
    }

    /// What was edited: the most alike first.
    fn by_likeness(
        &mut self,
        old: &[Node],
        new: &[Node],
        old_texts: &[String],
        new_texts: &[String],
    ) {
        let left: Vec<usize> = (0..old.len()).filter(|at| !self.taken[*at]).collect();
        let right: Vec<usize> = (0..new.len()).filter(|at| self.of_new[*at].is_none()).collect();
        if left.len() * right.len() > MAX_PAIRS {
            return;
        }
        let mut pairs = Vec::new();
        for &found in &left {
            for &at in &right {
                let has_id = |node: &Node| node.step.as_ref().is_some_and(|s| s.id.is_some());
                if old[found].kind == new[at].kind && !(has_id(&old[found]) && has_id(&new[at])) {
                    let alike = likeness(&old_texts[found], &new_texts[at]);
                    if alike >= LIKENESS {
                        pairs.push((alike, found, at));
                    }
                }
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for (_, found, at) in pairs {
            if self.is_free(found, at) {
                self.pair(found, at);
            }
        }
    }
}

fn likeness(old: &str, new: &str) -> f32 {
    let words = |text: &str| -> Vec<String> {
        text.split_whitespace().take(400).map(str::to_owned).collect()
    };
    let (old, new) = (words(old), words(new));
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let same: usize =
        ops.iter().filter(|op| op.tag() == DiffTag::Equal).map(|op| op.old_range().len()).sum();
    let all = old.len() + new.len();
    // The bullet alone makes no likeness.
    if same < 2 || all == 0 { 0.0 } else { 2.0 * same as f32 / all as f32 }
}
