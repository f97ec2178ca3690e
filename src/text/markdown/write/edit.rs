//! Changing a document: operations in, one proven result out.

use std::ops::Range;

use crate::text::Splice;
use crate::text::markdown::change::{ChangeSet, Expect, Joint, TextChange};
use crate::text::markdown::edit_items::trailing_comment;
use crate::text::markdown::passage::{self, Mode};
use crate::text::markdown::reparse::Touched;
use crate::text::markdown::title::End;
use crate::text::markdown::value::{self, Lines, Reading, Written};
use crate::text::markdown::{Document, EditError, ItemId, SectionId, line, render, title};

/// Changes to be made together; nothing happens before [`finish`](Self::finish).
///
/// An operation that cannot be carried out makes the whole edit fail: the first such error is
/// kept and reported by `finish`. Names of sections and items are those of the document the
/// edit began with, throughout.
#[must_use = "an edit does nothing until it is finished"]
#[derive(Debug)]
pub struct Edit<'d> {
    pub(crate) document: &'d Document,
    pub(crate) set: ChangeSet,
    error: Option<EditError>,
}

/// The outcome of an edit.
#[derive(Clone, Debug)]
pub struct Edited {
    /// The document afterwards.
    pub document: Document,
    /// What was replaced in the old source, in order; empty when nothing changed.
    pub splices: Vec<Splice>,
    /// The sections that may have changed, where all others are as they were.
    pub(crate) touched: Option<Touched>,
    /// Where the source of the document was that was edited.
    pub(crate) origin: (usize, usize),
}

impl Edited {
    /// Whether it is an edit of that document.
    pub(crate) fn is_of(&self, document: &Document) -> bool {
        self.origin == document.address()
    }
}

impl<'d> Edit<'d> {
    pub(crate) fn new(document: &'d Document) -> Self {
        Self { document, set: ChangeSet::default(), error: None }
    }

    /// Writes `value` so that it reads back identical, whatever it contains.
    ///
    /// Quotes that were there stay; a comment after the value stays.
    pub fn set_value(&mut self, item: ItemId, value: &str) -> &mut Self {
        self.attempt(|edit| {
            let document = edit.document;
            let found = document.item(item);
            let name = found.key.as_deref().unwrap_or("item");
            let keep = value::decode(document.raw_value(item)).1;
            let written = match found.key {
                Some(_) => {
                    let comment = trailing_comment(document, found);
                    // A block of code stays one.
                    let block = found.block.as_ref().map(|at| &document.source()[at.clone()]);
                    let lines = match block {
                        Some(block) if !block.starts_with('>') => Lines::Code,
                        _ => Lines::Markdown,
                    };
                    render::value_in(name, value, keep, lines, (found.takes_block, comment))?
                }
                None => {
                    edit.write_text(item, value)?;
                    // The text is the value, so it must not read as a key and a value.
                    edit.set.intent.readings.insert(item, Reading::Value(value.to_owned()));
                    return Ok(());
                }
            };
            edit.set.intent.readings.insert(item, Reading::Value(value.to_owned()));
            if document.value(item) != value {
                edit.write_value(found, &written);
            }
            Ok(())
        })
    }

    /// Writes a value, or `raw` as its source, in place of what is before `end`: text that was typed
    /// right below a value that [ends there](Document::own_lines_end) stays.
    pub(crate) fn set_until(
        &mut self,
        item: ItemId,
        end: Option<usize>,
        value: &str,
        raw: Option<&str>,
    ) -> &mut Self {
        let found = self.document.item(item);
        let end = end.unwrap_or_else(|| self.document.own_lines_end(item));
        let start = found.value_span.start;
        match raw {
            _ if end < found.value_span.end => {}
            Some(raw) => return self.set_raw(item, raw),
            None => return self.set_value(item, value),
        }
        self.attempt(|edit| {
            let name = found.key.as_deref().unwrap_or("item");
            let source = edit.document.source();
            let keep = value::decode(&source[start..end]).1;
            let written = match raw {
                Some(raw) => render::raw_value(name, raw)?,
                None => render::value_in(name, value, keep, Lines::Markdown, (false, ""))?,
            };
            let Written::Inline(new) = written else {
                return Err(EditError::NotInline { name: name.to_owned() });
            };
            let raw = format!("{new}{}", &source[end..found.value_span.end]);
            edit.set.intent.readings.insert(item, Reading::Raw(raw));
            if source[start..end] != new {
                edit.replace(start..end, new, Expect::Value);
            }
            Ok(())
        })
    }

