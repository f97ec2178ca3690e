//! Tests of the module as a whole: reading, editing, the proof, and properties of all three.

mod corpus;
mod editing;
mod pitfalls;
mod placing;
mod properties;
mod proving;
mod reading;
mod reparse;

use super::{Document, Item, ItemId, SectionId};

fn parse(source: &str) -> Document {
    Document::parse(source).unwrap()
}

/// All items, in order.
fn items(document: &Document) -> Vec<&Item> {
    document.all_bodies().flat_map(|body| &body.items).collect()
}

/// The names of all items, in order.
fn ids(document: &Document) -> Vec<ItemId> {
    items(document).into_iter().map(|item| item.id).collect()
}

/// The field `key` of the section `title`.
fn field(document: &Document, title: &str, key: &str) -> ItemId {
    let section = section(document, title);
    document.field(section, key).unwrap().unwrap()
}

fn section(document: &Document, title: &str) -> SectionId {
    match title {
        "" => document.root(),
        title => document.find(&[title]).unwrap(),
    }
}

/// All sections and items with what they say, indented by their nesting.
fn outline(document: &Document) -> Vec<String> {
    let mut out = Vec::new();
    for id in document.sections() {
        let found = document.section(id);
        out.push(format!("{} {}", "#".repeat(usize::from(found.level)), found.title));
        let mut stack: Vec<ItemId> = document.items(id).iter().rev().copied().collect();
        while let Some(id) = stack.pop() {
            let item = document.item(id);
            let indent = "  ".repeat(item.depth);
            let tick = match item.checkbox {
                None => "",
                Some(true) => "[x] ",
                Some(false) => "[ ] ",
            };
            let value = document.value(id);
            let key = item.key.as_deref().map(|key| format!("{key}=")).unwrap_or_default();
            out.push(format!("{indent}- {tick}{key}{value}"));
            stack.extend(item.children.iter().rev());
        }
    }
    out
}
