use super::{document, path};
use crate::text::Place;
use crate::text::json::{JsonDocument, JsonError, MAX_BYTES, MAX_DEPTH, Path};
use serde_json::{Value, json};

fn syntax(source: &str) -> (String, usize) {
    match JsonDocument::parse(source) {
        Err(JsonError::Syntax { message, offset, .. }) => (message, offset),
        other => panic!("{source:?} gave {other:?}"),
    }
}

#[test]
fn odd_whitespace_survives_reading() {
    let source = "\u{feff}\r\n {\t\"b\" :\r[ 1e2 ,\n\n1.10],\"a\":{ } } \n\n";
    let document = document(source);
    assert_eq!(document.source(), source);
    assert_eq!(document.to_value(), json!({"b": [100.0, 1.1], "a": {}}));
    assert_eq!(document.into_source(), source);
}

#[test]
fn values_are_found_by_path() {
    let document = document("{\n  \"a\": {\"b.c\": [10, {\"\": null}]},\n  \"é\\u0020x\": true\n}");
    assert_eq!(document.get(&path("a[\"b.c\"].0")), Some(json!(10)));
    assert_eq!(document.get(&path("/a/b.c/1/")), Some(Value::Null));
    assert_eq!(document.raw(&path("a")), Some("{\"b.c\": [10, {\"\": null}]}"));
    assert_eq!(document.place(&path("[\"é x\"]")), Some(Place { line: 3, column: 15 }));
    assert_eq!(document.keys(&Path::root()).unwrap(), ["a", "é x"]);
    for missing in ["b", "a.b", "a[\"b.c\"].2", "a[\"b.c\"].-", "a[\"b.c\"].00", "a[\"b.c\"].0.x"] {
        assert_eq!(document.get(&path(missing)), None, "{missing}");
    }
    assert_eq!(document.keys(&path("a[\"b.c\"]")), None);
}

