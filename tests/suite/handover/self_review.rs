//! A review is decided by somebody other than the one who opened it.

use super::agent::{Agent, set_in_workflow};
use crate::builder::Project;

#[test]
fn a_decision_without_an_id_names_what_is_open() {
    let project = Project::with_steps(1);
    project.refused(2, &["review", "approve"]);
    project.ok(&["review", "open", "May I deploy?"]);
    for verdict in ["approve", "reject"] {
        let refused = project.refused(2, &["review", verdict]);
        let hint = refused["error"]["hint"].as_str().unwrap();
        assert!(hint.starts_with(&format!("`statedir review {verdict} r1`")), "{hint}");
        assert!(hint.contains("May I deploy?"), "{hint}");
    }
    assert!(project.ok(&["review", "list"]).stdout.contains("[ ] r1"));
}

#[test]
fn whoever_opened_a_review_cannot_decide_it() {
    let project = Project::with_steps(2);
    let agent = Agent::new(&project, "s1", "09:00:00");
    agent.ok(&["review", "open", "May I deploy?"]);
    let other_name = Agent::new(&project, "s1", "09:00:00").called("boss");
    for asking in [&agent, &other_name] {
        for verdict in ["approve", "reject"] {
            let refusal = asking.refused(&["review", verdict, "r1"]);
            assert_eq!(refusal["code"], "own_review");
            assert!(!refusal["hint"].to_string().contains("statedir"), "no way round: {refusal}");
        }
    }
    // Neither in one operation, nor without a session under the same name.
    let file = project.root().join("both.json");
    let both = r#"[{"op":"review.open","text":"And this?"},{"op":"review.decide","id":"r2","approve":true}]"#;
    std::fs::write(&file, both).unwrap();
    assert_eq!(agent.refused(&["apply", file.to_str().unwrap()])["code"], "own_review");
    let same_name = Agent::new(&project, "", "09:00:00").called("s1");
    assert_eq!(same_name.refused(&["review", "approve", "r1"])["code"], "own_review");
    // Control: a person decides it.
    let person = Agent::new(&project, "", "09:00:00").called("ada");
    person.ok(&["review", "approve", "r1", "--why", "go ahead"]);
}

#[test]
fn a_setting_lets_whoever_opened_a_review_decide_it() {
    let project = Project::with_steps(2);
    let agent = Agent::new(&project, "s1", "09:00:00");
    agent.ok(&["review", "open", "May I deploy?"]);
    assert_eq!(agent.refused(&["review", "approve", "r1"])["code"], "own_review", "control");
    set_in_workflow(&project, "self_review: refused", "self_review: allowed");
    agent.ok(&["review", "approve", "r1"]);
}

#[test]
fn whoever_opened_a_review_cannot_withdraw_it() {
    let project = Project::with_steps(2);
    let agent = Agent::new(&project, "s1", "09:00:00");
    agent.ok(&["checkpoint", "create", "before"]);
    agent.ok(&["review", "open", "May I deploy?"]);
    let ways: [&[&str]; 5] = [
        &["undo"],
        &["undo", "--dry-run"],
        &["restore", "before"],
        &["checkpoint", "restore", "before"],
        &["restore", "@-1"],
    ];
    for args in ways {
        let refusal = agent.refused(args);
        assert_eq!(refusal["code"], "own_review", "{args:?}");
        assert!(refusal["hint"].as_str().unwrap().contains("the person you work for"), "{refusal}");
    }
    assert_eq!(agent.refused(&["step", "next", "--claim"])["code"], "review_open");
    // Control: what does not touch the review can be undone, also by restoring.
    agent.ok(&["context", "add", "a finding"]);
    agent.ok(&["undo"]);
    agent.ok(&["step", "set", "2", "--effects", "none"]);
    agent.ok(&["restore", "@-1"]);
    // Others withdraw it, and redo it.
    let person = Agent::new(&project, "", "09:00:00").called("ada");
    person.ok(&["restore", "before", "--only", "plan"]);
    person.ok(&["undo"]);
    person.ok(&["redo"]);
    agent.ok(&["step", "next", "--claim"]);
}

#[test]
fn a_review_of_a_gate_is_not_withdrawn_by_whoever_met_the_gate() {
    let project = Project::with_steps(2);
    set_in_workflow(&project, "gates: []", "gates: [{name: ok, subject: step, to: COMPLETED}]");
    let agent = Agent::new(&project, "s1", "09:00:00");
    agent.ok(&["step", "start", "1"]);
    assert_eq!(agent.run(&["step", "done", "1"]).code, 1);
    assert_eq!(agent.refused(&["undo"])["code"], "own_review");
    set_in_workflow(&project, "self_review: refused", "self_review: allowed");
    agent.ok(&["restore", "@-2", "--only", "plan"]);
}
