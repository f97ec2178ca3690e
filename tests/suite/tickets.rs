//! A state for a ticket: recognised, in a directory of its own, with nine phases.

use serde_json::{Value, json};

use crate::builder::{Project, Ran};

fn init(project: &Project, args: &[&str]) -> Value {
    project.json(&[&["init", "--template", "ticket"], args].concat())
}

/// Runs a command on the state of a ticket.
fn on(project: &Project, ticket: &str, args: &[&str]) -> Value {
    let dir = format!("docs/plan/tickets/{ticket}");
    project.json(&[&["-C", dir.as_str()], args].concat())
}

#[test]
fn a_ticket_is_recognised_and_gets_a_directory_of_its_own() {
    let project = Project::with_lifecycle(false);
    for (text, name, id, platform) in [
        ("#7", "7", "#7", "github"),
        ("PROJ-123", "PROJ-123", "PROJ-123", "jira"),
        ("https://gitlab.com/g/p/-/issues/12", "12", "#12", "gitlab"),
    ] {
        let made = init(&project, &["--ticket", text]);
        assert_eq!(
            (&made["ticket"]["id"], &made["ticket"]["platform"]),
            (&json!(id), &json!(platform))
        );
        let status = on(&project, name, &["status"]);
        assert_eq!(status["ticket"]["id"], id);
        assert_eq!(status["ticket"]["platform"], platform);
        assert_eq!(status["total_steps"], 9);
        assert_eq!(status["goal"], format!("Resolve ticket {id}"));
        assert_eq!(on(&project, name, &["check", "--strict"])["findings"], json!([]), "{text}");
    }
    assert!(!project.dir().exists(), "nothing is put where other states are");
    let refusal = project.run(&["init", "--ticket", "7", "--json"]).json();
    assert_eq!(refusal["error"]["code"], "bad_value", "{refusal}");
    assert!(refusal["error"]["hint"].as_str().unwrap().contains("PROJ-123"), "{refusal}");
}

#[test]
fn a_title_gives_the_goal_and_a_branch() {
    let project = Project::with_lifecycle(false);
    let made = init(&project, &["--ticket", "#7", "--title", "Export as CSV"]);
    assert_eq!(made["ticket"]["branch"], "ticket/7-export-as-csv");
    let status = on(&project, "7", &["status"]);
    assert_eq!(
        (&status["title"], &status["goal"]),
        (&json!("Export as CSV"), &json!("Export as CSV"))
    );
    let dir = "docs/plan/tickets/7";
    let shown = project.ok(&["-C", dir, "status"]).stdout;
    assert!(shown.contains("\nticket    #7 (github), branch ticket/7-export-as-csv\n"), "{shown}");
    // A second time is refused, and nothing is overwritten.
    let again = project.run(&["init", "--template", "ticket", "--ticket", "#7", "--json"]);
    assert_eq!((again.code, again.json()["error"]["code"].as_str()), (1, Some("exists")));
}

#[test]
fn a_link_does_not_lead_a_ticket_elsewhere() {
    let project = Project::with_lifecycle(false);
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), project.root().join("docs")).unwrap();
    let refusal = project.run(&["init", "--ticket", "#7", "--template", "ticket", "--json"]).json();
    assert_eq!(refusal["error"]["code"], "linked", "{refusal}");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn status_shows_phases_artefacts_and_attempts() {
    let project = Project::with_lifecycle(false);
    init(&project, &["--ticket", "#7"]);
    for args in [
        ["step", "start", "DISCOVERY"].as_slice(),
        &["step", "done", "--output", "summary=exports a table"],
        &["step", "start", "PLANNING"],
        &["step", "fail", "--error", "no template"],
        &["step", "retry", "PLANNING"],
        &["step", "done", "--output", "plan_file=docs/plan/tickets/7-plan.md"],
    ] {
        on(&project, "7", args);
    }
    let status = on(&project, "7", &["status"]);
    let artefacts = status["ticket"]["artefacts"].as_array().unwrap();
    assert_eq!(
        artefacts[1],
        json!({ "step": 2, "name": "plan_file",
        "value": "docs/plan/tickets/7-plan.md" })
    );
    let shown = project.ok(&["-C", "docs/plan/tickets/7", "status"]).stdout;
    assert!(shown.contains("artefact  plan_file: docs/plan/tickets/7-plan.md"), "{shown}");
    let planning = shown.lines().find(|line| line.contains(" PLANNING")).unwrap();
    assert!(planning.contains("attempt 2, failed 1 of 2"), "{shown}");
}

#[test]
fn a_ticket_is_found_from_its_directory_and_named_from_above() {
    let project = Project::with_lifecycle(false);
    project.ok(&["init", "--template", "ticket", "--ticket", "#7", "--goal", "Export"]);
    let inside = project.root().join("docs/plan/tickets/7");
    let mut command = project.command(&["status", "--json"]);
    let there = Ran::from(command.current_dir(&inside).output().unwrap()).json();
    assert_eq!(there["goal"], "Export", "{there}");
    let refused = project.refused(1, &["status"]);
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("`statedir -C docs/plan/tickets/7 status`"), "{hint}");
    let again = ["init", "--template", "ticket", "--ticket", "#7", "--goal", "Export"];
    let refused = project.refused(1, &again);
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("docs/plan/tickets/7 status` shows it"), "{hint}");
}
