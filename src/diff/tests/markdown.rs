use super::{CONSTRAINTS, CONTEXT, PLAN, differences, summarised, with};
use crate::{
    diff::{Difference, Subject, compare, summary},
    domain::StateFile::{Constraints, Context, History, Plan},
};

#[test]
fn a_step_is_reported_field_by_field() {
    let after =
        with(PLAN, "- **status**: PENDING\n- **inputs**", "- **status**: COMPLETED\n- **inputs**");
    let after = with(&after, "attempts**: 0", "attempts**: 1");
    let after = with(&after, "query**: vector databases", "query**: embedding stores");
    let after = with(&after, "status**: PLANNING", "status**: IN_PROGRESS");
    assert_eq!(
        summarised(Plan, PLAN, &after),
        [
            "plan: status PLANNING → IN_PROGRESS",
            "step 1 (k3f9) Collect data: PENDING → COMPLETED",
            "step 1 (k3f9) Collect data: inputs.query \"vector databases\" → \"embedding stores\"",
        ]
    );
    // The first attempt goes without saying for a step that moved on; it is a difference all the same.
    let attempts = |difference: &&Difference| matches!(&difference.subject, Subject::StepField { field, .. } if field == "attempts");
    let all = differences(Plan, PLAN, &after);
    assert_eq!(
        summary(&all.iter().filter(attempts).cloned().collect::<Vec<_>>()),
        ["step 1 (k3f9) Collect data: attempts 0 → 1"]
    );
    let again = with(&after, "attempts**: 1", "attempts**: 2");
    assert_eq!(
        summarised(Plan, PLAN, &again)[1],
        "step 1 (k3f9) Collect data: PENDING → COMPLETED (2 attempts)"
    );
}

#[test]
fn a_step_keeps_its_identity_when_it_is_moved_renumbered_and_renamed() {
    let (head, steps) = PLAN.split_once("### Step 1").unwrap();
    let (first, rest) = steps.split_once("### Step 2").unwrap();
    let (second, third) = rest.split_once("### Step 3").unwrap();
    let third = with(third, "Write the report", "Write a short report");
    let after = format!("{head}### Step 1{third}\n### Step 2{first}### Step 3{second}");
    assert_eq!(
        summarised(Plan, PLAN, &after),
        [
            "step 1 (zz42) Write a short report: moved from place 3 to 1",
            "step 1 (zz42) Write a short report: number 3 → 1",
            "step 1 (zz42) Write a short report: title \"Write the report\" → \"Write a short report\"",
            "steps 1–2: renumbered 2–3",
        ]
    );
}

#[test]
fn steps_come_and_go() {
    let (head, _) = PLAN.split_once("### Step 3").unwrap();
    let gone = summarised(Plan, PLAN, head);
    assert_eq!(gone[0], "step 3 (zz42) Write the report: removed, PENDING");
    assert_eq!(summarised(Plan, head, PLAN)[0], "step 3 (zz42) Write the report: added, PENDING");
}

#[test]
fn a_step_by_hand_is_known_by_title_and_then_by_number() {
    let before =
        "# P\n## Steps\n### Step 1: A\n- status: PENDING\n### Step 2: B\n- status: PENDING\n";
    let after = "# P\n## Steps\n### Step 1: X\n- status: PENDING\n### Step 2: A\n- status: DONE\n### Step 3: B\n- id: b123\n- status: PENDING\n";
    assert_eq!(
        summarised(Plan, before, after),
        [
            "step 1 X: added, PENDING",
            "steps 1–2: renumbered 2–3",
            "step 2 A: PENDING → DONE",
            "step 3 (b123) B: id \"b123\" added",
        ]
    );
    let renamed = with(before, "Step 2: B", "Step 2: C");
    assert_eq!(summarised(Plan, before, &renamed), ["step 2 C: title B → C"]);
}