    /// Writes `raw` as the inline source of the value, such as `["a", "b"]`.
    pub fn set_raw(&mut self, item: ItemId, raw: &str) -> &mut Self {
        self.attempt(|edit| {
            let document = edit.document;
            let found = document.item(item);
            let name = found.key.as_deref().unwrap_or("item");
            let written = render::raw_value(name, raw)?;
            let reading = Reading::Raw(line::trim(raw).to_owned());
            if !reading.holds(document, item) {
                edit.write_value(found, &written);
            }
            edit.set.intent.readings.insert(item, reading);
            Ok(())
        })
    }

    /// Adds a field after `after`, or after the last top-level item of the section's own body.
    ///
    /// Without items the field begins a list after the section's text. BulletStyle, indentation,
    /// marks of the key and blank lines are those of its neighbours.
    pub fn insert_field(
        &mut self,
        section: SectionId,
        after: Option<ItemId>,
        key: &str,
        value: &str,
    ) -> &mut Self {
        self.attempt(|edit| {
            let written = render::field_value(key, value)?;
            edit.add_field(section, after, key, &written, Reading::Value(value.to_owned()))
        })
    }

    /// As [`insert_field`](Self::insert_field), with the inline source of the value.
    pub fn insert_raw_field(
        &mut self,
        section: SectionId,
        after: Option<ItemId>,
        key: &str,
        raw: &str,
    ) -> &mut Self {
        self.attempt(|edit| {
            let written = render::raw_value(key, raw)?;
            let reading = Reading::Raw(line::trim(raw).to_owned());
            edit.add_field(section, after, key, &written, reading)
        })
    }

    /// Adds a field nested in `parent`, after its last nested item.
    ///
    /// Its key is plain unless those of its siblings are not.
    pub fn insert_child_field(&mut self, parent: ItemId, key: &str, value: &str) -> &mut Self {
        self.attempt(|edit| {
            let written = render::field_value(key, value)?;
            edit.add_child(parent, key, &written, Reading::Value(value.to_owned()))
        })
    }

    /// As [`insert_child_field`](Self::insert_child_field), with the inline source of the value.
    pub fn insert_raw_child_field(&mut self, parent: ItemId, key: &str, raw: &str) -> &mut Self {
        self.attempt(|edit| {
            let written = render::raw_value(key, raw)?;
            edit.add_child(parent, key, &written, Reading::Raw(line::trim(raw).to_owned()))
        })
    }

    /// Adds a bullet without a key at the end of the section's last top-level list.
    ///
    /// It reads back through [`Document::text`]; text such as `Note: x` may look like a field.
    pub fn append_item(&mut self, section: SectionId, text: &str) -> &mut Self {
        self.attempt(|edit| edit.add_bullet(section, None, None, text))
    }

    /// Adds a bullet with a box at the end of the section's last top-level list.
    pub fn append_checkbox(&mut self, section: SectionId, checked: bool, text: &str) -> &mut Self {
        self.insert_checkbox(section, None, checked, text)
    }

    /// Adds a bullet with a box after `after`, or at the end of the section's last top-level list.
    pub fn insert_checkbox(
        &mut self,
        section: SectionId,
        after: Option<ItemId>,
        checked: bool,
        text: &str,
    ) -> &mut Self {
        self.attempt(|edit| edit.add_bullet(section, after, Some(checked), text))
    }

