//! Reads the outline of a document.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use super::{MARK, Outline, SectionRole, StepHeading, Thing, ThingId, ThingKind, normal_name};
use crate::{
    domain::{
        SettingGroup, StateFile, constraints,
        plan::{
            self,
            bookkeeping::{Bookkeeping, pieces},
            read::locate::{LocatedStep, locate},
            review,
            step::heading::box_mark,
        },
    },
    text::markdown::{Document, ItemId, SectionId},
};

impl<'d> Outline<'d> {
    /// The outline of a document that is that file.
    pub(crate) fn read(file: StateFile, document: &'d Document) -> Self {
        let metadata = match file {
            StateFile::Plan => plan::metadata_section(document),
            _ => None,
        };
        let steps = match file {
            StateFile::Plan => locate(document),
            _ => Vec::new(),
        };
        let (steps, boxes): (Vec<_>, Vec<_>) =
            steps.into_iter().partition(|step| step.item.is_none());
        let boxes = boxes.into_iter().filter_map(|step| Some((step.item?, step))).collect();
        let things = Vec::new();
        let mut reader = Reader { file, document, metadata, steps, boxes, done: 0, things };
        let root = document.root();
        let role = reader.role(root);
        let id = reader.push(
            Position { parent: Self::ROOT, role, section: root },
            ThingKind::Root,
            0..0,
            0,
        );
        reader.body(Position { parent: id, role, section: root });
        reader.sections(root, id);
        reader.close(id);
        Self { document, tail: &document.source()[reader.done..], things: reader.things }
    }
}

/// Where a thing is in the outline.
#[derive(Clone, Copy)]
struct Position {
    parent: ThingId,
    role: SectionRole,
    section: SectionId,
}

/// What is in an item: nested items and blocks of text.
type Inside = Vec<(Option<ItemId>, Range<usize>)>;

struct Reader<'d> {
    file: StateFile,
    document: &'d Document,
    metadata: Option<SectionId>,
    /// The steps with a heading, in order.
    steps: Vec<LocatedStep>,
    /// The steps that are boxes.
    boxes: HashMap<ItemId, LocatedStep>,
    /// How far the source has been read.
    done: usize,
    things: Vec<Thing<'d>>,
}

impl<'d> Reader<'d> {
    /// Adds a thing over `span` whose value begins at `value`.
    fn push(
        &mut self,
        place: Position,
        kind: ThingKind,
        span: Range<usize>,
        value: usize,
    ) -> ThingId {
        let source = self.document.source();
        let value = value.clamp(span.start, span.end);
        let gap = &source[self.done..span.start];
        self.done = span.end;
        let id = self.things.len();
        self.things.push(Thing {
            kind,
            role: place.role,
            parent: place.parent,
            end: id + 1,
            gap,
            prefix: &source[span.start..value],
            value: Cow::Borrowed(&source[value..span.end]),
            span,
            step: None,
            boxed: None,
            section: place.section,
            item: None,
        });
        id
    }

    /// Everything added since is below the thing.
    fn close(&mut self, id: ThingId) {
        self.things[id].end = self.things.len();
    }

    fn role(&self, section: SectionId) -> SectionRole {
        let title = normal_name(self.document.section(section).title);
        let is = |names: &[&str]| names.iter().any(|name| normal_name(name) == title);
        match self.file {
            StateFile::Plan if self.metadata == Some(section) => SectionRole::Metadata,
            StateFile::Plan if is(&[review::SECTION]) => SectionRole::Reviews,
            StateFile::Constraints if is(constraints::DIRECTIVES) => SectionRole::Directives,
            StateFile::Constraints if is(constraints::RULES) => SectionRole::Rules,
            StateFile::Constraints if is(constraints::BEHAVIOURS) => SectionRole::Behaviours,
            StateFile::Constraints if is(constraints::MODIFIERS) => {
                SectionRole::Settings(SettingGroup::Modifier)
            }
            StateFile::Constraints if is(constraints::RESOURCES) => {
                SectionRole::Settings(SettingGroup::Resource)
            }
            _ => SectionRole::Free,
        }
    }

    fn body(&mut self, place: Position) {
        for part in self.document.body_blocks(place.section) {
            match part.item {
                Some(item) => self.item(place, item, part.span),
                None => {
                    let start = part.span.start;
                    self.push(place, ThingKind::Text, part.span, start);
                }
            }
        }
    }

    fn sections(&mut self, around: SectionId, parent: ThingId) {
        let document = self.document;
        for id in document.children(around) {
            let section = self.document.section(id);
            let source = self.document.source();
            let start = section.heading.start.max(self.done);
            let end = start + source[start..section.heading.end].trim_ascii_end().len();
            let step = self.steps.binary_search_by_key(&id, |step| step.section).ok();
            let step = step.map(|at| self.steps[at].clone());
            let raw = self.document.raw_title(id);
            let title = raw.as_ptr().addr() - source.as_ptr().addr();
            let is_underlined = !source[start..end].trim_ascii_start().starts_with('#');
            let (value, marked) = match &step {
                _ if is_underlined => (start, None),
                Some(step) => {
                    let (prefix, mark) = step.heading.ends(raw);
                    (title + prefix, Some(title + mark).filter(|at| *at < title + raw.len()))
                }
                None => (title, None),
            };
            let role = self.role(id);
            let kind = ThingKind::Section(section.level);
            let place = Position { parent, role, section: id };
            let is_marked = marked.filter(|at| *at >= value && title + raw.len() == end);
            let thing = self.push(place, kind, start..is_marked.unwrap_or(end), value);
            if let Some(LocatedStep { number, heading, .. }) = step {
                let is_numbered = heading.number.is_some();
                let (id, title) = (self.step_id(document.items(id)), heading.title);
                let step = StepHeading { number, is_numbered, id, title };
                self.things[thing].step = Some(Box::new(step));
            }
            if let Some(at) = is_marked {
                let value = end - source[at..end].trim_ascii_start().len();
                self.push(
                    Position { parent: thing, ..place },
                    ThingKind::Part(MARK),
                    at..end,
                    value,
                );
            }
            self.body(Position { parent: thing, role, section: id });
            self.sections(id, thing);
            self.close(thing);
        }
    }

