//! What each file's merge is meant to do, by example.

use super::{clean, merged};
use crate::domain::{Plan, StateFile};
use crate::text::markdown::Document;

const PLAN: &str = "\
# Execution Plan: T

## Metadata
- **status**: IN_PROGRESS
- **current_step**: 1
- **last_updated**: 2026-01-01T00:00:00Z

## Steps

### Step 1: First
- **id**: aaaa
- **status**: PENDING
- **attempts**: 1

### Step 2: Second
- **id**: bbbb
- **status**: PENDING
- **depends_on**: 1
- **inputs**:
  - url: x
";

fn plan(text: &str) -> Plan {
    Plan::read(Document::parse(text).unwrap())
}

#[test]
fn a_step_done_on_one_side_and_untouched_on_the_other_is_done() {
    let ours = PLAN
        .replacen("PENDING", "COMPLETED", 1)
        .replace("current_step**: 1", "current_step**: 2")
        .replace("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
    let theirs =
        PLAN.replace("url: x", "url: y").replace("2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z");
    let text = clean(StateFile::Plan, PLAN, &ours, &theirs);
    let expected =
        ours.replace("url: x", "url: y").replace("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z");
    assert_eq!(text, expected);
}

#[test]
fn steps_added_on_both_sides_are_both_kept_and_numbered() {
    let ours = format!("{PLAN}\n### Step 3: Ours\n- **id**: cccc\n- **status**: PENDING\n");
    let theirs = format!("{PLAN}\n### Step 3: Theirs\n- **id**: dddd\n- **depends_on**: 2\n");
    let text = clean(StateFile::Plan, PLAN, &ours, &theirs);
    let names: Vec<String> =
        plan(&text).steps.iter().map(|s| format!("{} {}", s.number, s.title)).collect();
    assert_eq!(names, ["1 First", "2 Second", "3 Ours", "4 Theirs"], "{text}");
}

#[test]
fn two_new_steps_of_the_same_id_are_both_kept() {
    let ours = format!("{PLAN}\n### Step 3: Ours\n- **id**: cccc\n- **status**: PENDING\n");
    let theirs = format!("{PLAN}\n### Step 3: Theirs\n- **id**: cccc\n- **status**: PENDING\n");
    let text = clean(StateFile::Plan, PLAN, &ours, &theirs);
    let steps = plan(&text).steps;
    assert_eq!(steps.len(), 4, "{text}");
    assert_ne!(steps[2].id, steps[3].id, "{text}");
}

#[test]
fn a_renumbering_on_one_side_meets_an_edit_on_the_other() {
    let ours = PLAN
        .replace("### Step 2: Second", "### Step 3: Second")
        .replace("### Step 1: First", "### Step 1: New\n- **id**: nnnn\n\n### Step 2: First")
        .replace("depends_on**: 1", "depends_on**: 2");
    let theirs = PLAN
        .replace("- url: x", "- url: x\n  - depth: 3")
        .replace("Step 2: Second", "Step 2: Second, better");
    let text = clean(StateFile::Plan, PLAN, &ours, &theirs);
    let plan = plan(&text);
    let names: Vec<String> =
        plan.steps.iter().map(|s| format!("{} {}", s.number, s.title)).collect();
    assert_eq!(names, ["1 New", "2 First", "3 Second, better"], "{text}");
    assert_eq!(plan.steps[2].depends_on[0].to_string(), "aaaa", "{text}");
    assert_eq!(plan.steps[2].details().inputs.len(), 2);
}

#[test]
fn a_range_keeps_its_steps_when_a_merge_renumbers_them() {
    let ours = PLAN
        .replace("### Step 2: Second", "### Step 3: Second")
        .replace("### Step 1: First", "### Step 1: New\n- **id**: nnnn\n\n### Step 2: First")
        .replace("depends_on**: 1", "depends_on**: 2");
    let added =
        "### Step 3: Theirs\n- **id**: dddd\n- **status**: PENDING\n- **depends_on**: 1-2\n";
    let theirs = format!("{PLAN}\n{added}");
    let text = clean(StateFile::Plan, PLAN, &ours, &theirs);
    let steps = plan(&text).steps;
    let last = steps.iter().find(|step| step.title == "Theirs").unwrap();
    let waits_for: Vec<String> = last.depends_on.iter().map(ToString::to_string).collect();
    assert_eq!(waits_for, ["aaaa", "bbbb"], "{text}");
}

#[test]
fn attempts_of_both_sides_are_counted() {
    let ours = PLAN.replace("attempts**: 1", "attempts**: 2");
    let theirs = ours.replace("url: x", "url: z");
    let text = clean(StateFile::Plan, PLAN, &ours, &theirs);
    assert_eq!(plan(&text).steps[0].attempts, 3, "{text}");
}

#[test]
fn different_outcomes_of_a_step_are_a_conflict_in_its_place() {
    let ours = PLAN.replacen("PENDING", "COMPLETED", 1);
    let theirs = PLAN.replacen("PENDING", "FAILED", 1);
    let (text, conflicts) = merged(StateFile::Plan, PLAN, &ours, &theirs);
    let [conflict] = conflicts.as_slice() else { panic!("{conflicts:?}\n{text}") };
    assert_eq!(conflict.field, "plan.aaaa.status");
    assert_eq!(conflict.base.as_deref(), Some("PENDING"));
    assert_eq!(conflict.ours.as_deref(), Some("COMPLETED"));
    assert_eq!(plan(&text).steps.len(), 2);
}

#[test]
fn reviews_opened_on_both_sides_get_names_of_their_own() {
    let ours = format!("{PLAN}\n## Reviews\n- [ ] r1: Ship it?\n");
    let theirs = format!("{PLAN}\n## Reviews\n- [ ] r1: Pay for it?\n");
    let text = clean(StateFile::Plan, PLAN, &ours, &theirs);
    let reviews: Vec<String> =
        plan(&text).reviews.iter().map(|r| format!("{} {}", r.id, r.text)).collect();
    assert_eq!(reviews, ["r1 Pay for it?", "r2 Ship it?"], "{text}");
}

#[test]
fn a_tick_on_one_side_wins_over_untouched() {
    let base = format!("{PLAN}\n## Reviews\n- [ ] r1: Ship it?\n- [ ] r2: Pay?\n");
    let ours = base.replace("[ ] r1: Ship it?", "[x] r1: Ship it? — approved by me");
    let theirs = base.replace("[ ] r2", "[x] r2");
    let text = clean(StateFile::Plan, &base, &ours, &theirs);
    assert!(text.contains("- [x] r1: Ship it? — approved by me\n- [x] r2: Pay?\n"), "{text}");
}

#[test]
fn a_step_removed_on_one_side_and_changed_on_the_other_is_a_conflict() {
    let start = PLAN.find("### Step 2").unwrap();
    let ours = PLAN[..start].to_owned();
    let theirs = PLAN.replace("url: x", "url: y");
    let (text, conflicts) = merged(StateFile::Plan, PLAN, &ours, &theirs);
    let [conflict] = conflicts.as_slice() else { panic!("{conflicts:?}\n{text}") };
    assert_eq!(conflict.ours, None);
    let (gone, _) = merged(StateFile::Plan, PLAN, &ours, &PLAN.replace("IN_PROGRESS", "PAUSED"));
    assert_eq!(plan(&gone).steps.len(), 1);
}

const CONTEXT: &str = "\
# Execution Context: T

## Key Findings
- one
- two

## Current Understanding
It is so.

It is also otherwise,
in two lines
and three.
";

#[test]
fn notes_of_both_sides_are_kept() {
    let ours = CONTEXT.replace("- two\n", "- two\n- ours\n").replace("It is so.", "It is not so.");
    let theirs = CONTEXT.replace("- two\n", "- two\n- theirs\n") + "\nA last word.\n";
    let text = clean(StateFile::Context, CONTEXT, &ours, &theirs);
    let expected = CONTEXT
        .replace("- two\n", "- two\n- ours\n- theirs\n")
        .replace("It is so.", "It is not so.")
        + "\nA last word.\n";
    assert_eq!(text, expected);
}

#[test]
fn different_lines_of_a_paragraph_do_not_conflict_and_the_same_line_does() {
    let ours = CONTEXT.replace("It is also otherwise,", "It was otherwise,");
    let theirs = CONTEXT.replace("and three.", "and four.");
    let text = clean(StateFile::Context, CONTEXT, &ours, &theirs);
    assert!(text.contains("It was otherwise,\nin two lines\nand four.\n"), "{text}");
    let theirs = CONTEXT.replace("It is also otherwise,", "It may be otherwise,");
    let (_, conflicts) = merged(StateFile::Context, CONTEXT, &ours, &theirs);
    assert_eq!(conflicts.len(), 1);
}

const CONSTRAINTS: &str = "\
# Execution Constraints

## Behavioral Modifiers
- **priority**: \"quality\"
- **max_cost_per_task**: $0.50
- **preferred_tools**: [\"Read\"]

## Active Directives
- For the next 3 steps, be brief
- Ask first

## Adaptation Rules
- If cost > $1 → pause
";

#[test]
fn modifiers_directives_and_rules_merge_one_by_one() {
    let ours = CONSTRAINTS
        .replace("\"quality\"", "\"speed\"")
        .replace("[\"Read\"]", "[\"Read\", \"Bash\"]")
        .replace("next 3 steps", "next 2 steps")
        .replace("- Ask first\n", "- Ask first\n- Never delete\n");
    let theirs = CONSTRAINTS
        .replace("$0.50", "$0.70")
        .replace("[\"Read\"]", "[\"Read\", \"Write\"]")
        .replace("next 3 steps", "next 2 steps,")
        .replace("steps,, be", "steps, be")
        .replace("pause\n", "pause\n- If failed_steps > 2 → pause\n");
    let text = clean(StateFile::Constraints, CONSTRAINTS, &ours, &theirs);
    for line in [
        "\"speed\"",
        "$0.70",
        "[\"Read\", \"Bash\", \"Write\"]",
        "- Ask first\n- Never delete\n",
        "- If cost > $1 → pause\n- If failed_steps > 2 → pause\n",
        "For the next 2 steps, be brief",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn two_values_of_a_modifier_are_a_conflict() {
    let ours = CONSTRAINTS.replace("\"quality\"", "\"speed\"");
    let theirs = CONSTRAINTS.replace("\"quality\"", "\"cost\"");
    let (_, conflicts) = merged(StateFile::Constraints, CONSTRAINTS, &ours, &theirs);
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].ours.as_deref(), Some("\"speed\""));
}

const VARIABLES: &str = "\
{
  \"step_data\": {\"current_step\": 1, \"total_steps\": 2},
  \"urls\": [\"a\"],
  \"cost_tracking\": {
    \"total_cost\": 0.10,
    \"step_costs\": [{\"step\": 1, \"cost\": 0.10}]
  },
  \"kept\": 1.50
}
";

