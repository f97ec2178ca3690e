//! Weaving three versions of a markdown file into one, part by part.

use crate::text::markdown::Document;

use super::align::{same_additions, versions};
use super::compose::compose;
use super::field::{self, settle};
use super::identity::Place;
use super::marker::{Marker, Version};
use super::order::order;
use super::tree::{Kind, Node, StepMark, Tree};
use super::{MergeError, plan};
use crate::domain::{StateFile, Workflow};

/// The three versions of something, in this order.
pub(super) const BASE: usize = 0;
pub(super) const OURS: usize = 1;
pub(super) const THEIRS: usize = 2;

const SIDES: [&str; 3] = ["the base", "our side", "their side"];

/// A merged part.
#[derive(Clone, Debug)]
pub(super) struct Woven {
    pub(super) kind: Kind,
    /// The white space before it in the three versions.
    pub(super) gaps: [Option<String>; 3],
    /// The places of the part in the three versions.
    pub(super) sources: [Option<usize>; 3],
    pub(super) prefix: String,
    pub(super) value: String,
    pub(super) name: Option<String>,
    pub(super) step: Option<StepMark>,
    pub(super) children: Vec<Woven>,
}

/// Merges a markdown file.
pub(super) fn merge(
    file: StateFile,
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    workflow: &Workflow,
) -> Result<Vec<u8>, MergeError> {
    let mut documents = Vec::with_capacity(3);
    for (side, bytes) in SIDES.into_iter().zip([base, ours, theirs]) {
        let document = Document::from_bytes(bytes.to_vec());
        documents.push(document.map_err(|e| MergeError { file, side, message: e.to_string() })?);
    }
    let newline = newline(&documents, base.is_empty());
    if let Some(newline) = newline {
        for (at, side) in SIDES.into_iter().enumerate() {
            let text = documents[at].source().replace("\r\n", "\n").replace('\n', newline);
            let document = Document::parse(text);
            documents[at] =
                document.map_err(|e| MergeError { file, side, message: e.to_string() })?;
        }
    }
    let mut trees: Vec<Tree> = documents.iter().map(Tree::read).collect();
    if file == StateFile::Plan {
        plan::prepare(&mut trees);
    }
    let place = Place { file, parent: None };
    let [base_tree, our_tree, their_tree] = [&trees[BASE], &trees[OURS], &trees[THEIRS]];
    let known = (!base.is_empty()).then_some(&base_tree.root);
    let roots = [known, Some(&our_tree.root), Some(&their_tree.root)];
    let Some(mut root) = merge_node(place, roots) else { return Ok(ours.to_vec()) };
    if file == StateFile::Plan {
        plan::finish(&mut root, &trees, workflow);
    }
    let tail = if our_tree.tail == base_tree.tail { &their_tree.tail } else { &our_tree.tail };
    Ok(compose(&root, tail, documents[OURS].newline()).into_bytes())
}

/// The line end to bring all versions to, when they do not agree.
fn newline(documents: &[Document], is_new: bool) -> Option<&'static str> {
    let [base, ours, theirs] = [BASE, OURS, THEIRS].map(|at| documents[at].newline());
    let chosen = if !is_new && ours == base { theirs } else { ours };
    (ours != theirs || (!is_new && ours != base)).then_some(chosen)
}

/// Merges one part; `None` when it is gone.
fn merge_node(place: Place<'_>, versions: [Option<&Node>; 3]) -> Option<Woven> {
    match versions {
        [_, None, None] => None,
        [None, Some(_), None] | [None, None, Some(_)] => Some(copied(&versions)),
        [Some(base), Some(left), None] | [Some(base), None, Some(left)] => {
            if left.full() == base.full() || field::only_counted_down(place, base, left) {
                return None;
            }
            Some(kept_against_removal(versions, base))
        }
        [base, Some(ours), Some(theirs)] => Some(woven(place, base, ours, theirs)),
    }
}

/// One side removed what the other changed.
fn kept_against_removal(versions: [Option<&Node>; 3], base: &Node) -> Woven {
    let mut kept = copied(&versions);
    let version = |node: Option<&Node>| match (node, kept.kind) {
        (None, _) => Version::Absent,
        (Some(_), Kind::Section(_)) => Version::Section,
        (Some(node), _) => Version::Text(node.value.clone()),
    };
    let [ours, theirs] = [version(versions[OURS]), version(versions[THEIRS])];
    let marker = Marker { base: version(Some(base)), ours, theirs }.write();
    if matches!(kept.kind, Kind::Section(_)) {
        let first = kept.children.first().map(|child| child.gaps.clone());
        let note = Woven {
            kind: Kind::Text,
            gaps: first.unwrap_or_default(),
            sources: [None; 3],
            prefix: String::new(),
            value: marker,
            name: None,
            step: None,
            children: Vec::new(),
        };
        kept.children.insert(0, note);
    } else {
        kept.value = marker;
    }
    kept
}

