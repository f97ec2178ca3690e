use super::summarised;
use crate::domain::StateFile::Variables;

#[test]
fn variables_are_reported_by_path() {
    let before = r#"{"a": {"b": 1, "old": true}, "list": [1, 2], "k.x": null}"#;
    let after = r#"{"a": {"b": 2, "new": "Text here"}, "list": [1, 2, 3, {"x": 1}], "k.x": 0}"#;
    assert_eq!(
        summarised(Variables, before, after),
        [
            "variables.a.b: 1 → 2",
            "variables.a.old: true removed",
            "variables.a.new: \"Text here\" added",
            "variables.list: 2 appended: 3, {\"x\":1}",
            "variables[\"k.x\"]: null → 0",
        ]
    );
}

#[test]
fn in_an_array_only_what_differs_is_reported() {
    assert_eq!(summarised(Variables, "[1,2,3]", "[2,3]"), ["variables.0: 1 removed"]);
    assert_eq!(summarised(Variables, "[1,3]", "[1,2,3]"), ["variables.1: 2 added"]);
    assert_eq!(summarised(Variables, "[1,2,3]", "[1,9,3]"), ["variables.1: 2 → 9"]);
    assert_eq!(summarised(Variables, "[1,2,3]", "[1]"), ["variables: 2 removed at the end: 2, 3"]);
}

#[test]
fn order_of_keys_escapes_and_space_are_layout_but_the_text_of_a_number_is_not() {
    let layout = ["variables.json: wording or layout only"];
    assert_eq!(summarised(Variables, r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#), layout);
    assert_eq!(summarised(Variables, r#"["é"]"#, r#"["\u00e9"]"#), layout);
    assert_eq!(summarised(Variables, "[1]", "[ 1 ]"), layout);
    assert_eq!(summarised(Variables, "[1, 2]", "[1,\n2]"), ["variables.json: white space only"]);
    assert_eq!(
        summarised(Variables, "[123456789012345678901]", "[123456789012345678902]"),
        ["variables.0: 123456789012345678901 → 123456789012345678902"]
    );
}

#[test]
fn a_file_that_is_not_json_is_compared_as_text() {
    let summarised = summarised(Variables, "{\"a\": 1}\n", "{\"a\": 1,}\n");
    assert_eq!(summarised.len(), 1);
    assert!(
        summarised[0].starts_with("variables.json: 1 line added, 1 removed ("),
        "{summarised:?}"
    );
}
