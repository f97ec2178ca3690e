//! How the operations of an edit change lists and sections.

use crate::text::markdown::change::{Expect, Joint, NewItem, TextChange};
use crate::text::markdown::edit::Edit;
use crate::text::markdown::style::{self, BulletStyle, KeyLook};
use crate::text::markdown::value::{self, Reading, Written};
use crate::text::markdown::{
    Document, EditError, Item, ItemId, SectionId, line, passage, render, title,
};

/// Where a new item goes and how it is written there.
struct Spot {
    at: usize,
    bullet: BulletStyle,
    key: KeyLook,
    joint: Joint,
}

impl Edit<'_> {
    /// Puts `written` in the place of an item's value.
    pub(crate) fn write_value(&mut self, item: &Item, written: &Written) {
        let source = self.document.source();
        let newline = self.document.newline();
        let old = item.value_span.clone();
        match written {
            Written::Inline(raw) => {
                self.cut_block(item);
                self.write_inline(item, old, raw);
            }
            Written::Quote(_) | Written::Fence(_) => {
                let from = line::trim_end(source, item.head, old.start);
                self.replace(from..old.end, String::new(), Expect::Value);
                let indent = BulletStyle::of(self.document, item).content_indent();
                let block = written.block(&indent, newline).unwrap_or_default();
                let new = format!("{newline}{indent}{block}");
                let at = match &item.block {
                    Some(block) => line::trim_end(source, item.head, block.start)..block.end,
                    None => item.content.end..item.content.end,
                };
                self.replace(at, new, Expect::Value);
            }
        }
    }

    /// Makes `text` the whole text of an item.
    pub(crate) fn write_text(&mut self, id: ItemId, text: &str) -> Result<(), EditError> {
        let document = self.document;
        let item = document.item(id);
        let keep = match item.key {
            None => value::decode(document.raw_value(id)).1,
            Some(_) => value::Quote::None,
        };
        let comment = trailing_comment(document, item);
        let written = render::item_text(text, keep, item.takes_block, item.checkbox, comment)?;
        if document.text(id) != text {
            self.cut_block(item);
            let old = match item.key {
                None => item.value_span.clone(),
                Some(_) => item.content.start..item.value_span.end,
            };
            let indent = BulletStyle::of(document, item).content_indent();
            let block = written.block(&indent, document.newline());
            let raw = match written {
                Written::Inline(raw) => raw,
                Written::Quote(_) | Written::Fence(_) => block.unwrap_or_default(),
            };
            self.write_inline(item, old, &raw);
        }
        self.intend(id, Reading::Text(text.to_owned()));
        Ok(())
    }

    /// Adds a field to the top level of a section.
    pub(crate) fn add_field(
        &mut self,
        section: SectionId,
        after: Option<ItemId>,
        key: &str,
        written: &Written,
        reading: Reading,
    ) -> Result<(), EditError> {
        let spot = self.field_spot(section, after)?;
        let look = render::key_look(key, spot.key)?;
        let new = render::field(&spot.bullet, look, key, written, self.document.newline());
        let item =
            NewItem { section, parent: None, key: Some(key.to_owned()), checkbox: None, reading };
        self.insert(spot, new, item);
        Ok(())
    }

    /// Adds a field to the items nested in `parent`.
    pub(crate) fn add_child(
        &mut self,
        parent: ItemId,
        key: &str,
        written: &Written,
        reading: Reading,
    ) -> Result<(), EditError> {
        let spot = self.child_spot(parent);
        let look = render::key_look(key, spot.key)?;
        let new = render::field(&spot.bullet, look, key, written, self.document.newline());
        let item = NewItem {
            section: self.document.item(parent).section,
            parent: Some(parent),
            key: Some(key.to_owned()),
            checkbox: None,
            reading,
        };
        let mut around = Some(parent);
        while let Some(id) = around {
            self.set.intent.grown.insert(id);
            around = self.document.item(id).parent;
        }
        self.insert(spot, new, item);
        Ok(())
    }

    /// Adds a bullet without a key after `after`, or at the end of a section's last list.
    pub(crate) fn add_bullet(
        &mut self,
        section: SectionId,
        after: Option<ItemId>,
        checkbox: Option<bool>,
        text: &str,
    ) -> Result<(), EditError> {
        let written = render::item_text(text, value::Quote::None, true, checkbox, "")?;
        let spot = self.spot(section, after)?;
        let new = render::bullet(&spot.bullet, checkbox, &written, self.document.newline());
        let reading = Reading::Text(text.to_owned());
        let item = NewItem { section, parent: None, key: None, checkbox, reading };
        self.insert(spot, new, item);
        Ok(())
    }

    /// Removes an item with all that is nested in it, and a blank line that would be doubled.
    pub(crate) fn cut_item(&mut self, id: ItemId) {
        let document = self.document;
        let source = document.source();
        let item = document.item(id);
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            stack.extend(&document.item(id).children);
            self.set.intent.removed_items.insert(id);
        }
        let line_start = line::line_start(source, item.span.start);
        if line::skip_blanks(source, line_start) != item.span.start {
            self.replace(item.span.clone(), String::new(), Expect::Value);
            return;
        }
        let top = document.section(item.section).body.start;
        let end = line::next_line(source, item.span.end);
        let mut start = line_start.max(top);
        let siblings = match item.parent {
            Some(parent) => document.item(parent).children.as_slice(),
            None => document.items(item.section),
        };
        let mut new = String::new();
        if start > top && line::blank_before(source, start) && line::blank_at(source, end) {
            start = line::blank_run_start(source, start).max(top);
        } else if siblings.first() == Some(&id)
            && start > top
            && !line::blank_before(source, start)
            && !line::blank_at(source, end)
        {
            // Text above and what follows must not run together: a list that begins with an
            // empty item or a number other than one cannot end a paragraph.
            let apart = match siblings.get(1) {
                None => item.depth == 0,
                Some(next) => {
                    let next = document.item(*next);
                    next.content.is_empty() || source[next.span.start..].starts_with(digit)
                }
            };
            if apart {
                new.push_str(document.newline());
            }
        }
        self.replace(start..end, new, Expect::Value);
    }

    /// Removes a section with all that is below it.
    pub(crate) fn cut_section(&mut self, id: SectionId) -> Result<(), EditError> {
        let document = self.document;
        let source = document.source();
        if id == document.root() {
            return Err(EditError::Misplaced {
                name: "the text before the first heading".to_owned(),
                place: document.place(0),
                reason: "cannot be removed",
            });
        }
        let extent = document.section(id).extent.clone();
        let inside = |section: &SectionId| document.heading_start(*section) < extent.end;
        for gone in document.sections().skip(id.number()).take_while(inside) {
            self.set.intent.removed_sections.insert(gone);
            let items = document.body(gone).items.iter();
            self.set.intent.removed_items.extend(items.map(|item| item.id));
        }
        let top = document.section(document.root()).body.start;
        let mut start = extent.start;
        let mut new = String::new();
        if extent.end == source.len() {
            start = line::blank_run_start(source, start).max(top);
        } else if start > top
            && !line::blank_before(source, start)
            && !title::is_atx(source, line::skip_blanks(source, extent.end))
        {
            // The text of a heading that is underlined must not join the text above.
            new.push_str(document.newline());
        }
        self.replace(start..extent.end, new, Expect::Value);
        Ok(())
    }

    fn cut_block(&mut self, item: &Item) {
        if let Some(block) = &item.block {
            let from = line::trim_end(self.document.source(), item.head, block.start);
            self.replace(from..block.end, String::new(), Expect::Value);
        }
    }

    /// Replaces the inline text `old` of an item, with a space on either side as needed.
    fn write_inline(&mut self, item: &Item, old: std::ops::Range<usize>, raw: &str) {
        let source = self.document.source();
        let from = line::trim_end(source, item.head, old.start);
        if raw.is_empty() {
            self.replace(from..old.end, String::new(), Expect::Value);
        } else if source[from..old.start].contains(['\n', '\r']) {
            // At the beginning of a line the text could begin a block.
            self.replace(from..old.end, format!(" {raw}"), Expect::Value);
        } else if !old.is_empty() {
            self.replace(old, raw.to_owned(), Expect::Value);
        } else {
            let next = line::skip_blanks(source, old.start);
            let at_end = line::text_end(source, old.start) == next;
            let apart = at_end || next > old.start;
            let end = if at_end { next } else { old.start };
            let space = if apart { "" } else { " " };
            self.replace(old.start..end, format!(" {raw}{space}"), Expect::Value);
        }
    }

    fn insert(&mut self, spot: Spot, new: String, item: NewItem) {
        let at = spot.at..spot.at;
        self.set.changes.push(TextChange {
            at,
            new,
            joint: spot.joint,
            expect: Expect::Item(item),
        });
    }

    fn intend(&mut self, item: ItemId, reading: Reading) {
        self.set.intent.readings.insert(item, reading);
    }

    /// Where a new field of `section` goes: never into a numbered list that somebody wrote, but after
    /// the last item before it, or as a list of its own behind it.
    fn field_spot(&self, section: SectionId, after: Option<ItemId>) -> Result<Spot, EditError> {
        let document = self.document;
        let siblings = document.items(section);
        let is_numbered = |id: &ItemId| {
            let item = document.item(*id);
            item.key.is_none() && document.source()[item.span.start..].starts_with(digit)
        };
        let wanted = after.or(siblings.last().copied());
        let Some(numbered) = wanted.filter(is_numbered) else {
            return self.spot(section, after);
        };
        let other = siblings.iter().rev().find(|id| !is_numbered(id)).filter(|_| after.is_none());
        match other {
            Some(other) => self.spot(section, Some(*other)),
            None => Ok(Spot {
                at: line::next_line(document.source(), document.item(numbered).span.end),
                bullet: BulletStyle::plain(0),
                key: KeyLook::BOLD,
                joint: Joint::NewList { below_heading: false },
            }),
        }
    }

    /// Where a new top-level item of `section` goes.
    fn spot(&self, section: SectionId, after: Option<ItemId>) -> Result<Spot, EditError> {
        let document = self.document;
        let source = document.source();
        let siblings = document.items(section);
        let at = match after {
            None => siblings.len().checked_sub(1),
            Some(after) => match siblings.binary_search(&after) {
                Ok(at) => Some(at),
                Err(_) => return Err(self.misplaced(after, "is not at the top of that section")),
            },
        };
        let Some(at) = at else {
            let end = passage::end_of_body(document, section);
            let body = document.section(section).body.start;
            return Ok(Spot {
                at: end,
                bullet: BulletStyle::plain(0),
                key: KeyLook::BOLD,
                joint: Joint::NewList { below_heading: end == body && section != document.root() },
            });
        };
        // A field behind one of a numbered list goes to the end of that list, so that it counts on.
        let is_counted = |id: &ItemId| {
            let item = document.item(*id);
            item.key.is_some() && source[item.span.start..].starts_with(digit)
        };
        let behind = siblings[at..].iter().take_while(|id| is_counted(id)).count();
        let at = at + behind.saturating_sub(1);
        let item = document.item(siblings[at]);
        Ok(Spot {
            at: line::next_line(source, item.span.end),
            bullet: self.bullet_behind(siblings, at),
            key: self.key_look_near(siblings, at).unwrap_or(KeyLook::BOLD),
            joint: Joint::Item { loose: style::is_loose(document, siblings, at), depth: 0 },
        })
    }

    /// Where a new item nested in `parent` goes.
    fn child_spot(&self, parent: ItemId) -> Spot {
        let document = self.document;
        let source = document.source();
        let outer = document.item(parent);
        let siblings = &outer.children;
        let depth = outer.depth + 1;
        let Some(&last) = siblings.last() else {
            let around = BulletStyle::of(document, outer);
            let bullet = BulletStyle { indent: around.content_indent(), ..BulletStyle::plain(0) };
            let at = line::next_line(source, outer.span.end);
            let joint = Joint::Item { loose: false, depth };
            return Spot { at, bullet, key: KeyLook::PLAIN, joint };
        };
        let at = siblings.len() - 1;
        let item = document.item(last);
        Spot {
            at: line::next_line(source, item.span.end),
            bullet: self.bullet_behind(siblings, at),
            key: self.key_look_near(siblings, at).unwrap_or(KeyLook::PLAIN),
            joint: Joint::Item { loose: style::is_loose(document, siblings, at), depth },
        }
    }

    /// The bullet of a new item behind `siblings[at]` and what is added there already. Where all have
    /// the same number, so has it.
    fn bullet_behind(&self, siblings: &[ItemId], at: usize) -> BulletStyle {
        let bullet = |at: usize| BulletStyle::of(self.document, self.document.item(siblings[at]));
        let last = bullet(at);
        if at > 0 && bullet(at - 1).marker == last.marker {
            return last;
        }
        let behind =
            line::next_line(self.document.source(), self.document.item(siblings[at]).span.end);
        let is_here = |change: &&TextChange| change.at == (behind..behind);
        let added = self.set.changes.iter().filter(is_here).count();
        (0..=added).fold(last, |bullet, _| bullet.next())
    }

    /// The look of the nearest key at or before `siblings[at]`, else after it.
    fn key_look_near(&self, siblings: &[ItemId], at: usize) -> Option<KeyLook> {
        let (before, after) = siblings.split_at((at + 1).min(siblings.len()));
        let look = |id: &ItemId| KeyLook::of(self.document, self.document.item(*id));
        before.iter().rev().find_map(look).or_else(|| after.iter().find_map(look))
    }
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// The comment after the value of an item, empty when there is none.
pub(crate) fn trailing_comment<'d>(document: &'d Document, item: &Item) -> &'d str {
    let source = document.source();
    let start = item.value_span.end.clamp(item.content.start, item.content.end);
    line::trim(&source[start..item.content.end])
}
