//! An agent's own planning tool becomes steps.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    builder::Project,
    hooks::{context, fire, fire_bytes, fire_with, operations},
};

const OTHER: &str = "77aa9c1e-77aa-4c1d-9b1f-001122334455";

fn used(tool: &str, input: Value, response: Value) -> Value {
    json!({ "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input,
        "tool_response": response })
}

/// The whole list, as `todo:a`, `doing:b`, `done:c`.
fn list(tasks: &[&str]) -> Value {
    let task = |task: &&str| {
        let (status, content) = task.split_once(':').unwrap();
        let status = match status {
            "done" => "completed",
            "doing" => "in_progress",
            "gone" => "cancelled",
            _ => "pending",
        };
        json!({ "content": content, "status": status, "activeForm": content })
    };
    used("TodoWrite", json!({ "todos": tasks.iter().map(task).collect::<Vec<_>>() }), json!({}))
}

fn create(id: &str, subject: &str) -> Value {
    let input = json!({ "subject": subject, "description": "more" });
    used("TaskCreate", input, json!({ "task": { "id": id, "subject": subject } }))
}

fn update(id: &str, change: Value) -> Value {
    let mut input = change;
    input["taskId"] = json!(id);
    used("TaskUpdate", input, json!({ "success": true, "taskId": id }))
}

fn in_session(mut event: Value, session: &str) -> Value {
    event["session_id"] = json!(session);
    event
}

/// The steps as `PENDING a`.
fn steps(project: &Project) -> Vec<String> {
    let listed = project.json(&["step", "list", "--limit", "1000"]);
    let listed = listed["steps"].as_array().unwrap().clone();
    let line = |step: &Value| {
        format!("{} {}", step["status"].as_str().unwrap(), step["title"].as_str().unwrap())
    };
    listed.iter().map(line).collect()
}

fn start(source: &str) -> Value {
    json!({ "hook_event_name": "SessionStart", "source": source })
}

fn captures(project: &Project) -> usize {
    operations(project).iter().filter(|operation| operation["kind"] == "capture").count()
}

#[test]
fn a_list_becomes_steps_by_one_operation_and_again_by_none() {
    let project = Project::new();
    assert_eq!(fire(&project, list(&["done:Read", "doing:Write", "todo:Test"])), None);
    assert_eq!(steps(&project), ["COMPLETED Read", "RUNNING Write", "PENDING Test"]);
    assert_eq!(captures(&project), 1);
    let before = project.files();
    fire(&project, list(&["done:Read", "doing:Write", "todo:Test"]));
    assert_eq!(project.files(), before, "the same list again changes nothing");
    assert_eq!(captures(&project), 1);
    fire(&project, list(&["done:Read", "done:Write", "doing:Test"]));
    assert_eq!(steps(&project), ["COMPLETED Read", "COMPLETED Write", "RUNNING Test"]);
    assert_eq!(captures(&project), 2);
    let plan = project.read("plan.md");
    assert!(plan.contains("3f2a9c1e"), "the session holds its step: {plan}");
    assert!(!plan.contains("TodoWrite"), "readers see steps: {plan}");
    assert_eq!(project.ok(&["check"]).stdout, "everything is consistent\n");
    project.ok(&["undo"]);
    assert_eq!(steps(&project)[1], "RUNNING Write");
}

#[test]
fn tasks_with_ids_are_followed_whatever_they_are_called() {
    let project = Project::new();
    fire(&project, create("1", "Write tests"));
    fire(&project, create("2", "Fix the parser"));
    fire(&project, create("2", "Fix the parser"));
    fire(&project, update("1", json!({ "status": "in_progress" })));
    fire(&project, update("2", json!({ "subject": "Fix the lexer" })));
    assert_eq!(steps(&project), ["RUNNING Write tests", "PENDING Fix the lexer"]);
    fire(&project, update("1", json!({ "status": "completed" })));
    fire(&project, update("1", json!({ "status": "completed" })));
    fire(&project, update("2", json!({ "status": "deleted" })));
    assert_eq!(steps(&project), ["COMPLETED Write tests", "SKIPPED Fix the lexer"]);
    assert!(project.read("history.md").contains("dropped by the agent"));
    fire(&project, update("9", json!({ "status": "completed" })));
    assert_eq!(steps(&project).len(), 2, "a task that nobody knows is none");
}

