//! The proof of an edit: the result, parsed again, differs from the old document in exactly
//! what was intended.
//!
//! What was read again is compared as flat lists of blocks. A block that begins in kept bytes must
//! be the next block of the old document: same kind, same nesting, same extent, same key and value,
//! same parent. A block that begins in new bytes must be one that its change announced. Of the
//! sections that no change touches only the parent can become another one.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::text::markdown::block::{Block, BlockKind};
use crate::text::markdown::change::{Applied, Expect, Intent, NewItem};
use crate::text::markdown::reparse::{Derived, Run};
use crate::text::markdown::{Document, EditError, Item, ItemId, SectionId, line, title};

/// Compares `old` and `new`, between which `applied` lies.
///
/// # Errors
/// The first difference that was not intended.
pub(crate) fn prove(
    old: &Document,
    derived: &Derived,
    applied: &[Applied],
    intent: &Intent,
) -> Result<(), EditError> {
    let mut proof = Proof {
        old,
        new: &derived.document,
        applied,
        intent,
        progress: vec![Progress::default(); applied.len()],
        sections: Vec::with_capacity(derived.document.sections.len()),
        items: BTreeMap::new(),
        before: Vec::new(),
        next: 0,
        replacing: applied.iter().filter(|change| !change.at.is_empty()).collect(),
    };
    let found = proof.run(&derived.runs);
    found.map_err(|Difference { offset, reason }| EditError::WouldChangeStructure {
        place: old.place(offset),
        reason,
    })
}

struct Difference {
    /// Where in the old source.
    offset: usize,
    reason: String,
}

fn differ<T>(offset: usize, reason: impl Into<String>) -> Result<T, Difference> {
    Err(Difference { offset, reason: reason.into() })
}

/// Where a node of the new document comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin<Id> {
    /// It is this node of the old one.
    Old(Id),
    /// It began with the change of this number.
    New(usize),
}

/// Where a byte of the new source comes from.
enum Byte {
    Kept(usize),
    New(usize),
}

/// Which announced blocks of a change have come.
#[derive(Clone, Copy, Default)]
struct Progress {
    node: bool,
    /// The block that says the value.
    value: Option<Block>,
}

/// A block, and the section or the item that it is.
#[derive(Clone, Copy)]
struct Node {
    block: Block,
    section: SectionId,
    item: Option<ItemId>,
}

/// The blocks of some sections, in order.
fn nodes(document: &Document, sections: Range<usize>) -> Vec<Node> {
    let mut nodes = Vec::new();
    for section in sections.map(SectionId::nth) {
        let body = document.body(section);
        let mut items = body.items.iter().map(|item| item.id);
        for &block in &body.blocks {
            let item = if block.kind == BlockKind::Item { items.next() } else { None };
            nodes.push(Node { block, section, item });
        }
    }
    nodes
}

struct Proof<'a> {
    old: &'a Document,
    new: &'a Document,
    applied: &'a [Applied],
    intent: &'a Intent,
    progress: Vec<Progress>,
    /// For each section of the new document so far.
    sections: Vec<Origin<SectionId>>,
    /// For each item of the new document that was read again so far.
    items: BTreeMap<ItemId, Origin<ItemId>>,
    /// The blocks of the old document that those of the current run are compared with, and the
    /// next of them.
    before: Vec<Node>,
    next: usize,
    /// The changes that took bytes away.
    replacing: Vec<&'a Applied>,
}

impl<'a> Proof<'a> {
    fn run(&mut self, runs: &[Run]) -> Result<(), Difference> {
        let start = |document: &Document| document.section(document.root()).body.start;
        if start(self.old) != start(self.new) {
            return differ(0, "the opening of the document would change");
        }
        let mut done = 0;
        for run in runs {
            self.untouched(done..run.old.start)?;
            done = run.old.end;
            self.compare(run)?;
        }
        self.untouched(done..self.old.sections.len())?;
        for (change, progress) in self.applied.iter().zip(&self.progress) {
            let missing = match &change.expect {
                Expect::Item(_) => "the new item would not be an item",
                Expect::Heading(_) => "the heading would not be a heading",
                Expect::Section { .. } => "the new section would not be a section",
                Expect::Value | Expect::Inside(_) => continue,
            };
            if !progress.node {
                return differ(change.at.start, missing);
            }
        }
        Ok(())
    }

