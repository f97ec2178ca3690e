//! A section that is read alone means what it means in its document, before and after an edit.

use proptest::prelude::*;

use super::properties::{changes, document, edit_of, hostile};
use super::{field, parse, section};
use crate::text::LazyList;
use crate::text::markdown::Document;
use crate::text::markdown::change::{Applied, Expect};

/// All that is known about a document.
fn all_of(document: &Document) -> String {
    let bodies: Vec<_> = document.all_bodies().collect();
    let Document { sections, front_matter, hidden, is_divisible, .. } = document;
    let newline = document.newline();
    format!("{sections:#?}\n{bodies:#?}\n{front_matter:?} {hidden:?} {is_divisible} {newline:?}")
}

/// The same document, of which no body has been read.
fn unread(document: &Document) -> Document {
    let mut unread = document.clone();
    unread.bodies = LazyList::new(unread.bodies.len());
    unread
}

/// Documents of many sections, in which something may reach from one into the next.
fn sections() -> impl Strategy<Value = String> {
    let marks = prop::sample::select(vec!["#", "##", "###", "######", " #", "  ###", "#\t"]);
    let heading =
        (marks, "[a-zS `*_#\\[\\]<&:✓]{0,8}").prop_map(|(m, title)| format!("{m} {title}\n"));
    let line = prop_oneof![
        4 => hostile().prop_map(|value| format!("- **status**: {value}\n")),
        3 => "[a-z_*`<&\\[\\]() ]{0,12}".prop_map(|value| format!("- **note**: {value}\n")),
        2 => "[a-z: ]{0,8}".prop_map(|value| format!("- {value}\n")),
        2 => "[a-z: ]{0,8}".prop_map(|value| format!("  - source: {value}\n")),
        2 => Just("\n".to_owned()),
        1 => "[a-z ]{0,8}".prop_map(|text| format!("{text}\n")),
        1 => hostile(),
        2 => prop::sample::select(vec![
            "```\n", "~~~\n", "  ```\n", "<!--\n", "-->\n", "<div>\n", "</div>\n\n", "<pre>\n", "</pre>\n",
            "| a | b |\n|-|-|\n", "| c | d |\n", "> q\n", "[a]: b\n", "---\n", "===\n", "    code\n",
            "1. one\n", "* star\n", "<?\n", "?>\n", "<![CDATA[\n", "]]>\n", "Under\n---\n", "`a\n", "**b\n",
        ]).prop_map(str::to_owned),
    ];
    let section = (heading, prop::collection::vec(line, 0..6))
        .prop_map(|(heading, lines)| heading + &lines.concat());
    (prop::collection::vec(section, 0..8), any::<bool>()).prop_map(|(sections, is_cut)| {
        let mut text = sections.concat();
        if is_cut && text.ends_with('\n') {
            text.pop();
        }
        text
    })
}

fn any_document() -> impl Strategy<Value = String> {
    prop_oneof![sections(), document()]
}

/// The same document, made from its headings as they are kept.
fn from_contents(document: &Document) -> Option<Document> {
    let lines: Vec<_> = document.contents()?.collect();
    Document::with_contents(document.shared_source(), lines.len() + 1, lines.into_iter())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_section_reads_alone_as_it_does_in_its_document(source in any_document()) {
        let document = parse(&source);
        if document.is_divisible {
            prop_assert_eq!(all_of(&unread(&document)), all_of(&document), "{:?}", source);
            let kept = from_contents(&document).unwrap();
            prop_assert_eq!(all_of(&kept), all_of(&document), "{:?}", source);
        }
    }

    #[test]
    fn a_document_after_edits_is_the_one_that_its_source_makes(
        source in any_document(),
        edits in prop::collection::vec(changes(), 1..3),
    ) {
        let mut document = unread_where_possible(&source);
        for changes in edits {
            if let Ok(edited) = edit_of(&document, &changes).finish() {
                document = edited.document;
                let whole = parse(document.source());
                // What could be read in pieces before need not be noticed to be so again.
                prop_assert!(whole.is_divisible || !document.is_divisible);
                let mut whole = whole;
                whole.is_divisible = document.is_divisible;
                prop_assert_eq!(all_of(&document), all_of(&whole), "{:?}", document.source());
            }
        }
    }
}