#[test]
fn every_client_s_tool_is_understood() {
    let wanted = ["COMPLETED a", "RUNNING b", "PENDING c"];
    let items = |name: &str| {
        let statuses = [("a", "completed"), ("b", "in_progress"), ("c", "pending")];
        let item = |(text, status): (&str, &str)| json!({ name: text, "status": status });
        statuses.map(item).to_vec()
    };
    let sql = "INSERT INTO todos (id, title, status) VALUES ('x', 'a', 'done'), \
               ('y', 'b', 'in_progress'), ('z', 'c', 'pending')";
    let calls = [
        ("PostToolUse", "update_plan", json!({ "plan": items("step") })),
        ("AfterTool", "write_todos", json!({ "todos": items("description") })),
        ("PostToolUse", "todowrite", json!({ "todos": items("content") })),
        ("PostToolUse", "todo_write", json!({ "todos": items("content") })),
        ("PostToolUse", "TodoWrite", json!({ "todos": "- [x] a\n- [~] b\n- [ ] c" })),
        ("PostToolUse", "sql", json!({ "query": sql, "description": "todos" })),
    ];
    for (event, tool, input) in calls {
        let project = Project::new();
        fire(&project, json!({ "hook_event_name": event, "tool_name": tool, "tool_input": input }));
        assert_eq!(steps(&project), wanted, "{tool}");
    }
}

#[test]
fn what_a_person_wrote_or_holds_is_not_touched() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    fire(&project, list(&["done:Do part 1", "todo:Do part 2", "todo:Mine"]));
    assert_eq!(steps(&project), ["RUNNING Do part 1", "PENDING Do part 2", "PENDING Mine"]);
    let printed = project.ok(&["check"]).stdout;
    assert!(printed.contains("`Do part 1` as done, but step 1 is"), "{printed}");
    // The agent's list drops all of them: only its own step is marked as dropped.
    fire(&project, list(&["todo:Another"]));
    assert_eq!(
        steps(&project),
        ["RUNNING Do part 1", "PENDING Do part 2", "SKIPPED Mine", "PENDING Another"]
    );
    // A step that was removed from the plan is not added again.
    project.ok(&["step", "remove", "4"]);
    fire(&project, list(&["todo:Another", "todo:More"]));
    assert_eq!(steps(&project).last().unwrap(), "PENDING More");
    assert!(!steps(&project).contains(&"PENDING Another".to_owned()));
}

#[test]
fn a_task_that_comes_back_is_reopened_and_what_others_finished_stays() {
    let project = Project::new();
    fire(&project, list(&["doing:a", "todo:b", "todo:c"]));
    fire(&project, list(&["doing:a", "todo:c"]));
    assert_eq!(steps(&project)[1], "SKIPPED b");
    fire(&project, list(&["doing:a", "todo:b", "todo:c"]));
    assert_eq!(steps(&project), ["RUNNING a", "PENDING b", "PENDING c"]);
    fire(&project, list(&["done:a", "todo:b", "todo:c"]));
    fire(&project, list(&["doing:a", "todo:b", "todo:c"]));
    assert_eq!(steps(&project)[0], "RUNNING a", "the agent took it up again");
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "done", "2"]);
    fire(&project, list(&["done:a", "todo:b", "todo:c"]));
    assert_eq!(steps(&project), ["COMPLETED a", "COMPLETED b", "PENDING c"]);
}

/// A change that somebody makes to a step right after the agent's event is not the agent's change.
#[test]
fn what_a_person_turns_back_is_not_turned_again() {
    for (printed, command, status) in [
        ("doing", &["step", "reset", "1", "--force"][..], "PENDING"),
        ("doing", &["step", "skip", "1", "--force"], "SKIPPED"),
        ("done", &["step", "reset", "1"], "PENDING"),
    ] {
        let project = Project::new();
        let task = format!("{printed}:a");
        fire(&project, list(&["todo:a", "todo:b"]));
        fire(&project, list(&[&task, "todo:b"]));
        project.ok(command);
        fire(&project, list(&[&task, "todo:b"]));
        let wanted = format!("{status} a");
        assert_eq!(steps(&project), [wanted.as_str(), "PENDING b"], "{command:?}");
        fire(&project, list(&[&task, "doing:b"]));
        assert_eq!(steps(&project), [wanted.as_str(), "RUNNING b"], "{command:?}");
        // Later changes of the agent count again.
        let other = if printed == "done" { "doing:a" } else { "done:a" };
        fire(&project, list(&[other, "doing:b"]));
        let ended = if printed == "done" { "RUNNING a" } else { "COMPLETED a" };
        let ended = if status == "SKIPPED" { "SKIPPED a" } else { ended };
        assert_eq!(steps(&project), [ended, "RUNNING b"], "{command:?}");
    }
}