#[test]
fn two_steps_with_different_ids_are_never_the_same_step() {
    let after = with(PLAN, "id**: b7xq", "id**: c8yr");
    let summarised = summarised(Plan, PLAN, &with(&after, "k3f9, b7xq", "k3f9, c8yr"));
    assert!(
        summarised.contains(&"step 2 (b7xq) Read papers: removed, PENDING".to_owned()),
        "{summarised:?}"
    );
    assert!(
        summarised.contains(&"step 2 (c8yr) Read papers: added, PENDING".to_owned()),
        "{summarised:?}"
    );
}

#[test]
fn reviews_are_opened_and_decided() {
    let open = format!("{PLAN}\n## Reviews\n- [ ] r1: Delete the cache?\n");
    assert_eq!(
        summarised(Plan, PLAN, &open)[0],
        "review r1: \"open\" added (\"Delete the cache?\")"
    );
    let decided =
        with(&open, "[ ] r1: Delete the cache?", "[x] r1: Delete the cache? — approved by ada");
    let summarised = summarised(Plan, &open, &decided);
    assert_eq!(summarised.len(), 1, "{summarised:?}");
    assert!(summarised[0].starts_with("review r1: \"open\" → \"approved\""), "{summarised:?}");
}

#[test]
fn constraints_are_reported_by_what_they_are() {
    let after = with(CONSTRAINTS, "\"quality\"", "\"cost_efficiency\"");
    let after = with(&after, "requests**: 20", "requests**: 10");
    let after = with(&after, "- For the next 1 step, be brief\n", "");
    let after = with(&after, "next 3 steps", "next 2 steps");
    let after = with(&after, "200s", "300s");
    let after = with(&after, "legal_tasks**: require", "legal_tasks**: always require");
    assert_eq!(
        summarised(Constraints, CONSTRAINTS, &after),
        [
            "constraints: priority \"quality\" → \"cost_efficiency\"",
            "constraints: limit max_web_requests 20 → 10",
            "constraints: directive removed: \"For the next 1 step, be brief\"",
            "constraints: directive \"For the next 2 steps, be kind\": 3 → 2 steps left",
            "constraints: rule changed: \"If execution time > 200s → set priority to \\\"speed_and_clarity\\\"\" → \"If execution time > 300s → set priority to \\\"speed_and_clarity\\\"\"",
            "constraints: behaviour legal_tasks \"require human review\" → \"always require human review\"",
        ]
    );
}

#[test]
fn rules_in_another_order_are_reported() {
    let (head, rest) = CONSTRAINTS.split_once("- If 2+").unwrap();
    let (first, rest) = rest.split_once('\n').unwrap();
    let (second, rest) = rest.split_once('\n').unwrap();
    let after = format!("{head}{second}\n- If 2+{first}\n{rest}");
    assert_eq!(
        summarised(Constraints, CONSTRAINTS, &after),
        ["constraints: Adaptation Rules: in another order"]
    );
}

#[test]
fn the_last_behaviour_that_goes_is_a_behaviour() {
    let after = with(CONSTRAINTS, "- **legal_tasks**: require human review\n", "");
    assert_eq!(
        summarised(Constraints, CONSTRAINTS, &after),
        ["constraints: behaviour legal_tasks \"require human review\" removed"]
    );
}

#[test]
fn findings_are_counted_by_section() {
    let after =
        with(CONTEXT, "needs etcd\n", "needs etcd\n- Weaviate speaks GraphQL\n- Chroma is small\n");
    let after = with(&after, "We compare three.", "We compare four.");
    let summarised = summarised(Context, CONTEXT, &after);
    assert_eq!(
        summarised,
        [
            "context: Key Findings: 2 added: \"Weaviate speaks GraphQL\", \"Chroma is small\"",
            "context: Decisions: 1 changed: \"We compare three.\" → \"We compare four.\"",
        ]
    );
}

