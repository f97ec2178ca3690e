//! Three versions of a markdown file into one: the walk over two pairings with the same base.

use std::collections::HashMap;

use super::MergeError;
use super::compose::order;
use super::compose::{compose, space};
use super::conflict::{Marker, Version};
use super::field::{self, FieldValue};
use super::moves::Moves;
use super::needs::Needs;
use super::{ids, plan, references, step};
use crate::domain::outline::{Outline, Pairing, SectionRole, StepHeading, ThingId, ThingKind};
use crate::domain::{StateFile, Workflow};
use crate::text::markdown::Document;

/// The three versions of something, in this order.
pub(super) const BASE: usize = 0;
pub(super) const OURS: usize = 1;
pub(super) const THEIRS: usize = 2;

const SIDES: [&str; 3] = ["the base", "our side", "their side"];

/// One thing in the three versions.
pub(super) type Versions = [Option<ThingId>; 3];

/// A merged thing.
#[derive(Clone, Debug)]
pub(super) struct MergedThing {
    pub(super) kind: ThingKind,
    pub(super) role: SectionRole,
    /// The white space before it in the three versions.
    pub(super) gaps: [Option<String>; 3],
    /// The thing in the three versions.
    pub(super) sources: Versions,
    pub(super) prefix: String,
    pub(super) value: String,
    pub(super) name: Option<String>,
    pub(super) step: Option<StepHeading>,
    pub(super) children: Vec<MergedThing>,
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
    if let Some(newline) = newline(&documents, base.is_empty()) {
        for (at, side) in SIDES.into_iter().enumerate() {
            let text = documents[at].source().replace("\r\n", "\n").replace('\n', newline);
            let document = Document::parse(text);
            documents[at] =
                document.map_err(|e| MergeError { file, side, message: e.to_string() })?;
        }
    }
    let mut outlines = [BASE, OURS, THEIRS].map(|at| Outline::read(file, &documents[at]));
    let titled = match file {
        StateFile::Plan => {
            ids::unite(&mut outlines);
            references::by_id(&mut outlines);
            step::name_dependencies(&mut outlines)
        }
        _ => step::TitledLists::default(),
    };
    let walk = Walk::new(file, &outlines);
    let known = (!base.is_empty()).then_some(Outline::ROOT);
    let mut root = walk.merge_both([known, Some(Outline::ROOT), Some(Outline::ROOT)]);
    if file == StateFile::Plan {
        plan::finish(&mut root, &outlines, &titled, workflow);
    }
    let [base, ours, theirs] = outlines.each_ref().map(|outline| outline.tail);
    let text = compose(&root, space(base, ours, theirs), documents[OURS].newline());
    Ok(match file {
        StateFile::Plan => references::by_number(&text, &plan::numbers(&mut root)).into_bytes(),
        _ => text.into_bytes(),
    })
}

/// The line end to bring all versions to, when they do not agree.
fn newline(documents: &[Document], is_new: bool) -> Option<&'static str> {
    let [base, ours, theirs] = [BASE, OURS, THEIRS].map(|at| documents[at].newline());
    let chosen = if !is_new && ours == base { theirs } else { ours };
    (ours != theirs || (!is_new && ours != base)).then_some(chosen)
}

struct Walk<'o> {
    file: StateFile,
    outlines: &'o [Outline<'o>; 3],
    moves: Moves<'o>,
    needs: Needs,
}