    /// The next sections of the new document must be these of the old one, of which no byte has
    /// changed.
    fn untouched(&mut self, sections: Range<usize>) -> Result<(), Difference> {
        sections.map(SectionId::nth).try_for_each(|section| self.same_section(section))
    }

    /// Compares the sections that were read again with those that they were before.
    fn compare(&mut self, run: &Run) -> Result<(), Difference> {
        (self.before, self.next) = (nodes(self.old, run.old.clone()), 0);
        if run.new.start == 0 {
            self.sections.push(Origin::Old(SectionId::ROOT));
        }
        for node in nodes(self.new, run.new.clone()) {
            match self.byte(node.block.start as usize) {
                Byte::Kept(offset) => self.kept(&node, offset)?,
                Byte::New(change) => self.announced(&node, change)?,
            }
        }
        self.skip_vanished()?;
        match self.before.get(self.next) {
            Some(Node { block, .. }) => {
                differ(block.start as usize, format!("{} would vanish", block.kind))
            }
            None => Ok(()),
        }
    }

    /// A block that begins in kept bytes.
    fn kept(&mut self, node: &Node, offset: usize) -> Result<(), Difference> {
        self.skip_vanished()?;
        let block = &node.block;
        let Some(Node { block: before, section, item }) = self.before.get(self.next).copied()
        else {
            return differ(offset, format!("{} would appear", block.kind));
        };
        let start = before.start as usize;
        if start > offset {
            return differ(offset, format!("{} would appear", block.kind));
        }
        if start < offset {
            return differ(start, format!("{} would vanish", before.kind));
        }
        if before.kind != block.kind || before.depth != block.depth {
            let reason = format!("{} would become {}", before.kind, block.kind);
            return differ(start, reason);
        }
        self.next += 1;
        let grown = match (block.kind, item, node.item) {
            (BlockKind::Item, Some(old), Some(new)) => self.kept_item(old, new)?,
            (BlockKind::Section, ..) => {
                self.same_section(section)?;
                false
            }
            _ => false,
        };
        self.same_end(&before, block, grown)
    }

    /// The next section of the new document must be the old section `id`.
    fn same_section(&mut self, id: SectionId) -> Result<(), Difference> {
        let (old, new) = (&*self.old.source, &*self.new.source);
        let before = &self.old.sections[id.number()];
        let after = &self.new.sections[self.sections.len()];
        if id == self.old.root() {
            self.sections.push(Origin::Old(id));
            return Ok(());
        }
        let at = before.start();
        let is_right = match self.intent.titles.get(&id) {
            Some(title) => after.title(new) == title,
            None => after.has_title_of(new, before, old),
        };
        if !is_right {
            return differ(at, format!("the title would read `{}`", after.title(new)));
        }
        if after.level != before.level {
            return differ(at, format!("the heading would have level {}", after.level));
        }
        let parent = self.sections.get(after.parent().number()).copied();
        if parent != Some(Origin::Old(before.parent())) {
            return differ(at, format!("`{}` would belong to another section", before.title(old)));
        }
        self.sections.push(Origin::Old(id));
        Ok(())
    }

    /// Compares the next item with the old one; whether it was meant to grow.
    fn kept_item(&mut self, id: ItemId, new: ItemId) -> Result<bool, Difference> {
        let before: &Item = self.old.item(id);
        let after: &Item = self.new.item(new);
        let at = before.span.start;
        if self.sections.get(after.section.number()) != Some(&Origin::Old(before.section)) {
            return differ(at, "an item would belong to another section");
        }
        let parent = after.parent.and_then(|parent| self.items.get(&parent).copied());
        if parent != before.parent.map(Origin::Old) {
            return differ(at, "an item would be nested elsewhere");
        }
        let ticked = self.intent.boxes.get(&id).copied().or(before.checkbox);
        if after.checkbox != ticked {
            return differ(at, "the box of an item would change");
        }
        let reading = self.intent.readings.get(&id);
        let whole = matches!(reading, Some(crate::text::markdown::value::Reading::Text(_)));
        if !whole && after.key != before.key {
            return differ(at, "the key of an item would change");
        }
        let same = match reading {
            Some(reading) => reading.holds(self.new, after.id),
            None => {
                self.new.raw_value(after.id) == self.old.raw_value(id)
                    && after.block_text == before.block_text
            }
        };
        if !same {
            return differ(at, "a value would not read back as it should");
        }
        self.items.insert(new, Origin::Old(id));
        Ok(self.intent.grown.contains(&id))
    }

