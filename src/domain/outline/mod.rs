//! The outline of a markdown state file, and the pairing of its parts between two versions.
//!
//! A file is a tree of things: the root holds sections, a section holds list items, blocks of text
//! and sections, an item holds nested items. The text of all things in order, each after its gap,
//! is the file to the byte. Every thing has an identity among those around it:
//!
//! - a step: its id wherever it is, else number and title, title, number;
//! - a step that is a box in a list: its id, else its title, within the list;
//! - a section: its name below the same parent, its role, its path, its text;
//! - a field: its name; if a name appears twice, its text, then its order;
//! - the mark of a heading and the parts of a bookkeeping line: their names, as fields of the step;
//! - a sentence, a bullet or a paragraph: its text, then its text without numbers, then its place,
//!   then similarity.
//!
//! A [`Pairing`] applies this to two versions. `diff` walks over one pairing, a three-way merge over
//! two with the same base, so both pair the same things.

mod moved;
mod pairing;
mod read;
#[cfg(test)]
mod tests;
mod text;

use std::{borrow::Cow, ops::Range};

pub(crate) use moved::moved;
pub(crate) use pairing::Pairing;
pub(crate) use text::{join, normal_name, single_spaced, with_rest};

use super::SettingGroup;
use crate::text::markdown::{Document, ItemId, SectionId};

/// The index of a thing in the order of its file; the root is 0.
pub(crate) type ThingId = usize;

/// What a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ThingKind {
    /// The file itself.
    Root,
    /// A heading of that level, and what is below it.
    Section(u8),
    /// A list item, and what is nested in it.
    Item,
    /// Another block of text.
    Text,
    /// A field of that name in the line of another thing: the mark of a heading, or a part of the
    /// bookkeeping line of a step.
    Part(&'static str),
}

impl ThingKind {
    /// Whether it can be a field.
    pub(crate) fn is_item(self) -> bool {
        matches!(self, Self::Item | Self::Part(_))
    }
}

/// The name of the mark in the heading of a step.
pub(crate) const MARK: &str = "heading_mark";

/// What a section is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SectionRole {
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
    /// Reviews.
    Reviews,
}

/// What the heading of a step says, or the text after its box, and its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepHeading {
    pub(crate) number: u32,
    /// Whether the number is written; else it is the lowest free one.
    pub(crate) is_numbered: bool,
    pub(crate) id: Option<String>,
    pub(crate) title: String,
}

/// A part of a file. Its own text is `prefix` and `value`.
#[derive(Clone, Debug)]
pub(crate) struct Thing<'d> {
    pub(crate) kind: ThingKind,
    /// The role of the section that it is or is in.
    pub(crate) role: SectionRole,
    pub(crate) parent: ThingId,
    /// The first thing after it that is not below it.
    end: ThingId,
    /// The white space before it, line ends included.
    pub(crate) gap: &'d str,
    /// Bullet, box and key; the marks of a heading, with the number of a step.
    pub(crate) prefix: &'d str,
    /// Its content as written: a value, a title, a text.
    pub(crate) value: Cow<'d, str>,
    /// Where prefix and value are in the file.
    pub(crate) span: Range<usize>,
    /// The step that its heading begins.
    pub(crate) step: Option<Box<StepHeading>>,
    /// The step that it is as a box in a list.
    pub(crate) boxed: Option<Box<StepHeading>>,
    /// The section it is or is in.
    pub(crate) section: SectionId,
    pub(crate) item: Option<ItemId>,
}

impl Thing<'_> {
    /// The step that it is, with a heading or as a box.
    pub(crate) fn any_step(&self) -> Option<&StepHeading> {
        self.step.as_deref().or(self.boxed.as_deref())
    }
}

/// The outline of a file.
#[derive(Clone, Debug)]
pub(crate) struct Outline<'d> {
    pub(crate) document: &'d Document,
    things: Vec<Thing<'d>>,
    /// The white space at the end of the file.
    pub(crate) tail: &'d str,
}

impl<'d> Outline<'d> {
    /// The file itself.
    pub(crate) const ROOT: ThingId = 0;