    /// Ticks or clears the box of an item.
    pub fn set_checkbox(&mut self, item: ItemId, checked: bool) -> &mut Self {
        self.attempt(|edit| {
            let found = edit.document.item(item);
            if found.checkbox.is_none() {
                return Err(edit.misplaced(item, "has no box"));
            }
            if found.checkbox != Some(checked) {
                let mark = if checked { "x" } else { " " };
                // The box is `[ ]` or `[x]` and ends where text may begin.
                let at = found.head - 2..found.head - 1;
                edit.replace(at, mark.to_owned(), Expect::Value);
            }
            edit.set.intent.boxes.insert(item, checked);
            Ok(())
        })
    }

    /// Replaces the whole text of a bullet, as [`Document::text`] reads it.
    pub fn set_item_text(&mut self, item: ItemId, text: &str) -> &mut Self {
        self.attempt(|edit| edit.write_text(item, text))
    }

    /// Removes an item and what is nested in it.
    pub fn remove_item(&mut self, item: ItemId) -> &mut Self {
        self.attempt(|edit| {
            edit.cut_item(item);
            Ok(())
        })
    }

    /// Adds markdown at the end of the section's own body, before its subsections.
    ///
    /// The text stays inside the section: headings in it are demoted if they would end it, and
    /// what cannot be contained otherwise is put into a fenced block.
    pub fn append_text(&mut self, section: SectionId, text: &str) -> &mut Self {
        self.attempt(|edit| passage::put(&mut edit.set, edit.document, section, Mode::Append, text))
    }

    /// Replaces the section's own body; its subsections stay. See
    /// [`append_text`](Self::append_text) for what happens to headings in the text.
    pub fn replace_text(&mut self, section: SectionId, text: &str) -> &mut Self {
        self.attempt(|edit| {
            passage::put(&mut edit.set, edit.document, section, Mode::Replace, text)
        })
    }

    /// Replaces some of the section's [blocks](Document::body_blocks); all others stay. See
    /// [`append_text`](Self::append_text) for what happens to headings in the text.
    pub fn replace_blocks(
        &mut self,
        section: SectionId,
        blocks: Range<usize>,
        text: &str,
    ) -> &mut Self {
        let mode = Mode::Blocks(blocks.start, blocks.end);
        self.attempt(|edit| passage::put(&mut edit.set, edit.document, section, mode, text))
    }

    /// The same, where items without a key may be among the blocks, and go.
    pub(crate) fn replace_lists(
        &mut self,
        section: SectionId,
        blocks: Range<usize>,
        text: &str,
    ) -> &mut Self {
        let mode = Mode::Lists(blocks.start, blocks.end);
        self.attempt(|edit| passage::put(&mut edit.set, edit.document, section, mode, text))
    }

    /// Adds a section below `parent`, after its child `after` or after its last one.
    ///
    /// `body` is markdown as it is to stand there; it must stay inside the new section.
    pub fn insert_section(
        &mut self,
        parent: SectionId,
        after: Option<SectionId>,
        level: u8,
        title: &str,
        body: &str,
    ) -> &mut Self {
        self.attempt(|edit| {
            let document = edit.document;
            let above = document.section(parent);
            if !(1..=6).contains(&level) || level <= above.level {
                return Err(EditError::BadLevel { level, parent: above.level });
            }
            if body.contains('\0') {
                return Err(EditError::ContainsNul { name: title.to_owned() });
            }
            let end = match after {
                None => above.extent.end,
                Some(after) => {
                    let sibling = document.section(after);
                    if sibling.parent != Some(parent) {
                        return Err(EditError::Misplaced {
                            name: sibling.title.to_owned(),
                            place: document.place(sibling.heading.start),
                            reason: "is not directly below the section meant",
                        });
                    }
                    sibling.extent.end
                }
            };
            let newline = document.newline();
            let mut new = title::heading(level, title, newline)?;
            if line::lines(body).next().is_some_and(|first| line::trim(first).is_empty()) {
                new.push_str(newline);
            }
            new.push_str(&line::normalise(body, newline));
            let at = passage::end_of_content(document.source(), above.body.start, end);
            let expect = Expect::Section { parent, level, title: title.to_owned() };
            let joint = Joint::Section { level };
            edit.set.changes.push(TextChange { at: at..at, new, joint, expect });
            Ok(())
        })
    }