    /// A block that was there before must end where it ended, unless something in it changed.
    fn same_end(&self, before: &Block, after: &Block, grown: bool) -> Result<(), Difference> {
        let start = before.start as usize;
        let end = before.end as usize;
        if after.end <= after.start {
            return Ok(());
        }
        let fine = match self.byte(after.end as usize - 1) {
            Byte::Kept(last) if last + 1 == end => true,
            Byte::Kept(last) => {
                last + 1 < end
                    && self.applied.iter().any(|change| {
                        let from = line::trim_end(self.old.source(), start, change.at.start);
                        !change.at.is_empty() && from <= last + 1 && change.at.end >= end
                    })
            }
            Byte::New(change) => {
                let Applied { at, inserts, .. } = &self.applied[change];
                let touches = match (inserts, at.is_empty()) {
                    (true, _) => start < at.start && at.start < end,
                    (false, true) => start < at.start && at.start <= end,
                    (false, false) => at.start <= end && at.end > start,
                };
                touches || grown
            }
        };
        match fine {
            true => Ok(()),
            false => differ(start, format!("{} would end elsewhere", before.kind)),
        }
    }

    /// A block that begins in the text of a change.
    fn announced(&mut self, node: &Node, change: usize) -> Result<(), Difference> {
        let (block, item) = (&node.block, node.item);
        let applied = &self.applied[change];
        let at = applied.at.start;
        let Progress { node: has_node, value } = self.progress[change];
        let unexpected = || differ(at, format!("the text would contain {}", block.kind));
        let takes_value = match applied.expect {
            Expect::Value => true,
            Expect::Item(_) => has_node,
            _ => false,
        };
        match (&applied.expect, block.kind) {
            (_, BlockKind::Code | BlockKind::Quote) if takes_value && value.is_none() => {
                if block.end as usize > applied.new.end {
                    return differ(at, "the value would take in what follows it");
                }
                self.progress[change].value = Some(*block);
            }
            // What a quotation holds belongs to it.
            (_, kind)
                if !matches!(kind, BlockKind::Item | BlockKind::Section)
                    && value.is_some_and(|value| {
                        value.kind == BlockKind::Quote && block.end <= value.end
                    }) => {}
            (Expect::Item(wanted), BlockKind::Item) if !has_node => {
                self.progress[change].node = true;
                if block.end as usize > applied.new.end {
                    return differ(at, "the new item would take in what follows it");
                }
                if let Some(item) = item {
                    self.new_item(wanted, item, at)?;
                    self.items.insert(item, Origin::New(change));
                }
            }
            (Expect::Heading(id), BlockKind::Section) if !has_node => {
                self.progress[change].node = true;
                self.same_section(*id)?;
            }
            (Expect::Section { parent, level, title }, BlockKind::Section) if !has_node => {
                self.progress[change].node = true;
                let section = self.new.section(SectionId::nth(self.sections.len()));
                if section.title != *title || section.level != *level {
                    return differ(at, "the new heading would not read as it should");
                }
                if !self.is_in(section.parent, *parent) {
                    return differ(at, "the new section would belong to another section");
                }
                self.sections.push(Origin::New(change));
            }
            (Expect::Inside(_), _) => self.inside(node, change)?,
            (Expect::Section { .. }, _) if has_node => self.inside(node, change)?,
            _ => return unexpected(),
        }
        Ok(())
    }

