//! Tools are counted, and limits are asked about.

use super::*;

#[test]
fn tools_are_counted_without_an_operation_and_reported_by_the_next_step() {
    let project = Project::classic();
    project.ok(&["step", "add", "Do it"]);
    project.ok(&["step", "start", "1"]);
    let before = operations(&project).len();
    for name in ["Write", "Edit", "MultiEdit", "NotebookEdit"] {
        let event = tool("PostToolUse", name, json!({ "file_path": "src/a.rs" }));
        assert_eq!(fire(&project, event), None);
    }
    for name in ["WebFetch", "Read", "Bash", "Glob", "Task"] {
        assert_eq!(fire(&project, tool("PostToolUse", name, json!({}))), None);
    }
    assert_eq!(operations(&project).len(), before);
    assert_eq!(
        (used(&project, "file_operations"), used(&project, "web_requests")),
        (json!(4), json!(1))
    );
    project.ok(&["step", "done", "1"]);
    let history = project.read("history.md");
    assert!(history.contains(" · files 4 · requests 1 · "), "{history}");
    assert_eq!(
        (used(&project, "file_operations"), used(&project, "web_requests")),
        (json!(4), json!(1))
    );
    project.ok(&["check"]);
}

#[test]
fn a_limit_that_is_reached_is_asked_about_and_crossing_it_is_an_event() {
    let project = Project::new();
    project.ok(&["constraint", "set", "max_file_operations", "2"]);
    let write = |name| tool(name, "Write", json!({ "file_path": "src/a.rs" }));
    assert_eq!(fire(&project, write("PreToolUse")), None);
    fire(&project, write("PostToolUse"));
    assert_eq!(fire(&project, write("PreToolUse")), None);
    fire(&project, write("PostToolUse"));
    let answer = fire(&project, write("PreToolUse")).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask");
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("max_file_operations") && reason.contains("2 of 2"), "{reason}");
    assert!(reason.contains("`statedir constraint set max_file_operations 4`"), "{reason}");
    for (name, input) in
        [("Read", json!({})), ("WebFetch", json!({})), ("Bash", json!({"command": "ls"}))]
    {
        assert_eq!(fire(&project, tool("PreToolUse", name, input)), None, "{name}");
    }
    let reported = fire(&project, write("PostToolUse")).unwrap();
    assert!(context(&reported).contains("max_file_operations is exceeded"), "{reported}");
    assert!(project.read("history.md").contains("Limit Exceeded"));
    assert_eq!(used(&project, "file_operations"), json!(3));
    fire(&project, write("PostToolUse"));
    assert_eq!(used(&project, "file_operations"), json!(4));
    project.ok(&["check"]);
}

#[test]
fn a_limit_is_asked_about_once_in_a_session() {
    let project = Project::new();
    project.ok(&["constraint", "set", "max_web_requests", "1"]);
    let fetch = |name, session: &str| {
        let mut event = tool(name, "WebFetch", json!({ "url": "https://example.org" }));
        event["session_id"] = json!(session);
        fire(&project, event)
    };
    let asked = |session: &str| {
        let answer = fetch("PreToolUse", session)?;
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask");
        answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().map(str::to_owned)
    };
    fetch("PostToolUse", "a");
    assert!(asked("a").is_some());
    for _ in 0..3 {
        assert_eq!(asked("a"), None, "once");
        fetch("PostToolUse", "a");
    }
    fire(
        &project,
        json!({ "hook_event_name": "SessionStart", "source": "compact", "session_id": "a" }),
    );
    assert_eq!(asked("a"), None, "a compaction is no new session");
    assert!(asked("b").is_some(), "another session");
    project.ok(&["constraint", "set", "max_web_requests", "3"]);
    let again = asked("a").expect("the raised limit is reached, too");
    assert!(again.contains("4 of 3") && again.contains("max_web_requests 8`"), "{again}");
    project.ok(&["constraint", "set", "max_cost_per_task", "0"]);
    assert!(asked("a").unwrap().contains("max_cost_per_task"));
    fire(&project, json!({ "hook_event_name": "SessionEnd", "session_id": "a" }));
    let both = asked("a").unwrap();
    assert!(both.contains("max_cost_per_task") && both.contains("max_web_requests"), "{both}");
}

#[test]
fn a_rule_about_file_operations_fires_when_a_hook_counts_them() {
    let project = Project::new();
    project.ok(&["rule", "add", "If file operations > 2 → pause"]);
    let write = tool("PostToolUse", "Write", json!({ "file_path": "src/a.rs" }));
    for _ in 0..2 {
        assert_eq!(fire(&project, write.clone()), None);
        assert_ne!(project.json(&["status"])["status"], "PAUSED");
    }
    fire(&project, write);
    assert_eq!(project.json(&["status"])["status"], "PAUSED");
}

