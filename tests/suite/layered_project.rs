//! The life of a project in three layers: nine tasks, verification, a failure with feedback, a crash,
//! a task that is abandoned in the end. By commands with worktrees and the merge queue, through
//! `apply`, and through the MCP server.

use serde_json::{Value, json};

use crate::{builder::Project, examples::run_example, mcp::client::Client, needs};

const TASKS: [(&str, &str); 9] = [
    ("L0-001", "0-setup"),
    ("L0-002", "0-setup"),
    ("L0-003", "0-setup"),
    ("L1-001", "1-foundation"),
    ("L1-002", "1-foundation"),
    ("L2-001", "2-backend"),
    ("L2-002", "2-backend"),
    ("L2-003", "2-backend"),
    ("L2-004", "2-backend"),
];

/// The changes, each with whether it is refused.
fn life() -> Vec<(Value, bool)> {
    let start = |step: &str| (json!({ "op": "step.start", "step": step }), false);
    let to = |step: &str, status: &str| {
        (json!({ "op": "step.move", "step": step, "to": status }), false)
    };
    let mut life = Vec::new();
    for (id, layer) in TASKS {
        let title = format!("Build {id}");
        let add = json!({ "op": "step.add", "title": title, "id": id, "set": { "layer": layer } });
        life.push((add, false));
    }
    let complete = |life: &mut Vec<(Value, bool)>, id: &str| {
        life.push(start(id));
        for status in ["verifying", "verified", "merging", "completed"] {
            life.push(to(id, status));
        }
    };
    complete(&mut life, "L0-001");
    life.push((json!({ "op": "step.start", "step": "L1-001" }), true));
    for id in ["L0-002", "L0-003", "L1-001", "L1-002"] {
        complete(&mut life, id);
    }
    life.extend([start("L2-001"), to("L2-001", "verifying")]);
    let error = "test_create_task failed: expected 201 got 422";
    let failed = json!({ "op": "step.move", "step": "L2-001", "to": "failed", "error": error });
    life.push((failed, false));
    let note = "Add min_length=1 to TaskCreateRequest.title";
    life.push((json!({ "op": "step.retry", "step": "L2-001", "note": note }), false));
    for status in ["verifying", "verified", "merging", "completed"] {
        life.push(to("L2-001", status));
    }
    complete(&mut life, "L2-002");
    life.push(start("L2-003"));
    for attempt in 1..=5 {
        life.push((json!({ "op": "step.fail", "step": "L2-003", "error": "no token" }), false));
        life.push((json!({ "op": "step.retry", "step": "L2-003" }), attempt == 5));
    }
    life.push((json!({ "op": "step.start", "step": "L2-004" }), true));
    life.push((json!({ "op": "step.skip", "step": "L2-003", "note": "by hand" }), false));
    complete(&mut life, "L2-004");
    life
}

fn layered() -> Project {
    let project = Project::with_lifecycle(false);
    project.ok(&["init", "--template", "execute", "--goal", "Build the task manager"]);
    project
}

fn is_finished(project: &Project) {
    let status = project.json(&["status"]);
    assert_eq!(status["status"], "completed");
    assert_eq!((&status["completed"], &status["skipped"]), (&json!(8), &json!(1)));
    let groups = status["groups"].as_array().unwrap();
    let progress: Vec<String> = groups
        .iter()
        .map(|group| format!("{} {}/{}", group["name"], group["finished"], group["total"]))
        .collect();
    assert_eq!(progress, ["\"0-setup\" 3/3", "\"1-foundation\" 2/2", "\"2-backend\" 4/4"]);
    let steps = project.json(&["step", "list"])["steps"].clone();
    assert_eq!((&steps[5]["attempts"], &steps[5]["failures"]), (&json!(2), &json!(1)));
    assert_eq!((&steps[7]["attempts"], &steps[7]["failures"]), (&json!(5), &json!(5)));
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
}

#[cfg(unix)]
#[test]
fn by_commands() {
    if !needs::program("git") {
        return;
    }
    let project = Project::with_lifecycle(false);
    let printed = run_example(&project, "bash", "layers.sh");
    for expected in [
        "(L1-002): verified  (merge 1)",
        "merged L1-002 and removed ",
        "Add min_length=1 to TaskCreateRequest.title",
        "it was left running by worker-b@",
        "layer     0-setup 3/3 · 1-foundation 2/2 · 2-backend 2/4 stopped",
        "stopped by step 8 (L2-003)",
    ] {
        assert!(printed.contains(expected), "{expected}:\n{printed}");
    }
    is_finished(&project);
    let plan = project.read("plan.md");
    assert_eq!(plan.matches("- **merge_commit**: ").count(), 3, "{plan}");
    assert!(!plan.contains("- **worktree**:") && !plan.contains("- **branch**:"), "{plan}");
}

#[test]
fn through_apply() {
    let project = layered();
    for (change, is_refused) in life() {
        let before = project.files();
        let ran = project.run_with_input(&["apply", "-", "--json"], &json!([change]).to_string());
        assert_eq!(ran.code, i32::from(is_refused), "{change}: {}{}", ran.stdout, ran.stderr);
        assert!(!is_refused || project.files() == before, "{change} changed files");
        project.ok(&["check", "--strict"]);
    }
    is_finished(&project);
}

#[test]
fn through_the_server() {
    let project = layered();
    let mut agent = Client::with(&project, &[("STATEDIR_ACTOR", "tester")]);
    agent.greet("2025-06-18");
    for (change, is_refused) in life() {
        agent.make_change(change, is_refused);
        project.ok(&["check", "--strict"]);
    }
    is_finished(&project);
}
