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
