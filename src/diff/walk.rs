//! The walk over a pairing: sections, and what happened to the things in them.

use std::collections::HashSet;

use super::difference::{Difference, Subject};
use crate::{
    domain::{
        Context, StateFile,
        constraints::lifetime::Lifetime,
        outline::{MARK, Outline, Pairing, SectionRole, ThingId, ThingKind, with_rest},
    },
    text::markdown::{Document, ItemId},
};

/// The outcome of a comparison.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub differences: Vec<Difference>,
    /// Whether something is written differently and says the same.
    pub layout: bool,
}

/// Two versions of a file and which thing of one is which of the other.
pub(super) struct Walk<'o> {
    file: StateFile,
    pub old: &'o Outline<'o>,
    pub new: &'o Outline<'o>,
    pub pairing: Pairing,
    /// Items that are compared elsewhere.
    leave_out: [HashSet<ItemId>; 2],
}

/// A field, a bullet or a paragraph, before and after.
pub(super) struct ThingChange {
    /// The path of the field it is under.
    pub under: String,
    /// Its own path if it is a field.
    pub field: Option<String>,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Compares two documents in which no section is special to the comparison.
pub(super) fn compare(file: StateFile, before: &Document, after: &Document) -> Changes {
    let (old, new) = (Outline::read(file, before), Outline::read(file, after));
    let mut changes = Changes::default();
    Walk::new(file, &old, &new, [HashSet::new(), HashSet::new()]).sections(&mut changes);
    changes
}

impl Changes {
    pub(super) fn push(
        &mut self,
        file: StateFile,
        subject: Subject,
        before: Option<impl Into<serde_json::Value>>,
        after: Option<impl Into<serde_json::Value>>,
    ) {
        self.differences.push(Difference::new(file, subject, before, after));
    }

    fn push_order(&mut self, file: StateFile, section: Vec<String>) {
        self.push(file, Subject::Order { section }, None::<&str>, None::<&str>);
    }
}

impl<'o> Walk<'o> {
    pub(super) fn new(
        file: StateFile,
        old: &'o Outline<'o>,
        new: &'o Outline<'o>,
        leave_out: [HashSet<ItemId>; 2],
    ) -> Self {
        let mut pairing = Pairing::of(old, new);
        let is_left_out = |side: usize, outline: &Outline<'_>, id: ThingId| {
            outline.get(id).item.is_some_and(|item| leave_out[side].contains(&item))
        };
        // A thing that is compared elsewhere on one side counts as added or removed on the other:
        // as a pair, only one direction of the comparison would report it.
        for id in old.ids() {
            let Some(partner) = pairing.to_new(id) else { continue };
            let is_box = [old.get(id).boxed.is_some(), new.get(partner).boxed.is_some()];
            if is_left_out(0, old, id) != is_left_out(1, new, partner) || is_box[0] != is_box[1] {
                (id..old.end(id)).for_each(|id| pairing.separate(id));
            }
        }
        Self { file, old, new, pairing, leave_out }
    }

    /// Compares all sections that are neither steps nor parts of steps.
    pub(super) fn sections(&self, changes: &mut Changes) {
        let (old, new) = (self.old.plain_sections(), self.new.plain_sections());
        let pairs = new.iter().filter_map(|id| Some((self.pairing.to_old(*id)?, *id)));
        let pairs: Vec<(ThingId, ThingId)> = pairs.collect();
        if !pairs.is_sorted_by_key(|(from, _)| *from) {
            changes.push_order(self.file, Vec::new());
        }
        for (from, to) in pairs {
            self.section(from, to, changes);
        }
        for id in old.into_iter().filter(|id| self.pairing.to_new(*id).is_none()) {
            self.whole_section(id, false, changes);
        }
        for id in new.into_iter().filter(|id| self.pairing.to_old(*id).is_none()) {
            self.whole_section(id, true, changes);
        }
    }

    fn section(&self, from: ThingId, to: ThingId, changes: &mut Changes) {
        changes.layout |= self.heading(false, from) != self.heading(true, to);
        let (old, new) = (section_name(self.old, from), section_name(self.new, to));
        if old != new {
            let (old, new) = (Some(old.join(" / ")), Some(new.join(" / ")));
            changes.push(self.file, Subject::SectionTitle, old, new);
        }
        // A list that is empty on one side may not be known there for what it is.
        let role = match (self.old.get(from).role, self.new.get(to).role) {
            (SectionRole::Free, role) | (role, SectionRole::Free) => role,
            (one, other) if one == other => one,
            _ => SectionRole::Free,
        };
        let name = section_name(self.new, to);
        for change in self.body(from, to, name.clone(), changes) {
            self.push_change(role, &name, change, changes);
        }
    }

