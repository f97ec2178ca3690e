//! Importing a state document rebuilds the files.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use statedir::{
    Change, Environment, ImportOptions, InitOptions, NoVersionControl, Options, Workspace,
    state::StateDocument,
};

use super::schema::violation;

fn workspace(dir: &Path, seed: u64) -> Workspace {
    let now = "2026-11-16T09:00:00Z".parse().unwrap();
    Workspace::new(dir, Environment::fixed(now, "tester", seed), Options::new(NoVersionControl))
}

fn document(workspace: &Workspace) -> Value {
    json!(workspace.read().unwrap().state(false))
}

/// A document without what depends on its origin: revision, ids of entries, places.
fn held(mut document: Value) -> Value {
    document["revision"] = Value::Null;
    document["problems"] = Value::Null;
    for entry in document["recent_history"].as_array_mut().unwrap() {
        entry["id"] = Value::Null;
    }
    document
}

/// Imports the state elsewhere and compares.
fn comes_back(original: &Workspace) -> Result<(), String> {
    let schema: Value = serde_json::from_str(StateDocument::SCHEMA).unwrap();
    let first = document(original);
    if let Some(violation) = violation(&schema, &first) {
        return Err(violation);
    }
    let text = first.to_string();
    let parsed: Value = serde_json::from_str(&text).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = workspace(elsewhere.path(), 2);
    copy.import(&parsed, &ImportOptions::default())
        .map_err(|error| format!("{error}\n{first:#}"))?;
    let second = document(&copy);
    let (first, second) = (held(first), held(second));
    if first == second {
        return Ok(());
    }
    let lines = crate::builder::line_diff(&format!("{first:#}"), &format!("{second:#}"));
    Err(lines.join("\n"))
}

fn odd() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("word".to_owned()),
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("## Steps\n".to_owned()),
        Just("### Step 9: forged\n- **status**: COMPLETED\n".to_owned()),
        Just("```".to_owned()),
        Just("~~~\n".to_owned()),
        Just("<!-- ".to_owned()),
        Just("-->".to_owned()),
        Just("- item".to_owned()),
        Just("    code".to_owned()),
        Just("[x]".to_owned()),
        Just("A | B".to_owned()),
        Just("\"quoted\"".to_owned()),
        Just("'single'".to_owned()),
        Just("**bold**: x".to_owned()),
        Just("\u{202e}שלום".to_owned()),
        Just("漢字 😀".to_owned()),
        Just("\\".to_owned()),
        Just("$0.50".to_owned()),
        Just("| a | b |\n|---|---|".to_owned()),
        Just(" ".to_owned()),
        Just("\r\n".to_owned()),
        Just("---".to_owned()),
        Just("{{a.b}}".to_owned()),
        Just("&amp; <b>".to_owned()),
        Just(": ".to_owned()),
        "[ -~]{1,8}",
    ];
    prop::collection::vec(pieces, 1..6).prop_map(|pieces| pieces.concat())
}

fn line() -> impl Strategy<Value = String> {
    odd().prop_map(|text| {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() { "x".to_owned() } else { line }
    })
}

fn change() -> impl Strategy<Value = Value> {
    prop_oneof![
        (line(), odd(), odd(), prop::option::of(0u32..900)).prop_map(|(title, a, b, cost)| json!({
            "op": "step.add", "title": title, "effects": a, "input": { "p": b, "n": 3, "l": ["x"] },
            "output": { "result": title }, "cost": cost.map(|c| f64::from(c) / 100.0),
            "time": "90s", "set": { "owner": b } })),
        Just(json!({ "op": "step.start" })),
        (odd(), odd()).prop_map(|(a, b)| json!({ "op": "step.done", "output": { "o": a },
            "note": b, "cost": 0.02, "time": "3s" })),
        odd().prop_map(|error| json!({ "op": "step.fail", "error": error })),
        Just(json!({ "op": "step.retry" })),
        odd().prop_map(|text| json!({ "op": "context.add", "text": text })),
        odd().prop_map(|text| json!({ "op": "context.add", "text": text, "create": true,
            "section": "Decision Rationale" })),
        (odd(), odd()).prop_map(|(key, text)| json!({ "op": "var.merge",
            "patch": { key: { "deep": [text, 1.5, null, true] } } })),
        (line(), odd()).prop_map(|(title, text)| json!({ "op": "history.add", "title": title,
            "fields": { "notes": text } })),
        (1u32..99).prop_map(|n| json!({ "op": "constraint.set", "name": "max_cost_per_task",
            "value": n })),
        odd().prop_map(|text| json!({ "op": "constraint.set", "name": "house_rule", "value": text,
            "create": true })),
        line().prop_map(|text| json!({ "op": "directive.add", "text": text })),
        odd().prop_map(|text| json!({ "op": "review.open", "text": text })),
        Just(json!({ "op": "review.decide", "id": "r1", "approve": true, "why": "fine" })),
        odd().prop_map(|text| json!({ "op": "plan.set", "set": { "owner": text } })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn what_commands_made_comes_back(
        goal in odd(),
        changes in prop::collection::vec(change(), 0..30),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let original = workspace(dir.path(), 1);
        let goal = if goal.trim().is_empty() { "g".to_owned() } else { goal };
        let options = InitOptions { goal: Some(goal), ..InitOptions::default() };
        // A goal that reads as a placeholder is refused; then there is nothing to compare.
        prop_assume!(original.init(&options).is_ok());
        for change in changes {
            let change: Change = serde_json::from_value(change).unwrap();
            // Many are rightly refused; the accepted ones count.
            let _ = original.apply(&[change]);
        }
        if let Err(difference) = comes_back(&original) {
            return Err(TestCaseError::fail(difference));
        }
    }
}

/// Every awkward file of the corpus in the place of every markdown file.
#[test]
fn what_people_wrote_comes_back() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut seen = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        for name in ["plan.md", "context.md", "constraints.md", "history.md"] {
            let dir = tempfile::tempdir().unwrap();
            let original = workspace(dir.path(), 1);
            let options = InitOptions { goal: Some("g".to_owned()), ..InitOptions::default() };
            original.init(&options).unwrap();
            std::fs::copy(&path, dir.path().join(name)).unwrap();
            if let Err(difference) = comes_back(&original) {
                panic!("{} as {name}:\n{difference}", path.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 100);
}