fn unread_where_possible(source: &str) -> Document {
    let document = parse(source);
    if document.is_divisible { unread(&document) } else { document }
}

/// Replaces `old` by `new` and says whether the pieces that are touched were enough.
fn is_enough(source: &str, old: &str, new: &str) -> bool {
    let at = source.find(old).unwrap();
    let result = source.replacen(old, new, 1);
    let applied = [Applied {
        at: at..at + old.len(),
        new: at..at + new.len(),
        inserts: false,
        expect: Expect::Value,
    }];
    let derived = parse(source).derive(result.clone(), &applied);
    if let Ok(derived) = &derived {
        assert_eq!(all_of(&derived.document), all_of(&parse(&result)));
    }
    derived.is_ok()
}

#[test]
fn ordinary_edits_are_read_in_pieces() {
    let source = "# T\n\n## A\n- **a**: 1\n\n## B\n- **b**: 2\n### C\ntext\n";
    for (old, new) in [
        ("1", "2"),
        ("- **a**: 1\n", "- **a**: 1\n- **n**: `x` *y* <!-- z -->\n"),
        ("- **a**: 1\n", "- **a**: 1\n\n## N\n- **n**: 1\n"),
        ("## A", "## A ✓"),
        ("## A", "#### A"),
        ("## A", "A"),
        ("## A", "- A"),
        ("### C\ntext\n", ""),
        ("text\n", "```\nopen at the end\n"),
    ] {
        assert!(is_enough(source, old, new), "{new}");
    }
}

/// The heading behind what is touched decides: without looking at it these would be taken for edits
/// of one section.
#[test]
fn what_reaches_beyond_its_section_makes_the_whole_document_be_read() {
    let source = "# T\n\n## A\n- **a**: 1\n\n## B\n- **b**: 2\n\n<!-- c -->\n```\n## D\n```\n";
    for (old, new) in [
        ("1\n", "1\n\n```\n"),
        ("1\n", "1\n\n<!-- x\n"),
        ("1\n\n", "1\n\n<div>\n"),
        ("1\n", "1\n\n[b]: c\n"),
        ("# T\n", "T\n===\n"),
    ] {
        assert!(!is_enough(source, old, new), "{new}");
    }
    for whole in [
        "# T\n\n[b]: c\n\n## A\n- **a**: 1\n",
        "# T\n\n## A\n- **a**: 1\n\nB\n---\n",
        "A\n---\n- **a**: 1\n",
        "- **a**: 1\n\n# T\n",
    ] {
        assert!(!is_enough(whole, "1", "2"), "{whole}");
    }
}

#[test]
fn front_matter_that_an_edit_closes_is_noticed() {
    let source = "---\na: 1\n\n# T\n\nx\n\n## A\n- **a**: 1\n";
    assert!(!is_enough(source, "- **a**: 1\n", "- **a**: 1\n\ny\n\n---\n"));
}

#[test]
fn a_body_is_read_when_it_is_asked_for() {
    let source: String = (1..=50).map(|n| format!("## S{n}\n- **a**: {n}\n\n")).collect();
    let document = unread(&parse(&source));
    let is_read = |document: &Document| document.clone().bodies.made_mut().count();
    assert_eq!(is_read(&document), 0);
    let item = field(&document, "S7", "a");
    assert_eq!((document.value(item).as_str(), is_read(&document)), ("7", 1));
    let mut edit = document.edit();
    edit.set_value(item, "8").set_title(section(&document, "S20"), "S20 ✓");
    let edited = edit.finish().unwrap().document;
    assert_eq!((is_read(&document), is_read(&edited)), (2, 2), "nothing else was read or proven");
    assert_eq!(edited.source(), source.replace("**a**: 7", "**a**: 8").replace("S20\n", "S20 ✓\n"));
}