#[test]
fn keys_arrays_and_costs_of_both_sides_are_united() {
    let ours = VARIABLES
        .replace("\"total_steps\": 2", "\"total_steps\": 3")
        .replace("[\"a\"]", "[\"a\", \"b\"]")
        .replace("0.10,", "0.30,")
        .replace("\"cost\": 0.10}", "\"cost\": 0.10}, {\"step\": 2, \"cost\": 0.20}");
    let theirs = VARIABLES
        .replace("\"total_steps\": 2", "\"total_steps\": 3")
        .replace("[\"a\"]", "[\"a\", \"c\"]")
        .replace("0.10,", "0.30,")
        .replace("\"cost\": 0.10}", "\"cost\": 0.10}, {\"step\": 3, \"cost\": 0.20}")
        .replace("\"kept\": 1.50", "\"kept\": 1.50,\n  \"new\": 1.10");
    let text = clean(StateFile::Variables, VARIABLES, &ours, &theirs);
    for part in [
        "\"total_steps\": 4",
        "[\"a\", \"b\", \"c\"]",
        "\"total_cost\": 0.50",
        "\"kept\": 1.50",
        "\"new\": 1.10",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text.matches("\"cost\":").count(), 3, "{text}");
}

#[test]
fn a_cost_that_both_sides_have_is_counted_once() {
    let add = |text: &str, step: u32| {
        text.replace(
            "\"cost\": 0.10}]",
            &format!("\"cost\": 0.10}}, {{\"step\": {step}, \"cost\": 0.20}}]"),
        )
    };
    let picked = add(VARIABLES, 2).replace("0.10,", "0.30,");
    let ours =
        picked.replace("0.20}]", "0.20}, {\"step\": 3, \"cost\": 0.05}]").replace("0.30,", "0.35,");
    let theirs = picked.replace("1.50", "1.75");
    let text = clean(StateFile::Variables, VARIABLES, &ours, &theirs);
    assert!(text.contains("\"total_cost\": 0.35"), "{text}");
}

