//! Each known pitfall of editing markdown by spans, one test each.

use super::{field, items, outline, parse, section};
use crate::text::Place;
use crate::text::markdown::{Hidden, HiddenKind, LookupError};

#[test]
fn tight_and_loose_lists_read_the_same() {
    let tight = parse("# T\n- **a**: 1\n- **b**: 2\n");
    let loose = parse("# T\n\n- **a**: 1\n\n- **b**: 2\n");
    assert_eq!(outline(&tight), outline(&loose));
}

#[test]
fn an_item_ends_before_the_blank_lines_after_it() {
    let document = parse("- a\n\n\n- b\n\n\n");
    let spans: Vec<_> = items(&document).into_iter().map(|item| item.span.clone()).collect();
    assert_eq!(spans, [0..3, 6..9]);
}

#[test]
fn one_space_of_indentation_makes_a_sibling() {
    let document = parse("- **a**:\n - b: 1\n");
    assert_eq!(outline(&document)[1..], ["- a=", "- b=1"]);
}

#[test]
fn an_indented_heading_belongs_to_its_item() {
    let document = parse("# T\n- **a**: 1\n  ## Inside\n- **b**: 2\n");
    assert_eq!(outline(&document), [" ", "# T", "- a=1", "- b=2"]);
}

#[test]
fn a_byte_order_mark_does_not_hide_the_title() {
    let document = parse("\u{feff}# T\n- **a**: 1\n");
    let title = document.section(section(&document, "T"));
    assert_eq!(&document.source()[title.heading.clone()], "# T\n");
    let mut edit = document.edit();
    edit.set_value(field(&document, "T", "a"), "2");
    assert_eq!(edit.finish().unwrap().document.source(), "\u{feff}# T\n- **a**: 2\n");
}

#[test]
fn front_matter_is_never_parsed_and_only_at_the_start() {
    let document = parse("---\n# no\n- **a**: 0\n---\n# T\n\n---\nb: c\n---\n");
    assert_eq!(document.front_matter(), Some(0..24));
    assert_eq!(outline(&document), [" ", "# T", "## b: c"]);
}

