//! A set of changes to one document, and carrying it out.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::text::markdown::reparse::Touched;
use crate::text::markdown::value::Reading;
use crate::text::markdown::{Document, EditError, Edited, ItemId, SectionId, line, proof};
use crate::text::{Splice, apply_splices};

/// What is to be changed, and what must be true afterwards.
#[derive(Debug, Default)]
pub(crate) struct ChangeSet {
    pub changes: Vec<TextChange>,
    pub intent: Intent,
}

/// One replacement or insertion.
#[derive(Debug)]
pub(crate) struct TextChange {
    /// The bytes of the old source that give way.
    pub at: Range<usize>,
    /// What stands there afterwards; an insertion consists of whole lines.
    pub new: String,
    /// How it joins what is around it.
    pub joint: Joint,
    /// Which blocks may begin in it.
    pub expect: Expect,
}

/// How a change joins its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joint {
    /// It replaces bytes inside a line or whole lines, and needs nothing around it.
    Replace,
    /// An item added to a list, with a blank line before it if the list is `loose`.
    Item { loose: bool, depth: usize },
    /// An item that begins a list, directly below a heading or after text.
    NewList { below_heading: bool },
    /// Blocks of text, set off by blank lines.
    Text { indented: bool },
    /// A section of that level, set off by blank lines.
    Section { level: u8 },
}

/// Which blocks may begin in the text of a change.
#[derive(Debug)]
pub(crate) enum Expect {
    /// None, or one fenced block that is a value.
    Value,
    /// One new item that says this.
    Item(NewItem),
    /// One heading, which takes the place of that of this section.
    Heading(SectionId),
    /// A new section below `parent`, and whatever its body holds.
    Section { parent: SectionId, level: u8, title: String },
    /// Anything that stays inside this section.
    Inside(SectionId),
}

/// An item that is to be there afterwards.
#[derive(Debug)]
pub(crate) struct NewItem {
    pub section: SectionId,
    pub parent: Option<ItemId>,
    /// Its key; not looked at when the whole text is what matters.
    pub key: Option<String>,
    pub checkbox: Option<bool>,
    pub reading: Reading,
}

/// What must have become of the nodes of the old document.
#[derive(Debug, Default)]
pub(crate) struct Intent {
    /// Items that must say something else.
    pub readings: HashMap<ItemId, Reading>,
    /// Items whose box must be in that state.
    pub boxes: HashMap<ItemId, bool>,
    /// Sections that must have that title.
    pub titles: HashMap<SectionId, String>,
    /// Items that must be gone.
    pub removed_items: HashSet<ItemId>,
    /// Sections that must be gone.
    pub removed_sections: HashSet<SectionId>,
    /// Items that something was added to at the end.
    pub grown: HashSet<ItemId>,
}

/// A change that was applied: where its text is now.
#[derive(Debug)]
pub(crate) struct Applied {
    /// What it replaced in the old source.
    pub at: Range<usize>,
    /// Where it is in the new source.
    pub new: Range<usize>,
    /// Whether it only adds whole lines.
    pub inserts: bool,
    pub expect: Expect,
}

impl ChangeSet {
    /// Applies the changes to `document` and proves that exactly they happened.
    pub(crate) fn carry_out(mut self, document: &Document) -> Result<Edited, EditError> {
        let source = document.source();
        self.changes.retain(|change| source.get(change.at.clone()) != Some(change.new.as_str()));
        if self.changes.is_empty() {
            return Ok(Edited {
                document: document.clone(),
                splices: Vec::new(),
                touched: Some(Touched::default()),
                origin: document.address(),
            });
        }
        self.sort();
        self.unite_removals();
        self.set_apart(document);
        let mut splices: Vec<Splice> = self
            .changes
            .iter()
            .map(|change| Splice { at: change.at.clone(), new: change.new.clone() })
            .collect();
        let result = apply_splices(source, &mut splices)
            .map_err(|overlap| EditError::Overlap { place: document.place(overlap.0) })?;
        let applied = applied(self.changes);
        let derived = match document.derive(result, &applied) {
            Ok(derived) => derived,
            Err(result) => document.derive_whole(Document::parse(result)?),
        };
        proof::prove(document, &derived, &applied, &self.intent)
            .map_err(|error| blame_hidden(document, error))?;
        let touched = derived.touched(document);
        let (document, origin) = (derived.document, document.address());
        Ok(Edited { document, splices: merged(splices), touched, origin })
    }

    /// Makes removals that overlap disjoint: what is removed twice is still removed once.
    fn unite_removals(&mut self) {
        let mut removed = 0;
        for change in &mut self.changes {
            if change.joint == Joint::Replace && change.new.is_empty() {
                change.at.start = change.at.start.max(removed);
                change.at.end = change.at.end.max(change.at.start);
                removed = change.at.end;
            }
        }
        self.sort();
    }