    /// Puts other words in the place of some within a line of a paragraph, which stays one.
    pub fn replace_words(&mut self, at: Range<usize>, new: &str) -> &mut Self {
        self.attempt(|edit| {
            if new.contains(['\n', '\r', '\0']) {
                let place = edit.document.place(at.start);
                let reason = "the words would be several lines".to_owned();
                return Err(EditError::WouldChangeStructure { place, reason });
            }
            edit.replace(at, new.to_owned(), Expect::Value);
            Ok(())
        })
    }

    /// Sets the box of an item, also one with a mark other than `x` in it, and the text after it.
    pub fn set_box(&mut self, item: ItemId, checked: bool, text: &str) -> &mut Self {
        self.attempt(|edit| {
            let document = edit.document;
            let found = document.item(item);
            if found.checkbox.is_some() {
                edit.set_checkbox(item, checked);
                return edit.error.take().map_or_else(|| edit.write_text(item, text), Err);
            }
            let start = found.content.start;
            let mark = document.source()[start..].chars().nth(1).map_or(0, char::len_utf8);
            let at = start + 1..start + 1 + mark;
            if !document.source()[at.end..].starts_with("] ") {
                return Err(edit.misplaced(item, "has no box"));
            }
            edit.replace(at, if checked { "x" } else { " " }.to_owned(), Expect::Value);
            edit.set.intent.boxes.insert(item, checked);
            edit.set.intent.readings.insert(item, Reading::Text(text.to_owned()));
            Ok(())
        })
    }

    /// Removes a section with its subsections.
    pub fn remove_section(&mut self, section: SectionId) -> &mut Self {
        self.attempt(|edit| edit.cut_section(section))
    }

    /// Replaces the title of a section; its level and its marks stay.
    pub fn set_title(&mut self, section: SectionId, title: &str) -> &mut Self {
        self.set_title_ending(section, title, false)
    }

    /// As [`set_title`](Self::set_title); `is_encoded` says that the last character is written as a
    /// character reference, so that [`Document::raw_title`] tells it from the plain one.
    pub fn set_title_ending(
        &mut self,
        section: SectionId,
        title: &str,
        is_encoded: bool,
    ) -> &mut Self {
        let end = if is_encoded { End::Encoded } else { End::Plain };
        self.attempt(|edit| {
            let document = edit.document;
            let found = document.section(section);
            if section == document.root() {
                return Err(EditError::BadTitle {
                    title: title.to_owned(),
                    reason: "the text before the first heading has none",
                });
            }
            let is_already = document.raw_title(section).ends_with(';')
                && title.ends_with(|c: char| !c.is_ascii());
            if found.title != title || is_encoded != is_already {
                let (at, new, anew) = title::replacement(document, &found, title, end)?;
                let expect = if anew { Expect::Heading(section) } else { Expect::Value };
                edit.replace(at, new, expect);
            }
            edit.set.intent.titles.insert(section, title.to_owned());
            Ok(())
        })
    }

    /// Applies the changes and proves that nothing else changed.
    ///
    /// # Errors
    /// The first operation that cannot be carried out, or the first unintended difference.
    pub fn finish(self) -> Result<Edited, EditError> {
        match self.error {
            Some(error) => Err(error),
            None => self.set.carry_out(self.document),
        }
    }

    fn attempt(&mut self, operation: impl FnOnce(&mut Self) -> Result<(), EditError>) -> &mut Self {
        if self.error.is_none() {
            self.error = operation(self).err();
        }
        self
    }

    pub(crate) fn replace(&mut self, at: Range<usize>, new: String, expect: Expect) {
        self.set.changes.push(TextChange { at, new, joint: Joint::Replace, expect });
    }

    pub(crate) fn misplaced(&self, item: ItemId, reason: &'static str) -> EditError {
        let found = self.document.item(item);
        EditError::Misplaced {
            name: found.key.clone().unwrap_or_else(|| "item".to_owned()),
            place: self.document.place(found.span.start),
            reason,
        }
    }
}
