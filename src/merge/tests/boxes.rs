//! Steps that are boxes in a list are merged as steps with a heading are.

use super::{clean, merged};
use crate::domain::{Plan, StateFile};
use crate::merge::{Side, choose_side};
use crate::text::markdown::Document;

const BASE: &str = "\
# T

- **status**: PLANNING

## Steps
- [ ] Read
- [ ] Send
  - id: bbbb
- [ ] Tell
";

const DONE: &str = "\
- [x] Send
  - id: bbbb · attempt 1 · ada since 2026-01-01T00:00:00Z · completed 2026-01-01T00:01:00Z
";

fn with(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

fn send_is_done(text: &str) -> String {
    with(text, "- [ ] Send\n  - id: bbbb\n", DONE)
}

#[test]
fn a_box_is_known_by_its_id_whatever_is_inserted_before_it() {
    let ours = with(&send_is_done(BASE), "- [x] Send", "- [ ] Post\n- [x] Send");
    let text = clean(StateFile::Plan, BASE, &ours, &send_is_done(BASE));
    assert_eq!(text, ours);
    let theirs = with(BASE, "  - id: bbbb\n", "  - component: c\n  - id: bbbb\n");
    let text = clean(StateFile::Plan, BASE, &ours, &theirs);
    assert_eq!(text, with(&ours, "  - id: bbbb", "  - component: c\n  - id: bbbb"));
}

#[test]
fn a_box_without_an_id_that_both_sides_finish_is_one_box() {
    let base = with(BASE, "  - id: bbbb\n", "");
    let done = |id: &str| with(&base, "- [ ] Send\n", &DONE.replace("bbbb", id));
    let ours = with(&done("aaaa"), "- [x] Send", "- [ ] Post\n- [x] Send");
    let text = clean(StateFile::Plan, &base, &ours, &done("cccc"));
    assert_eq!(text, ours);
}

#[test]
fn what_refers_to_a_box_refers_to_it_by_the_id_that_it_gets() {
    let base = with(BASE, "  - id: bbbb\n", "");
    let done = with(&base, "- [ ] Send\n", &DONE.replace("bbbb", "zzzz"));
    let refers = with(&base, "- [ ] Send\n", "- [ ] Send\n  - id: aaaa\n")
        + "- [ ] Use\n  - depends_on: 2 Send\n  - also: {{steps.2.out}}\n";
    let text = clean(StateFile::Plan, &base, &done, &refers);
    let expected = "- [ ] Use\n  - depends_on: 2 Send\n  - also: {{steps.2.out}}\n";
    assert_eq!(text, done + expected);
    let by_id = refers.replace("2 Send", "aaaa, 1");
    let done = with(&base, "- [ ] Send\n", &DONE.replace("bbbb", "zzzz"));
    let text = clean(StateFile::Plan, &base, &done, &by_id);
    assert!(text.contains("  - depends_on: zzzz, 1\n"), "{text}");
}

#[test]
fn references_and_dependencies_mean_the_same_box_when_both_sides_insert_some() {
    let insert = |id: &str| {
        let first = format!("- [ ] New {id}\n  - id: {id}\n");
        let second = format!("- [ ] Use {id}\n  - depends_on: 2 New {id}\n  - inputs:\n");
        let lines = first + &second + "    - a: {{steps.2.out}} {{steps.4.out}}\n- [ ] Send";
        with(BASE, "- [ ] Send", &lines)
    };
    let text = clean(StateFile::Plan, BASE, &insert("aaaa"), &insert("cccc"));
    let plan = Plan::read(Document::parse(text.as_str()).unwrap());
    for id in ["aaaa", "cccc"] {
        let new = plan.steps.iter().find(|step| step.title == format!("New {id}")).unwrap().number;
        assert!(text.contains(&format!("  - depends_on: {new} New {id}\n")), "{text}");
        assert!(text.contains(&format!("{{{{steps.{new}.out}}}} {{{{steps.6.out}}}}")), "{text}");
    }
    assert_eq!(plan.steps[5].title, "Send");
}

#[test]
fn two_references_that_are_written_alike_and_mean_two_steps_are_a_conflict() {
    let insert = |id: &str| {
        let lines = format!("- [ ] New {id}\n  - id: {id}\n- [ ] Use\n  - inputs:\n");
        with(BASE, "- [ ] Send", &(lines + "    - a: {{steps.2.out}}\n- [ ] Send"))
    };
    let (text, found) = merged(StateFile::Plan, BASE, &insert("aaaa"), &insert("cccc"));
    assert_eq!(found.len(), 1, "{text}");
}

#[test]
fn what_one_side_began_and_the_other_finished_is_finished() {
    let begun = "  - status: RUNNING\n  - id: bbbb · attempt 1 · bob since 2026-01-01T00:00:30Z\n";
    let ours = with(BASE, "  - id: bbbb\n", begun);
    let text = clean(StateFile::Plan, BASE, &ours, &send_is_done(BASE));
    assert!(text.contains("- [x] Send\n  - id: bbbb"), "{text}");
    assert!(!text.contains("RUNNING") && text.contains("completed"), "{text}");
}

#[test]
fn what_one_side_gave_up_and_the_other_finished_is_a_conflict() {
    let ours = with(BASE, "  - id: bbbb\n", "  - status: FAILED\n  - id: bbbb\n");
    let (text, found) = merged(StateFile::Plan, BASE, &ours, &send_is_done(BASE));
    let fields: Vec<&str> = found.iter().map(|conflict| conflict.field.as_str()).collect();
    assert_eq!(fields, ["plan.bbbb.status"], "{text}");
    let take = |side| choose_side(StateFile::Plan, text.as_bytes(), "plan", side).unwrap().0;
    assert!(String::from_utf8(take(Side::Ours)).unwrap().contains("  - status: FAILED\n"));
    assert_eq!(String::from_utf8(take(Side::Theirs)).unwrap(), send_is_done(BASE));
}

#[test]
fn a_box_has_one_mark() {
    let ours = with(BASE, "- [ ] Tell", "- [-] Tell");
    let theirs = with(BASE, "- [ ] Tell", "- [x] Tell");
    assert_eq!(clean(StateFile::Plan, BASE, &ours, &theirs), theirs);
    let theirs = with(BASE, "- [ ] Tell", "- [ ] Tell them");
    let text = clean(StateFile::Plan, BASE, &ours, &theirs);
    assert_eq!(text, with(BASE, "- [ ] Tell", "- [-] Tell them"));
}

#[test]
fn the_status_of_the_plan_follows_from_the_boxes() {
    let ended = BASE.replace("[ ]", "[x]").replace("PLANNING", "COMPLETED_SUCCESS");
    for status in ["PLANNING", "IN_PROGRESS"] {
        let added = format!("{BASE}- [ ] More\n").replace("PLANNING", status);
        let text = clean(StateFile::Plan, BASE, &ended, &added);
        assert!(text.contains("- **status**: IN_PROGRESS\n"), "{text}");
    }
}

#[test]
fn a_step_that_is_relied_on_anew_is_not_removed_silently() {
    let removed = with(BASE, "- [ ] Send\n  - id: bbbb\n", "");
    let needed = with(BASE, "- [ ] Tell\n", "- [ ] Tell\n  - depends_on: 2 Send\n");
    let (text, found) = merged(StateFile::Plan, BASE, &removed, &needed);
    assert_eq!(found.len(), 1, "{text}");
    assert_eq!(found[0].field, "plan.bbbb.title");
    let refers = with(BASE, "- [ ] Tell\n", "- [ ] Tell\n  - a: {{steps.2.out}}\n");
    assert_eq!(merged(StateFile::Plan, BASE, &removed, &refers).1.len(), 1);
    // With a heading, and where the base needed it in a step that is gone as well.
    let base = "# T\n\n## Steps\n\n### Step 1: A\n- **id**: aaaa\n\n### Step 2: B\n\
                - **depends_on**: 1 A\n- **id**: bbbb\n\n### Step 3: C\n- **id**: cccc\n";
    let at = |title: &str| base.find(title).unwrap();
    let removed = base[..at("### Step 1")].to_owned() + &base[at("### Step 3")..];
    let needed = with(base, "### Step 3: C\n", "### Step 3: C\n- **depends_on**: 1 A\n");
    let (text, found) = merged(StateFile::Plan, base, &removed, &needed);
    let fields: Vec<&str> = found.iter().map(|conflict| conflict.field.as_str()).collect();
    assert_eq!(fields, ["plan.aaaa"], "{text}");
    assert!(!text.contains("Step 2: B"), "{text}");
    let other = with(base, "- **id**: cccc\n", "- **id**: cccc\n- **note**: x\n");
    let text = clean(StateFile::Plan, base, &removed, &other);
    assert!(!text.contains(": A\n"), "{text}");
}