/// The list is kept before the commit. A crash between the two leaves a list with a change that the plan
/// does not have, also if somebody else changes something before the next event.
#[test]
fn a_change_that_a_crash_kept_from_being_made_is_made_at_the_next_event() {
    for others in [false, true] {
        let project = Project::new();
        fire(&project, create("1", "a"));
        fire(&project, create("2", "b"));
        let lists = project.dir().join(".statedir/sessions");
        let file = fs::read_dir(&lists).unwrap().next().unwrap().unwrap().path();
        let kept = tempfile::tempdir().unwrap();
        copy(&project.dir(), kept.path());
        fire(&project, update("1", json!({ "status": "in_progress" })));
        assert_eq!(steps(&project), ["RUNNING a", "PENDING b"]);
        let list = fs::read(&file).unwrap();
        fs::remove_dir_all(project.dir()).unwrap();
        copy(kept.path(), &project.dir());
        assert_eq!(steps(&project), ["PENDING a", "PENDING b"], "as if it had not been committed");
        fs::write(&file, list).unwrap();
        if others {
            project.ok(&["var", "set", "x", "1"]);
        }
        fire(&project, create("3", "c"));
        assert_eq!(steps(&project), ["RUNNING a", "PENDING b", "PENDING c"], "others: {others}");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn two_sessions_share_the_plan_without_harm() {
    let project = Project::new();
    fire(&project, list(&["doing:a", "todo:b"]));
    fire(&project, in_session(list(&["doing:a", "doing:b", "todo:c"]), OTHER));
    assert_eq!(steps(&project), ["RUNNING a", "RUNNING b", "PENDING c"]);
    fire(&project, in_session(list(&["done:a", "done:b", "todo:c"]), OTHER));
    assert_eq!(
        steps(&project),
        ["RUNNING a", "COMPLETED b", "PENDING c"],
        "a is held by the other"
    );
    fire(&project, list(&["done:a"]));
    assert_eq!(steps(&project), ["COMPLETED a", "COMPLETED b", "PENDING c"]);
}

#[test]
fn calls_of_one_session_at_the_same_time_are_all_kept() {
    let project = Project::new();
    std::thread::scope(|scope| {
        for n in 0..6 {
            let project = &project;
            scope.spawn(move || {
                fire(project, create(&n.to_string(), &format!("Task {n}")));
            });
        }
    });
    let mut found = steps(&project);
    found.sort();
    let wanted: Vec<String> = (0..6).map(|n| format!("PENDING Task {n}")).collect();
    assert_eq!(found, wanted);
    fire(&project, update("3", json!({ "status": "in_progress" })));
    assert!(steps(&project).contains(&"RUNNING Task 3".to_owned()));
}

#[test]
fn after_a_compaction_the_list_comes_back_and_what_it_lacks_is_reported() {
    let project = Project::new();
    fire(&project, list(&["done:Read", "doing:Write", "todo:Test"]));
    let stop = json!({ "hook_event_name": "Stop", "stop_hook_active": false,
        "last_assistant_message": "The parser \u{202e}loses tabs; token ghp_0123456789abcdefghijABCDEFGHIJ0123" });
    let answer = fire(&project, stop).unwrap();
    let reason = answer["reason"].as_str().unwrap();
    assert!(
        reason.contains("--note 'The parser loses tabs") && !reason.contains("ghp_"),
        "{reason}"
    );
    project.ok(&["step", "add", "Document"]);
    let answer = fire(&project, start("compact")).unwrap();
    let text = context(&answer);
    assert!(text.contains("> [x] Read (step 1, COMPLETED)"), "{text}");
    assert!(
        text.contains("> [>] Write (step 2, RUNNING); you said: The parser loses tabs"),
        "{text}"
    );
    assert!(text.contains("Open steps that it lacks: 4."), "{text}");
    assert!(!text.contains("ghp_"), "{text}");
    // A shorter list after that has lost its items, not dropped them.
    let answer = fire(&project, list(&["doing:Write"])).unwrap();
    let printed = context(&answer);
    assert!(printed.contains("> 3 Test\n> 4 Document\n"), "{printed}");
    assert_eq!(steps(&project)[2..], ["PENDING Test", "PENDING Document"]);
    // From then on the list counts again, for the items in it.
    fire(&project, list(&["done:Write", "todo:Test"]));
    assert_eq!(
        steps(&project),
        ["COMPLETED Read", "COMPLETED Write", "PENDING Test", "PENDING Document"]
    );
}

#[test]
fn a_clone_without_private_files_matches_by_words() {
    let project = Project::new();
    fire(&project, list(&["doing:Read the code", "todo:Write"]));
    fs::remove_dir_all(project.dir().join(".statedir")).unwrap();
    fire(&project, in_session(list(&["todo:read the  code.", "doing:Write", "todo:New"]), OTHER));
    assert_eq!(steps(&project), ["RUNNING Read the code", "RUNNING Write", "PENDING New"]);
}

#[test]
fn the_first_list_makes_a_state_where_that_was_asked_for() {
    let project = Project::empty();
    fs::create_dir(project.root().join(".git")).unwrap();
    assert_eq!(fire(&project, list(&["doing:a", "todo:b"])), None);
    assert!(!project.dir().exists(), "nobody asked for it");
    for event in [list(&[]), update("1", json!({ "status": "completed" })), start("startup")] {
        assert_eq!(fire_with(&project, &["--capture"], event), None);
        assert!(!project.dir().exists(), "there is no list yet");
    }
    let plan = used(
        "update_plan",
        json!({ "explanation": "Speed up the parser",
        "plan": [{ "step": "a", "status": "in_progress" }, { "step": "b", "status": "pending" }] }),
        json!("Plan updated"),
    );
    fire_with(&project, &["--capture"], plan);
    assert_eq!(steps(&project), ["RUNNING a", "PENDING b"]);
    assert!(project.read("plan.md").contains("- **goal**: Speed up the parser"));
    let ignored = fs::read_to_string(project.dir().join(".gitignore")).unwrap_or_default();
    assert!(ignored.contains(".statedir") || project.dir().join(".statedir/.gitignore").exists());
    assert_eq!(project.ok(&["check"]).stdout, "everything is consistent\n");
}

#[test]
fn where_the_user_said_no_lists_are_left_alone() {
    let project = Project::with_steps(1);
    let before = project.files();
    assert_eq!(fire_with(&project, &["--no-capture"], list(&["doing:a"])), None);
    assert_eq!(project.files(), before);
    let answer = fire_with(&project, &["--no-capture"], start("startup")).unwrap();
    assert!(!context(&answer).contains("task tool"));
}

#[test]
fn an_accepted_plan_becomes_steps() {
    let project = Project::new();
    let plan = "# Speed up\n\n1. **Measure**\n2. Cut the copy\n   1. inner\n\n```\n9. no\n```\n";
    fire(&project, used("ExitPlanMode", json!({ "plan": plan }), json!({ "plan": plan })));
    assert_eq!(steps(&project), ["PENDING Measure", "PENDING Cut the copy"]);
    fire(&project, create("1", "Measure"));
    fire(&project, update("1", json!({ "status": "in_progress" })));
    assert_eq!(steps(&project), ["RUNNING Measure", "PENDING Cut the copy"]);
}

#[test]
fn a_new_session_that_lists_finished_steps_doubles_none_of_them() {
    let project = Project::new();
    fire(&project, list(&["done:Read", "done:Write"]));
    let before = steps(&project);
    for tasks in [["doing:Read", "todo:Write"], ["done:Read", "doing:Write"]] {
        fire(&project, in_session(list(&tasks), OTHER));
        assert_eq!(steps(&project), before, "{tasks:?}");
    }
    fire(&project, in_session(list(&["done:Read", "done:Write", "todo:Test"]), OTHER));
    assert_eq!(steps(&project).len(), 3);
}

/// Gemini CLI and Qwen Code do not say which agent uses a tool.
#[test]
fn what_a_helper_without_a_name_plans_is_not_the_plan_s_and_what_follows_is() {
    let gemini = ["BeforeTool", "AfterTool", "BeforeAgent", "invoke_agent", "write_todos"];
    let qwen = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "agent", "todo_write"];
    for ([before, after, prompt, helper, lists], of) in [(gemini, ".gemini"), (qwen, ".qwen")] {
        let (project, path) = (Project::new(), format!("/home/ada/{of}/x.jsonl"));
        let call = |name: &str, tool: &str, input: Value| {
            let event = json!({ "hook_event_name": name, "tool_name": tool, "tool_input": input,
                "transcript_path": path, "prompt": "go on" });
            fire(&project, event)
        };
        let plan = |tasks: &[&str]| {
            let task =
                |task: &&str| json!({ "content": task, "description": task, "status": "pending" });
            call(after, lists, json!({ "todos": tasks.iter().map(task).collect::<Vec<_>>() }));
            steps(&project).len()
        };
        assert_eq!(plan(&["Read"]), 1);
        call(before, helper, json!({ "prompt": "help" }));
        assert_eq!(plan(&["Look", "Tell"]), 1, "{of}");
        call(after, helper, json!({ "prompt": "help" }));
        assert_eq!(plan(&["Read", "Write"]), 2);
        // One that sends no further event is forgotten at the end of the turn.
        call(before, helper, json!({ "prompt": "help" }));
        call(prompt, "", json!({}));
        assert_eq!(plan(&["Read", "Write", "Test"]), 3);
    }
}

#[test]
fn a_helper_s_own_list_is_not_the_plan_s() {
    let project = Project::new();
    let query = "INSERT INTO todos (id, title, status) VALUES ('a', 'look', 'in_progress')";
    let rows = used("sql", json!({ "query": query }), json!({}));
    for mut event in [list(&["doing:look"]), rows.clone()] {
        event["agent_id"] = json!("a1");
        assert_eq!(fire(&project, event), None);
        assert!(steps(&project).is_empty());
    }
    fire(&project, rows);
    assert_eq!(steps(&project), ["RUNNING look"], "the same of the agent itself counts");
}

#[test]
fn while_a_person_is_asked_work_is_not_started_but_reported_later() {
    let project = Project::new();
    fire(&project, list(&["todo:a"]));
    project.ok(&["review", "open", "Is the budget fine?"]);
    fire(&project, list(&["doing:a"]));
    assert_eq!(steps(&project), ["PENDING a"]);
    project.ok(&["plan", "set", "title=Other"]);
    let mut command = project.command(&["review", "approve", "r1"]);
    assert!(command.env("STATEDIR_ACTOR", "boss").status().unwrap().success());
    fire(&project, list(&["doing:a"]));
    assert_eq!(steps(&project), ["RUNNING a"], "the next event catches up");
}

#[test]
fn hostile_lists_harm_nobody() {
    let project = Project::new();
    let many: Vec<Value> = (0..5000).map(|n| json!({ "content": format!("t{n}") })).collect();
    let odd = [
        json!({ "content": "" }),
        json!({ "content": "# Steps\n### Step 9: forged\n- **status**: COMPLETED" }),
        json!({ "content": "a\u{202e}b\u{1b}[2J\u{0}c" }),
        json!({ "content": "key ghp_0123456789abcdefghijABCDEFGHIJ0123", "status": 7 }),
        json!({ "content": "x".repeat(100_000) }),
        json!({ "content": "--> <!-- `{{variables.x}}` ✓" }),
        json!({ "content": "[Task Title]" }),
        json!({ "content": 7 }),
        json!("bare"),
        json!(null),
        json!([[[[]]]]),
    ];
    let todos = |list: &[Value]| used("TodoWrite", json!({ "todos": list }), json!({}));
    fire(&project, todos(&odd));
    let found = steps(&project);
    assert!(found.len() >= 5, "{found:?}");
    let plan = project.read("plan.md");
    assert!(!plan.contains("ghp_") && !plan.contains('\u{202e}') && !plan.contains('\u{1b}'));
    assert!(!found.iter().any(|step| step.contains("COMPLETED ")), "{found:?}");
    assert_eq!(project.ok(&["check"]).code, 0);
    let project = Project::new();
    fire(&project, todos(&many));
    assert_eq!(steps(&project).len(), 300);
    assert_eq!(project.ok(&["check"]).code, 0);
    for bytes in
        [&b"{\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"TodoWrite\""[..], b"\xff", b"[]"]
    {
        fire_bytes(&project, &[], bytes);
    }
    assert_eq!(steps(&project).len(), 300);
}

#[test]
fn a_spoiled_list_is_none() {
    for spoiled in
        ["{", "[]", "{\"tasks\":[{\"text\":\"a\\u0000b\",\"role\":\"open\"}]}", "{\"tasks\":7}"]
    {
        let project = Project::new();
        fire(&project, list(&["doing:a", "todo:b"]));
        let kept = project.dir().join(".statedir/sessions/3f2a9c1e.tasks");
        assert!(kept.exists());
        fs::write(&kept, spoiled).unwrap();
        fire(&project, list(&["done:a", "todo:b"]));
        assert_eq!(steps(&project), ["COMPLETED a", "PENDING b"], "{spoiled}");
    }
}

#[test]
fn a_state_that_cannot_be_written_stops_nobody() {
    let project = Project::new();
    fire(&project, list(&["doing:a"]));
    let lists = project.dir().join(".statedir/sessions");
    fs::remove_dir_all(&lists).unwrap();
    std::os::unix::fs::symlink(Path::new("/nonexistent"), &lists).unwrap();
    fire(&project, list(&["done:a"]));
    assert_eq!(steps(&project), ["COMPLETED a"], "the words tell");
    project.write("plan.md", b"\xff\xfe");
    assert_eq!(fire(&project, list(&["doing:b"])), None);
    assert!(
        fs::read_to_string(project.dir().join(".statedir/hook.log"))
            .unwrap()
            .contains("PostToolUse")
    );
}
