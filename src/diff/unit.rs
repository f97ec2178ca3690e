//! What the body of a section consists of: fields, bullets and paragraphs.

use std::ops::Range;

use crate::text::markdown::{Document, ItemId, SectionId};

/// The smallest part that is compared.
#[derive(Clone, Debug)]
pub(super) struct Unit<'d> {
    /// The path of the field it stands under; empty at the top of a section.
    pub under: String,
    /// Its own path if it is a field; bullets and paragraphs have none.
    pub key: Option<String>,
    /// What it says, however it is written.
    pub text: String,
    /// What stands behind a field's value without being part of it, such as a comment.
    pub rest: String,
    /// How it is written.
    pub raw: &'d str,
    /// The list item it is, if it is one.
    pub item: Option<ItemId>,
}

/// How the items of a section are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Items with a key are fields.
    Fields,
    /// Every item is a line of text with all that is nested in it.
    Lines,
}

/// The units of a section's own body, in order.
pub(super) fn units(document: &Document, section: SectionId, reading: Reading) -> Vec<Unit<'_>> {
    let body = document.section(section).body.clone();
    let mut found = Vec::new();
    let mut at = body.start;
    for &item in &document.section(section).items {
        let span = document.item(item).span.clone();
        paragraphs(document, at..span.start, &mut found);
        match reading {
            Reading::Fields => fields(document, item, "", &mut found),
            Reading::Lines => found.push(line(document, item)),
        }
        at = span.end.max(at);
    }
    paragraphs(document, at..body.end, &mut found);
    found
}

/// Text with every run of white space as one space.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_ascii_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// `Tool Mapping` is `tool_mapping`.
pub(super) fn key_name(key: &str) -> String {
    key.trim().to_lowercase().replace([' ', '-'], "_")
}

/// A field with what is nested in it.
fn fields<'d>(document: &'d Document, id: ItemId, under: &str, found: &mut Vec<Unit<'d>>) {
    let item = document.item(id);
    let Some(key) = &item.key else {
        return free(document, id, under, found);
    };
    let name = key_name(key);
    let path = if under.is_empty() { name } else { format!("{under}.{name}") };
    found.push(own(document, id, under, Some(path.clone())));
    for child in &item.children {
        fields(document, *child, &path, found);
    }
}

/// A bullet without a key; what is nested in it stands under the same field.
fn free<'d>(document: &'d Document, id: ItemId, under: &str, found: &mut Vec<Unit<'d>>) {
    let unit = own(document, id, under, None);
    found.push(Unit { text: with_rest(&unit.text, &unit.rest), rest: String::new(), ..unit });
    for child in &document.item(id).children {
        fields(document, *child, under, found);
    }
}

/// An item without its children.
fn own<'d>(document: &'d Document, id: ItemId, under: &str, key: Option<String>) -> Unit<'d> {
    let item = document.item(id);
    let first = item.children.first().map(|child| document.item(*child).span.start);
    let end = first.unwrap_or(item.span.end).clamp(item.span.start, item.span.end);
    let said = if key.is_some() { document.value(id) } else { document.text(id) };
    let rest = after_children(document, id, end);
    Unit {
        under: under.to_owned(),
        key,
        text: boxed(item.checkbox, &said),
        rest,
        raw: &document.source()[item.span.start..end],
        item: Some(id),
    }
}

/// An item as one line of text, with everything in it.
fn line(document: &Document, id: ItemId) -> Unit<'_> {
    let item = document.item(id);
    let rest = after_value(document, id, item.span.end);
    let text = with_rest(&boxed(item.checkbox, &document.text(id)), &rest);
    let raw = &document.source()[item.span.clone()];
    Unit { under: String::new(), key: None, text, rest: String::new(), raw, item: Some(id) }
}

/// What stands in an item behind its value: up to the first child, between children, after them.
fn after_children(document: &Document, id: ItemId, first: usize) -> String {
    let item = document.item(id);
    let mut rest = after_value(document, id, first);
    let mut at = first;
    for child in &item.children {
        let span = &document.item(*child).span;
        if at < span.start {
            rest = with_rest(&rest, &marks_off(&document.source()[at..span.start]));
        }
        at = span.end.max(at);
    }
    if !item.children.is_empty() && at < item.span.end {
        rest = with_rest(&rest, &marks_off(&document.source()[at..item.span.end]));
    }
    rest
}

fn after_value(document: &Document, id: ItemId, end: usize) -> String {
    let item = document.item(id);
    let from = item.block.as_ref().map_or(item.value_span.end, |block| block.end);
    if from < end { marks_off(&document.source()[from..end]) } else { String::new() }
}

/// Text in one line; the indentation of a nested list belongs to the list.
fn marks_off(text: &str) -> String {
    plain(text)
}

fn boxed(checkbox: Option<bool>, text: &str) -> String {
    match checkbox {
        None => text.to_owned(),
        Some(true) => format!("[x] {text}"),
        Some(false) => format!("[ ] {text}"),
    }
}

/// Both texts, with a space between them where both say something.
pub(super) fn with_rest(text: &str, rest: &str) -> String {
    match (text.is_empty(), rest.is_empty()) {
        (_, true) => text.to_owned(),
        (true, false) => rest.to_owned(),
        _ => format!("{text} {rest}"),
    }
}

/// Free text between items: what blank lines part, except inside a fence.
fn paragraphs<'d>(document: &'d Document, range: Range<usize>, found: &mut Vec<Unit<'d>>) {
    let Some(text) = document.source().get(range) else { return };
    let (mut start, mut end, mut at) = (None, 0, 0);
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        if trimmed.is_empty() && fence.is_none() {
            push(text, start.take(), end, found);
        } else {
            start.get_or_insert(at);
            end = at + line.len();
        }
        at += line.len();
    }
    push(text, start, end, found);
}

fn push<'d>(text: &'d str, start: Option<usize>, end: usize, found: &mut Vec<Unit<'d>>) {
    let Some(start) = start else { return };
    let raw = text[start..end].trim_end();
    let (under, rest) = (String::new(), String::new());
    found.push(Unit { under, key: None, text: plain(raw), rest, raw, item: None });
}