    /// A block of free text: it must stay in its section and hold nothing that was there.
    fn inside(&mut self, node: &Node, change: usize) -> Result<(), Difference> {
        let block = &node.block;
        let applied = &self.applied[change];
        let at = applied.at.start;
        if block.end as usize > applied.new.end {
            return differ(at, format!("{} would take in what follows it", block.kind));
        }
        let home = match applied.expect {
            Expect::Inside(section) => Some(section),
            _ => None,
        };
        let own = |origin: Option<&Origin<SectionId>>| match origin {
            Some(Origin::New(other)) => *other == change,
            Some(Origin::Old(section)) => Some(*section) == home,
            None => false,
        };
        match (block.kind, node.item) {
            (BlockKind::Section, _) => {
                let section = self.new.section(SectionId::nth(self.sections.len()));
                let parent = section.parent.and_then(|parent| self.sections.get(parent.number()));
                if !own(parent) {
                    return differ(at, "a heading in the text would end its section");
                }
                // Whoever types `---` below a line seldom means a heading, and one cannot be
                // moved to a deeper level without losing that line.
                if !title::is_marked(self.new.source(), section.heading.start) {
                    return differ(at, "a line of the text would make a heading of those above it");
                }
                self.sections.push(Origin::New(change));
            }
            (BlockKind::Item, Some(id)) => {
                let item = self.new.item(id);
                let parent = item.parent.and_then(|parent| self.items.get(&parent));
                let nested = parent.is_none_or(|origin| *origin == Origin::New(change));
                if !nested || !own(self.sections.get(item.section.number())) {
                    return differ(at, "an item in the text would land elsewhere");
                }
                self.items.insert(id, Origin::New(change));
            }
            _ => {}
        }
        Ok(())
    }

    /// The item `id` of the new document must be `wanted`.
    fn new_item(&self, wanted: &NewItem, id: ItemId, at: usize) -> Result<(), Difference> {
        let item = self.new.item(id);
        let parent = item.parent.and_then(|parent| self.items.get(&parent).copied());
        if parent != wanted.parent.map(Origin::Old)
            || !self.is_in(Some(item.section), wanted.section)
        {
            return differ(at, "the new item would land elsewhere");
        }
        let whole = matches!(wanted.reading, crate::text::markdown::value::Reading::Text(_));
        if (!whole && item.key != wanted.key) || item.checkbox != wanted.checkbox {
            return differ(at, "the new item would have another key or box");
        }
        match wanted.reading.holds(self.new, item.id) {
            true => Ok(()),
            false => differ(at, "the new item would not read back as it should"),
        }
    }

    /// Whether the section `id` of the new document is the old section `wanted`.
    fn is_in(&self, id: Option<SectionId>, wanted: SectionId) -> bool {
        let origin = id.and_then(|id| self.sections.get(id.number()));
        origin == Some(&Origin::Old(wanted))
    }

    /// Steps over the old blocks whose beginning was replaced; nodes must have been meant to go.
    fn skip_vanished(&mut self) -> Result<(), Difference> {
        while let Some(Node { block, section, item }) = self.before.get(self.next) {
            let start = block.start as usize;
            let Some(change) = self.replaced_by(start) else { break };
            self.next += 1;
            let meant = match block.kind {
                BlockKind::Section => {
                    self.intent.removed_sections.contains(section)
                        || matches!(change.expect, Expect::Heading(heading) if heading == *section)
                }
                BlockKind::Item => {
                    item.is_some_and(|item| self.intent.removed_items.contains(&item))
                }
                _ => true,
            };
            if !meant {
                return differ(start, format!("{} would vanish", block.kind));
            }
        }
        Ok(())
    }

    /// The change that replaced the byte `offset` of the old source.
    fn replaced_by(&self, offset: usize) -> Option<&'a Applied> {
        let i = self.replacing.partition_point(|change| change.at.start <= offset);
        let found = self.replacing.get(i.checked_sub(1)?)?;
        found.at.contains(&offset).then_some(*found)
    }

    /// Where the byte `offset` of the new source comes from.
    fn byte(&self, offset: usize) -> Byte {
        let i = self.applied.partition_point(|change| change.new.start <= offset);
        match i.checked_sub(1) {
            None => Byte::Kept(offset),
            Some(i) if offset < self.applied[i].new.end => Byte::New(i),
            Some(i) => Byte::Kept(offset - self.applied[i].new.end + self.applied[i].at.end),
        }
    }
}
