//! Properties that hold for arbitrary text.

use proptest::prelude::*;

use super::{field, ids, items, outline, parse, section};
use crate::text::apply_splices;
use crate::text::markdown::{Document, Edit, SectionId, render_field};

const CASES: u32 = 400;

/// Text that is more likely than most to be mistaken for structure.
pub(super) fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\n", "\n\n", "\r\n", "\r", " ", "  ", "    ", "\t", "#", "## ", "# x\n", "- ", "* ",
        "1. ", "> ", "**", "**k**: ", "k: ", "```", "~~~", "`", "<!--", "-->", "<div>",
        "<details>\n", "<pre>", "---", "===", "[ ] ", "[a]: b", "[", "](", "|", "|-|\n", "\"", "'",
        "\\", "&amp;", "\u{feff}", "\u{a0}", "：", "é", "text", "\u{202e}", "\u{1b}", "...", "+",
        "_", "\u{c}", "\u{b}", "\u{2028}", "\u{85}",
    ]);
    prop::collection::vec(prop_oneof![4 => pieces.prop_map(str::to_owned), 1 => "\\PC{0,4}"], 0..12)
        .prop_map(|parts| parts.concat())
}

pub(super) fn document() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            3 => hostile().prop_map(|text| format!("{text}\n")),
            2 => Just("## Section\n".to_owned()),
            2 => hostile().prop_map(|value| format!("- **key**: {value}\n")),
            1 => hostile().prop_map(|value| format!("  - nested: {value}\n")),
            1 => Just("\n".to_owned()),
        ],
        0..10,
    )
    .prop_map(|parts| parts.concat())
}

/// A change of some kind, of some section or item, with some text.
pub(super) type AnyChange = (usize, prop::sample::Index, String);

pub(super) fn changes() -> impl Strategy<Value = Vec<AnyChange>> {
    prop::collection::vec((0..15usize, any::<prop::sample::Index>(), hostile()), 1..4)
}

pub(super) fn edit_of<'d>(document: &'d Document, changes: &[AnyChange]) -> Edit<'d> {
    let mut edit = document.edit();
    let items = ids(document);
    for (operation, index, text) in changes {
        let section = SectionId::nth(index.index(document.sections.len()));
        let item = (!items.is_empty()).then(|| items[index.index(items.len())]);
        match (operation, item) {
            (0, Some(item)) => edit.set_value(item, text),
            (1, Some(item)) => edit.set_raw(item, text),
            (2, Some(item)) => edit.set_item_text(item, text),
            (3, Some(item)) => edit.remove_item(item),
            (4, Some(item)) => edit.insert_child_field(item, "new", text),
            (5, Some(item)) => edit.set_checkbox(item, true),
            (6, _) => edit.insert_field(section, None, "new", text),
            (7, _) => edit.append_item(section, text),
            (8, _) => edit.append_text(section, text),
            (9, _) => edit.replace_text(section, text),
            (10, _) => edit.insert_section(section, None, 3, "new", text),
            (11, _) => edit.remove_section(section),
            (12, _) => edit.set_title(section, text),
            (13, _) => {
                edit.replace_blocks(section, 0..document.body_blocks(section).len().min(2), text)
            }
            _ => edit.append_checkbox(section, false, text),
        };
    }
    edit
}

