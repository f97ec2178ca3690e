//! Steps in groups, such as the layers of a build: one group is finished before the next begins.

use serde_json::{Value, json};

use crate::builder::Project;

/// A state whose lifecycle sorts steps by `layer`, with these steps.
fn layered(steps: &[(&str, &str)]) -> Project {
    let project = Project::new();
    let workflow = project.path("workflow.yaml");
    let own = std::fs::read_to_string(&workflow).unwrap_or_else(|_| "version: 1\n".to_owned());
    std::fs::write(&workflow, own + "\ngroup: layer\n").unwrap();
    let changes: Vec<Value> = steps
        .iter()
        .map(|(id, layer)| {
            json!({ "op": "step.add", "id": id, "title": format!("Build {id}"),
                "set": { "layer": layer } })
        })
        .collect();
    project.ok_with_input(&["apply", "-"], &Value::from(changes).to_string());
    project
}

fn nine() -> Project {
    layered(&[
        ("L0-001", "0-setup"),
        ("L0-002", "0-setup"),
        ("L1-001", "1-foundation"),
        ("L1-002", "1-foundation"),
        ("L2-001", "2-backend"),
        ("L2-002", "2-backend"),
    ])
}

fn next(project: &Project) -> String {
    project.json(&["step", "next"])["step"]["id"].as_str().unwrap().to_owned()
}

fn finish(project: &Project, id: &str) {
    project.ok(&["step", "start", id]);
    project.ok(&["step", "done", id]);
}

#[test]
fn a_step_gets_the_id_and_the_fields_it_was_given() {
    let project = Project::new();
    let line = ["step", "add", "Create the tables", "layer=2-backend", "--id", "L2-003"];
    assert!(project.ok(&line).stdout.starts_with("step 1 (L2-003) added: Create the tables"));
    let plan = project.read("plan.md");
    assert!(plan.contains("- **layer**: 2-backend\n- **id**: L2-003\n"), "{plan}");
    assert_eq!(project.refused(1, &line)["error"]["code"], "exists");
    for odd in ["7", "a b", "é", ""] {
        let refusal = project.refused(1, &["step", "add", "Odd", "--id", odd]);
        assert_eq!(refusal["error"]["code"], "bad_value", "{odd:?}");
    }
    project.ok(&["step", "add", "Read them", "--depends-on", "L2-003"]);
    project.ok(&["check"]);
}

#[test]
fn steps_that_come_together_refer_to_each_other_by_the_ids_they_are_given() {
    let project = Project::new();
    let changes = json!([
        { "op": "step.add", "title": "First", "id": "L1-001" },
        { "op": "step.add", "title": "Second", "id": "L1-002", "depends_on": ["L1-001"] },
    ]);
    project.ok_with_input(&["apply", "-"], &changes.to_string());
    let steps = project.json(&["step", "list"])["steps"].clone();
    assert_eq!(steps[1]["waits_for"], json!(["1 (L1-001)"]));
    let twice = json!([
        { "op": "step.add", "title": "Third", "id": "L1-003" },
        { "op": "step.add", "title": "Fourth", "id": "L1-003" },
    ]);
    let before = project.files();
    let ran = project.run_with_input(&["apply", "-", "--json"], &twice.to_string());
    assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (1, Some("exists")));
    assert_eq!(project.files(), before);
}

