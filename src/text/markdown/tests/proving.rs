//! The proof refuses what an edit without it would let through.

use super::{field, parse, section};
use crate::text::markdown::change::{ChangeSet, Expect, Joint, TextChange};
use crate::text::markdown::value::Reading;
use crate::text::markdown::{Document, EditError};
use crate::text::{Splice, apply_splices};

/// Splices `new` over the value of `T`'s field `a`, as a careless editor would.
fn naive(document: &Document, new: &str) -> Result<(), EditError> {
    let a = field(document, "T", "a");
    let at = document.item(a).value_span.clone();
    let mut set = ChangeSet::default();
    set.intent.readings.insert(a, Reading::Value(new.to_owned()));
    set.changes.push(TextChange {
        at,
        new: new.to_owned(),
        joint: Joint::Replace,
        expect: Expect::Value,
    });
    set.carry_out(document).map(drop)
}

#[test]
fn a_careless_splice_makes_structure_and_is_refused() {
    let document = parse("# T\n- **a**: 1\n- **b**: 2\n\n## U\n- **c**: 3\n");
    for value in
        ["x\n# Forged\n", "x\n- **b**: forged", "x\n  - n: nested", "x\n\n```\n", "x\n<!--", "x\ny"]
    {
        let at = document.item(field(&document, "T", "a")).value_span.clone();
        let mut splices = [Splice { at, new: value.to_owned() }];
        let careless = apply_splices(document.source(), &mut splices).unwrap();
        assert!(Document::parse(careless).is_ok(), "without the proof nothing would object");
        let error = naive(&document, value).unwrap_err();
        assert!(matches!(error, EditError::WouldChangeStructure { .. }), "{value:?}: {error}");
    }
    assert!(naive(&document, "harmless").is_ok());
}

#[test]
fn the_place_of_a_refusal_is_in_the_old_document() {
    let document = parse("# T\n- **a**: 1\n\n## U\n");
    let error = naive(&document, "x\n\n~~~").unwrap_err();
    match error {
        EditError::WouldChangeStructure { place, .. } => assert_eq!(place.line, 2),
        other => panic!("{other}"),
    }
}

/// Inserts `new` at `at` as text of `T`.
fn insert(document: &Document, at: usize, new: &str) -> Result<(), EditError> {
    let expect = Expect::Inside(section(document, "T"));
    let mut set = ChangeSet::default();
    set.changes.push(TextChange { at: at..at, new: new.to_owned(), joint: Joint::Replace, expect });
    set.carry_out(document).map(drop)
}

#[test]
fn text_that_touches_anything_else_is_refused() {
    let source = "# T\n- **a**: 1\n\npara\n\n## U\n### V\n";
    let document = parse(source);
    let before_u = source.find("## U").unwrap();
    assert!(insert(&document, before_u, "fine\n\n").is_ok());
    for text in ["# X\n", "## X\n\n```\n", "<!--\n", "lazy", "#", "\n---\n\n# X\n\n"] {
        assert!(insert(&document, before_u, text).is_err(), "{text:?}");
    }
    assert!(insert(&document, 15, "  absorbed\n").is_err(), "it would grow the item");
    assert!(insert(&document, source.find("para").unwrap(), "    ").is_err(), "code, not text");
    let capture = parse("# T\n### V\n");
    assert!(insert(&capture, 4, "## X\n").is_err(), "`V` would belong to `X`");
}

#[test]
fn removing_more_than_was_meant_is_refused() {
    let document = parse("# T\n- **a**: 1\n- **b**: 2\n");
    let mut set = ChangeSet::default();
    set.intent.removed_items.insert(field(&document, "T", "a"));
    set.changes.push(TextChange {
        at: 4..26,
        new: String::new(),
        joint: Joint::Replace,
        expect: Expect::Value,
    });
    let error = set.carry_out(&document).unwrap_err();
    assert!(error.to_string().contains("a list item would vanish"), "{error}");
}

#[test]
fn an_announced_item_must_come() {
    let document = parse("# T\n\n    code\n");
    let mut edit = document.edit();
    edit.insert_field(section(&document, "T"), None, "a", "1");
    let set = std::mem::take(&mut edit.set);
    let mut spoiled = set;
    for change in &mut spoiled.changes {
        change.new = format!("    {}", change.new);
    }
    let error = spoiled.carry_out(&document).unwrap_err();
    assert!(matches!(error, EditError::WouldChangeStructure { .. }), "{error}");
}