proptest! {
    #![proptest_config(crate::text::cases(CASES))]

    #[test]
    fn parsing_keeps_every_byte_and_every_span_is_valid(source in document()) {
        let document = Document::parse(source.as_str()).unwrap();
        prop_assert_eq!(document.source(), source.as_str());
        for id in document.sections() {
            let found = document.section(id);
            prop_assert!(source.get(found.heading.clone()).is_some());
            prop_assert_eq!(found.heading.end, found.body.start);
            prop_assert!(found.body.end <= found.extent.end);
            let _ = (document.body_text(id), document.extent_text(id));
        }
        for item in items(&document) {
            prop_assert!(source.get(item.span.clone()).is_some());
            prop_assert!(item.span.start <= item.value_span.start && item.value_span.end <= item.span.end);
            let _ = (document.value(item.id), document.text(item.id));
        }
    }

    #[test]
    fn bodies_and_headings_tile_the_document(source in document()) {
        let document = parse(&source);
        let mut at = document.section(document.root()).body.start;
        for id in document.sections() {
            let found = document.section(id);
            prop_assert_eq!(found.heading.start, at);
            at = found.body.end;
        }
        prop_assert_eq!(at, source.len());
    }

    #[test]
    fn any_value_reads_back_and_nothing_else_changes(value in hostile(), prefix in hostile(), crlf: bool) {
        let mut source = "# T\n- **a**: 1\n- **b**: \"2\" <!-- c -->\n  - n: 3\n- **c**:\n\n## U\n- **d**: 4\n".to_owned();
        if crlf {
            source = source.replace('\n', "\r\n");
        }
        let document = parse(&source);
        for key in ["a", "b", "c"] {
            let item = field(&document, "T", key);
            let mut edit = document.edit();
            edit.set_value(item, &value);
            let outcome = edit.finish().unwrap();
            prop_assert_eq!(&outcome.document.value(item), &value);
            let mut expected = outline(&document);
            let mut found = outline(&outcome.document);
            expected.retain(|line| !line.starts_with(&format!("- {key}=")));
            found.retain(|line| !line.starts_with(&format!("- {key}=")));
            prop_assert_eq!(found, expected);
            let mut splices = outcome.splices.clone();
            let applied = apply_splices(document.source(), &mut splices).unwrap();
            prop_assert_eq!(applied.as_str(), outcome.document.source());
        }
        let mut edit = document.edit();
        edit.insert_field(section(&document, "T"), None, "new", &value)
            .insert_child_field(field(&document, "T", "c"), "child", &prefix);
        let edited = edit.finish().unwrap().document;
        prop_assert_eq!(edited.value(field(&edited, "T", "new")), value);
        let child = edited.child(field(&edited, "T", "c"), "child").unwrap().unwrap();
        prop_assert_eq!(edited.value(child), prefix);
    }

    #[test]
    fn any_value_can_be_set_in_any_document(source in document(), value in hostile()) {
        let document = parse(&source);
        for id in ids(&document) {
            let mut edit = document.edit();
            edit.set_value(id, &value);
            // A refusal is allowed in a document this odd; a wrong result is not.
            if let Ok(outcome) = edit.finish() {
                prop_assert_eq!(items(&outcome.document).len(), items(&document).len());
                let read = match document.item(id).key {
                    Some(_) => outcome.document.value(id),
                    None => outcome.document.text(id),
                };
                prop_assert_eq!(&read, &value);
            }
        }
    }

    #[test]
    fn appended_text_stays_inside_its_section(text in hostile(), text2 in hostile()) {
        let source = "intro\n\n# A\n- **a**: 1\n\n### Deep\nx\n\n# B\n\n## C\n- **a**: 2";
        let document = parse(source);
        for id in document.sections() {
            let mut edit = document.edit();
            edit.append_text(id, &text);
            let edited = edit.finish().unwrap().document;
            let inside = edited.extent_text(id).len() - document.extent_text(id).len();
            prop_assert_eq!(inside, edited.source().len() - source.len());
            let mut again = edited.edit();
            again.append_text(id, &text2);
            let twice = again.finish();
            prop_assert!(twice.is_ok(), "{:?} in {:?}", twice, edited.source());
            let mut edit = document.edit();
            edit.replace_text(id, &text);
            let replaced = edit.finish().unwrap().document;
            for (title, parent) in [("Deep", "A"), ("C", "B")] {
                let found = replaced.find(&[parent, title]);
                prop_assert!(found.is_ok() || text.contains(title));
            }
        }
    }

    #[test]
    fn no_edit_of_any_document_goes_beyond_what_was_asked(
        source in document(),
        changes in changes(),
    ) {
        let document = parse(&source);
        let edit = edit_of(&document, &changes);
        if let Ok(outcome) = edit.finish() {
            let mut splices = outcome.splices.clone();
            let applied = apply_splices(&source, &mut splices).unwrap();
            prop_assert_eq!(applied.as_str(), outcome.document.source());
            prop_assert!(splices.windows(2).all(|pair| pair[0].at.end < pair[1].at.start));
            if changes.iter().all(|(operation, ..)| matches!(operation, 6 | 7 | 8 | 13)) {
                // Only additions: all that was there is still there, in order.
                let mut after = outline(&outcome.document).into_iter();
                for line in outline(&document) {
                    prop_assert!(after.any(|other| other == line), "{:?} is gone", line);
                }
            }
        }
    }

    #[test]
    fn any_title_of_one_line_reads_back(title in hostile()) {
        let document = parse("# T\n\nU\n---\nbody\n");
        for id in document.sections().skip(1) {
            let mut edit = document.edit();
            edit.set_title(id, &title);
            match edit.finish() {
                Ok(outcome) => prop_assert_eq!(&outcome.document.section(id).title, &title),
                Err(error) => prop_assert!(title.contains(['\n', '\r']), "{:?}: {}", title, error),
            }
        }
    }

    #[test]
    fn any_bullet_reads_back(text in hostile(), ticked: bool) {
        let document = parse("# T\n- a\n\n## U\n");
        let mut edit = document.edit();
        let top = section(&document, "T");
        edit.append_item(top, &text).append_checkbox(top, ticked, &text);
        let edited = edit.finish().unwrap().document;
        prop_assert_eq!(&edited.text(items(&edited)[1].id), &text);
        prop_assert_eq!(&edited.text(items(&edited)[2].id), &text);
        prop_assert_eq!(items(&edited)[2].checkbox, Some(ticked));
    }

    #[test]
    fn what_is_written_without_a_trial_reads_back(
        key in "[a-z][a-z_]{0,8}[a-z]", value in "[a-zA-Z0-9 .,:;/$()+%=@_→-]{1,20}", bold: bool,
    ) {
        let line = render_field("\n", 0, bold, &key, &value).unwrap();
        let document = parse(&format!("# T\n{line}"));
        let item = field(&document, "T", &key);
        prop_assert_eq!(document.value(item), value);
    }
}
