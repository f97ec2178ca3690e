//! Free text stays inside the section it was put into.

use super::{outline, parse, section};
use crate::text::markdown::EditError;

fn appended(source: &str, title: &str, text: &str) -> String {
    let document = parse(source);
    let mut edit = document.edit();
    edit.append_text(section(&document, title), text);
    edit.finish().unwrap().document.into_source()
}

fn replaced(source: &str, title: &str, text: &str) -> String {
    let document = parse(source);
    let mut edit = document.edit();
    edit.replace_text(section(&document, title), text);
    edit.finish().unwrap().document.into_source()
}

#[test]
fn text_gets_a_blank_line_around_it() {
    assert_eq!(appended("# A\n# B\n", "A", "x"), "# A\n\nx\n\n# B\n");
    assert_eq!(appended("# A\n\na\n\n\n# B\n", "A", "x\n\n"), "# A\n\na\n\nx\n\n\n# B\n");
    assert_eq!(appended("# A\na", "A", "x"), "# A\na\n\nx\n");
    assert_eq!(appended("# A\n- a\n## C\n", "A", "x"), "# A\n- a\n\nx\n\n## C\n");
    assert_eq!(appended("", "", "x"), "x\n");
    assert_eq!(appended("\u{feff}# A\n", "", "x"), "\u{feff}x\n\n# A\n");
    assert_eq!(appended("# A\r\n", "A", "x\ny"), "# A\r\n\r\nx\r\ny\r\n");
    assert_eq!(appended("# A\n", "A", " \n"), "# A\n");
}

#[test]
fn some_parts_are_replaced_and_the_others_stay() {
    let source = "# A\n- **k**: v\n\none\n\ntwo\n\n- a\n<!-- c -->\n\n## B\nx\n";
    let with = |source: &str, parts: std::ops::Range<usize>, text: &str| {
        let document = parse(source);
        let mut edit = document.edit();
        edit.replace_blocks(section(&document, "A"), parts, text);
        edit.finish().unwrap().document.into_source()
    };
    assert_eq!(with(source, 1..3, "new"), source.replace("one\n\ntwo", "new"));
    assert_eq!(with(source, 2..3, "# C\nc"), source.replace("two", &fenced("# C\nc")));
    assert_eq!(with(source, 1..3, " \n"), source.replace("one\n\ntwo\n\n", ""));
    assert_eq!(with("# A\none", 0..1, "new\n"), "# A\nnew");
    assert_eq!(with("# A\r\n- **k**: v\r\n\r\none\r\n", 1..2, ""), "# A\r\n- **k**: v\r\n");
    assert_eq!(
        with("# A\none\n- a\n", 0..1, "```\nopen"),
        format!("# A\n{}\n- a\n", fenced("```\nopen"))
    );
}

#[test]
fn deeper_headings_become_subsections() {
    let result = appended("# A\n\n# B\n", "A", "## C\ntext");
    assert_eq!(outline(&parse(&result)), [" ", "# A", "## C", "# B"]);
}

#[test]
fn headings_that_would_end_the_section_are_demoted() {
    assert_eq!(
        appended("# A\n\n# B\n", "A", "# C\n\n# D #\n\n ## E\n"),
        "# A\n\n## C\n\n## D #\n\n ### E\n\n# B\n"
    );
    let result = appended("# A\n### Kept\n", "A", "## would capture");
    assert_eq!(outline(&parse(&result)), [" ", "# A", "### would capture", "### Kept"]);
}

#[test]
fn what_cannot_be_contained_is_fenced() {
    for text in ["```\nopen", "<!-- open", "~~~\n# x", "<pre>\nopen", "<?php", "<![CDATA["] {
        let result = appended("# A\n\n# B\n", "A", text);
        assert_eq!(result, format!("# A\n\n{}\n\n# B\n", fenced(text)));
        let last = appended("# A\n", "A", text);
        assert_eq!(last, format!("# A\n\n{}\n", fenced(text)), "unclosed at the end");
    }
    let result = appended("###### A\n\n# B\n", "A", "# C");
    assert_eq!(result, format!("###### A\n\n{}\n\n# B\n", fenced("# C")));
}

