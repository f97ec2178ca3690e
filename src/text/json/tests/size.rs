//! Big and hostile documents cost what they weigh, not its square.

use super::{document, path};
use crate::text::json::{JsonDocument, JsonError, MAX_BYTES};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Unoptimised code on a busy machine is slow, but nothing linear is this slow.
const PATIENCE: Duration = Duration::from_secs(60);

fn members(count: usize) -> String {
    let lines: Vec<String> = (0..count).map(|i| format!("  \"key{i}\": {{\"n\": {i}}}")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

#[test]
fn many_members_are_read_and_changed_in_linear_time() {
    let start = Instant::now();
    let source = members(100_000);
    let mut edit = document(&source).edit();
    edit.set(&path("key99999.n"), &json!("last")).unwrap();
    edit.remove(&path("key50000")).unwrap();
    let out = edit.finish().document.into_source();
    let expected = source
        .replace("{\"n\": 99999}", "{\"n\": \"last\"}")
        .replace("  \"key50000\": {\"n\": 50000},\n", "");
    assert!(out == expected);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn many_operations_cost_one_reading() {
    let start = Instant::now();
    let operations: Value = (0..20_000)
        .flat_map(|i| {
            [
                json!({"op": "replace", "path": format!("/key{i}/n"), "value": -1}),
                json!({"op": "add", "path": format!("/new{i}"), "value": i}),
            ]
        })
        .collect();
    let mut edit = document(&members(20_000)).edit();
    edit.patch(&operations).unwrap();
    assert_eq!(edit.document().get(&path("key19999.n")), Some(json!(-1)));
    assert_eq!(edit.document().get(&path("new19999")), Some(json!(19999)));
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn wide_indentation_cannot_be_multiplied_without_end() {
    let source = format!("[\n{}1\n]", " ".repeat(1 << 20));
    let operations: Value =
        (0..10_000).map(|i| json!({"op": "add", "path": "/-", "value": i})).collect();
    let error = document(&source).edit().patch(&operations).unwrap_err();
    assert!(matches!(error, JsonError::TooLarge { limit: MAX_BYTES, .. }));
}

#[test]
fn an_edit_cannot_outgrow_the_limit() {
    let text = "x".repeat(MAX_BYTES / 2);
    let mut edit = JsonDocument::parse("{}").unwrap().edit();
    edit.set(&path("a"), &json!(text)).unwrap();
    assert!(matches!(edit.set(&path("b"), &json!(text)), Err(JsonError::TooLarge { .. })));
    assert_eq!(edit.finish().document.keys(&path("")).unwrap(), ["a"]);
}
