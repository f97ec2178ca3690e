//! What is read from awkward sources.

use super::{field, items, outline, parse, section};
use crate::text::Place;
use crate::text::markdown::{Document, HiddenKind, LookupError, MAX_BYTES, ParseError};

#[test]
fn keys_are_recognised_in_every_way_people_write_them() {
    let source = "- **a**: 1\n- **b:** 2\n- __c__: 3\n- d: 4\n- two words: 5\n- **e**：6\n- **f：**7\n\
                  - k：8\n- **g** : 9\n- **h:**: 10\n- **i\\_j**: 11\n- **empty**:\n- also:\n";
    assert_eq!(
        outline(&parse(source))[1..],
        [
            "- a=1", "- b=2", "- c=3", "- d=4", "- two words=5", "- e=6", "- f=7", "- k=8",
            "- g=9", "- h=10", "- i_j=11", "- empty=", "- also=",
        ]
    );
}

#[test]
fn prose_is_not_a_field() {
    for text in [
        "If 2+ consecutive steps fail → set x to \"low\"",
        "See http://example.com",
        "tight:no",
        "**Repeated Failures** → Set a=\"low\"",
        "10: 30",
        "*emph*: 1",
        "***both***: 1",
        "`code`: 1",
        "\\**a**: 1",
        "**a: b**",
        "a sentence that is much too long to be the key of any field: no",
        "If sentiment drops to \"frustrated\", do x: y",
    ] {
        let document = parse(&format!("- {text}\n"));
        assert_eq!(items(&document)[0].key, None, "{text}");
        assert_eq!(document.raw_value(items(&document)[0].id), text);
    }
}

#[test]
fn values_are_read_as_they_are_meant() {
    let source = "- **a**: \"x \\\"y\\\"\\n\"\n- **b**: 'x'\n- **c**: one\n  two\n   three\n- **d**: v <!-- c -->\n\
                  - **e**: <!-- c -->\n- **f**:   spaced   \n- **g**:\n  below\n- **h**: [\"a\", \"b\"]\n\
                  - **i**: lazy\nline\n- **j**: \"C:\\x\"\n- **k**: a\\\n  b\n";
    assert_eq!(
        outline(&parse(source))[1..],
        [
            "- a=x \"y\"\n", "- b=x", "- c=one two three", "- d=v", "- e=", "- f=spaced",
            "- g=below", "- h=[\"a\", \"b\"]", "- i=lazy line", "- j=C:\\x", "- k=a\\ b",
        ]
    );
    let document = parse(source);
    assert!(
        document.is_quoted(items(&document)[0].id) && document.is_quoted(items(&document)[1].id)
    );
    assert!(!document.is_quoted(items(&document)[7].id));
}

#[test]
fn a_fenced_block_below_an_empty_value_is_the_value() {
    let source = "- **a**:\r\n  ```text\r\n  one\r\n\r\n    two\r\n  ```\r\n- **b**: x\r\n  ```\r\n  no\r\n  ```\r\n\
                  - **c**:\r\n\r\n  ~~~\r\n  three\r\n  ~~~\r\n\r\n  prose\r\n- ```\r\n  bare\r\n  ```\r\n";
    let document = parse(source);
    let values: Vec<_> = items(&document).into_iter().map(|item| document.value(item.id)).collect();
    assert_eq!(values, ["one\n\n  two", "x", "", "bare"]);
    assert!(items(&document)[0].block.is_some() && items(&document)[1].block.is_none());
}

#[test]
fn an_unclosed_fence_ends_with_its_last_line() {
    let document = parse("- **a**:\n  ```\n  one\n\n\n");
    assert_eq!(document.value(items(&document)[0].id), "one");
}

#[test]
fn the_text_of_a_bullet_includes_what_looks_like_a_key() {
    let document = parse("- Note: be brief <!-- c -->\n- \"quoted\"\n- **k**:\n");
    let texts: Vec<_> = items(&document).into_iter().map(|item| document.text(item.id)).collect();
    assert_eq!(texts, ["Note: be brief", "quoted", "**k**:"]);
}

#[test]
fn spans_are_those_of_the_source() {
    let source = "# T\n\n- **key**: value  \n  - nested\n\n\n## U\nbody\n";
    let document = parse(source);
    let item = &items(&document)[0];
    assert_eq!(&source[item.span.clone()], "- **key**: value  \n  - nested");
    assert_eq!(&source[item.key_span.clone().unwrap()], "key");
    assert_eq!(&source[item.value_span.clone()], "value");
    let top = document.section(section(&document, "T"));
    assert_eq!(&source[top.heading.clone()], "# T\n");
    assert_eq!(document.body_text(top.id), "\n- **key**: value  \n  - nested\n\n\n");
    assert_eq!(document.extent_text(top.id), &source[4..]);
    assert_eq!(document.body_text(section(&document, "U")), "body\n");
}

#[test]
fn sections_nest_by_level_even_when_levels_are_skipped() {
    let document = parse("a\n### Three\n# One\n#### Four\n## Two\n");
    let parents: Vec<_> = document
        .sections()
        .map(|id| document.section(id).parent.map(|p| document.section(p).title))
        .collect();
    assert_eq!(parents, [None, Some(""), Some(""), Some("One"), Some("One")]);
}