    /// The id among the fields of a step.
    fn step_id(&self, fields: &[ItemId]) -> Option<String> {
        let named = |item: &&ItemId| {
            let key = self.document.item(**item).key.as_deref();
            key.is_some_and(|key| key.trim().eq_ignore_ascii_case("id"))
        };
        let item = *fields.iter().find(named)?;
        Bookkeeping::parse(&self.document.own_lines(item)).step_id().map(|id| id.to_string())
    }

    fn item(&mut self, place: Position, id: ItemId, span: Range<usize>) {
        let document = self.document;
        let boxed = self.boxes.remove(&id);
        let mut value = document.item(id).value_span.start;
        if boxed.is_some()
            && document.item(id).checkbox.is_none()
            && let Some((_, title)) = box_mark(&document.source()[value..span.end])
        {
            // A box with another mark is part of the text.
            value = span.end - title.trim_start().len();
        }
        // A directive or rule is one thing with all that is nested in it.
        let is_sentence = matches!(place.role, SectionRole::Directives | SectionRole::Rules);
        let inside = if is_sentence { None } else { self.inside(id, &span) }.unwrap_or_default();
        let own_end = |first: &(_, Range<usize>)| {
            span.start + document.source()[span.start..first.1.start].trim_ascii_end().len()
        };
        let end = inside.first().map_or(span.end, own_end);
        if inside.is_empty() && self.bookkeeping(place, id, span.start..end) {
            return;
        }
        let thing = self.push(place, ThingKind::Item, span.start..end, value);
        self.things[thing].item = Some(id);
        if let Some(LocatedStep { number, heading, .. }) = boxed {
            let is_numbered = heading.number.is_some();
            let (id, title) = (self.step_id(&document.item(id).children), heading.title);
            let step = StepHeading { number, is_numbered, id, title };
            self.things[thing].boxed = Some(Box::new(step));
        }
        let place = Position { parent: thing, ..place };
        for (child, span) in inside {
            match child {
                Some(child) => self.item(place, child, span),
                None => {
                    let text = &document.source()[span.clone()];
                    let value = span.end - text.trim_ascii_start().len();
                    self.push(place, ThingKind::Text, span, value);
                }
            }
        }
        self.close(thing);
    }

    /// Reads the bookkeeping line of a step, if the item is one: the id is an item, the rest are its
    /// parts.
    fn bookkeeping(&mut self, place: Position, id: ItemId, span: Range<usize>) -> bool {
        let document = self.document;
        let item = document.item(id);
        let is_id = item.key.as_deref().is_some_and(|key| key.trim().eq_ignore_ascii_case("id"));
        let is_of_step = self.things[place.parent].any_step().is_some();
        let raw = document.raw_value(id);
        if !is_id || !is_of_step || item.value_span.end != span.end || document.value(id) != raw {
            return false;
        }
        let (name, pieces) = pieces(raw);
        if pieces.is_empty() || Bookkeeping::parse(raw).step_id().is_none() {
            return false;
        }
        let from = item.value_span.start;
        let thing = self.push(place, ThingKind::Item, span.start..from + name.end, from);
        self.things[thing].item = Some(id);
        // Its own value is only a part of the item's value.
        self.things[thing].value = Cow::Owned(raw[name].to_owned());
        for piece in pieces {
            let (start, value) = (from + piece.prefix.start, from + piece.value.start);
            self.push(place, ThingKind::Part(piece.name), start..from + piece.value.end, value);
        }
        true
    }

    /// The nested items and the blocks between and after them, as whole lines; `None` if a nested item
    /// begins on the line of another.
    fn inside(&self, id: ItemId, span: &Range<usize>) -> Option<Inside> {
        let source = self.document.source();
        let mut inside = Inside::new();
        let loose = |inside: &mut Inside, until: usize| {
            let Some((_, last)) = inside.last() else { return };
            let text = &source[last.end..until];
            let blank = text.len() - text.trim_ascii_start().len();
            let start = last.end + text[..blank].rfind(['\n', '\r']).map_or(blank, |at| at + 1);
            let end = last.end + text.trim_ascii_end().len();
            if start < end {
                inside.push((None, start..end));
            }
        };
        for &child in &self.document.item(id).children {
            let found = self.document.item(child).span.clone();
            let start = source[..found.start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
            let end = found.start + source[found.clone()].trim_ascii_end().len();
            let is_line = start > span.start && source[start..found.start].trim().is_empty();
            let is_behind = inside.last().is_none_or(|(_, last)| last.end <= start);
            if !is_line || !is_behind {
                return None;
            }
            loose(&mut inside, start);
            inside.push((Some(child), start..end));
        }
        loose(&mut inside, span.end);
        Some(inside)
    }
}