#[test]
fn a_line_of_dashes_never_makes_a_heading_of_the_text_above_it() {
    for text in [
        "x\n---",
        "x\n-",
        "x\n===",
        "x\n=",
        "x\n  --- ",
        "two\nlines\n---\nbody",
        "# C\nx\n---",
        "#1\n===",
        "####### x\n---",
    ] {
        let kept = fenced(text);
        for (before, after) in [("# A\n", "\n# B\n"), ("# A\n", ""), ("### A\n", "\n# B\n")] {
            let result = appended(&format!("{before}{after}"), "A", text);
            assert_eq!(result, format!("{before}\n{kept}\n{after}"));
            let result = replaced(&format!("{before}\nold\n{after}"), "A", text);
            assert_eq!(result, format!("{before}\n{kept}\n{after}"));
        }
        let document = parse("# A\n");
        let mut edit = document.edit();
        edit.insert_section(section(&document, "A"), None, 2, "New", text);
        assert!(edit.finish().is_err(), "{text:?}");
    }
    for text in ["x\n\n---", "---", "- x\n---", "> x\n---", "```\nx\n---\n```"] {
        assert_eq!(appended("# A\n\n# B\n", "A", text), format!("# A\n\n{text}\n\n# B\n"));
    }
}

#[test]
fn harmless_text_is_left_as_it_is() {
    for text in [
        "<details>\nx", "[ref]:", "> quote", "- **k**: v", "    code", "| a |\n|---|", "a\n---b",
        "<div>",
    ] {
        let result = appended("# A\n\n# B\n", "A", text);
        assert_eq!(result, format!("# A\n\n{text}\n\n# B\n"));
    }
}

#[test]
fn text_never_slips_into_the_item_above_it() {
    let result = appended("# A\n- **k**: v\n\n# B\n", "A", "  indented");
    assert_eq!(result, format!("# A\n- **k**: v\n\n{}\n\n# B\n", fenced("  indented")));
}

#[test]
fn text_never_takes_in_an_indented_heading_below_it() {
    let result = appended("# A\n\n  ## B\n", "A", "- item");
    assert_eq!(outline(&parse(&result)), [" ", "# A", "## B"]);
}

#[test]
fn text_at_the_start_never_becomes_front_matter() {
    let result = appended("", "", "---\na: b\n---");
    let document = parse(&result);
    assert_eq!(document.front_matter(), None);
    assert_eq!(document.sections.len(), 1);
}

#[test]
fn replacing_text_keeps_subsections_and_spacing() {
    assert_eq!(replaced("# A\n\nold\n- **k**: v\n\n## C\n", "A", "new"), "# A\n\nnew\n\n## C\n");
    assert_eq!(replaced("# A\nold\n## C\n", "A", "new"), "# A\nnew\n\n## C\n");
    assert_eq!(replaced("# A\n\nold\n\n## C\n", "A", ""), "# A\n\n## C\n");
    assert_eq!(replaced("# A\nold", "A", "new"), "# A\nnew\n");
    assert_eq!(replaced("# A\n", "A", "new"), "# A\n\nnew\n");
    assert_eq!(replaced("# A\nold\n# B\n", "A", "# x"), "# A\n## x\n\n# B\n");
}

#[test]
fn nothing_is_put_into_something_unclosed() {
    let document = parse("# A\n\n```\ncode\n# Lost\n");
    let mut edit = document.edit();
    edit.append_text(section(&document, "A"), "x");
    match edit.finish() {
        Err(EditError::WouldChangeStructure { reason, .. }) => {
            assert_eq!(reason, "the code fence opened at 3:1 hides the headings after it");
        }
        other => panic!("{other:?}"),
    }
}

fn fenced(text: &str) -> String {
    let ticks = if text.contains("```") { "````" } else { "```" };
    format!("{ticks}text\n{text}\n{ticks}")
}