    fn sort(&mut self) {
        self.changes.sort_by_key(|change| (change.at.start, change.at.end, change.joint.rank()));
    }

    /// Adds the line ends that insertions need before and after them.
    fn set_apart(&mut self, document: &Document) {
        let source = document.source();
        let newline = document.newline();
        let start = document.section(document.root()).body.start;
        let bare = |at: usize| at == start && document.front_matter().is_none();
        for i in 0..self.changes.len() {
            let (before, rest) = self.changes.split_at_mut(i);
            let Some((change, after)) = rest.split_first_mut() else { break };
            if change.joint == Joint::Replace {
                continue;
            }
            let at = change.at.start;
            let previous = before.last().filter(|other| other.inserts_at(at));
            let ended = previous.is_some() || bare(at) || line::begins_line(source, at);
            let apart = previous.is_none() && (bare(at) || line::blank_before(source, at));
            let mut lead = String::new();
            if !ended {
                lead.push_str(newline);
            }
            if !apart && change.joint.wants_blank_after(previous.map(|other| other.joint)) {
                lead.push_str(newline);
            }
            change.new.insert_str(0, &lead);
            let last = !after.first().is_some_and(|other| other.inserts_at(at));
            if last && !line::blank_at(source, at) && change.joint.ends_with_blank() {
                change.new.push_str(newline);
            }
        }
    }
}

impl Document {
    /// What replacing ranges of the source makes of this document, whatever it means for it: nothing is
    /// proved. `None` if the ranges do not fit the source, or the result cannot be read.
    pub(crate) fn spliced(&self, mut splices: Vec<Splice>) -> Option<Edited> {
        let source = apply_splices(self.source(), &mut splices).ok()?;
        let change = |Splice { at, new }: &Splice| TextChange {
            at: at.clone(),
            new: new.clone(),
            joint: Joint::Replace,
            expect: Expect::Value,
        };
        let applied = applied(splices.iter().map(change).collect());
        let derived = match self.derive(source, &applied) {
            Ok(derived) => derived,
            Err(source) => self.derive_whole(Document::parse(source).ok()?),
        };
        let touched = derived.touched(self);
        Some(Edited { document: derived.document, splices, touched, origin: self.address() })
    }
}

impl TextChange {
    fn inserts_at(&self, at: usize) -> bool {
        self.joint != Joint::Replace && self.at.start == at
    }
}

impl Joint {
    /// The order of insertions at one place: what belongs to the innermost node comes first.
    fn rank(self) -> (u8, usize) {
        match self {
            Self::Replace => (0, 0),
            Self::Item { depth, .. } => (1, usize::MAX - depth),
            // Indented text would become part of an item above it.
            Self::Text { indented: true } => (2, 0),
            Self::NewList { .. } => (3, 0),
            Self::Text { indented: false } => (4, 0),
            Self::Section { level } => (5, usize::from(6 - level.min(6))),
        }
    }

    /// Whether a blank line belongs between a line that is not blank and this; `previous` is
    /// what is inserted just before it, if anything is.
    fn wants_blank_after(self, previous: Option<Self>) -> bool {
        match (self, previous) {
            (Self::Replace, _) => false,
            (Self::Item { loose, .. }, _) => loose,
            (Self::NewList { .. }, Some(Self::NewList { .. })) => false,
            (Self::NewList { below_heading }, None) => !below_heading,
            (Self::NewList { .. } | Self::Text { .. } | Self::Section { .. }, _) => true,
        }
    }

    fn ends_with_blank(self) -> bool {
        matches!(self, Self::NewList { .. } | Self::Text { .. } | Self::Section { .. })
    }
}

fn applied(changes: Vec<TextChange>) -> Vec<Applied> {
    let mut out = Vec::with_capacity(changes.len());
    let mut old = 0;
    let mut new = 0;
    for change in changes {
        let start = new + (change.at.start - old);
        let end = start + change.new.len();
        (old, new) = (change.at.end, end);
        out.push(Applied {
            at: change.at,
            new: start..end,
            inserts: change.joint != Joint::Replace,
            expect: change.expect,
        });
    }
    out
}

/// `splices` with those that touch made one.
fn merged(splices: Vec<Splice>) -> Vec<Splice> {
    let mut out: Vec<Splice> = Vec::with_capacity(splices.len());
    for splice in splices {
        match out.last_mut() {
            Some(last) if last.at.end == splice.at.start => {
                last.at.end = splice.at.end;
                last.new.push_str(&splice.new);
            }
            _ => out.push(splice),
        }
    }
    out
}

/// Where something unclosed swallows the rest, that is why nothing can be put there.
fn blame_hidden(document: &Document, error: EditError) -> EditError {
    match (error, document.hidden()) {
        (EditError::WouldChangeStructure { place, .. }, Some(hidden)) => {
            EditError::WouldChangeStructure { place, reason: hidden.to_string() }
        }
        (error, _) => error,
    }
}
