//! What is added looks like its neighbours; what is removed leaves no trace.

use super::{edited, path};
use crate::text::json::{JsonEdit, Path};
use serde_json::{Value, json};

fn set(source: &str, at: &str, value: Value) -> String {
    edited(source, |edit| edit.set(&path(at), &value))
}

fn remove(source: &str, at: &str) -> String {
    edited(source, |edit| edit.remove(&path(at)).map(drop))
}

fn append(source: &str, at: &str, value: Value) -> String {
    edited(source, |edit: &mut JsonEdit| edit.append(&path(at), &value))
}

#[test]
fn a_new_member_is_one_line_in_the_style_of_the_file() {
    assert_eq!(set("{\n    \"a\": 1\n}\n", "b", json!(2)), "{\n    \"a\": 1,\n    \"b\": 2\n}\n");
    assert_eq!(
        set("{\n\t\"a\": 1\n}", "b", json!({"c": [1]})),
        "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": [1]\n\t}\n}"
    );
    assert_eq!(
        set("{\r\n  \"a\": 1\r\n}\r\n", "b", json!({"c": 1})),
        "{\r\n  \"a\": 1,\r\n  \"b\": {\r\n    \"c\": 1\r\n  }\r\n}\r\n"
    );
    assert_eq!(set("{\n  \"a\" : 1\n}", "b", json!(2)), "{\n  \"a\" : 1,\n  \"b\" : 2\n}");
    assert_eq!(set("{\n  \"a\": 1}", "b", json!(2)), "{\n  \"a\": 1,\n  \"b\": 2}");
    assert_eq!(
        set("{\n\"a\": 1\n}", "b", json!({"c": 1})),
        "{\n\"a\": 1,\n\"b\": {\n\"c\": 1\n}\n}"
    );
}

#[test]
fn one_line_stays_one_line() {
    assert_eq!(
        set("{\"a\": 1}", "b", json!({"c": [1, {}]})),
        "{\"a\": 1, \"b\": {\"c\": [1, {}]}}"
    );
    assert_eq!(set("{ \"a\": 1 }", "b", json!(2)), "{ \"a\": 1, \"b\": 2 }");
    assert_eq!(
        set("{\"a\":1,\"b\":[1,2]}", "c", json!({"d": [1, 2]})),
        "{\"a\":1,\"b\":[1,2],\"c\":{\"d\":[1,2]}}"
    );
    assert_eq!(set("{\"a\":1}", "b", json!([1, 2])), "{\"a\":1,\"b\":[1,2]}");
    assert_eq!(
        append("{\n  \"a\": [1, 2]\n}", "a", json!({"b": 1})),
        "{\n  \"a\": [1, 2, {\"b\": 1}]\n}"
    );
}

#[test]
fn an_item_goes_on_a_line_if_its_neighbours_do() {
    assert_eq!(append("[\n  1,\n  2\n]", "", json!(3)), "[\n  1,\n  2,\n  3\n]");
    assert_eq!(append("[\n  1, 2,\n  3, 4\n]", "", json!(5)), "[\n  1, 2,\n  3, 4, 5\n]");
    assert_eq!(
        edited("[\n  1,\n  2\n]", |edit| edit.insert(&path("0"), &json!(0))),
        "[\n  0,\n  1,\n  2\n]"
    );
    assert_eq!(edited("[ 1 ]", |edit| edit.insert(&path("0"), &json!(0))), "[ 0, 1 ]");
    assert_eq!(append("[\n  1\n\n  ,\n\n  2\n]", "", json!(3)), "[\n  1\n\n  ,\n\n  2,\n  3\n]");
}

#[test]
fn empty_containers_open_up_where_there_is_room() {
    assert_eq!(set("{}", "a", json!(1)), "{\n  \"a\": 1\n}");
    assert_eq!(
        set("{\n    \"a\": {}\n}", "a.b", json!(1)),
        "{\n    \"a\": {\n        \"b\": 1\n    }\n}"
    );
    assert_eq!(append("{\n  \"a\": []\n}", "a", json!(1)), "{\n  \"a\": [1]\n}");
    assert_eq!(
        append("{\n  \"a\": [ ]\n}", "a", json!({"b": 1})),
        "{\n  \"a\": [\n    {\n      \"b\": 1\n    }\n  ]\n}"
    );
    assert_eq!(set("[{}]", "0.a", json!(1)), "[{\"a\": 1}]");
    assert_eq!(set("{\n}\n", "a", json!(1)), "{\n  \"a\": 1\n}\n");
}

