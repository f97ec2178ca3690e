//! What follows from the merged steps of a plan: their numbers, the step at hand, the status.

use std::collections::{HashMap, HashSet};

use super::markdown::Woven;
use super::tree::{Kind, Node, StepMark, Tree, fold};
use crate::domain::{PlanRole, StepId, StepRole, Workflow, step_at_hand};

/// Names the steps in `depends_on` by their ids where the versions number them differently.
pub(super) fn prepare(trees: &mut [Tree]) {
    let numbers: Vec<HashMap<u32, StepMark>> = trees
        .iter()
        .map(|tree| steps(&tree.root).into_iter().map(|step| (step.number, step.clone())).collect())
        .collect();
    let names = |number: &u32| -> HashSet<String> {
        let named = numbers.iter().filter_map(|known| known.get(number));
        named.map(|step| step.id.clone().unwrap_or_else(|| step.title.clone())).collect()
    };
    let all: HashSet<u32> = numbers.iter().flat_map(|known| known.keys().copied()).collect();
    if all.iter().all(|number| names(number).len() < 2) {
        return;
    }
    for (tree, known) in trees.iter_mut().zip(&numbers) {
        name_dependencies(&mut tree.root, known);
    }
}

fn name_dependencies(node: &mut Node, known: &HashMap<u32, StepMark>) {
    if node.kind == Kind::Item && node.folded().as_deref() == Some("depends_on") {
        let word = |text: &str| {
            let bare = text.trim().trim_start_matches('#');
            let id = bare.parse().ok().and_then(|number: u32| known.get(&number)?.id.clone());
            id.map_or_else(|| text.to_owned(), |id| text.replace(text.trim(), &id))
        };
        let text = node.value.trim();
        let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let words: Vec<String> = inner.unwrap_or(text).split(',').map(word).collect();
        let words = words.join(",");
        node.value = if inner.is_some() { format!("[{words}]") } else { words };
    }
    for child in &mut node.children {
        name_dependencies(child, known);
    }
}

/// The mark of a step that both sides have.
pub(super) fn step_mark(
    base: Option<&Node>,
    ours: &Node,
    theirs: &Node,
    title: &str,
) -> Option<StepMark> {
    let (our, their) = (ours.step.as_ref()?, theirs.step.as_ref()?);
    let base = base.and_then(|node| node.step.as_ref());
    let number = match base {
        Some(base) if base.number == our.number => their.number,
        Some(base) if base.number == their.number => our.number,
        _ => our.number.max(their.number),
    };
    let id = our.id.as_ref().min(their.id.as_ref()).or(our.id.as_ref()).or(their.id.as_ref());
    Some(StepMark { number, id: id.cloned(), title: title.to_owned() })
}

/// Numbers steps and reviews anew and works out what follows from them.
pub(super) fn finish(root: &mut Woven, trees: &[Tree], workflow: &Workflow) {
    let in_line = trees.iter().all(|tree| {
        let numbers = steps(&tree.root);
        numbers.iter().zip(1..).all(|(step, number)| step.number == number)
    });
    let mut last = 0;
    each_step(root, &mut |step| {
        let Some(mark) = &mut step.step else { return };
        let number = if in_line || mark.number <= last { last + 1 } else { mark.number };
        if mark.number != number || !step.prefix.contains(&number.to_string()) {
            renumber(&mut step.prefix, number);
        }
        (mark.number, last) = (number, number);
    });
    name_steps(root);
    name_reviews(root);
    let mut roles = Vec::new();
    each_step(root, &mut |step| {
        let status = field(step, "status").map(|status| bare(&status.value));
        let number = step.step.as_ref().map_or(0, |mark| mark.number);
        roles.push((number, workflow.role_of_status(status)));
    });
    let Some(metadata) = metadata(root) else { return };
    if trees.iter().skip(1).any(|tree| follows_steps(tree, workflow))
        && let Some(current) = field_mut(metadata, "current_step")
    {
        current.value = step_at_hand(&roles).to_string();
    }
    let is_open = roles.iter().any(|(_, role)| !role.is_some_and(StepRole::is_finished));
    if let Some(status) = field_mut(metadata, "status")
        && is_open
        && workflow.plan_role(bare(&status.value)) == Some(PlanRole::Succeeded)
        && let Some(active) = trees.iter().find_map(|tree| active_status(tree, workflow))
    {
        status.value = active;
    }
}

/// Whether the step at hand is the one that follows from the steps.
fn follows_steps(tree: &Tree, workflow: &Workflow) -> bool {
    let mut roles = Vec::new();
    each_step_of(&tree.root, &mut |step| {
        let status = step.children.iter().find(|child| is_field(child, "status"));
        let status = status.map(|status| bare(&status.value));
        let number = step.step.as_ref().map_or(0, |mark| mark.number);
        roles.push((number, workflow.role_of_status(status)));
    });
    let current = metadata_field(&tree.root, "current_step");
    current.is_some_and(|text| text == step_at_hand(&roles).to_string())
}