fn woven(place: Place<'_>, base: Option<&Node>, ours: &Node, theirs: &Node) -> Woven {
    let all = [base, Some(ours), Some(theirs)];
    let mut out = blank(ours, all);
    out.prefix = prefix(base, ours, theirs);
    out.value = match settle(place, base, ours, theirs) {
        Some(value) => value,
        None => {
            if out.prefix.is_empty()
                && let Kind::Section(level) = out.kind
            {
                out.prefix = format!("{} ", "#".repeat(usize::from(level)));
            }
            let text = |node: &Node| Version::Text(node.value.clone());
            let base = base.map_or(Version::Absent, text);
            Marker { base, ours: text(ours), theirs: text(theirs) }.write()
        }
    };
    out.name =
        if base.is_some_and(|b| b.name == ours.name) { &theirs.name } else { &ours.name }.clone();
    out.step = plan::step_mark(base, ours, theirs, &out.value);
    let name = ours.folded();
    let inner = Place { file: place.file, parent: name.as_deref() };
    out.children = if ours.full() == theirs.full() && base.is_none() {
        copied(&[None, Some(ours), Some(theirs)]).children
    } else {
        children(inner, base.map_or(&[], |node| &node.children), &ours.children, &theirs.children)
    };
    out
}

/// Bullet, box and key are of one side; a ticked box stays ticked.
fn prefix(base: Option<&Node>, ours: &Node, theirs: &Node) -> String {
    let (our, their) = (&ours.prefix, &theirs.prefix);
    match base.map(|node| &node.prefix) {
        Some(base) if base == our => their,
        Some(base) if base == their => our,
        _ if our == their => our,
        _ => {
            let ticked = |text: &str| text.contains("[x]") || text.contains("[X]");
            match (ticked(our), ticked(their)) {
                (true, false) => our,
                (false, true) => their,
                _ => our.max(their),
            }
        }
    }
    .clone()
}

fn children(place: Place<'_>, base: &[Node], ours: &[Node], theirs: &[Node]) -> Vec<Woven> {
    let (of_ours, of_theirs) = (versions(place, base, ours), versions(place, base, theirs));
    let mut parts: Vec<[Option<&Node>; 3]> =
        base.iter().map(|node| [Some(node), None, None]).collect();
    let mut added: [Vec<&Node>; 2] = [Vec::new(), Vec::new()];
    for (side, nodes, found) in [(OURS, ours, &of_ours), (THEIRS, theirs, &of_theirs)] {
        for (node, found) in nodes.iter().zip(found) {
            match found {
                Some(at) => parts[*at][side] = Some(node),
                None => added[side - 1].push(node),
            }
        }
    }
    let [our_added, their_added] = added;
    let same = same_additions(place, &our_added, &their_added);
    let mut new: Vec<[Option<&Node>; 3]> =
        our_added.iter().map(|node| [None, Some(*node), None]).collect();
    for (node, same) in their_added.iter().zip(same) {
        match same {
            Some(at) => new[at][THEIRS] = Some(node),
            None => new.push([None, None, Some(node)]),
        }
    }
    // Numbered by what they say, so that the sides can be swapped.
    new.sort_by_cached_key(|part| part.iter().flatten().map(|node| node.full()).min());
    parts.extend(new);
    let listed = |side: usize, nodes: &[Node]| -> Vec<usize> {
        let place_of = |node: &Node| {
            parts.iter().position(|part| part[side].is_some_and(|other| other.seq == node.seq))
        };
        match nodes.len() {
            0..=64 => nodes.iter().filter_map(place_of).collect(),
            _ => {
                let known = parts.iter().enumerate();
                let known = known.filter_map(|(at, part)| Some((part[side]?.seq, at)));
                let mut known: Vec<(usize, usize)> = known.collect();
                known.sort_unstable();
                known.into_iter().map(|(_, at)| at).collect()
            }
        }
    };
    let merged = order(base.len(), &listed(OURS, ours), &listed(THEIRS, theirs));
    let nodes = merged.into_iter().filter_map(|at| merge_node(place, parts[at]));
    // A block behind a subsection would become part of it.
    let (mut blocks, sections): (Vec<Woven>, Vec<Woven>) =
        nodes.partition(|node| !matches!(node.kind, Kind::Section(_)));
    blocks.extend(sections);
    blocks
}

/// The one version there is, as it is; of two that are equal, ours.
fn copied(versions: &[Option<&Node>; 3]) -> Woven {
    let side = if versions[OURS].is_some() { OURS } else { THEIRS };
    let Some(node) = versions[side] else { unreachable!("one side has it") };
    let mut out = blank(node, *versions);
    out.prefix = node.prefix.clone();
    out.value = node.value.clone();
    out.name = node.name.clone();
    out.step = node.step.clone();
    let child = |child| {
        let mut one = [None; 3];
        one[side] = Some(child);
        copied(&one)
    };
    out.children = node.children.iter().map(child).collect();
    out
}

fn blank(node: &Node, versions: [Option<&Node>; 3]) -> Woven {
    Woven {
        kind: node.kind,
        gaps: versions.map(|node| node.map(|node| node.gap.clone())),
        sources: versions.map(|node| node.map(|node| node.seq)),
        prefix: String::new(),
        value: String::new(),
        name: None,
        step: None,
        children: Vec::new(),
    }
}
