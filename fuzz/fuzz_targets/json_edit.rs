//! An edit of JSON is refused, or the value is what was set and the result is valid JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use statedir::text::json::{JsonDocument, Path};

fuzz_target!(|input: (u8, String, String, String)| {
    let (what, path, value, source) = input;
    let Ok(document) = JsonDocument::parse(source.as_str()) else { return };
    assert_eq!(document.source(), source, "reading changes nothing");
    let whole = source.strip_prefix('\u{feff}').unwrap_or(&source);
    let theirs: Value = serde_json::from_str(whole).expect("what we read, others read");
    assert_eq!(document.to_value(), theirs);
    let Ok(path) = Path::parse(&path) else { return };
    let value = serde_json::from_str(&value).unwrap_or(Value::String(value));
    let mut edit = document.edit();
    let done = match what % 5 {
        0 => edit.set(&path, &value),
        1 => edit.remove(&path).map(drop),
        2 => edit.append(&path, &value),
        3 => edit.merge_patch(&value),
        _ => edit.patch(&value),
    };
    let edited = edit.finish();
    if done.is_err() {
        assert_eq!(edited.document.source(), source, "a refused edit changes nothing");
        return;
    }
    let (mut rest, mut at) = (edited.document.source(), 0);
    for splice in &edited.splices {
        let kept = &source[at..splice.at.start];
        rest = rest.strip_prefix(kept).expect("the bytes before a splice are kept");
        rest = rest.strip_prefix(splice.new.as_str()).expect("a splice is there");
        at = splice.at.end;
    }
    assert_eq!(rest, &source[at..], "the bytes behind the last splice are kept");
    let whole = edited.document.source();
    let whole = whole.strip_prefix('\u{feff}').unwrap_or(whole);
    let theirs: Value = serde_json::from_str(whole).expect("the result is JSON");
    assert_eq!(edited.document.to_value(), theirs);
});