#[test]
fn two_values_of_a_key_are_a_conflict_and_the_file_stays_json() {
    let ours = VARIABLES.replace("1.50", "1.60");
    let theirs = VARIABLES.replace("1.50", "1.70");
    let (text, conflicts) = merged(StateFile::Variables, VARIABLES, &ours, &theirs);
    assert_eq!(conflicts[0].field, "variables.kept");
    assert_eq!(conflicts[0].theirs.as_deref(), Some("1.70"));
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
}

#[test]
fn line_ends_of_windows_stay() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let ours = CONTEXT.replace("- two\n", "- two\n- ours\n");
    let theirs = CONTEXT.replace("It is so.", "It is not so.");
    let (text, _) = merged(StateFile::Context, CONTEXT, &ours, &theirs);
    let (windows, _) = merged(StateFile::Context, &crlf(CONTEXT), &crlf(&ours), &crlf(&theirs));
    assert_eq!(windows, crlf(&text));
    let (mixed, _) = merged(StateFile::Context, &crlf(CONTEXT), &crlf(&ours), &theirs);
    assert_eq!(mixed, text, "one side converted the file");
}

#[test]
fn both_sides_may_add_the_file() {
    let ours = CONTEXT.replace("- two\n", "- ours\n");
    let text = clean(StateFile::Context, "", &ours, CONTEXT);
    assert!(text.contains("- one\n- ours\n- two\n"), "{text}");
    assert_eq!(text.matches("## ").count(), 2, "{text}");
}

