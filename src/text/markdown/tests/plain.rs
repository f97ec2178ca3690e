//! Sections that are indexed without the parser read as the parser reads them.

use proptest::prelude::*;

use super::properties::{document, hostile};
use crate::text::markdown::{
    Document,
    index::{Builder, Index},
    opening::opening,
    plain::PlainSections,
};

/// What both ways make of a source; they must say the same.
fn both_ways(source: &str) -> [String; 2] {
    let start = opening(source).end;
    let show = |index: Result<Index, _>| match index {
        Ok(index) => {
            let Index { sections, items, blocks, hidden } = index;
            format!("{sections:#?}\n{items:#?}\n{blocks:#?}\n{hidden:?}")
        }
        Err(error) => format!("{error:?}"),
    };
    [Index::build(source, start, &[]), Builder::new(source, start).read_whole(start)].map(show)
}

fn is_plain(source: &str) -> bool {
    PlainSections::new(source, &[]).look(0) == Some(source.len())
}

/// Text near the border of what is plain.
fn nearly_plain() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "Step 1",
        " ",
        "  ",
        ".",
        ",",
        ":",
        ": ",
        ";",
        "/",
        "$",
        "(",
        ")",
        "+",
        "%",
        "=",
        "-",
        "- ",
        "@",
        "'",
        "\"",
        "{{a.b}}",
        "^",
        "?",
        "!",
        ">",
        "_",
        "__",
        "a_b",
        "#",
        " #",
        "1",
        "1.",
        "1) ",
        "2026-01-15T09:00:00Z",
        "→",
        "·",
        "✓",
        "é",
        "\u{a0}",
        "\u{85}",
        "\u{2003}",
        "**",
        "*",
        "**k**",
        "**k**:",
        "&",
        "\\",
        "`",
        "~",
        "|",
        "<",
        "[",
        "]",
        "http://a.b/c_d",
        "\t",
    ]);
    prop::collection::vec(pieces, 0..5).prop_map(|parts| parts.concat())
}

/// Documents of sections most of which are plain.
fn sections() -> impl Strategy<Value = String> {
    let marks = prop::sample::select(vec!["#", "##", "###", "######", "#######", " #", "#\t"]);
    let heading = (marks, nearly_plain()).prop_map(|(marks, title)| format!("{marks} {title}\n"));
    let line = prop_oneof![
        4 => nearly_plain().prop_map(|value| format!("- **status**: {value}\n")),
        2 => nearly_plain().prop_map(|value| format!("- {value}\n")),
        3 => nearly_plain().prop_map(|value| format!("  - source: {value}\n")),
        2 => nearly_plain().prop_map(|value| format!("  - {value}\n")),
        1 => nearly_plain().prop_map(|value| format!("    - {value}\n")),
        2 => Just("- **inputs**:\n".to_owned()),
        2 => Just("\n".to_owned()),
        1 => nearly_plain().prop_map(|text| format!("{text}\n")),
        1 => nearly_plain().prop_map(|text| format!("  {text}\n")),
        1 => hostile(),
        1 => prop::sample::select(vec![
            "```\n", "~~~\n", "  ```\n", "<!--\n", "-->\n", "<div>\n", "<pre>\n", "| a | b |\n|-|-|\n",
            "| c | d |\n", "> q\n", "[a]: b\n", "---\n", "===\n", "    code\n", "1. one\n", "* star\n",
        ]).prop_map(str::to_owned),
    ];
    let section = (heading, prop::collection::vec(line, 0..8))
        .prop_map(|(heading, lines)| heading + &lines.concat());
    (prop::collection::vec(section, 0..8), any::<bool>()).prop_map(|(sections, cut)| {
        let mut text = sections.concat();
        if cut && text.ends_with('\n') {
            text.pop();
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sections_read_alike_with_the_parser_and_without(source in sections()) {
        let [quick, whole] = both_ways(&source);
        prop_assert_eq!(quick, whole, "{:?}", source);
    }

    #[test]
    fn any_document_reads_alike_with_the_parser_and_without(source in document()) {
        let [quick, whole] = both_ways(&source);
        prop_assert_eq!(quick, whole, "{:?}", source);
    }
}

#[test]
fn what_a_plan_is_mostly_made_of_is_plain() {
    for source in [
        "## Steps\n\n",
        "### Step 3: Ship it, at last ✓\n- **status**: COMPLETED\n- **inputs**:\n  - source: {{steps.1.rows}}\n  \
         - limit: 20\n- **estimated_cost**: $0.02\n- **result**: rows=42 (804ms)\n\
         - **id**: dww3 · attempt 1 · root@vm since 2026-11-17T07:51:43Z\n\n",
        "## Metadata\n- **goal**: To see\n- **execution_id**: exec_20261117T075143Z_3f032373",
    ] {
        assert!(is_plain(source), "{source}");
        let [quick, whole] = both_ways(source);
        assert_eq!(quick, whole);
    }
}

#[test]
fn what_means_something_to_the_parser_is_not_plain() {
    for source in [
        "text\n",
        "# T #\n",
        "#\n",
        "# T\ntext\n",
        "# T\n- a\n\n- b\n",
        "# T\n- a\n    - b\n",
        "# T\n  - a\n- b\n",
        "# T\n- [ ] a\n",
        "# T\n- a_\n",
        "# T\n- *a*\n",
        "# T\n- 1. a\n",
        "# T\n- a  \n",
        "# T\r\n- a\r\n",
        "# T\n- a <!-- b -->\n",
        "# T\n- a\n---\n",
        "# `T`\n",
    ] {
        assert!(!is_plain(source), "{source}");
    }
}

#[test]
fn a_section_in_a_fence_is_text_though_it_looks_plain() {
    let source = "# A\n```\n# B\n- **b**: 1\n\n# C\n- **c**: 1\n```\n# D\n- **d**: 1\n";
    let document = Document::parse(source).unwrap();
    let titles: Vec<&str> = document.sections.iter().map(|found| found.title.as_str()).collect();
    assert_eq!(titles, ["", "A", "D"]);
    let [quick, whole] = both_ways(source);
    assert_eq!(quick, whole);
}

#[test]
fn what_an_edit_touches_is_read_by_the_parser() {
    let source = "# A\n- **a**: 1\n# B\n- **b**: 1\n";
    let looked = |touched, at| PlainSections::new(source, &[touched]).look(at);
    let (first, second) = (0, source.find("# B").unwrap());
    assert_eq!(looked(8..9, first), None);
    assert_eq!(looked(8..9, second), Some(source.len()));
    assert_eq!(looked(second..second, first), None, "something was removed between them");
    assert_eq!(looked(second..second, second), None);
}
