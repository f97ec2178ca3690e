use super::{document, edited, path, refused};
use crate::text::Splice;
use crate::text::json::{JsonError, MAX_DEPTH, Path, Put};
use serde_json::{Value, json};

const SOURCE: &str = r#"{
  "name": "caf\u00e9",
  "ratio": 1.10,
  "big": 12345678901234567890123,
  "list": [1e2, 2, 3],
  "nested": {
    "on": true,
    "off": false
  }
}
"#;

#[test]
fn a_scalar_is_replaced_and_nothing_else() {
    let mut edit = document(SOURCE).edit();
    edit.set(&path("nested.on"), &json!(0.3)).unwrap();
    let edited = edit.finish();
    assert_eq!(edited.document.source(), SOURCE.replace("true", "0.3"));
    let at = SOURCE.find("true").unwrap();
    assert_eq!(edited.splices, [Splice { at: at..at + 4, new: "0.3".into() }]);
}

#[test]
fn setting_what_is_there_changes_nothing() {
    let document = document(SOURCE);
    let mut edit = document.edit();
    for key in ["name", "ratio", "big", "list", "nested", "list.0"] {
        edit.set(&path(key), &document.get(&path(key)).unwrap()).unwrap();
    }
    edit.set(&Path::root(), &document.to_value()).unwrap();
    edit.merge_patch(&document.to_value()).unwrap();
    edit.set_text(&path("ratio"), "1.10").unwrap();
    assert!(edit.finish().splices.is_empty());
}

#[test]
fn text_keeps_the_spelling_it_is_given_with() {
    let source = "{\"a\": 1.1, \"b\": \"x\"}";
    let out = edited(source, |edit| edit.set_text(&path("a"), " 1.10 "));
    assert_eq!(out, "{\"a\": 1.10, \"b\": \"x\"}");
    let out =
        edited(source, |edit| edit.set_text(&path("c"), "{\"k\":[12345678901234567890123,1E+2]}"));
    assert_eq!(out, "{\"a\": 1.1, \"b\": \"x\", \"c\": {\"k\": [12345678901234567890123, 1E+2]}}");
    assert!(matches!(
        refused(source, |edit| edit.set_text(&path("a"), "1,")),
        JsonError::Syntax { .. }
    ));
}

#[test]
fn setting_an_object_changes_only_the_members_that_differ() {
    let out = edited(SOURCE, |edit| edit.set(&path("nested"), &json!({"new": 1, "off": false})));
    assert_eq!(
        out,
        SOURCE.replace(
            "    \"on\": true,\n    \"off\": false\n",
            "    \"off\": false,\n    \"new\": 1\n"
        )
    );
}

#[test]
fn setting_an_array_keeps_equal_items_at_both_ends() {
    let source = "[\n  1.0,\n  {\"a\": 1},\n  3e0\n]";
    let out = edited(source, |edit| edit.set(&Path::root(), &json!([1.0, {"a": 1}, "new", 3.0])));
    assert_eq!(out, "[\n  1.0,\n  {\"a\": 1},\n  \"new\",\n  3e0\n]");
    let out = edited(source, |edit| edit.set(&Path::root(), &json!([1.0, 3.0])));
    assert_eq!(out, "[\n  1.0,\n  3e0\n]");
    let out = edited(source, |edit| edit.set(&Path::root(), &json!([1.0, {"a": 2}, 3.0])));
    assert_eq!(out, "[\n  1.0,\n  {\"a\": 2},\n  3e0\n]");
}