impl<'o> Walk<'o> {
    fn new(file: StateFile, outlines: &'o [Outline<'o>; 3]) -> Self {
        let pairing = |side: usize| Pairing::of(&outlines[BASE], &outlines[side]);
        let moves = Moves::find(outlines, [pairing(OURS), pairing(THEIRS)]);
        Self { file, outlines, moves, needs: Needs::count(outlines) }
    }

    /// Merges one thing; `None` when it is gone.
    fn merge_thing(&self, versions: Versions) -> Option<MergedThing> {
        match versions {
            [_, None, None] => None,
            [None, Some(_), None] | [None, None, Some(_)] => Some(self.copy_version(versions)),
            [Some(base), Some(left), None] => self.removed(versions, base, (OURS, left)),
            [Some(base), None, Some(left)] => self.removed(versions, base, (THEIRS, left)),
            [_, Some(_), Some(_)] => Some(self.merge_both(versions)),
        }
    }

    /// What it says with everything that stays below it.
    fn full_text(&self, side: usize, id: ThingId) -> String {
        self.outlines[side].full_text(id, &|child| self.moves.stays(side, child))
    }

    /// One side removed a thing: it is gone, unless the other side changed it or came to rely on it.
    fn removed(
        &self,
        versions: Versions,
        base: ThingId,
        (side, left): (usize, ThingId),
    ) -> Option<MergedThing> {
        let is_directive = self.outlines[BASE].get(base).role == SectionRole::Directives;
        let (known, now) = (self.full_text(BASE, base), self.full_text(side, left));
        let is_unchanged = known == now
            || is_directive && field::is_counted_down(&known, &now)
            || self.only_removes_nested(base, side, left);
        if is_unchanged && !self.needs.has_grown(base, (side, left)) {
            return None;
        }
        let mut kept = self.copy_version(versions);
        let is_plan = self.file == StateFile::Plan && kept.kind.is_item();
        if is_plan && kept.name.as_deref().is_some_and(step::is_derived) {
            return Some(kept);
        }
        let version = |side: usize| match (versions[side], kept.kind) {
            (None, _) => Version::Absent,
            (Some(_), ThingKind::Section(_)) => Version::Section,
            (Some(id), _) => Version::Text(self.outlines[side].get(id).value.to_string()),
        };
        let [base, ours, theirs] = [BASE, OURS, THEIRS].map(version);
        let marker = Marker { base, ours, theirs }.write();
        if matches!(kept.kind, ThingKind::Section(_)) {
            let gaps = kept.children.first().map(|child| child.gaps.clone()).unwrap_or_default();
            let note = MergedThing {
                kind: ThingKind::Text,
                role: kept.role,
                gaps,
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
        Some(kept)
    }

    /// What stays of an item that one side removed when the other removed the line below it: what was
    /// nested there is nested in this item now, although nobody put it there.
    fn left_behind(&self, versions: Versions) -> Option<Vec<MergedThing>> {
        let (base, side, left) = match versions {
            [Some(base), Some(left), None] => (base, OURS, left),
            [Some(base), None, Some(left)] => (base, THEIRS, left),
            _ => return None,
        };
        let (known, now) = (self.outlines[BASE].get(base), self.outlines[side].get(left));
        let is_same = known.kind == ThingKind::Item
            && now.kind == ThingKind::Item
            && (known.prefix, &known.value) == (now.prefix, &now.value);
        if !is_same {
            return None;
        }
        let mut found = Vec::new();
        for child in self.outlines[side].children(left) {
            match self.moves.base_of(side, child) {
                Some(before) if self.outlines[BASE].get(before).parent == base => {
                    if !self.only_removes_nested(before, side, child) {
                        return None;
                    }
                }
                None if self.was_elsewhere(side, child) => {
                    let mut one = [None; 3];
                    one[side] = Some(child);
                    found.push(self.copy_version(one));
                }
                _ => return None,
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// Whether something that is new in its place stood elsewhere before, where it is gone.
    fn was_elsewhere(&self, side: usize, id: ThingId) -> bool {
        let (base, text) = (&self.outlines[BASE], self.full_text(side, id));
        let mut gone = base.ids().filter(|known| {
            base.get(*known).kind == ThingKind::Item && self.moves.of_base(*known)[side].is_none()
        });
        gone.any(|known| self.full_text(BASE, known) == text)
    }

    /// Whether a side only removed what was nested in an item; removing the item removes that as
    /// well.
    fn only_removes_nested(&self, base: ThingId, side: usize, left: ThingId) -> bool {
        let (known, now) = (self.outlines[BASE].get(base), self.outlines[side].get(left));
        let is_same = known.kind == ThingKind::Item
            && now.kind == ThingKind::Item
            && (known.prefix, &known.value) == (now.prefix, &now.value);
        let mut children =
            self.outlines[side].children(left).filter(|child| self.moves.stays(side, *child));
        is_same
            && children.all(|child| {
                let before = self.moves.base_of(side, child);
                before.is_some_and(|before| {
                    self.outlines[BASE].get(before).parent == base
                        && self.only_removes_nested(before, side, child)
                })
            })
    }

    /// The one version there is, as it is; of two that are equal, ours. What the other side changed
    /// in what was moved here is merged.
    fn copy_version(&self, versions: Versions) -> MergedThing {
        let side = if versions[OURS].is_some() { OURS } else { THEIRS };
        let Some(id) = versions[side] else { unreachable!("one side has it") };
        let outline = &self.outlines[side];
        let mut out = self.empty_thing(side, id, versions);
        out.prefix = outline.get(id).prefix.to_owned();
        out.value = outline.get(id).value.to_string();
        out.step = outline.get(id).any_step().cloned();
        let children = outline.children(id).filter(|child| self.moves.stays(side, *child));
        let child = |child: ThingId| match self.moves.versions(side, child) {
            Some(moved) => self.merge_thing(moved),
            None => {
                let mut one = [None; 3];
                one[side] = Some(child);
                Some(self.copy_version(one))
            }
        };
        out.children = children.filter_map(child).collect();
        out
    }

    /// A thing that both sides have.
    fn merge_both(&self, versions: Versions) -> MergedThing {
        let [base, Some(our), Some(their)] = versions else { unreachable!("both sides have it") };
        let get = |side: usize, id: ThingId| self.outlines[side].get(id);
        let (ours, theirs) = (get(OURS, our), get(THEIRS, their));
        let known = base.map(|id| get(BASE, id));
        let mut out = self.empty_thing(OURS, our, versions);
        // A heading of another level has the marks of that level, however the other side writes its own.
        let is_theirs = match known.map(|known| known.kind) {
            Some(kind) if kind == ours.kind => true,
            Some(kind) if kind == theirs.kind => false,
            _ => theirs.prefix > ours.prefix,
        };
        let chosen = if is_theirs { theirs } else { ours };
        out.kind = chosen.kind;
        out.role = if ours.role == SectionRole::Free { theirs.role } else { ours.role };
        out.prefix = match ours.kind == theirs.kind {
            true => prefix(known.map(|known| known.prefix), ours.prefix, theirs.prefix),
            false => chosen.prefix.to_owned(),
        };
        let field_value = |side: usize, id: ThingId| FieldValue::of(&self.outlines[side], id);
        let name = out.name.clone().filter(|_| out.kind.is_item());
        let field = field::Field { file: self.file, role: out.role, name: name.as_deref() };
        let all = (
            base.map(|id| field_value(BASE, id)),
            field_value(OURS, our),
            field_value(THEIRS, their),
        );
        out.value = field.resolve(all.0.as_ref(), &all.1, &all.2).unwrap_or_else(|| {
            if out.prefix.is_empty()
                && let ThingKind::Section(level) = out.kind
            {
                out.prefix = format!("{} ", "#".repeat(usize::from(level)));
            }
            let text = |field_value: &FieldValue<'_>| Version::Text(field_value.written.to_owned());
            let base = all.0.as_ref().map_or(Version::Absent, text);
            Marker { base, ours: text(&all.1), theirs: text(&all.2) }.write()
        });
        let known_name = base.and_then(|id| self.outlines[BASE].name(id));
        if known_name.is_some() && known_name == out.name {
            out.name = self.outlines[THEIRS].name(their);
        }
        out.step = plan::merged_heading(known, ours, theirs, &out.value);
        // The same reference may name two steps.
        let is_same_addition = base.is_none()
            && self.outlines[OURS].source(our) == self.outlines[THEIRS].source(their)
            && self.full_text(OURS, our) == self.full_text(THEIRS, their);
        out.children = if is_same_addition {
            self.copy_version(versions).children
        } else {
            self.children(versions)
        };
        out
    }

    fn children(&self, parents: Versions) -> Vec<MergedThing> {
        let below = |side: usize| -> Vec<ThingId> {
            let outline = &self.outlines[side];
            let children = parents[side].into_iter().flat_map(|id| outline.children(id));
            children.filter(|child| self.moves.stays(side, *child)).collect()
        };
        let [base, ours, theirs] = [BASE, OURS, THEIRS].map(below);
        let mut things: Vec<Versions> = base.iter().map(|id| self.moves.of_base(*id)).collect();
        let mut new: Vec<Versions> = Vec::new();
        let mut added: [Vec<ThingId>; 2] = [Vec::new(), Vec::new()];
        for (side, ids) in [(OURS, &ours), (THEIRS, &theirs)] {
            for &id in ids {
                match (self.moves.versions(side, id), self.moves.base_of(side, id)) {
                    (Some(moved), _) if !new.contains(&moved) => new.push(moved),
                    (None, None) => added[side - 1].push(id),
                    _ => {}
                }
            }
        }
        let [our_added, their_added] = added;
        let same = self.same_additions(parents, &our_added, &their_added);
        let first = new.len();
        new.extend(our_added.iter().map(|id| [None, Some(*id), None]));
        for (id, same) in their_added.iter().zip(same) {
            match same {
                Some(at) => new[first + at][THEIRS] = Some(*id),
                None => new.push([None, None, Some(*id)]),
            }
        }
        // Numbered by what they say, so that the sides can be swapped.
        new.sort_by_cached_key(|versions| {
            let sides = [OURS, THEIRS].into_iter();
            sides.filter_map(|side| Some(self.full_text(side, versions[side]?))).min()
        });
        things.extend(new);
        let listed = |side: usize, ids: &[ThingId]| -> Vec<usize> {
            let known = things.iter().enumerate();
            let known = known.filter_map(|(at, versions)| Some((versions[side]?, at)));
            let places: HashMap<ThingId, usize> = known.collect();
            ids.iter().filter_map(|id| places.get(id).copied()).collect()
        };
        let merged = order(base.len(), &listed(OURS, &ours), &listed(THEIRS, &theirs));
        let merged = merged.into_iter().flat_map(|at| {
            let left = self.left_behind(things[at]);
            left.unwrap_or_else(|| self.merge_thing(things[at]).into_iter().collect())
        });
        // A block behind a subsection would become part of it.
        let (mut blocks, sections): (Vec<MergedThing>, Vec<MergedThing>) =
            merged.partition(|thing| !matches!(thing.kind, ThingKind::Section(_)));
        blocks.extend(sections);
        blocks
    }

    /// For each thing that they added, the thing that we added and that is the same.
    fn same_additions(
        &self,
        parents: Versions,
        ours: &[ThingId],
        theirs: &[ThingId],
    ) -> Vec<Option<usize>> {
        let is_title = |side: usize, id: &ThingId| {
            let thing = self.outlines[side].get(*id);
            thing.kind == ThingKind::Section(1) && thing.step.is_none()
        };
        let titles = |side, ids: &[ThingId]| ids.iter().filter(|id| is_title(side, id)).count();
        // A file has one title, whatever it says.
        let one_title = parents[OURS] == Some(Outline::ROOT)
            && titles(OURS, ours) == 1
            && titles(THEIRS, theirs) == 1;
        let identity = |side: usize, id: ThingId| {
            let outline = &self.outlines[side];
            let thing = outline.get(id);
            // Notes and reviews of one name are not one note.
            let is_field = self.file != StateFile::Context && thing.role != SectionRole::Reviews;
            match (thing.kind, thing.any_step(), outline.name(id)) {
                _ if one_title && is_title(side, &id) => "the title".to_owned(),
                // Two new steps of one id and different titles are different steps.
                (_, Some(step), _) => format!("step {:?} {}", step.id, step.title),
                (ThingKind::Section(_), None, Some(name)) => format!("section {name}"),
                (ThingKind::Item | ThingKind::Part(_), None, Some(name)) if is_field => {
                    format!("field {name}")
                }
                _ => self.full_text(side, id),
            }
        };
        let mut waiting: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, id) in ours.iter().enumerate().rev() {
            waiting.entry(identity(OURS, *id)).or_default().push(at);
        }
        theirs.iter().map(|id| waiting.get_mut(&identity(THEIRS, *id))?.pop()).collect()
    }

    fn empty_thing(&self, side: usize, id: ThingId, versions: Versions) -> MergedThing {
        let outline = &self.outlines[side];
        let gap = |side: usize| Some(self.outlines[side].get(versions[side]?).gap.to_owned());
        MergedThing {
            kind: outline.get(id).kind,
            role: outline.get(id).role,
            gaps: [BASE, OURS, THEIRS].map(gap),
            sources: versions,
            prefix: String::new(),
            value: String::new(),
            name: outline.name(id),
            step: None,
            children: Vec::new(),
        }
    }
}

/// Bullet, box and key are of one side; a ticked box stays ticked.
fn prefix(base: Option<&str>, ours: &str, theirs: &str) -> String {
    let split = |text: &'_ str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let [ours, theirs] = [ours, theirs].map(|text| text.split_at(split(text)));
    let base = base.map(|text| text.split_at(split(text)));
    let indent = space(base.map_or("", |base| base.0), ours.0, theirs.0);
    indent.to_owned() + marks(base.map(|base| base.1), ours.1, theirs.1)
}

fn marks<'p>(base: Option<&str>, ours: &'p str, theirs: &'p str) -> &'p str {
    match base {
        Some(base) if base == ours => theirs,
        Some(base) if base == theirs => ours,
        _ if ours == theirs => ours,
        _ => {
            let ticked = |text: &str| text.contains("[x]") || text.contains("[X]");
            match (ticked(ours), ticked(theirs)) {
                (true, false) => ours,
                (false, true) => theirs,
                _ => ours.max(theirs),
            }
        }
    }
}
