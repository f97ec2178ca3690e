//! The examples of RFC 6902's appendix.

use super::{document, edited, path, refused};
use crate::text::json::JsonError;
use serde_json::{Value, json};

fn patched(before: Value, operations: Value) -> Value {
    let mut edit = document(&before.to_string()).edit();
    edit.patch(&operations).unwrap();
    edit.finish().document.to_value()
}

fn failed(before: Value, operations: Value) -> (usize, JsonError) {
    match refused(&before.to_string(), |edit| edit.patch(&operations)) {
        JsonError::Operation { index, source } => (index, *source),
        other => panic!("{other:?}"),
    }
}

/// What was there, the operations, and what is there afterwards.
const EXAMPLES: &str = r##"
# A.1 to A.4: members and items come and go.
[{"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"foo": "bar", "baz": "qux"}]
[{"foo": ["bar", "baz"]}, [{"op": "add", "path": "/foo/1", "value": "qux"}], {"foo": ["bar", "qux", "baz"]}]
[{"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}]
[{"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["bar", "baz"]}]
# A.5 to A.7: replacing and moving.
[{"baz": "qux", "foo": "bar"}, [{"op": "replace", "path": "/baz", "value": "boo"}], {"baz": "boo", "foo": "bar"}]
[{"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}}, [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}], {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}}]
[{"foo": ["all", "grass", "cows", "eat"]}, [{"op": "move", "from": "/foo/1", "path": "/foo/3"}], {"foo": ["all", "cows", "eat", "grass"]}]
# A.8: a test that holds.
[{"baz": "qux", "foo": ["a", 2, "c"]}, [{"op": "test", "path": "/baz", "value": "qux"}, {"op": "test", "path": "/foo/1", "value": 2}], {"baz": "qux", "foo": ["a", 2, "c"]}]
# A.10, A.11: nested values, and members nobody knows.
[{"foo": "bar"}, [{"op": "add", "path": "/child", "value": {"grandchild": {}}}], {"foo": "bar", "child": {"grandchild": {}}}]
[{"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}], {"foo": "bar", "baz": "qux"}]
# A.14, A.16: escapes, and the end of an array.
[{"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}]
[{"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}], {"foo": ["bar", ["abc", "def"]]}]
# Beyond the appendix.
[{"a": 1}, [{"op": "add", "path": "", "value": [1]}], [1]]
[{"a": 1}, [{"op": "replace", "path": "", "value": null}], null]
[{"a": {"b": 1}}, [{"op": "copy", "from": "/a", "path": "/a/c"}], {"a": {"b": 1, "c": {"b": 1}}}]
[{"a": {"b": 1}}, [{"op": "copy", "from": "/a", "path": "/c"}, {"op": "add", "path": "/c/b", "value": 2}], {"a": {"b": 1}, "c": {"b": 2}}]
[{"a": {"b": 1}}, [{"op": "move", "from": "/a/b", "path": "/a"}], {"a": 1}]
[{"a": 1}, [{"op": "move", "from": "/a", "path": "/a"}], {"a": 1}]
[{"a": 1}, [{"op": "test", "path": "", "value": {"a": 1.0}}], {"a": 1}]
[{"a": [1, 2]}, [{"op": "replace", "path": "/a/0", "value": 3}], {"a": [3, 2]}]
"##;

#[test]
fn the_examples_of_the_rfc_hold() {
    let lines = EXAMPLES.lines().filter(|line| line.starts_with('['));
    let mut count = 0;
    for line in lines {
        let [before, operations, after]: [Value; 3] = serde_json::from_str(line).expect(line);
        assert_eq!(patched(before, operations), after, "{line}");
        count += 1;
    }
    assert_eq!(count, 20);
}

#[test]
fn a_failing_operation_is_named_and_undoes_the_others() {
    let (index, error) = failed(
        json!({"a": 1}),
        json!([{"op": "add", "path": "/b", "value": 2}, {"op": "test", "path": "/b", "value": 3}]),
    );
    assert_eq!((index, error), (1, JsonError::TestFailed { path: path("b") }));
}

#[test]
fn the_failures_of_the_rfc_hold() {
    let cases = [
        // A.9, A.12, A.15: wrong value, missing parent, a string that looks like a number.
        (json!({"baz": "qux"}), json!({"op": "test", "path": "/baz", "value": "bar"})),
        (json!({"foo": "bar"}), json!({"op": "add", "path": "/baz/bat", "value": "qux"})),
        (json!({"/": 9, "~1": 10}), json!({"op": "test", "path": "/~01", "value": "10"})),
        (json!({"a": 1}), json!({"op": "remove", "path": "/b"})),
        (json!({"a": 1}), json!({"op": "remove", "path": ""})),
        (json!({"a": 1}), json!({"op": "replace", "path": "/b", "value": 1})),
        (json!({"a": 1}), json!({"op": "test", "path": "/b", "value": null})),
        (json!({"a": [1]}), json!({"op": "add", "path": "/a/2", "value": 1})),
        (json!({"a": [1]}), json!({"op": "add", "path": "/a/01", "value": 1})),
        (json!({"a": [1]}), json!({"op": "add", "path": "/a/x", "value": 1})),
        (json!({"a": [1]}), json!({"op": "remove", "path": "/a/-"})),
        (json!({"a": {"b": 1}}), json!({"op": "move", "from": "/a", "path": "/a/b"})),
        (json!({"a": 1}), json!({"op": "move", "from": "", "path": "/a"})),
        (json!({"a": 1}), json!({"op": "move", "from": "/b", "path": "/b"})),
        (json!({"a": 1}), json!({"op": "copy", "from": "/b", "path": "/c"})),
    ];
    for (before, operation) in cases {
        let (index, _) = failed(before, json!([operation]));
        assert_eq!(index, 0);
    }
}

#[test]
fn malformed_patches_are_refused() {
    for operation in [
        json!(null),
        json!({}),
        json!({"op": "add"}),
        json!({"op": "add", "path": "/a"}),
        json!({"op": "add", "path": 1, "value": 1}),
        json!({"op": "add", "path": "a", "value": 1}),
        json!({"op": "add", "path": "/~2", "value": 1}),
        json!({"op": "move", "path": "/b"}),
        json!({"op": "spam", "path": "/a", "value": 1}),
    ] {
        let (_, error) = failed(json!({"a": 1}), json!([operation]));
        assert!(
            matches!(error, JsonError::BadPatch(_) | JsonError::Path(_)),
            "{operation}: {error:?}"
        );
    }
    assert!(matches!(
        refused("{}", |edit| edit.patch(&json!({"op": "add"}))),
        JsonError::BadPatch(_)
    ));
}

#[test]
fn moving_keeps_the_spelling_of_numbers_and_strings() {
    let source = r#"{"a": {"n": 12345678901234567890123, "s": "\u00e9"}, "b": 1.10}"#;
    let operations = json!([
        {"op": "move", "from": "/a", "path": "/c"},
        {"op": "move", "from": "/b", "path": "/c/b"},
    ]);
    let out = edited(source, |edit| edit.patch(&operations));
    assert_eq!(out, r#"{"c": {"n": 12345678901234567890123, "s": "\u00e9", "b": 1.10}}"#);
}

#[test]
fn copying_a_document_into_itself_is_bounded() {
    let repeated = |path: &str, from: &str| -> Value {
        (0..200).map(|_| json!({"op": "copy", "from": from, "path": path})).collect()
    };
    assert!(matches!(
        failed(json!({"a": 1}), repeated("/a", "")).1,
        JsonError::ValueTooDeep { .. }
    ));
    assert!(matches!(
        failed(json!({"a": [1]}), repeated("/a/-", "/a")).1,
        JsonError::TooLarge { .. }
    ));
}

#[test]
fn a_move_that_nests_too_deeply_is_refused() {
    let deep = |key: &str| format!("{}1{}", format!("{{\"{key}\":").repeat(100), "}".repeat(100));
    let source = format!("{{\"x\":{},\"y\":{}}}", deep("a"), deep("b"));
    let target = "/b".repeat(99);
    let operations = json!([{"op": "move", "from": "/x", "path": format!("/y{target}/z")}]);
    let error = refused(&source, |edit| edit.patch(&operations));
    assert!(matches!(error, JsonError::ValueTooDeep { .. }), "{error:?}");
}