#[test]
fn two_who_approve_the_same_review_agree() {
    let base = format!("{PLAN}\n## Reviews\n- [ ] r1: Ship it?\n");
    let answered =
        |answer: &str| base.replace("[ ] r1: Ship it?", &format!("[x] r1: Ship it? — {answer}"));
    let ours = answered("approved by bob: fine — carried out");
    let text = clean(StateFile::Plan, &base, &ours, &answered("approved by ada"));
    assert!(text.contains("- [x] r1: Ship it? — approved by ada — carried out\n"), "{text}");
    // Approved on one side and rejected on the other: a conflict.
    let (_, conflicts) = merged(StateFile::Plan, &base, &ours, &answered("rejected by ada: no"));
    assert_eq!(conflicts.len(), 1);
}

#[test]
fn a_step_that_both_sides_completed_was_completed_by_the_later_one() {
    let base = "# Execution Plan: T\n\n## Metadata\n- **status**: IN_PROGRESS\n\n## Steps\n\n\
                ### Step 1: First ▶\n- **status**: RUNNING\n- **id**: aaaa · attempt 1 · ada since \
                2026-01-01T00:00:00Z\n";
    let done = |time: &str| {
        let done = base.replace("RUNNING", "COMPLETED").replace("First ▶", "First ✓");
        done.replace("00:00:00Z\n", &format!("00:00:00Z · completed 2026-01-01T{time}Z\n"))
    };
    let (ours, theirs) = (done("03:00:00"), done("02:00:00"));
    let text = clean(StateFile::Plan, base, &ours, &theirs);
    assert_eq!(text, ours);
    let (text, _) = merged(StateFile::Plan, base, &theirs, &ours);
    assert_eq!(text, ours);
    // Done on one side, and reopened on the other since.
    let reopened = base.replace("RUNNING", "PENDING").replace("First ▶", "First");
    let reopened = reopened.replace(" · ada since 2026-01-01T00:00:00Z", "");
    let (text, conflicts) = merged(StateFile::Plan, &ours, &ours, &reopened);
    assert!(conflicts.is_empty() && text == reopened, "{text}");
}