    /// The thing with that id.
    pub(crate) fn get(&self, id: ThingId) -> &Thing<'d> {
        &self.things[id]
    }

    /// All things in the order of the file.
    pub(crate) fn ids(&self) -> Range<ThingId> {
        0..self.things.len()
    }

    /// The things directly below, in order.
    pub(crate) fn children(&self, id: ThingId) -> impl Iterator<Item = ThingId> + '_ {
        let end = self.things[id].end;
        let next = move |at: &ThingId| Some(self.things[*at].end).filter(|next| *next < end);
        std::iter::successors(Some(id + 1).filter(|first| *first < end), next)
    }

    /// The first thing after it that is not below it.
    pub(crate) fn end(&self, id: ThingId) -> ThingId {
        self.things[id].end
    }

    /// The items and blocks in the body of a section, nested ones included, in order.
    pub(crate) fn body(&self, id: ThingId) -> impl Iterator<Item = ThingId> + '_ {
        let first_section = self.children(id).find(|child| self.is_section(*child));
        id + 1..first_section.unwrap_or(self.things[id].end)
    }

    /// The thing and its ancestors, innermost first.
    pub(crate) fn lineage(&self, id: ThingId) -> impl Iterator<Item = ThingId> + '_ {
        let parent = |at: &ThingId| (*at != Self::ROOT).then(|| self.things[*at].parent);
        std::iter::successors(Some(id), parent)
    }

    /// Whether it is the root or a section.
    pub(crate) fn is_section(&self, id: ThingId) -> bool {
        matches!(self.things[id].kind, ThingKind::Root | ThingKind::Section(_))
    }

    /// Whether it is the root, a section or a step: what is in it has a place of its own.
    pub(crate) fn begins_part(&self, id: ThingId) -> bool {
        self.is_section(id) || self.things[id].boxed.is_some()
    }

    /// Whether it is a step that is a box, or in one.
    pub(crate) fn is_in_box(&self, id: ThingId) -> bool {
        self.lineage(id).any(|around| self.things[around].boxed.is_some())
    }

    /// The steps with a heading, in order.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (ThingId, &StepHeading)> {
        let all = self.things.iter().enumerate();
        all.filter_map(|(id, thing)| Some((id, thing.step.as_deref()?)))
    }

    /// The steps with a heading and those that are boxes, in order.
    pub(crate) fn all_steps(&self) -> impl Iterator<Item = (ThingId, &StepHeading)> {
        let all = self.things.iter().enumerate();
        all.filter_map(|(id, thing)| Some((id, thing.any_step()?)))
    }

    /// The sections that are neither steps nor parts of steps, in order.
    pub(crate) fn plain_sections(&self) -> Vec<ThingId> {
        let mut found = Vec::new();
        let mut end = 0;
        for id in self.ids().filter(|id| self.is_section(*id)) {
            if self.things[id].step.is_some() {
                end = self.things[id].end;
            } else if id >= end {
                found.push(id);
            }
        }
        found
    }

    /// The field of that name directly below, as [`normal_name`] spells it.
    pub(crate) fn field(&self, id: ThingId, name: &str) -> Option<ThingId> {
        let named = |child: &ThingId| {
            self.things[*child].kind.is_item() && self.name(*child).as_deref() == Some(name)
        };
        self.children(id).find(named)
    }

    /// The section with the metadata.
    pub(crate) fn metadata(&self) -> Option<ThingId> {
        let mut sections = self.ids().filter(|id| self.is_section(*id));
        sections.find(|id| self.things[*id].role == SectionRole::Metadata)
    }

    /// The source of a thing with all that is below it.
    pub(crate) fn source(&self, id: ThingId) -> &'d str {
        let last = &self.things[self.things[id].end - 1];
        &self.document.source()[self.things[id].span.start..last.span.end]
    }

    /// Gives a step that has an id another one.
    pub(crate) fn set_step_id(&mut self, step: ThingId, id: &str) {
        if let Some(field) = self.field(step, "id") {
            self.set_value(field, id.to_owned());
        }
        let thing = &mut self.things[step];
        let heading = thing.step.as_mut().or(thing.boxed.as_mut());
        heading.into_iter().for_each(|heading| heading.id = Some(id.to_owned()));
    }

    /// Replaces the value of a thing.
    pub(crate) fn set_value(&mut self, id: ThingId, value: String) {
        self.things[id].value = Cow::Owned(value);
    }
}
