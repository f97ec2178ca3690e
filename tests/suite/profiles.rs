//! The templates that ship, each with a lifecycle that can be lived, and a user's own.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::builder::Project;

fn shipped() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("templates")
}

/// The words of these lifecycles are their own, whatever the run.
fn begun(template: &str) -> Project {
    let project = Project::with_lifecycle(false);
    project.ok(&["init", "--goal", "Ship it", "--template", template]);
    project
}

fn names() -> Vec<String> {
    let project = Project::with_lifecycle(false);
    let listed = project.json(&["init", "--list-templates"])["templates"].clone();
    let named = listed.as_array().unwrap().iter();
    named.map(|template| template["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_profile_is_a_folder_with_five_templates_and_a_few_lines_about_it() {
    let names = names();
    for expected in ["default", "classic", "execute", "ticket", "approval"] {
        assert!(names.iter().any(|name| name == expected), "{expected}: {names:?}");
    }
    for name in names {
        let folder = shipped().join(&name);
        for file in ["plan.md", "context.md", "variables.json", "history.md", "constraints.md"] {
            assert!(folder.join(format!("{file}.hbs")).is_file(), "{name}: {file}");
        }
        let about = fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(about.starts_with(&format!("# {name}\n")), "{about}");
        assert!((3..=25).contains(&about.lines().count()), "{name}");
        let has_workflow = folder.join("workflow.yaml").is_file();
        assert!(has_workflow || name == "classic", "{name} has no workflow.yaml");
    }
}

#[test]
fn every_profile_gives_a_state_that_is_consistent_and_can_be_worked_with() {
    for name in names() {
        let project = begun(&name);
        let findings = project.json(&["check", "--strict"])["findings"].clone();
        assert_eq!(findings, json!([]), "{name}");
        project.ok(&["step", "add", "One more"]);
        project.ok(&["status"]);
        project.ok(&["brief"]);
        project.ok(&["state"]);
        assert_eq!(project.json(&["check", "--strict"])["findings"], json!([]), "{name}");
        let own = project.path("workflow.yaml");
        let shipped = shipped().join(&name).join("workflow.yaml");
        if own.exists() {
            assert_eq!(fs::read(own).unwrap(), fs::read(shipped).unwrap(), "{name}");
        }
    }
}

#[test]
fn a_plan_is_carried_out_only_after_a_person_approved_it() {
    let project = begun("approval");
    project.ok(&["step", "add", "Move the archive"]);
    let refusal = project.refused(1, &["step", "start", "1"]);
    assert_eq!(refusal["error"]["code"], "illegal_transition", "{refusal}");
    let asked = project.run(&["plan", "set", "status=approved", "--json"]).json();
    assert_eq!(project.json(&["status"])["status"], "pending", "{asked}");
    let reviews = project.json(&["review", "list"])["reviews"].clone();
    assert_eq!(reviews.as_array().unwrap().len(), 1, "{reviews}");
    project.ok(&["review", "approve", "r1", "--actor", "eve"]);
    if project.json(&["status"])["status"] == "pending" {
        project.ok(&["plan", "set", "status=approved"]);
    }
    assert_eq!(project.json(&["status"])["status"], "approved");
    project.ok(&["step", "start", "1"]);
    assert_eq!(project.json(&["status"])["status"], "executing");
    project.ok(&["pause", "--why", "lunch"]);
    assert_eq!(project.json(&["status"])["status"], "paused");
    project.ok(&["resume"]);
    project.ok(&["step", "done", "1"]);
    assert_eq!(project.json(&["status"])["status"], "completed");
    assert_eq!(project.json(&["check"])["findings"], json!([]));
}

#[test]
fn a_task_of_execute_goes_through_verification_before_it_is_completed() {
    let project = begun("execute");
    project.ok(&["step", "add", "Set up", "layer=0-setup", "--id", "L0-001"]);
    project.ok(&["step", "add", "Build", "layer=1-build", "--id", "L1-001"]);
    project.ok(&["step", "start", "L0-001"]);
    let refusal = project.refused(1, &["step", "done", "L0-001"]);
    assert!(refusal["error"]["hint"].as_str().unwrap().contains("verifying"), "{refusal}");
    for status in ["verifying", "verified", "merging"] {
        project.ok(&["step", "move", "L0-001", status]);
        // What waits is not finished.
        project.refused(1, &["step", "start", "L1-001"]);
        assert_eq!(project.json(&["check"])["findings"], json!([]), "{status}");
    }
    project.ok(&["step", "move", "L0-001", "completed"]);
    project.ok(&["step", "start", "L1-001"]);
    let refusal = project.refused(1, &["step", "move", "L1-001", "completed"]);
    assert_eq!(refusal["error"]["code"], "illegal_transition");
}

#[test]
fn a_users_own_folder_is_found_by_its_name() {
    let project = Project::with_lifecycle(false);
    let own = project.root().join("config/statedir/templates/ours");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("workflow.yaml"), "version: 1\nretry_limit: 7\n").unwrap();
    let run = |args: &[&str]| -> Value {
        let mut command = project.command(&[args, &["--json"]].concat());
        let output = command.env("XDG_CONFIG_HOME", project.root().join("config")).output();
        serde_json::from_slice(&output.unwrap().stdout).unwrap()
    };
    let listed = run(&["init", "--list-templates"])["templates"].clone();
    assert!(listed.as_array().unwrap().iter().any(|one| one["name"] == "ours"), "{listed}");
    assert_eq!(run(&["init", "--goal", "g", "--template", "ours"])["ok"], true);
    assert_eq!(project.json(&["status"])["retry_limit"], 7);
}
