//! What edits do to the source, byte for byte.

use super::{field, items, outline, parse, section};
use crate::text::Splice;
use crate::text::markdown::{Document, Edit, EditError, render_field, render_raw_field};

fn edited(source: &str, change: impl FnOnce(&Document, &mut Edit<'_>)) -> String {
    let document = parse(source);
    let mut edit = document.edit();
    change(&document, &mut edit);
    edit.finish().unwrap().document.into_source()
}

fn refused(source: &str, change: impl FnOnce(&Document, &mut Edit<'_>)) -> EditError {
    let document = parse(source);
    let mut edit = document.edit();
    change(&document, &mut edit);
    edit.finish().unwrap_err()
}

#[test]
fn setting_a_value_touches_only_its_bytes() {
    let document = parse("# T\n- **a**: 1\n- **b**: two  \n");
    let mut edit = document.edit();
    edit.set_value(field(&document, "T", "b"), "2");
    let outcome = edit.finish().unwrap();
    assert_eq!(outcome.splices, [Splice { at: 24..27, new: "2".to_owned() }]);
    assert_eq!(outcome.document.source(), "# T\n- **a**: 1\n- **b**: 2  \n");
}

#[test]
fn setting_what_is_there_changes_nothing() {
    let document = parse("- **a**: \"x\"\n- [x] b\n# T\n");
    let mut edit = document.edit();
    edit.set_value(items(&document)[0].id, "x")
        .set_checkbox(items(&document)[1].id, true)
        .set_item_text(items(&document)[1].id, "b")
        .set_title(section(&document, "T"), "T");
    let outcome = edit.finish().unwrap();
    assert!(outcome.splices.is_empty());
    assert_eq!(outcome.document.source(), document.source());
}

#[test]
fn values_are_written_in_the_plainest_form_that_reads_back() {
    let set = |old: &str, new: &str| {
        let source = format!("- **k**: {old}\n");
        edited(&source, |document, edit| {
            edit.set_value(items(document)[0].id, new);
        })
    };
    assert_eq!(set("a", "b c"), "- **k**: b c\n");
    assert_eq!(set("\"a\"", "b"), "- **k**: \"b\"\n");
    assert_eq!(set("'a'", "b"), "- **k**: 'b'\n");
    assert_eq!(set("'a'", "it's"), "- **k**: \"it's\"\n");
    assert_eq!(set("a", " b"), "- **k**: \" b\"\n");
    assert_eq!(set("a", ""), "- **k**: \"\"\n");
    assert_eq!(set("a", "\"b\" c"), "- **k**: \"b\" c\n");
    assert_eq!(set("a", "\"b\""), "- **k**: \"\\\"b\\\"\"\n");
    assert_eq!(set("a", "b <!-- c -->"), "- **k**: \"b <!-- c -->\"\n");
    assert_eq!(set("a", "b\rc"), "- **k**: \"b\\rc\"\n");
    assert_eq!(set("a", "b\n```"), "- **k**:\n  ````text\n  b\n  ```\n  ````\n");
    assert_eq!(set("a", "b\n\n- c\n# d"), "- **k**:\n  > b\n  >\n  > - c\n  > # d\n");
    assert_eq!(set("a", "b\n    c"), "- **k**:\n  ```text\n  b\n      c\n  ```\n");
    assert_eq!(set("", "b"), "- **k**: b\n");
    assert_eq!(set("a\n  wrapped", "b"), "- **k**: b\n");
}

#[test]
fn a_value_of_several_lines_gives_way_to_an_inline_one_and_back() {
    let source = "- **k**: <!-- c -->\n  ```text\n  a\n  b\n  ```\n  - n: 1\n- **l**: 2\n";
    let inline = edited(source, |document, edit| {
        edit.set_value(items(document)[0].id, "x");
    });
    assert_eq!(inline, "- **k**: x <!-- c -->\n  - n: 1\n- **l**: 2\n");
    let lines = edited(&inline, |document, edit| {
        edit.set_value(items(document)[0].id, "a\nb");
    });
    let quoted = "- **k**: <!-- c -->\n  > a\n  > b\n  - n: 1\n- **l**: 2\n";
    assert_eq!(lines, quoted);
    let again = edited(quoted, |document, edit| {
        assert_eq!(document.value(items(document)[0].id), "a\nb");
        edit.set_value(items(document)[0].id, "x");
    });
    assert_eq!(again, inline);
    let other = edited(source, |document, edit| {
        edit.set_value(items(document)[0].id, "c\n\nd");
    });
    assert_eq!(other, source.replace("  a\n  b\n", "  c\n\n  d\n"));
}

#[test]
fn raw_values_stay_as_they_are_given() {
    let source = "- **tools**: []\n- **inputs**: x\n";
    let result = edited(source, |document, edit| {
        edit.set_raw(items(document)[0].id, "[\"a\", \"b\"]").set_raw(items(document)[1].id, "");
    });
    assert_eq!(result, "- **tools**: [\"a\", \"b\"]\n- **inputs**:\n");
    for raw in ["a\nb", "a\rb", "a <!-- b -->"] {
        let error = refused(source, |document, edit| {
            edit.set_raw(items(document)[0].id, raw);
        });
        assert_eq!(error, EditError::NotInline { name: "tools".to_owned() });
    }
}

#[test]
fn a_new_field_looks_like_its_neighbours() {
    let add = |source: &str| {
        edited(source, |document, edit| {
            edit.insert_field(document.root(), None, "new", "v");
        })
    };
    assert_eq!(add("* __a__: 1\n"), "* __a__: 1\n* __new__: v\n");
    assert_eq!(add("-   **a:** 1\n"), "-   **a:** 1\n-   **new:** v\n");
    assert_eq!(add(" + a: 1\n"), " + a: 1\n + new: v\n");
    assert_eq!(add("9) **a**: 1\n"), "9) **a**: 1\n10) **new**: v\n");
    assert_eq!(add("- **a**: 1\n\n- **b**: 2\n"), "- **a**: 1\n\n- **b**: 2\n\n- **new**: v\n");
    assert_eq!(add("- **a**: \"1\"\n\ntext\n"), "- **a**: \"1\"\n- **new**: v\n\ntext\n");
    assert_eq!(add("- only prose here\n"), "- only prose here\n- **new**: v\n");
}

#[test]
fn a_field_begins_a_list_where_there_is_none() {
    let add = |source: &str| {
        edited(source, |document, edit| {
            let top = section(document, "T");
            edit.insert_field(top, None, "a", "1").insert_field(top, None, "b", "2");
        })
    };
    assert_eq!(add("# T\n"), "# T\n- **a**: 1\n- **b**: 2\n");
    assert_eq!(add("# T"), "# T\n- **a**: 1\n- **b**: 2\n");
    assert_eq!(add("# T\ntext\n"), "# T\ntext\n\n- **a**: 1\n- **b**: 2\n");
    assert_eq!(add("# T\n\n## U\n"), "# T\n- **a**: 1\n- **b**: 2\n\n## U\n");
    assert_eq!(add("# T\n## U\n"), "# T\n- **a**: 1\n- **b**: 2\n\n## U\n");
    assert_eq!(add("# T\nU\n===\n"), "# T\n- **a**: 1\n- **b**: 2\n\nU\n===\n");
}

#[test]
fn a_field_goes_after_the_item_named() {
    let result = edited("- **a**: 1\n  - n: x\n- **c**: 3\n", |document, edit| {
        let a = field(document, "", "a");
        edit.insert_field(document.root(), Some(a), "b", "2").insert_child_field(a, "m", "y");
    });
    assert_eq!(result, "- **a**: 1\n  - n: x\n  - m: y\n- **b**: 2\n- **c**: 3\n");
    let error = refused("- **a**: 1\n  - n: x\n", |document, edit| {
        edit.insert_field(document.root(), Some(items(document)[1].id), "b", "2");
    });
    assert!(matches!(error, EditError::Misplaced { .. }));
}

#[test]
fn nested_fields_are_plain_unless_their_siblings_are_bold() {
    let add = |source: &str| {
        edited(source, |document, edit| {
            edit.insert_child_field(items(document)[0].id, "n", "v");
        })
    };
    assert_eq!(add("- **a**:\n"), "- **a**:\n  - n: v\n");
    assert_eq!(add("- **a**:"), "- **a**:\n  - n: v\n");
    assert_eq!(add("1. **a**:\n"), "1. **a**:\n   - n: v\n");
    assert_eq!(add("- **a**:\n  * **b**: 1\n"), "- **a**:\n  * **b**: 1\n  * **n**: v\n");
    assert_eq!(add("- - x\n"), "- - x\n  - n: v\n");
    assert_eq!(add("- **a**: 1\n  ```\n  c\n  ```\n"), "- **a**: 1\n  ```\n  c\n  ```\n  - n: v\n");
}

#[test]
fn bullets_and_boxes_are_added_and_changed() {
    let result = edited("# T\n- [ ] one\n- two\n", |document, edit| {
        let top = section(document, "T");
        edit.set_checkbox(items(document)[0].id, true)
            .set_item_text(items(document)[1].id, "zwei")
            .append_item(top, "Note: three")
            .append_checkbox(top, true, "four");
    });
    assert_eq!(result, "# T\n- [x] one\n- zwei\n- Note: three\n- [x] four\n");
    let error = refused("- a\n", |document, edit| {
        edit.set_checkbox(items(document)[0].id, true);
    });
    assert_eq!(error.to_string(), "`item` at 1:1 has no box");
}

#[test]
fn bullets_of_any_text_read_back() {
    for text in
        ["# x", "- x", "[ ] x", "> x", "<!-- x", "a\nb", "", "1. x", "```", "**k**: v", "\t", "---"]
    {
        let document = parse("# T\n- first\n");
        let mut edit = document.edit();
        let top = section(&document, "T");
        edit.append_item(top, text).append_checkbox(top, false, text);
        let edited = edit.finish().unwrap().document;
        assert_eq!(edited.text(items(&edited)[1].id), text, "{}", edited.source());
        assert_eq!(edited.text(items(&edited)[2].id), text, "{}", edited.source());
        let mut edit = edited.edit();
        edit.set_item_text(items(&edited)[0].id, text).set_item_text(items(&edited)[1].id, "first");
        let again = edit.finish().unwrap().document;
        assert_eq!(again.text(items(&again)[0].id), text, "{}", again.source());
        assert_eq!(again.text(items(&again)[1].id), "first", "{}", again.source());
    }
}

#[test]
fn removing_an_item_takes_what_is_nested_and_no_more() {
    let remove = |source: &str, key: &str| {
        edited(source, |document, edit| {
            edit.remove_item(field(document, "T", key));
        })
    };
    assert_eq!(remove("# T\n- **a**: 1\n  - n: x\n- **b**: 2\n", "a"), "# T\n- **b**: 2\n");
    assert_eq!(remove("# T\n- **a**: 1\n", "a"), "# T\n");
    assert_eq!(
        remove("# T\n\n- **a**: 1\n\n- **b**: 2\n\n## U\n", "a"),
        "# T\n\n- **b**: 2\n\n## U\n"
    );
    assert_eq!(
        remove("# T\n\n- **a**: 1\n\n- **b**: 2\n\n## U\n", "b"),
        "# T\n\n- **a**: 1\n\n## U\n"
    );
    assert_eq!(remove("# T\ntext\n- **a**: 1\n***\n", "a"), "# T\ntext\n\n***\n");
    assert_eq!(remove("# T\ntext\n- **a**: 1\n---\n", "a"), "# T\ntext\n\n---\n");
}

#[test]
fn sections_are_added_where_they_belong() {
    let source = "# P\n\n## Steps\n\n### Step 1: a\n- **x**: 1\n\n## End\ntext\n";
    let result = edited(source, |document, edit| {
        let steps = section(document, "Steps");
        edit.insert_section(steps, None, 3, "Step 2: b", "- **x**: 2\n")
            .append_text(section(document, "Step 1: a"), "note");
    });
    assert_eq!(
        result,
        "# P\n\n## Steps\n\n### Step 1: a\n- **x**: 1\n\nnote\n\n### Step 2: b\n- **x**: 2\n\n## End\ntext\n"
    );
    let result = edited("# P\n## A\n## B", |document, edit| {
        let (p, a) = (section(document, "P"), section(document, "A"));
        edit.insert_section(p, Some(a), 2, "A2 #", "").insert_section(p, None, 2, "C", "\nc");
    });
    assert_eq!(result, "# P\n## A\n\n## A2 \\#\n\n## B\n\n## C\n\nc\n");
}

#[test]
fn a_section_that_would_capture_or_escape_is_refused() {
    let source = "# P\n## A\n### A1\n## B\n";
    let error = refused(source, |document, edit| {
        edit.insert_section(section(document, "A"), None, 2, "x", "");
    });
    assert_eq!(error, EditError::BadLevel { level: 2, parent: 2 });
    let error = refused("# P\n### A\n### B\n", |document, edit| {
        edit.insert_section(section(document, "P"), Some(section(document, "A")), 2, "x", "");
    });
    assert!(matches!(error, EditError::WouldChangeStructure { .. }), "{error}");
    for body in ["## escape\n", "```\n", "<!--\n", "# escape\n"] {
        let error = refused(source, |document, edit| {
            edit.insert_section(section(document, "A"), None, 3, "x", body);
        });
        assert!(matches!(error, EditError::WouldChangeStructure { .. }), "{body:?} {error}");
    }
}

#[test]
fn removing_a_section_leaves_the_others_alone() {
    let remove = |source: &str| {
        edited(source, |document, edit| {
            edit.remove_section(section(document, "B"));
        })
    };
    assert_eq!(remove("# A\na\n\n# B\n- x\n## C\n\n# D\n"), "# A\na\n\n# D\n");
    assert_eq!(remove("# A\na\n\n# B\nb\n"), "# A\na\n");
    assert_eq!(remove("# A\na\n# B\nb\n\nD\n===\n"), "# A\na\n\nD\n===\n");
    assert_eq!(remove("# B\n"), "");
}

#[test]
fn titles_change_and_their_headings_stay() {
    let set = |source: &str, title: &str| {
        edited(source, |document, edit| {
            let first = document.sections().nth(1).unwrap();
            edit.set_title(first, title);
        })
    };
    assert_eq!(set("  ## T ##\n- a\n", "New"), "  ## New ##\n- a\n");
    assert_eq!(set("##\n", "New"), "## New\n");
    assert_eq!(set("## T\r\n", ""), "## \r\n");
    assert_eq!(set("T\nU\n===\nx\n", "New"), "New\n===\nx\n");
    assert_eq!(set("T\n---\nx\n", "- New"), "\\- New\n---\nx\n");
    assert_eq!(set("T\n---\nx\n", ""), "##\nx\n");
    assert_eq!(set("#1\n---\nx\n", "New"), "New\n---\nx\n");
    let error = refused("# T\n", |document, edit| {
        edit.set_title(section(document, "T"), "a\nb");
    });
    assert!(matches!(error, EditError::BadTitle { .. }));
}

#[test]
fn keys_that_would_not_read_back_are_refused() {
    for key in ["", " ", "a\nb", "a**b", "a:", "*", "a\\", "`a", "[a", "<a", "a\0"] {
        let error = refused("# T\n", |document, edit| {
            edit.insert_field(section(document, "T"), None, key, "v");
        });
        assert_eq!(error, EditError::BadKey { key: key.to_owned() });
    }
}

#[test]
fn the_value_of_a_bullet_without_a_key_stays_a_value() {
    let document = parse("# T\n- plain\n");
    let bullet = items(&document)[0].id;
    let mut edit = document.edit();
    edit.set_value(bullet, "other words");
    assert_eq!(edit.finish().unwrap().document.value(bullet), "other words");
    let mut edit = document.edit();
    edit.set_value(bullet, "Note: other words");
    assert!(matches!(edit.finish(), Err(EditError::WouldChangeStructure { .. })));
    // As the text of the bullet it is fine.
    let mut edit = document.edit();
    edit.set_item_text(bullet, "Note: other words");
    assert_eq!(edit.finish().unwrap().document.text(bullet), "Note: other words");
}

#[test]
fn text_goes_into_a_section_whose_title_begins_with_a_byte_order_mark() {
    let source = "- **key**: x\n\n\u{feff}```\r\n---\n## Section\n";
    let added = edited(source, |document, edit| {
        edit.append_text(section(document, "\u{feff}```"), "words");
    });
    assert_eq!(added, "- **key**: x\n\n\u{feff}```\r\n---\n\nwords\n\n## Section\n");
}

#[test]
fn nul_is_refused_everywhere() {
    let source = "# T\n- **a**: 1\n- b\n";
    let changes: [fn(&Document, &mut Edit<'_>); 5] = [
        |document, edit| {
            edit.set_value(items(document)[0].id, "\0");
        },
        |document, edit| {
            edit.set_item_text(items(document)[1].id, "\0");
        },
        |document, edit| {
            edit.append_text(document.root(), "\0");
        },
        |document, edit| {
            edit.set_raw(items(document)[0].id, "\0");
        },
        |document, edit| {
            edit.insert_section(document.root(), None, 1, "x", "\0");
        },
    ];
    for change in changes {
        assert!(matches!(refused(source, change), EditError::ContainsNul { .. }));
    }
}

#[test]
fn one_bad_operation_fails_the_whole_edit() {
    let error = refused("# T\n- **a**: 1\n", |document, edit| {
        edit.set_value(field(document, "T", "a"), "2").set_title(document.root(), "x");
    });
    assert!(matches!(error, EditError::BadTitle { .. }));
    let error = refused("# T\n- **a**: 1\n", |document, edit| {
        let a = field(document, "T", "a");
        edit.set_value(a, "2").remove_item(a);
    });
    assert!(matches!(error, EditError::Overlap { .. }), "{error}");
}

#[test]
fn a_rendered_field_reads_back() {
    assert_eq!(render_field("\n", 0, true, "k", "v").unwrap(), "- **k**: v\n");
    assert_eq!(render_field("\r\n", 2, false, "k", "v").unwrap(), "  - k: v\r\n");
    assert_eq!(render_field("\n", 0, false, "k.1", "v").unwrap(), "- **k.1**: v\n");
    assert_eq!(
        render_field("\n", 2, true, "k", "a\n\n b").unwrap(),
        "  - **k**:\n    > a\n    >\n    >  b\n"
    );
    assert_eq!(render_raw_field("\n", 0, true, "k", "").unwrap(), "- **k**:\n");
    assert_eq!(render_raw_field("\n", 0, true, "k", "[1]").unwrap(), "- **k**: [1]\n");
    assert!(render_field("\n", 0, true, "k", "\0").is_err());
}

#[test]
fn many_changes_make_one_edit() {
    let document = parse("# T\n- **a**: 1\n- **b**: 2\n- **c**: 3\n\n## U\nold\n");
    let mut edit = document.edit();
    edit.set_value(field(&document, "T", "a"), "x\ny")
        .remove_item(field(&document, "T", "b"))
        .insert_field(section(&document, "T"), None, "d", "4")
        .replace_text(section(&document, "U"), "new")
        .set_title(section(&document, "U"), "V")
        .insert_section(section(&document, "T"), None, 2, "W", "");
    let outcome = edit.finish().unwrap();
    assert_eq!(
        outline(&outcome.document),
        [" ", "# T", "- a=x\ny", "- c=3", "- d=4", "## V", "## W"]
    );
    assert_eq!(outcome.document.body_text(section(&outcome.document, "V")), "new\n\n");
}

#[test]
fn what_is_removed_twice_is_removed_once() {
    let result = edited("# A\n- **a**: 1\n  - b: 2\n\n# B\n\n## C\n\n# D\n", |document, edit| {
        edit.remove_item(items(document)[1].id)
            .remove_item(items(document)[0].id)
            .remove_section(section(document, "C"))
            .remove_section(section(document, "B"))
            .remove_section(section(document, "D"));
    });
    assert_eq!(result, "# A\n\n");
}