#[test]
fn what_hides_the_rest_is_named_instead_of_not_found() {
    for (source, kind, line) in [
        ("# T\n\n```\n## Lost\n", HiddenKind::Fence, 3),
        ("# T\n<!-- x\n\n## Lost\n", HiddenKind::Comment, 2),
        ("# T\n<details>\n## Lost\n\n## U\n", HiddenKind::Html, 2),
    ] {
        let hidden = Some(Hidden { kind, place: Place { line, column: 1 } });
        match parse(source).find(&["Lost"]) {
            Err(LookupError::NotFound { hidden: found, .. }) => assert_eq!(found, hidden),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_note_above_dashes_is_a_heading_that_ends_the_section() {
    let document = parse("# T\n- **a**: 1\n\nnote\n---\n- **b**: 2\n");
    assert_eq!(outline(&document), [" ", "# T", "- a=1", "## note", "- b=2"]);
}

#[test]
fn a_link_definition_in_an_item_is_no_field() {
    let document = parse("- [status]: X\n- **b**: 2\n");
    assert_eq!(outline(&document)[1..], ["- [status]: X", "- b=2"]);
}

#[test]
fn a_link_definition_changes_no_title_and_no_key() {
    let source = "## [a] [b][] [c][d] [e](f)\n- **[a]**: 1\n";
    let linked = format!("{source}\n[a]: x\n[b]: x\n[d]: x\n");
    assert_eq!(outline(&parse(source)), outline(&parse(&linked)));
    assert_eq!(outline(&parse(source))[1..], ["## [a] [b][] [c][d] e", "- [a]=1"]);
}

#[test]
fn values_are_slices_of_the_source_and_not_of_unescaped_text() {
    let raw = r"\*a\* &amp; `b` [c](d) **e**";
    let document = parse(&format!("- **k**: {raw}\n"));
    assert_eq!(document.raw_value(items(&document)[0].id), raw);
    assert_eq!(document.value(items(&document)[0].id), raw);
}

#[test]
fn a_title_matches_whole_or_not_at_all() {
    let document = parse("## Step 20\n");
    assert!(matches!(document.find(&["Step 2"]), Err(LookupError::NotFound { .. })));
}

#[test]
fn duplicates_are_refused_naming_both_places() {
    let document = parse("## A\n- **k**: 1\n- **K**: 2\n\n## A\n");
    let place = |line| Place { line, column: 1 };
    assert_eq!(
        document.find(&["A"]),
        Err(LookupError::Ambiguous { name: "A".to_owned(), places: vec![place(1), place(5)] })
    );
    let first = document.sections().nth(1).unwrap();
    let error = document.field(first, "k").unwrap_err();
    assert_eq!(error.to_string(), "`k` is ambiguous: it is at 2:1 and 3:1");
}

#[test]
fn a_lone_carriage_return_ends_a_line() {
    let document = parse("# T\r- **a**: 1\r- **b**: 2\r");
    assert_eq!(outline(&document), [" ", "# T", "- a=1", "- b=2"]);
    let mut edit = document.edit();
    edit.set_value(field(&document, "T", "a"), "x\ry");
    let edited = edit.finish().unwrap().document;
    assert_eq!(edited.value(field(&edited, "T", "a")), "x\ry");
}

#[test]
fn inserted_lines_end_as_the_others_do() {
    let document = parse("# T\r\n- **a**: 1\r\n");
    let mut edit = document.edit();
    edit.insert_field(section(&document, "T"), None, "b", "x\ny");
    assert_eq!(
        edit.finish().unwrap().document.source(),
        "# T\r\n- **a**: 1\r\n- **b**:\r\n  > x\r\n  > y\r\n"
    );
}

#[test]
fn tabs_around_bullets_are_copied() {
    let document = parse("# T\n\n-\t**a**: 1\n\t- b: 2\n");
    let mut edit = document.edit();
    let a = field(&document, "T", "a");
    edit.insert_field(section(&document, "T"), None, "c", "3")
        .insert_child_field(a, "d", "4")
        .set_value(a, "x\n\ty");
    let edited = edit.finish().unwrap().document;
    assert_eq!(outline(&edited)[2..], ["- a=x\n\ty", "  - b=2", "  - d=4", "- c=3"]);
    assert!(edited.source().ends_with("\t- b: 2\n\t- d: 4\n-\t**c**: 3\n"));
}

#[test]
fn a_no_break_space_is_content() {
    let document = parse("- **a**: \u{a0}v\u{a0}\n");
    assert_eq!(document.value(items(&document)[0].id), "\u{a0}v\u{a0}");
}

#[test]
fn a_full_width_colon_ends_a_key_and_is_copied() {
    let document = parse("- **目标**：完成\n");
    assert_eq!(items(&document)[0].key.as_deref(), Some("目标"));
    let mut edit = document.edit();
    edit.insert_field(document.root(), None, "状态", "开");
    assert_eq!(edit.finish().unwrap().document.source(), "- **目标**：完成\n- **状态**： 开\n");
}

#[test]
fn a_missing_final_line_end_is_added_only_where_needed() {
    let document = parse("# T\n- **a**: 1");
    let mut edit = document.edit();
    edit.set_value(field(&document, "T", "a"), "2");
    assert_eq!(edit.finish().unwrap().document.source(), "# T\n- **a**: 2");
    let mut edit = document.edit();
    let top = section(&document, "T");
    edit.insert_field(top, None, "b", "2").insert_field(top, None, "c", "3");
    assert_eq!(
        edit.finish().unwrap().document.source(),
        "# T\n- **a**: 1\n- **b**: 2\n- **c**: 3\n"
    );
}

#[test]
fn a_trailing_comment_is_no_part_of_the_value_and_survives() {
    let document = parse("- **a**: v <!-- keep -->\n- **b**:<!-- c -->\n");
    let mut edit = document.edit();
    edit.set_value(field(&document, "", "a"), "w").set_value(field(&document, "", "b"), "x");
    assert_eq!(
        edit.finish().unwrap().document.source(),
        "- **a**: w <!-- keep -->\n- **b**: x <!-- c -->\n"
    );
}