#[test]
fn short_lists_of_scalars_stay_on_a_line() {
    let long: Vec<_> = (0..30).collect();
    let out =
        set("{\n  \"a\": 1\n}", "a", json!({"short": [1, "x", null], "empty": [], "long": long}));
    assert!(out.contains("\n    \"short\": [1, \"x\", null],\n    \"empty\": [],\n    \"long\": [\n      0,\n      1,\n"), "{out}");
}

#[test]
fn removing_takes_the_line_and_the_right_comma() {
    let source = "{\n  \"a\": 1,\n  \"b\": {\n    \"x\": 1\n  },\n  \"c\": 3\n}\n";
    assert_eq!(remove(source, "a"), "{\n  \"b\": {\n    \"x\": 1\n  },\n  \"c\": 3\n}\n");
    assert_eq!(remove(source, "b"), "{\n  \"a\": 1,\n  \"c\": 3\n}\n");
    assert_eq!(remove(source, "c"), "{\n  \"a\": 1,\n  \"b\": {\n    \"x\": 1\n  }\n}\n");
    assert_eq!(remove(source, "b.x"), "{\n  \"a\": 1,\n  \"b\": {},\n  \"c\": 3\n}\n");
    assert_eq!(remove("{\"a\": 1, \"b\": 2}", "a"), "{\"b\": 2}");
    assert_eq!(remove("{ \"a\": 1, \"b\": 2 }", "a"), "{ \"b\": 2 }");
    assert_eq!(remove("{ \"a\": 1, \"b\": 2 }", "b"), "{ \"a\": 1 }");
    assert_eq!(remove("[1 , 2 , 3]", "1"), "[1 , 3]");
    assert_eq!(remove("[1 , 2 , 3]", "2"), "[1 , 2]");
    assert_eq!(remove("[ 1 ]", "0"), "[]");
}

#[test]
fn blank_lines_between_groups_outlive_a_member() {
    let source = "{\n  \"a\": 1,\n  \"b\": 2,\n\n  \"c\": 3,\n  \"d\": 4\n}";
    assert_eq!(remove(source, "b"), "{\n  \"a\": 1,\n\n  \"c\": 3,\n  \"d\": 4\n}");
    assert_eq!(remove(source, "c"), "{\n  \"a\": 1,\n  \"b\": 2,\n\n  \"d\": 4\n}");
    assert_eq!(set(source, "e", json!(5)), source.replace("4\n", "4,\n  \"e\": 5\n"));
}

#[test]
fn a_member_takes_the_place_of_another() {
    let source = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}";
    let out = edited(source, |edit| {
        edit.remove(&path("c"))?;
        edit.set(&path("d"), &json!(4))
    });
    assert_eq!(out, "{\n  \"a\": 1,\n  \"b\": 2,\n  \"d\": 4\n}");
    let out = edited(source, |edit| edit.set(&Path::root(), &json!({"x": 1, "y": {"z": 2}})));
    assert_eq!(out, "{\n  \"x\": 1,\n  \"y\": {\n    \"z\": 2\n  }\n}");
}

#[test]
fn a_moved_value_keeps_its_text_and_gets_a_new_indentation() {
    let source = "{\n  \"a\": {\n    \"b\": {\n      \"n\": 1.10,\n\n      \"s\": \"\\u00e9\"\n    }\n  }\n}";
    let out =
        edited(source, |edit| edit.patch(&json!([{"op": "move", "from": "/a/b", "path": "/c"}])));
    assert_eq!(
        out,
        "{\n  \"a\": {},\n  \"c\": {\n    \"n\": 1.10,\n\n    \"s\": \"\\u00e9\"\n  }\n}"
    );
    let out = edited("[[\n 1.0\n], {}]", |edit| {
        edit.patch(&json!([{"op": "copy", "from": "/0", "path": "/1/x"}]))
    });
    assert_eq!(out, "[[\n 1.0\n], {\"x\": [1.0]}]");
}