    /// The heading as written; that of a step without its mark.
    pub(super) fn heading(&self, after: bool, id: ThingId) -> &'o str {
        let outline = if after { self.new } else { self.old };
        let mut heading = outline.document.section(outline.get(id).section).heading.clone();
        let mark = outline.children(id).next().map(|first| outline.get(first));
        if let Some(mark) = mark.filter(|first| first.kind == ThingKind::Part(MARK)) {
            heading.end = mark.span.start;
        } else {
            let text = &outline.document.source()[heading.clone()];
            heading.end = heading.start + text.trim_ascii_end().len();
        }
        &outline.document.source()[heading]
    }

    /// The text of a section without its subsections.
    pub(super) fn body_text(&self, after: bool, id: ThingId) -> &'o str {
        let outline = if after { self.new } else { self.old };
        outline.document.body_text(outline.get(id).section)
    }

    /// What happened to the things in the body of a section: fields first, each group in the order
    /// of the side that has them.
    pub(super) fn body(
        &self,
        from: ThingId,
        to: ThingId,
        name: Vec<String>,
        changes: &mut Changes,
    ) -> Vec<ThingChange> {
        if self.body_text(false, from) == self.body_text(true, to) {
            return Vec::new();
        }
        let things = |outline: &Outline<'_>, id: ThingId, left_out: &HashSet<ItemId>| {
            let is_compared =
                |id: &ThingId| outline.get(*id).item.is_none_or(|item| !left_out.contains(&item));
            // Steps that are boxes are compared as steps.
            let is_step = outline.get(id).boxed.is_some();
            let is_compared =
                |id: &ThingId| is_compared(id) && (is_step || !outline.is_in_box(*id));
            let named = |id: &ThingId| outline.written_name(*id).is_some();
            // The mark of a heading follows from the status.
            let is_compared =
                |id: &ThingId| outline.get(*id).kind != ThingKind::Part(MARK) && is_compared(id);
            outline.body(id).filter(is_compared).partition::<Vec<ThingId>, _>(named)
        };
        let (old_fields, old_free) = things(self.old, from, &self.leave_out[0]);
        let (new_fields, new_free) = things(self.new, to, &self.leave_out[1]);
        let partners = |new: &[ThingId]| -> Vec<(ThingId, ThingId)> {
            new.iter().filter_map(|id| Some((self.pairing.to_old(*id)?, *id))).collect()
        };
        let gone = |old: &[ThingId]| -> Vec<ThingId> {
            old.iter().copied().filter(|id| self.pairing.to_new(*id).is_none()).collect()
        };
        let added = |new: &[ThingId]| -> Vec<ThingChange> {
            let added = new.iter().filter(|id| self.pairing.to_old(**id).is_none());
            added.map(|id| self.change(None, Some(*id))).collect()
        };
        let mut found = Vec::new();
        let fields = partners(&new_fields);
        changes.layout |= !fields.is_sorted_by_key(|(from, _)| *from);
        for (from, to) in fields {
            found.extend(self.changed(from, to, changes));
        }
        found.extend(gone(&old_fields).into_iter().map(|id| self.change(Some(id), None)));
        found.extend(added(&new_fields));
        drop_empty_lists(&mut found);
        let free = partners(&new_free);
        if !free.is_sorted_by_key(|(from, _)| *from) {
            changes.push_order(self.file, name);
        }
        for id in old_free {
            match self.pairing.to_new(id) {
                Some(to) => found.extend(self.changed(id, to, changes)),
                None => found.push(self.change(Some(id), None)),
            }
        }
        found.extend(added(&new_free));
        found
    }

    fn changed(&self, from: ThingId, to: ThingId, changes: &mut Changes) -> Option<ThingChange> {
        if self.old.value(from) == self.new.value(to) {
            changes.layout |= self.old.written(from) != self.new.written(to);
            return None;
        }
        Some(self.change(Some(from), Some(to)))
    }

    fn change(&self, from: Option<ThingId>, to: Option<ThingId>) -> ThingChange {
        let (old, new) = (from.map(|id| self.old.value(id)), to.map(|id| self.new.value(id)));
        let rests = matches!((&old, &new), (Some(old), Some(new)) if old.1 != new.1);
        // A value is shown without its comment unless the comment differs.
        let visible_text = |(text, rest): (String, String)| match rests {
            true => with_rest(&text, &rest),
            false => text,
        };
        let path = to.map(|id| self.new.field_path(id)).or(from.map(|id| self.old.field_path(id)));
        let (field, under) = path.unwrap_or_default();
        let (before, after) = self.without_origins(old.map(visible_text), new.map(visible_text));
        ThingChange { under, field, before, after }
    }

    /// Findings are shown without the comments that say where they are from, unless nothing else
    /// differs.
    fn without_origins(
        &self,
        before: Option<String>,
        after: Option<String>,
    ) -> (Option<String>, Option<String>) {
        if self.file != StateFile::Context {
            return (before, after);
        }
        let bare = |text: &Option<String>| text.as_deref().map(Context::without_origins);
        match (bare(&before), bare(&after)) {
            (old, new) if old == new => (before, after),
            bare => bare,
        }
    }

    fn push_change(
        &self,
        role: SectionRole,
        section: &[String],
        change: ThingChange,
        to: &mut Changes,
    ) {
        let section = section.to_vec();
        let both = (&change.before, &change.after);
        let subject = match (role, change.field) {
            (SectionRole::Metadata, Some(field)) => Subject::Plan { field },
            (SectionRole::Settings(group), Some(name)) => Subject::Setting { group, name },
            (SectionRole::Behaviours, Some(task_type)) => Subject::Behaviour { task_type },
            (SectionRole::Directives, None) => {
                if let (Some(before), Some(after)) = both
                    && let (Some(old), Some(new)) =
                        (Lifetime::parse(before), Lifetime::parse(after))
                    && old.is_of_same(&new)
                    && old.steps() != new.steps()
                {
                    let subject = Subject::Lifetime { text: after.clone() };
                    return to.push(self.file, subject, Some(old.steps()), Some(new.steps()));
                }
                Subject::Directive
            }
            (SectionRole::Rules, None) => Subject::Rule,
            (_, Some(field)) => Subject::SectionField { section, field },
            (_, None) if !change.under.is_empty() => {
                Subject::SectionField { section, field: change.under }
            }
            (_, None) => Subject::Item { section },
        };
        to.push(self.file, subject, change.before, change.after);
    }

    fn whole_section(&self, id: ThingId, is_added: bool, changes: &mut Changes) {
        let (outline, left_out) = match is_added {
            true => (self.new, &self.leave_out[1]),
            false => (self.old, &self.leave_out[0]),
        };
        // A section that holds nothing but reviews is reported by them.
        let is_review = |id| outline.get(id).item.is_some_and(|item| left_out.contains(&item));
        let mut body = outline.body(id).peekable();
        if outline.get(id).role == SectionRole::Reviews
            && body.peek().is_some()
            && body.all(is_review)
        {
            return;
        }
        let mut text = self.body_text(is_added, id).trim().to_owned();
        if outline.body(id).next().is_some() && outline.body(id).all(|id| outline.is_in_box(id)) {
            text.clear();
        }
        let (before, after) = if is_added { (None, Some(text)) } else { (Some(text), None) };
        let (before, after) = self.without_origins(before, after);
        let subject = Subject::Section { section: section_name(outline, id) };
        changes.push(self.file, subject, before, after);
    }
}

/// A list that came or went is reported by what is in it.
fn drop_empty_lists(found: &mut Vec<ThingChange>) {
    let place = |path: &str, change: &ThingChange| {
        (path.to_owned(), change.before.is_some(), change.after.is_some())
    };
    let listed: HashSet<_> = found.iter().map(|change| place(&change.under, change)).collect();
    let says = |side: &Option<String>| side.as_ref().is_some_and(|text| !text.is_empty());
    found.retain(|change| {
        let path = change.field.as_deref().unwrap_or_default();
        says(&change.before) || says(&change.after) || !listed.contains(&place(path, change))
    });
}

/// What a section is called, the document's own title included.
fn section_name(outline: &Outline<'_>, id: ThingId) -> Vec<String> {
    match outline.get(id).kind {
        ThingKind::Root => vec!["(before the first heading)".to_owned()],
        ThingKind::Section(1) => vec![outline.value(id).0],
        _ => outline.path(id).into_iter().map(str::to_owned).collect(),
    }
}