/// The status of a plan that is being worked on, as written.
fn active_status(tree: &Tree, workflow: &Workflow) -> Option<String> {
    let status = metadata_field(&tree.root, "status")?;
    (workflow.plan_role(bare(&status)) == Some(PlanRole::Active)).then_some(status)
}

fn bare(value: &str) -> &str {
    value.trim().trim_matches(['"', '`'])
}

/// Both sides may have given the same id to different new steps: the second gets another one.
fn name_steps(root: &mut Woven) {
    let mut all = HashSet::new();
    each_step(root, &mut |step| all.extend(step.step.as_ref().and_then(|mark| mark.id.clone())));
    let mut seen = HashSet::new();
    each_step(root, &mut |step| {
        let Some(mark) = &mut step.step else { return };
        let Some(id) = mark.id.clone() else { return };
        if seen.insert(id) {
            return;
        }
        // From the title alone, so that every merge of these sides gives the same id.
        let hash = mark.title.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let new = StepId::generate(hash, |text| all.contains(text)).to_string();
        all.insert(new.clone());
        seen.insert(new.clone());
        mark.id = Some(new.clone());
        if let Some(field) = field_mut(step, "id") {
            field.value = new;
        }
    });
}

/// Both sides may have opened a review of the same name: the second gets the next free one.
fn name_reviews(root: &mut Woven) {
    let Some(reviews) = find(root, &|node| named(node, "reviews")) else { return };
    let number =
        |node: &Woven| -> Option<u64> { node.name.as_deref()?.strip_prefix('r')?.parse().ok() };
    let mut next = reviews.children.iter().filter_map(number).max().unwrap_or(0) + 1;
    let mut seen = HashSet::new();
    for review in &mut reviews.children {
        let Some(name) = review.name.clone().filter(|_| number(review).is_some()) else { continue };
        if seen.insert(name.clone()) {
            continue;
        }
        let new = format!("r{next}");
        if let Some(at) = review.prefix.rfind(&name) {
            review.prefix.replace_range(at..at + name.len(), &new);
            review.name = Some(new);
            next += 1;
        }
    }
}

fn renumber(prefix: &mut String, number: u32) {
    let Some(start) = prefix.find(|c: char| c.is_ascii_digit()) else { return };
    let rest = &prefix[start..];
    let width = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    prefix.replace_range(start..start + width, &number.to_string());
}

fn steps(root: &Node) -> Vec<&StepMark> {
    let mut found = Vec::new();
    fn walk<'n>(node: &'n Node, found: &mut Vec<&'n StepMark>) {
        match &node.step {
            Some(step) => found.push(step),
            None => node.children.iter().for_each(|child| walk(child, found)),
        }
    }
    walk(root, &mut found);
    found
}

fn each_step_of(node: &Node, act: &mut dyn FnMut(&Node)) {
    if node.step.is_some() {
        act(node);
        return;
    }
    node.children.iter().for_each(|child| each_step_of(child, act));
}

fn each_step(node: &mut Woven, act: &mut dyn FnMut(&mut Woven)) {
    if node.step.is_some() {
        act(node);
        return;
    }
    node.children.iter_mut().for_each(|child| each_step(child, act));
}

fn named(node: &Woven, name: &str) -> bool {
    node.step.is_none() && node.name.as_deref().is_some_and(|found| fold(found) == name)
}

fn find<'w>(node: &'w mut Woven, wanted: &dyn Fn(&Woven) -> bool) -> Option<&'w mut Woven> {
    if wanted(node) {
        return Some(node);
    }
    node.children.iter_mut().find_map(|child| find(child, wanted))
}

/// The section called *Metadata*, or else the first that has a status and is no step.
fn metadata(root: &mut Woven) -> Option<&mut Woven> {
    let is_called = |node: &Woven| named(node, "metadata");
    if find(root, &is_called).is_some() {
        return find(root, &is_called);
    }
    find(root, &|node| {
        let is_section = matches!(node.kind, Kind::Section(_) | Kind::Root);
        is_section && node.step.is_none() && field(node, "status").is_some()
    })
}

fn metadata_field(node: &Node, key: &str) -> Option<String> {
    if node.step.is_some() {
        return None;
    }
    let has_status = node.children.iter().any(|child| is_field(child, "status"));
    if has_status {
        let found = node.children.iter().find(|child| is_field(child, key))?;
        return Some(found.value.trim().to_owned());
    }
    node.children.iter().find_map(|child| metadata_field(child, key))
}

fn is_field(node: &Node, key: &str) -> bool {
    node.kind == Kind::Item && node.folded().as_deref() == Some(key)
}

fn field<'w>(node: &'w Woven, key: &str) -> Option<&'w Woven> {
    node.children.iter().find(|child| child.kind == Kind::Item && named(child, key))
}

fn field_mut<'w>(node: &'w mut Woven, key: &str) -> Option<&'w mut Woven> {
    node.children.iter_mut().find(|child| child.kind == Kind::Item && named(child, key))
}