#[test]
fn tools_of_many_agents_are_all_counted_while_steps_end() {
    let project = Project::with_steps(8);
    project.ok(&["constraint", "set", "max_file_operations", "1000"]);
    std::thread::scope(|scope| {
        for agent in 0..4 {
            let project = &project;
            scope.spawn(move || {
                let name = format!("agent{agent}");
                for n in 0..10 {
                    let mut event = tool("PostToolUse", "Write", json!({ "file_path": "a" }));
                    event["session_id"] = json!(name);
                    assert_eq!(fire(project, event), None);
                    if n % 5 == 0 {
                        project.ok(&["step", "next", "--claim", "--actor", &name]);
                        project.ok(&["step", "done", "--actor", &name]);
                    }
                }
            });
        }
    });
    assert_eq!(used(&project, "file_operations"), json!(40));
    project.ok(&["step", "add", "One more"]);
    project.ok(&["step", "start"]);
    project.ok(&["step", "done"]);
    assert_eq!(used(&project, "file_operations"), json!(40));
}

/// A hook does not wait for long, but the call is counted all the same.
#[test]
fn a_tool_is_counted_while_somebody_holds_the_state() {
    let project = Project::with_steps(1);
    project.ok(&["constraint", "set", "max_file_operations", "1000"]);
    let lock = fs::File::open(project.path(".statedir/lock")).unwrap();
    lock.lock().unwrap();
    fire(&project, tool("PostToolUse", "Write", json!({ "file_path": "a" })));
    drop(lock);
    assert_eq!(used(&project, "file_operations"), json!(1));
}

/// An unattended agent must not answer a question that is meant for a person.
#[test]
fn a_limit_is_not_raised_by_an_agent_that_nobody_watches() {
    let project = Project::new();
    project.ok(&["constraint", "set", "max_web_requests", "1"]);
    let asked = |attended: &str, name: &str, input: Value| {
        let mut event = tool("PreToolUse", name, input);
        event["session_id"] = json!("s1");
        event["cwd"] = json!(project.root());
        let env = [("CLAUDE_CODE_SESSION_ATTENDED", attended)];
        let printed = fire_in(&project, &[], &env, event.to_string().as_bytes()).stdout;
        let answer: Value = serde_json::from_str(&printed).unwrap_or_default();
        answer["hookSpecificOutput"]["permissionDecision"].as_str().map(str::to_owned)
    };
    let constraints = project.root().join("workspace/state/constraints.md");
    let change = json!([{ "op": "constraint.set", "name": "max_web_requests", "value": 9 }]);
    let shell = |command: &str| ("Bash", json!({ "command": command }));
    let raises = [
        shell("statedir constraint set max_web_requests 9"),
        shell("cd . && statedir -C . constraint unset max-web-requests"),
        shell(&format!("echo '{change}' | statedir apply -")),
        (
            "mcp__statedir__adapt",
            json!({ "verb": "constraint.set", "name": "max_web_requests", "value": 9 }),
        ),
        ("mcp__plugin_statedir_statedir__apply", json!({ "changes": change })),
        ("Edit", json!({ "file_path": constraints, "old_string": "max_web_requests: 1" })),
    ];
    for (name, input) in raises {
        let text = input.to_string();
        assert_eq!(asked("0", name, input.clone()).as_deref(), Some("ask"), "{name} {text}");
        // When a person is present, the client asks.
        assert_eq!(asked("1", name, input), None, "{name} {text}");
    }
    let others = [
        shell("statedir constraint set priority quality"),
        shell("statedir constraint get max_web_requests"),
        shell("statedir constraint set max_file_operations 5"),
        ("Edit", json!({ "file_path": constraints, "old_string": "priority" })),
        ("Edit", json!({ "file_path": "src/a.rs", "old_string": "max_web_requests" })),
    ];
    for (name, input) in others {
        let text = input.to_string();
        assert_eq!(asked("0", name, input), None, "{name} {text}");
    }
    let fetch = |name| tool(name, "WebFetch", json!({ "url": "http://localhost" }));
    fire(&project, fetch("PostToolUse"));
    for _ in 0..3 {
        assert_eq!(asked("0", "WebFetch", json!({})).as_deref(), Some("ask"), "it stays reached");
    }
    assert_eq!(asked("1", "WebFetch", json!({})), None, "asked about once where somebody is there");
}
