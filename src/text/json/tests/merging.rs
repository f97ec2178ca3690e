//! The examples of RFC 7396's appendix.

use super::{document, edited};
use crate::text::json::patch::merge_value;
use serde_json::{Value, json};

fn cases() -> Vec<(Value, Value, Value)> {
    vec![
        (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
        (json!({"a": "b"}), json!({"a": null}), json!({})),
        (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
        (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
        (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
        (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
        (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
        (json!({"a": "b"}), json!(["c"]), json!(["c"])),
        (json!({"a": "foo"}), json!(null), json!(null)),
        (json!({"a": "foo"}), json!("bar"), json!("bar")),
        (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
        (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
        (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        (json!({"a": 1}), json!({"a": {"b": null, "c": [null]}}), json!({"a": {"c": [null]}})),
    ]
}

#[test]
fn the_examples_of_the_rfc_hold_for_text_and_values() {
    for (before, patch, after) in cases() {
        let mut edit = document(&before.to_string()).edit();
        edit.merge_patch(&patch).unwrap();
        assert_eq!(edit.finish().document.to_value(), after, "{before} {patch}");
        let mut value = before.clone();
        merge_value(&mut value, &patch);
        assert_eq!(value, after, "{before} {patch}");
    }
}

#[test]
fn members_that_a_merge_does_not_name_keep_their_bytes() {
    let source =
        "{\n  \"a\": 1.10,\n  \"b\": {\"x\":  1, \"y\":2},\n  \"c\": [ 1,2 ],\n  \"d\": 4\n}\n";
    let patch = json!({"b": {"y": 3, "z": {}}, "d": null, "e": {"f": 1}});
    let out = edited(source, |edit| edit.merge_patch(&patch));
    assert_eq!(
        out,
        "{\n  \"a\": 1.10,\n  \"b\": {\"x\":  1, \"y\":3, \"z\":{}},\n  \"c\": [ 1,2 ],\n  \"e\": {\n    \"f\": 1\n  }\n}\n"
    );
}
