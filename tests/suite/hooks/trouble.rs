//! What hooks do where the state is in trouble, or an event is.

use super::*;

/// More than an event may have.
const HUGE: usize = 33 << 20;

fn task(tool: &str, input: Value, response: Value) -> Value {
    json!({ "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input,
        "tool_response": response })
}

fn create(id: &str, subject: &str) -> Value {
    task("TaskCreate", json!({ "subject": subject }), json!({ "task": { "id": id } }))
}

fn update(id: &str, status: &str) -> Value {
    task("TaskUpdate", json!({ "taskId": id, "status": status }), json!({ "success": true }))
}

fn steps(project: &Project) -> Vec<(Value, Value)> {
    let listed = project.json(&["step", "list"]);
    let steps = listed["steps"].as_array().unwrap().iter();
    steps.map(|step| (step["title"].clone(), step["status"].clone())).collect()
}

/// A client that tells of its tasks one by one tells of each once.
#[test]
fn tasks_that_a_damaged_plan_kept_out_are_asked_for_and_become_steps() {
    let (whole, project) = (Project::new(), Project::new());
    for project in [&whole, &project] {
        assert_eq!(fire(project, create("1", "Collect benchmarks")), None);
    }
    let plan = fs::read(project.path("plan.md")).unwrap();
    project.write("plan.md", b"\xff\xfe");
    assert_eq!(fire(&project, create("2", "Write the report")), None, "nobody is stopped");
    project.write("plan.md", plan);
    fire(&whole, create("2", "Write the report"));
    for project in [&whole, &project] {
        assert_eq!(fire(project, update("1", "completed")), None);
    }
    assert_eq!(fire(&whole, update("2", "in_progress")), None, "it is known there");
    let answer = fire(&project, update("2", "in_progress")).unwrap();
    assert!(context(&answer).contains("Call TaskList once"), "{answer}");
    assert_ne!(steps(&project), steps(&whole));
    assert_eq!(fire(&project, update("2", "in_progress")), None, "it is told once");
    let tasks = json!([
        { "id": "1", "subject": "Collect benchmarks", "status": "completed" },
        { "id": "2", "subject": "Write the report", "status": "in_progress" },
    ]);
    fire(&project, task("TaskList", json!({}), json!({ "tasks": tasks })));
    assert_eq!(steps(&project), steps(&whole));
    for project in [&whole, &project] {
        assert_eq!(fire(project, update("2", "completed")), None);
    }
    assert_eq!(steps(&project), steps(&whole));
}

#[test]
fn an_event_that_is_too_large_is_answered_by_its_beginning() {
    let project = Project::with_steps(1);
    project.ok(&["step", "start", "1", "--actor", "3f2a9c1e"]);
    project.ok(&["constraint", "set", "max_file_operations", "100"]);
    let huge = "x".repeat(HUGE);
    // What is large comes last, as clients send it.
    let with = |event: Value, key: &str| {
        let mut sent = json!({ "session_id": "3f2a9c1e-77aa-4c1d-9b1f-001122334455",
            "transcript_path": "/tmp/t.jsonl", "cwd": project.root() });
        let (last, first): (Vec<_>, Vec<_>) =
            event.as_object().unwrap().clone().into_iter().partition(|(name, _)| name == key);
        sent.as_object_mut().unwrap().extend(first.into_iter().chain(last));
        sent
    };
    let before = used(&project, "file_operations");
    let written = json!({ "file_path": "a.txt", "content": huge });
    assert_eq!(fire(&project, with(tool("PostToolUse", "Write", written), "tool_input")), None);
    assert_ne!(used(&project, "file_operations"), before, "it is counted");
    let todos = json!({ "todos": [{ "content": "b", "status": "pending" }], "more": huge });
    let list = tool("PostToolUse", "TodoWrite", todos);
    assert_eq!(fire(&project, with(list, "tool_input")), None);
    assert_eq!(steps(&project).len(), 1, "a list whose end is not known changes nothing");
    let stop = json!({ "hook_event_name": "Stop", "last_assistant_message": huge });
    let answer = fire(&project, with(stop, "last_assistant_message")).unwrap();
    assert_eq!(answer["decision"], "block", "{answer}");
    project.ok(&["check"]);
}