#[test]
fn a_path_finds_the_section_below_the_right_heading() {
    let document = parse("# P\n## A\n### Same\n## B\n### Same\n#### Deep\n");
    let found = document.find(&["B", "Same"]).unwrap();
    assert_eq!(document.section(found).heading.start, document.source().rfind("### Same").unwrap());
    assert_eq!(document.find(&["Same", "Deep"]).map(|id| document.section(id).level), Ok(4));
    assert_eq!(document.find(&[" b "]), document.find(&["B"]));
    assert_eq!(document.find(&[]), Ok(document.root()));
}

#[test]
fn what_is_not_found_is_named_with_its_nearest_neighbour() {
    let document = parse("## Metadata\n## Step 2: Fetch\n");
    let nearest = |name: &str| match document.find(&[name]) {
        Err(LookupError::NotFound { nearest, .. }) => nearest,
        other => panic!("{other:?}"),
    };
    assert_eq!(nearest("Metadta").as_deref(), Some("Metadata"));
    assert_eq!(nearest("step 2").as_deref(), Some("Step 2: Fetch"));
    assert_eq!(nearest("Constraints"), None);
    let message = document.find(&["Metadta"]).unwrap_err().to_string();
    assert_eq!(message, "there is no `Metadta`; did you mean `Metadata`?");
}

#[test]
fn letter_case_decides_only_between_exact_matches() {
    let document = parse("## Notes\n## notes\n## Other\n");
    assert_eq!(document.section(document.find(&["notes"]).unwrap()).heading.start, 9);
    assert!(matches!(document.find(&["NOTES"]), Err(LookupError::Ambiguous { .. })));
    assert_eq!(document.section(document.find(&["OTHER"]).unwrap()).title, "Other");
}

#[test]
fn keys_match_whatever_their_case_and_separators() {
    let document = parse("- **Tool Mapping**: x\n  - sub-key: y\n");
    let item = document.field(document.root(), "tool_mapping").unwrap().unwrap();
    assert!(document.child(item, "Sub Key").unwrap().is_some());
    assert_eq!(document.field(document.root(), "tool"), Ok(None));
}

#[test]
fn sources_that_cannot_be_held_are_refused_with_a_place() {
    let place = |line, column| Place { line, column };
    assert_eq!(
        Document::from_bytes(b"a\nb\xff".to_vec()).unwrap_err(),
        ParseError::NotUtf8 { offset: 3, place: place(2, 2) }
    );
    assert_eq!(
        Document::parse("a\n\0").unwrap_err(),
        ParseError::ContainsNul { place: place(2, 1) }
    );
    let deep = format!("x\n\n{}y\n", "> ".repeat(101));
    assert!(matches!(
        Document::parse(deep).unwrap_err(),
        ParseError::TooDeep { place: Place { line: 3, .. }, .. }
    ));
    assert!(Document::parse(format!("{}y\n", "- ".repeat(100))).is_ok());
    assert!(matches!(
        Document::from_bytes(vec![b'a'; MAX_BYTES + 1]).unwrap_err(),
        ParseError::TooLarge { .. }
    ));
}

#[test]
fn nesting_that_would_take_the_parser_for_ever_is_refused_at_once() {
    let source = format!("{}a\n{}", "> ".repeat(1_000_000), "b\n".repeat(1_000_000));
    assert!(matches!(Document::parse(source), Err(ParseError::TooDeep { .. })));
}

#[test]
fn the_majority_of_line_ends_decides() {
    assert_eq!(parse("a\r\nb\r\nc\n").newline(), "\r\n");
    assert_eq!(parse("a\r\nb\n").newline(), "\n");
    assert_eq!(parse("").newline(), "\n");
    // Of a long document, its beginning tells.
    let long = "a line\r\n".repeat(10_000) + &"another\n".repeat(20_000);
    assert_eq!(parse(&long).newline(), "\r\n");
}

#[test]
fn hidden_headings_are_noticed_only_when_nobody_meant_it() {
    let kind = |source: &str| parse(source).hidden().map(|hidden| hidden.kind);
    assert_eq!(kind("```\n# H\n"), Some(HiddenKind::Fence));
    assert_eq!(kind("```\n# H\n```\n"), None);
    assert_eq!(kind("```\ncode\n"), None);
    assert_eq!(kind("<!--\n# H\n"), Some(HiddenKind::Comment));
    assert_eq!(kind("<!--\n# H\n-->\n"), None);
    assert_eq!(kind("<details>\n# H\n\n# I\n"), Some(HiddenKind::Html));
    assert_eq!(kind("<pre>\n# H\n</pre>\n"), None);
    assert_eq!(kind("<pre>\n# H\n"), Some(HiddenKind::Html));
    assert_eq!(kind("<div>\n\n# H\n"), None);
}

#[test]
fn the_root_holds_what_precedes_the_first_heading() {
    let document = parse("- **a**: 1\n\n# T\n- **a**: 2\n");
    assert_eq!(document.value(field(&document, "", "a")), "1");
    assert_eq!(document.value(field(&document, "T", "a")), "2");
}