#[test]
fn missing_parents_are_created() {
    let out = edited("{\n  \"a\": 1\n}\n", |edit| edit.set(&path("b.c.0"), &json!("x")));
    assert_eq!(
        out,
        "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": {\n      \"0\": \"x\"\n    }\n  }\n}\n"
    );
    let out = edited("{\"a\": [1]}", |edit| edit.set(&path("a.1.b"), &json!(2)));
    assert_eq!(out, "{\"a\": [1, {\"b\": 2}]}");
}

#[test]
fn the_index_behind_the_last_item_appends() {
    for end in ["a.2", "a.-"] {
        assert_eq!(
            edited("{\"a\": [1, 2]}", |edit| edit.set(&path(end), &json!(3))),
            "{\"a\": [1, 2, 3]}"
        );
    }
    let error = refused("{\"a\": [1]}", |edit| edit.set(&path("a.2"), &json!(3)));
    assert_eq!(error, JsonError::IndexOutOfRange { path: path("a"), index: 2, length: 1 });
    assert_eq!(error.to_string(), "index 2 is out of range: `a` has 1 item");
    let error = refused("{\"a\": [1]}", |edit| edit.set(&path("a.x.y"), &json!(3)));
    assert_eq!(error, JsonError::NotIndex { path: path("a"), segment: "x".into() });
}

#[test]
fn scalars_have_no_members() {
    for (source, found) in
        [("{\"a\": \"s\"}", "a string"), ("{\"a\": 1}", "a number"), ("{\"a\": null}", "null")]
    {
        let error = refused(source, |edit| edit.set(&path("a.b.c"), &json!(1)));
        assert_eq!(error, JsonError::NotContainer { path: path("a"), found });
    }
    let error = refused("7", |edit| edit.set(&path("a"), &json!(1)));
    assert_eq!(error.to_string(), "the document is a number and has no members");
}

#[test]
fn the_whole_document_can_be_replaced() {
    let out = edited("\u{feff}7 \n", |edit| edit.set(&Path::root(), &json!({"a": 1})));
    assert_eq!(out, "\u{feff}{\n  \"a\": 1\n} \n");
    assert_eq!(edited("[1]\n", |edit| edit.set(&Path::root(), &json!(null))), "null\n");
}

#[test]
fn values_are_written_as_json() {
    let value = json!("q\" \\ / \n\t\u{1}\u{7f}é😀\u{2028}</script>");
    let out = edited("{\"a\": 1}", |edit| edit.set(&path("a"), &value));
    assert_eq!(out, "{\"a\": \"q\\\" \\\\ / \\n\\t\\u0001\u{7f}é😀\u{2028}</script>\"}");
    for (value, text) in
        [(json!(0.1 + 0.2), "0.30000000000000004"), (json!(0.3), "0.3"), (json!(5), "5")]
    {
        assert_eq!(edited("[0]", |edit| edit.set(&path("0"), &value)), format!("[{text}]"));
    }
    assert_eq!(
        edited("{}", |edit| edit.set(&path("[\"k\\n\\\"\"]"), &json!([]))),
        "{\n  \"k\\n\\\"\": []\n}"
    );
}

#[test]
fn doubles_read_back_exactly() {
    for number in
        [f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.1, 1e21, 1e22, 8.41e-21, 9007199254740993.0, -0.0]
    {
        let mut edit = document("[0]").edit();
        edit.set(&path("0"), &json!(number)).unwrap();
        let read = edit.document().get(&path("0")).unwrap().as_f64().unwrap();
        assert_eq!(read.to_bits(), number.to_bits());
    }
}

#[test]
fn removing_returns_the_value() {
    let mut edit = document(SOURCE).edit();
    assert_eq!(edit.remove(&path("list")).unwrap(), json!([100.0, 2, 3]));
    assert_eq!(edit.document().source(), SOURCE.replace("  \"list\": [1e2, 2, 3],\n", ""));
}

#[test]
fn what_is_missing_is_named_with_what_was_perhaps_meant() {
    let error = refused(SOURCE, |edit| edit.remove(&path("nested.onn")));
    assert_eq!(error.to_string(), "`nested.onn` does not exist, did you mean `nested.on`?");
    let error = refused(SOURCE, |edit| edit.remove(&path("nestd.on")));
    assert_eq!(error.to_string(), "`nestd.on` does not exist, did you mean `nested`?");
    for missing in ["list.3", "list.-", "list.x", "name.x", "nothing", "list.01"] {
        let error = refused(SOURCE, |edit| edit.remove(&path(missing)));
        assert_eq!(error, JsonError::NotFound { path: path(missing), nearest: None });
    }
    assert_eq!(refused(SOURCE, |edit| edit.remove(&Path::root())), JsonError::RemoveRoot);
}

#[test]
fn appending_and_replacing_are_different_words() {
    assert_eq!(
        edited("{\"a\": [1]}", |edit| edit.append(&path("a"), &json!([2]))),
        "{\"a\": [1, [2]]}"
    );
    assert_eq!(
        edited("{}", |edit| edit.append(&path("a.b"), &json!(1))),
        "{\n  \"a\": {\n    \"b\": [1]\n  }\n}"
    );
    assert_eq!(edited("[]", |edit| edit.append(&Path::root(), &json!(1))), "[1]");
    for (source, found) in
        [("{\"a\": {}}", "an object"), ("{\"a\": null}", "null"), ("{\"a\": \"x\"}", "a string")]
    {
        let error = refused(source, |edit| edit.append(&path("a"), &json!(1)));
        assert_eq!(error, JsonError::NotArray { path: path("a"), found });
    }
}

#[test]
fn inserting_makes_room_in_an_array() {
    assert_eq!(edited("[1, 2]", |edit| edit.insert(&path("0"), &json!(0))), "[0, 1, 2]");
    assert_eq!(edited("[1, 2]", |edit| edit.insert(&path("1"), &json!(0))), "[1, 0, 2]");
    assert_eq!(edited("[1, 2]", |edit| edit.insert(&path("2"), &json!(0))), "[1, 2, 0]");
    assert_eq!(edited("{\"a\": 1}", |edit| edit.insert(&path("a"), &json!(0))), "{\"a\": 0}");
    assert!(matches!(
        refused("{}", |edit| edit.insert(&path("a.b"), &json!(0))),
        JsonError::NotFound { .. }
    ));
    assert!(matches!(
        refused("[]", |edit| edit.insert(&path("1"), &json!(0))),
        JsonError::IndexOutOfRange { .. }
    ));
}

#[test]
fn a_removed_member_that_returns_finds_its_line_again() {
    let mut edit = document(SOURCE).edit();
    let removed = edit.remove(&path("nested")).unwrap();
    edit.set(&path("nested"), &removed).unwrap();
    assert!(edit.finish().splices.is_empty());
    let mut edit = document(SOURCE).edit();
    edit.remove(&path("nested")).unwrap();
    edit.set(&path("nested.on"), &json!(1)).unwrap();
    assert_eq!(edit.finish().document.get(&path("nested")), Some(json!({"on": 1})));
}

#[test]
fn several_changes_give_splices_against_the_first_source() {
    let out = edited(SOURCE, |edit| {
        edit.set(&path("name"), &json!("x"))?;
        edit.remove(&path("ratio"))?;
        edit.append(&path("list"), &json!(4))?;
        edit.append(&path("list"), &json!(5))?;
        edit.set(&path("nested.new"), &json!({"a": 1}))?;
        edit.set(&path("nested.new.b"), &json!(2))?;
        edit.remove(&path("nested.on")).map(drop)
    });
    assert_eq!(
        out,
        r#"{
  "name": "x",
  "big": 12345678901234567890123,
  "list": [1e2, 2, 3, 4, 5],
  "nested": {
    "off": false,
    "new": {
      "a": 1,
      "b": 2
    }
  }
}
"#
    );
}

