use super::{PLAN, differences, summarised, with};
use crate::{
    diff::{canonical, compare},
    domain::StateFile::{Constraints, Context, Plan, Variables},
};

#[test]
fn duplicate_ids_and_equal_titles_are_kept_apart() {
    let twice = with(PLAN, "id**: b7xq", "id**: k3f9");
    assert!(differences(Plan, &twice, &twice).is_empty());
    let done = with(
        &twice,
        "k3f9\n- **status**: PENDING\n\n### Step 3",
        "k3f9\n- **status**: DONE\n\n### Step 3",
    );
    assert_eq!(summarised(Plan, &twice, &done), ["step 2 (k3f9) Read papers: PENDING → DONE"]);
    let same = "# P\n### Step 1: A\n- status: X\n### Step 1: A\n- status: X\n";
    let one = with(
        same,
        "status: X\n### Step 1: A\n- status: X",
        "status: X\n### Step 1: A\n- status: Y",
    );
    assert_eq!(summarised(Plan, same, &one), ["step 1 A: X → Y"]);
}

#[test]
fn a_line_stays_a_line_whatever_the_value() {
    let before = r#"{"a": 1}"#;
    let after = "{\"a\": \"x\\ny\\u001b[31m\\r\\t\u{202e}\"}";
    let summarised = summarised(Variables, before, after);
    assert_eq!(summarised, ["variables.a: 1 → \"x\\ny\\u{1b}[31m\\r\\t\u{202e}\""]);
}

#[test]
fn long_values_are_shortened_around_the_place_where_they_differ() {
    let long = "x".repeat(1_000_000);
    let before = format!("{{\"a\": \"{long}1{long}\"}}");
    let after = format!("{{\"a\": \"{long}2{long}\"}}");
    let summarised = summarised(Variables, &before, &after);
    assert!(summarised[0].len() < 400, "{} bytes", summarised[0].len());
    assert!(summarised[0].contains("x1x") && summarised[0].contains("x2x"), "{summarised:?}");
    assert!(summarised[0].contains("characters)"), "{summarised:?}");
}

#[test]
fn right_to_left_text_is_text() {
    let summarised = summarised(Context, "# C\n## מפתח\n- שלום\n", "# C\n## מפתח\n- שלום עולם\n");
    assert_eq!(summarised, ["context: מפתח: 1 changed: \"שלום\" → \"שלום עולם\""]);
}

#[test]
fn differences_in_binary_files_are_reported() {
    let summarised = super::summary(&compare(Plan, Some(b"\xff\xfe\n"), Some(b"\xff\xfd\n")));
    assert_eq!(summarised.len(), 1);
    assert!(summarised[0].starts_with("plan.md: 1 line added, 1 removed"), "{summarised:?}");
    assert!(!compare(Constraints, Some(b"a\0"), Some(b"b\0")).is_empty());
}

#[test]
fn a_long_plan_is_compared_in_proportion_to_its_length() {
    let plan = |count: usize, changed: usize| -> String {
        let mut text =
            "# Execution Plan: Long\n\n## Metadata\n- **status**: IN_PROGRESS\n\n## Steps\n"
                .to_owned();
        for n in 1..=count {
            let status = if n == changed { "DONE" } else { "PENDING" };
            text.push_str(&format!(
                "\n### Step {n}: Part {n}\n- **id**: s{n}\n- **status**: {status}\n"
            ));
        }
        text
    };
    let (before, after) = (plan(3000, 0), plan(3000, 1500));
    assert_eq!(summarised(Plan, &before, &after), ["step 1500 (s1500) Part 1500: PENDING → DONE"]);
    let added =
        before.replace("### Step 1: ", "### Step 1: First\n- **status**: PENDING\n\n### Step 1: ");
    assert_eq!(summarised(Plan, &before, &added), ["step 1 First: added, PENDING"]);
}

#[test]
fn the_canonical_view_has_a_line_for_each_fact_and_none_for_layout() {
    let view = canonical(Plan, PLAN.as_bytes());
    for line in [
        "title: Databases\n",
        "Metadata goal: Compare three vector databases\n",
        "step k3f9 number: 1\n",
        "step k3f9 inputs.query: vector databases\n",
    ] {
        assert!(view.contains(line), "{line:?} is not in\n{view}");
    }
    let windows = PLAN.replace('\n', "\r\n").replace("- **status**", "* **Status**");
    assert_eq!(canonical(Plan, windows.as_bytes()), view);
    assert_eq!(canonical(Variables, b"{\"a\": {\"b\": [1, {}]}}"), "a.b.0: 1\na.b.1: {}\n");
    assert_eq!(canonical(Variables, b"{oops"), "{oops");
}