#[test]
fn sections_with_one_heading_are_distinguished() {
    let before = "# C\n## A\n### Notes\n- x\n## B\n### Notes\n- y\n";
    let after = before.replace("- x", "- x\n- more").replace("- y", "- y\n- other");
    let summarised = summarised(Context, before, &after);
    let begins =
        ["context: A / Notes: 1 added: \"more\"", "context: B / Notes: 1 added: \"other\""];
    assert_eq!(summarised, begins);
}

#[test]
fn sections_come_go_and_are_renamed() {
    let after = with(CONTEXT, "### Decisions", "### Choices");
    assert_eq!(
        summarised(Context, CONTEXT, &after)[0],
        "context: heading \"Knowledge / Decisions\" → \"Knowledge / Choices\""
    );
    let after = format!("{CONTEXT}\n## Risks\n- Time\n");
    assert_eq!(
        summarised(Context, CONTEXT, &after),
        ["context: section \"Risks\" added: \"- Time\""]
    );
}

#[test]
fn what_changes_nothing_in_meaning_is_reported_as_layout() {
    for (after, detail) in [
        (PLAN.replace('\n', "\r\n"), "line ends only"),
        (format!("\u{feff}{PLAN}"), "a byte order mark only"),
        (format!("{PLAN}\n"), "the end of the file only"),
        (with(PLAN, "## Steps\n\n", "## Steps\n\n\n"), "white space only"),
        (PLAN.replace("- **status**", "* **Status**"), "wording or layout only"),
    ] {
        assert_eq!(summarised(Plan, PLAN, &after), [format!("plan.md: {detail}")]);
    }
}

#[test]
fn a_comment_behind_a_value_is_seen() {
    let after = with(PLAN, "status**: PLANNING", "status**: PLANNING <!-- wait -->");
    let summarised = summarised(Plan, PLAN, &after);
    assert_eq!(summarised, ["plan: status PLANNING → \"PLANNING <!-- wait -->\""]);
}

#[test]
fn text_below_a_step_is_seen() {
    let after =
        with(PLAN, "### Step 2", "Mind the licence.\n\n#### Notes\nfree text\n\n### Step 2");
    assert_eq!(
        summarised(Plan, PLAN, &after),
        [
            "step 1 (k3f9) Collect data: text: 1 added: \"Mind the licence.\"",
            "step 1 (k3f9) Collect data: Notes \"free text\" added",
        ]
    );
}

#[test]
fn entries_of_the_history_are_counted() {
    let before = "# Execution History\n\n## Log\n";
    let after = format!(
        "{before}\n### Step 1 Execution - 2026-01-15T09:00:00Z\n- **errors**: none\n\n### Undo - 2026-01-15T09:01:00Z\n- **kind**: restore\n"
    );
    assert_eq!(
        summarised(History, before, &after),
        ["history: 2 entries added: Step 1 Execution, Undo"]
    );
    assert_eq!(
        summarised(History, &after, before),
        ["history: 2 entries removed: Step 1 Execution, Undo"]
    );
    let changed = after.replace("none", "timeout");
    assert_eq!(
        summarised(History, &after, &changed).len(),
        2,
        "an entry by hand is known by its text"
    );
}

#[test]
fn a_file_that_comes_or_goes_is_reported_also_when_it_is_empty() {
    let added = compare(Plan, None, Some(b""));
    assert_eq!(summary(&added), ["plan.md: added (0 bytes)"]);
    let removed = compare(Plan, Some(b""), None);
    assert_eq!(summary(&removed), ["plan.md: removed (0 bytes)"]);
}

#[test]
fn a_difference_says_of_itself_what_it_is() {
    let after = with(PLAN, "status**: PLANNING", "status**: PAUSED");
    let found = differences(Plan, PLAN, &after);
    assert_eq!(found[0].subject, Subject::Plan { field: "status".to_owned() });
    let json = serde_json::to_value(&found[0]).unwrap();
    let expected = serde_json::json!({ "file": "plan.md", "kind": "plan", "field": "status",
        "change": "changed", "before": "PLANNING", "after": "PAUSED" });
    assert_eq!(json, expected);
}