#[test]
fn a_failed_change_leaves_the_ones_before_it() {
    let mut edit = document("{\"a\": 1}").edit();
    edit.set(&path("b"), &json!(2)).unwrap();
    edit.set(&path("c.d"), &json!(3)).unwrap();
    edit.set(&path("b.x.y"), &json!(3)).unwrap_err();
    assert_eq!(edit.finish().document.source(), "{\"a\": 1, \"b\": 2, \"c\": {\"d\": 3}}");
}

#[test]
fn nesting_too_deeply_is_refused() {
    let nest = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let mut edit = document("{}").edit();
    edit.set(&path("a"), &nest(MAX_DEPTH - 1)).unwrap();
    let error = refused("{}", |edit| edit.set(&path("a"), &nest(MAX_DEPTH)));
    assert_eq!(error, JsonError::ValueTooDeep { path: path("a"), limit: MAX_DEPTH });
    assert!(matches!(
        refused("[]", |edit| edit.append(&Path::root(), &nest(MAX_DEPTH))),
        JsonError::ValueTooDeep { .. }
    ));
    let long: Path = (0..100_000).map(|i| format!("k{i}")).collect();
    assert!(matches!(
        refused("{}", |edit| edit.set(&long, &Value::Null)),
        JsonError::ValueTooDeep { .. }
    ));
    assert!(matches!(
        refused("{}", |edit| edit.append(&long, &Value::Null)),
        JsonError::ValueTooDeep { .. }
    ));
    assert!(matches!(refused("{}", |edit| edit.remove(&long)), JsonError::NotFound { .. }));
}

#[test]
fn several_puts_are_made_together_or_not_at_all() {
    let puts = [
        Put::Set(path("nested.on"), json!(false)),
        Put::Append(path("list"), json!(4)),
        Put::Append(path("list"), json!(5)),
        Put::Set(path("fresh.a"), json!({})),
        Put::Set(path("fresh.a.b"), json!("x")),
    ];
    let mut edit = document(SOURCE).edit();
    edit.put_all(&puts).unwrap();
    let mut singly = document(SOURCE).edit();
    for put in &puts {
        match put {
            Put::MakeBefore(..) => unreachable!("not in this list"),
            Put::Set(path, value) => singly.set(path, value).unwrap(),
            Put::Append(path, value) => singly.append(path, value).unwrap(),
        }
    }
    assert_eq!(edit.document().source(), singly.document().source());

    let mut refused = document(SOURCE).edit();
    let bad = Put::Append(path("name"), json!(1));
    assert!(refused.put_all(&[puts[0].clone(), bad]).is_err());
    assert_eq!(refused.document().source(), SOURCE);
}

#[test]
fn a_member_can_be_put_before_another() {
    let document = crate::text::json::JsonDocument::parse(
        "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"m\": 2\n}\n",
    )
    .unwrap();
    let mut edit = document.edit();
    let puts = [
        Put::MakeBefore(path("g"), "m".to_owned()),
        Put::Set(path("g.y"), json!(3)),
        Put::MakeBefore(path("a"), "m".to_owned()),
        Put::MakeBefore(path("z"), "none".to_owned()),
    ];
    edit.put_all(&puts).unwrap();
    let expected = "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"g\": {\n    \"y\": 3\n  },\n  \"m\": 2,\n  \"z\": {}\n}\n";
    assert_eq!(edit.finish().document.into_source(), expected);
}