#[test]
fn keys_keep_their_order() {
    let document = document(r#"{"z": 1, "a": 2, "m": 3}"#);
    assert_eq!(document.keys(&Path::root()).unwrap(), ["z", "a", "m"]);
    assert_eq!(document.to_value().to_string(), r#"{"z":1,"a":2,"m":3}"#);
}

#[test]
fn a_byte_order_mark_is_not_a_column() {
    let error = JsonDocument::parse("\u{feff}[1,]").unwrap_err();
    assert_eq!(error.place(), Some(Place { line: 1, column: 3 }));
    assert_eq!(error.offset(), Some(5));
}

#[test]
fn an_empty_file_is_called_empty() {
    for source in ["", " ", "\n\t\r\n", "\u{feff}", "\u{feff}\n"] {
        assert!(syntax(source).0.contains("the JSON is empty"), "{source:?}");
    }
}

#[test]
fn mistakes_are_named_where_they_are() {
    let cases = [
        ("[1, 2,]", 5, "trailing comma"),
        ("{\"a\": 1,\n}", 7, "trailing comma"),
        ("{ // no\n}", 2, "comments are not part of JSON"),
        ("[1 /* no */]", 3, "comments are not part of JSON"),
        ("# no\n{}", 0, "comments are not part of JSON"),
        ("{'a': 1}", 1, "double quotes"),
        ("{a: 1}", 1, "unexpected `a`; expected a key in double quotes"),
        ("[NaN]", 1, "unexpected `NaN`; expected a value"),
        ("[-Infinity]", 2, "unexpected `Infinity`; expected a digit"),
        ("[True]", 1, "unexpected `True`"),
        ("[truely]", 1, "unexpected `truely`"),
        ("[01]", 1, "does not begin with a zero"),
        ("[+1]", 1, "does not begin with `+`"),
        ("[.5]", 1, "begins with a digit"),
        ("[1.]", 3, "expected a digit"),
        ("[1e]", 3, "expected a digit"),
        ("[1 2]", 3, "unexpected `2`; expected `,` or `]`"),
        ("{\"a\" 1}", 5, "expected `:`"),
        ("{\"a\": 1 \"b\": 2}", 8, "expected `,` or `}`"),
        ("{\"a\": }", 6, "expected a value"),
        ("{,}", 1, "expected a key"),
        ("[,1]", 1, "expected a value"),
        ("[1}", 2, "expected `,` or `]`"),
        ("[1", 0, "the array that begins here is not closed"),
        ("{\"a\": {}", 0, "the object that begins here is not closed"),
        ("{\"a\"", 4, "the JSON ends where `:`"),
        ("[\"a", 1, "the string that begins here is not closed"),
        ("[\"a\nb\"]", 3, "line break"),
        ("[\"a\u{1}b\"]", 3, "`\\u0001`"),
        ("[\"\\x\"]", 2, "unknown escape"),
        ("[\"\\u12\"]", 2, "four hexadecimal digits"),
        ("[\"\\ud800\"]", 2, "surrogate"),
        ("[1e400]", 1, "out of range"),
        ("{} {}", 3, "nothing more after the value"),
        ("{}\u{0}", 2, "unexpected `\\0`"),
        ("[\u{a0}1]", 1, "unexpected"),
        ("\u{feff}\u{feff}{}", 3, "unexpected `\\u{feff}`"),
    ];
    for (source, offset, part) in cases {
        let (message, found) = syntax(source);
        assert!(message.contains(part), "{source:?}: {message}");
        assert_eq!(found, offset, "{source:?}: {message}");
    }
}

#[test]
fn duplicate_keys_are_refused_with_both_places() {
    let source = "{\"x\": [{\n  \"a\": 1,\n  \"b\": {\"a\": 2},\n  \"\\u0061\": 3\n}]}";
    let error = JsonDocument::parse(source).unwrap_err();
    let (first, second) = (Place { line: 2, column: 3 }, Place { line: 4, column: 3 });
    assert_eq!(error, JsonError::DuplicateKey { key: "a".into(), first, second, offset: 38 });
    assert_eq!(error.place(), Some(second));
}

#[test]
fn duplicate_keys_are_found_among_many() {
    let mut members: Vec<String> = (0..1000).map(|i| format!("\"k{i}\": {i}")).collect();
    members.push("\"k7\": null".to_owned());
    let error = JsonDocument::parse(format!("{{{}}}", members.join(","))).unwrap_err();
    assert!(matches!(error, JsonError::DuplicateKey { key, .. } if key == "k7"));
}

#[test]
fn depth_is_capped_not_overflowed() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(JsonDocument::parse(nested(MAX_DEPTH)).is_ok());
    let error = JsonDocument::parse(nested(MAX_DEPTH + 1)).unwrap_err();
    assert!(matches!(error, JsonError::TooDeep { limit: MAX_DEPTH, offset: MAX_DEPTH, .. }));
    // What is accepted can be read by others, also as a part of a document of ours.
    let wrapped = format!("{{\"state\":{{\"variables\":{}}}}}", nested(MAX_DEPTH));
    assert!(serde_json::from_str::<Value>(&wrapped).is_ok());
    for source in [nested(100_000), "[".repeat(100_000), "{\"a\":".repeat(100_000)] {
        assert!(matches!(JsonDocument::parse(source), Err(JsonError::TooDeep { .. })));
    }
}

#[test]
fn size_is_capped() {
    let source = format!("[{}]", " ".repeat(MAX_BYTES - 2));
    assert!(JsonDocument::parse(source.clone()).is_ok());
    let error = JsonDocument::from_bytes((source + " ").into_bytes()).unwrap_err();
    assert_eq!(error, JsonError::TooLarge { bytes: MAX_BYTES + 1, limit: MAX_BYTES });
    assert_eq!(error.place(), None);
}

#[test]
fn bytes_that_are_not_text_are_refused_with_a_place() {
    let error = JsonDocument::from_bytes(b"{\n \"\xff\": 1}".to_vec()).unwrap_err();
    assert_eq!(error, JsonError::NotUtf8 { place: Place { line: 2, column: 3 }, offset: 4 });
    assert!(JsonDocument::from_bytes(b"\xff\xfe{\0}\0".to_vec()).is_err());
}

#[test]
fn a_key_may_be_as_long_as_the_file() {
    let key = "k".repeat(1 << 20);
    let document = document(&format!("{{\"{key}\": 1}}"));
    assert_eq!(document.get(&[key].into_iter().collect()), Some(json!(1)));
}