#[test]
fn steps_are_listed_by_any_of_their_fields() {
    let project = nine();
    let ids = |args: &[&str]| -> Vec<String> {
        let answer = project.json(&[&["step", "list"], args].concat());
        let steps = answer["steps"].as_array().unwrap().clone();
        steps.iter().map(|step| step["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["--where", "layer=1-foundation"]), ["L1-001", "L1-002"]);
    assert_eq!(ids(&["--where", "layer=1-foundation", "--where", "id=L1-002"]), ["L1-002"]);
    assert_eq!(ids(&["--where", "Layer=9-none"]), Vec::<String>::new());
    project.ok(&["step", "start", "L0-001"]);
    assert_eq!(ids(&["--where", "layer=0-setup", "--status", "PENDING"]), ["L0-002"]);
}

#[test]
fn one_group_is_finished_before_the_next_begins() {
    let project = nine();
    assert_eq!(next(&project), "L0-001");
    project.ok(&["step", "start", "L0-001"]);
    assert_eq!(next(&project), "L0-002");
    finish(&project, "L0-002");
    // Another agent cannot run ahead, not even by name.
    let refusal = project.refused(1, &["step", "start", "L1-001"]);
    assert_eq!(refusal["error"]["code"], "dependency_open");
    assert_eq!(refusal["error"]["message"], "step 3 (L1-001) waits for layer 0-setup (1/2)");
    assert_eq!(project.refused(1, &["step", "next"])["error"]["code"], "no_ready_step");
    project.ok(&["step", "done", "L0-001"]);
    assert_eq!(next(&project), "L1-001");
    let status = project.ok(&["status"]).stdout;
    assert!(
        status.contains("\nlayer     0-setup 2/2 · 1-foundation 0/2 · 2-backend 0/2\n"),
        "{status}"
    );
    assert!(status.contains("(after layer 1-foundation (0/2))"), "{status}");
    let groups = project.json(&["status"])["groups"].clone();
    assert_eq!(
        groups[0],
        json!({ "name": "0-setup", "progress": "finished", "total": 2,
        "finished": 2, "failed": 0, "running": 0 })
    );
    assert_eq!(groups[1]["progress"], "active");
    assert_eq!(groups[2]["progress"], "open");
}

#[test]
fn groups_go_by_their_numbers_and_a_step_without_one_waits_for_nothing() {
    let project = layered(&[("B", "10-ui"), ("A", "2-api")]);
    project.ok(&["step", "add", "Tell finance", "--id", "loose"]);
    assert_eq!(next(&project), "A");
    project.ok(&["step", "start", "loose"]);
    // A step that is added to a finished group reopens it.
    finish(&project, "A");
    project.ok(&["step", "add", "One more", "layer=2-api", "--id", "A2"]);
    assert_eq!(next(&project), "A2");
}

#[test]
fn without_the_word_in_the_workflow_layers_are_only_a_field() {
    let project = nine();
    let workflow = project.path("workflow.yaml");
    let own = std::fs::read_to_string(&workflow).unwrap().replace("group: layer", "");
    std::fs::write(&workflow, own).unwrap();
    project.ok(&["step", "start", "L2-002"]);
    let status = project.json(&["status"]);
    assert!(status.get("groups").is_none() && status.get("group_by").is_none(), "{status}");
    assert!(!project.ok(&["status"]).stdout.contains("0-setup 0/2"));
}

#[test]
fn a_step_that_failed_for_good_stops_its_group_and_says_so() {
    let project = nine();
    finish(&project, "L0-001");
    for attempt in 1..=3 {
        project.ok(&["step", if attempt == 1 { "start" } else { "retry" }, "L0-002"]);
        project.ok(&["step", "fail", "L0-002", "--error", "tests fail"]);
        if attempt < 3 {
            // It may be retried, so the group is not finished.
            let status = project.json(&["status"]);
            assert_eq!(status["groups"][0]["progress"], "active", "{status}");
        }
    }
    project.ok(&["review", "reject", "r1", "--why", "give it up", "--actor", "eve"]);
    let status = project.ok(&["status"]).stdout;
    let stopped = "layer 0-setup, stopped by step 2 (L0-002)";
    assert!(status.contains(&format!("\nstopped   {stopped}\n")), "{status}");
    assert!(status.contains("0-setup 1/2 stopped · "), "{status}");
    assert!(status.contains(&format!("Nothing starts after {stopped}")), "{status}");
    let refusal = project.refused(1, &["step", "next"]);
    let message = refusal["error"]["message"].as_str().unwrap();
    assert!(message.ends_with(&format!("; {stopped}")), "{message}");
    // Skipping it lets the plan continue.
    project.ok(&["step", "skip", "L0-002", "--note", "done by hand"]);
    assert_eq!(next(&project), "L1-001");
}

#[test]
fn numbers_are_reported_by_group_by_component_and_by_actor() {
    let project = nine();
    project.ok(&["step", "set", "L0-001", "--component", "tables"]);
    project.ok(&["step", "start", "L0-001", "--actor", "ada"]);
    project
        .ok(&["step", "fail", "--actor", "ada", "--error", "no", "--cost", "0.01", "--time", "5s"]);
    project.ok(&["step", "retry", "--actor", "ben"]);
    project.ok(&["step", "done", "--actor", "ben", "--cost", "0.02", "--time", "7s"]);
    let by = |field: &str| project.json(&["metrics", "--by", field])["by"]["shares"].clone();
    let layers = by("layer");
    assert_eq!(layers.as_array().unwrap().len(), 3);
    assert_eq!(
        layers[0],
        json!({ "name": "0-setup", "steps": 2, "finished": 1, "failed": 0,
        "attempts": 2, "cost": 0.03, "time_ms": 12000 })
    );
    assert_eq!(by("component")[0]["name"], "tables");
    assert_eq!(by("component")[1]["name"], "-");
    let actors = by("actor");
    assert_eq!(
        actors[0],
        json!({ "name": "ada", "steps": 1, "finished": 0, "failed": 1,
        "attempts": 1, "cost": 0.01, "time_ms": 5000 })
    );
    assert_eq!((&actors[1]["name"], &actors[1]["finished"]), (&json!("ben"), &json!(1)));
    let shown = project.ok(&["metrics", "--by", "layer"]).stdout;
    let line = shown.lines().find(|line| line.starts_with("0-setup")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words, ["0-setup", "2", "1", "0", "2", "$0.03", "12s"], "{shown}");
}
