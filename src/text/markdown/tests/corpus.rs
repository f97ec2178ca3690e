//! The corpus of awkward documents: reading keeps every byte, every value can be set.

use super::{ids, items, outline};
use crate::text::markdown::{Document, EditError};

fn documents() -> Vec<(String, Document)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            let document = Document::from_bytes(bytes.clone()).unwrap();
            assert_eq!(document.source().as_bytes(), bytes, "{}", path.display());
            (path.file_name().unwrap().to_string_lossy().into_owned(), document)
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(found.len() >= 25);
    found
}

const HOSTILE: [&str; 12] = [
    "plain",
    "",
    " padded ",
    "a\nb",
    "## Heading\n- **x**: y\n",
    "```\n</details>",
    "x <!-- y -->",
    "<!--",
    "\"quoted\" 'text'",
    "- [ ] item\n\n---\n",
    "\r\n\t\u{7f}\u{1b}[0m",
    "[a]: b | c \\",
];

#[test]
fn every_value_of_every_document_can_be_set_to_anything() {
    for (name, document) in documents() {
        for id in ids(&document) {
            if document.item(id).key.is_none() {
                continue;
            }
            for value in HOSTILE {
                let mut edit = document.edit();
                edit.set_value(id, value);
                let edited = edit
                    .finish()
                    .unwrap_or_else(|error| panic!("{name} {id:?} {value:?}: {error}"));
                assert_eq!(edited.document.value(id), value, "{name} {id:?}");
                assert_eq!(items(&edited.document).len(), items(&document).len());
                let mut back = edited.document.edit();
                back.set_value(id, &document.value(id));
                let back = back.finish().unwrap().document;
                assert_eq!(outline(&back), outline(&document), "{name} {id:?} {value:?}");
            }
        }
    }
}

#[test]
fn text_and_fields_can_be_added_to_every_section_that_is_not_hidden() {
    for (name, document) in documents() {
        for id in document.sections() {
            for value in HOSTILE {
                let mut edit = document.edit();
                edit.append_text(id, value).insert_field(id, None, "new key", value);
                match edit.finish() {
                    Ok(edited) => {
                        let field = edited.document.field(id, "new key");
                        // A heading in the text shifts the numbers of later sections, never this one.
                        let field = field.unwrap().unwrap();
                        assert_eq!(edited.document.value(field), value, "{name}");
                    }
                    Err(EditError::WouldChangeStructure { .. }) if document.hidden().is_some() => {}
                    Err(error) => panic!("{name} {id:?} {value:?}: {error}"),
                }
            }
        }
    }
}

#[test]
fn every_item_and_every_section_can_be_removed() {
    for (name, document) in documents() {
        for id in ids(&document) {
            let mut edit = document.edit();
            edit.remove_item(id);
            if let Err(error) = edit.finish() {
                // An empty bullet above an indented paragraph keeps it out of the item before.
                assert!(name == "empty_items.md" && id.number() == 4, "{name} {id:?}: {error}");
            }
        }
        for id in document.sections().skip(1) {
            let mut edit = document.edit();
            edit.remove_section(id);
            if let Err(error) = edit.finish() {
                // Only sections that change their parent may stand in the way.
                assert!(error.to_string().contains("another section"), "{name} {id:?}: {error}");
            }
        }
    }
}

#[test]
fn every_title_can_be_changed() {
    for (name, document) in documents() {
        for id in document.sections().skip(1) {
            for title in ["New", "- x # ", "", "a | b", "**b** `c`", "1. x", "[r]: u"] {
                let mut edit = document.edit();
                edit.set_title(id, title);
                let edited = edit
                    .finish()
                    .unwrap_or_else(|error| panic!("{name} {id:?} {title:?}: {error}"));
                assert_eq!(edited.document.section(id).title, title, "{name}");
            }
        }
    }
}
