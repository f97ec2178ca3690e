//! Numbers of an execution over time, and what is remembered of the conversation.

use serde_json::json;

use crate::builder::{Project, Ran, line_diff};

#[test]
fn metrics_tell_how_long_it_took_who_decided_and_what_was_said() {
    let project = Project::empty();
    project.at("12:00:00", &["init", "--goal", "Ship it"]);
    project.at("12:00:00", &["step", "add", "Build"]);
    project.at("12:01:00", &["step", "start", "1"]);
    project.at("12:02:00", &["review", "open", "Is the budget fine?"]);
    project.at("12:05:00", &["review", "approve", "r1", "--actor", "eve"]);
    project.at("12:06:00", &["review", "open", "And the date?"]);
    project.at("12:07:00", &["review", "reject", "r2", "--why", "later", "--actor", "eve"]);
    let turn = ["turn", "add", "--user", "go", "--input-tokens", "1200", "--output-tokens", "300"];
    project.at("12:08:00", &turn);
    if project.json(&["status"])["status"] != "IN_PROGRESS" {
        project.at("12:09:00", &["resume"]);
    }
    project.at("12:10:00", &["step", "done", "1"]);
    let mut command = project.command(&["metrics", "--json"]);
    let output = command.env("STATEDIR_NOW", "2026-01-31T18:00:00Z").output().unwrap();
    let metrics = Ran::from(output).json();
    assert_eq!(metrics["reviews"], json!({ "approved": 1, "rejected": 1, "waited_ms": 240_000 }));
    assert_eq!((&metrics["input_tokens"], &metrics["output_tokens"]), (&json!(1200), &json!(300)));
    assert_eq!(metrics["completed_at"], "2026-01-31T12:10:00Z", "{metrics}");
    assert_eq!(metrics["elapsed_ms"], 600_000, "until the end, not until now");
    assert_eq!(metrics["steps"][0]["completed_at"], "2026-01-31T12:10:00Z");
    let shown = project.ok(&["metrics"]).stdout;
    assert!(shown.contains("reviews       1 approved, 1 rejected, waited 4m"), "{shown}");
    assert!(shown.contains("tokens        1200 read, 300 written"), "{shown}");
}

#[test]
fn a_scan_tells_the_step_at_hand_who_has_it_and_what_happened_last() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "--cost", "0.25"]);
    project.ok(&["step", "start", "2", "--actor", "ben"]);
    let found = project.json(&["scan", "."]);
    let state = &found["states"][0];
    assert_eq!(state["current_step"]["number"], 2, "{state}");
    assert_eq!(
        (&state["current_step"]["title"], &state["current_step"]["actor"]),
        (&json!("Do part 2"), &json!("ben"))
    );
    assert_eq!(state["last_action"]["actor"], "tester", "{state}");
    assert_eq!(
        found["totals"],
        json!({ "states": 1, "finished": 0, "total_steps": 2,
        "completed": 1, "running": 1, "failed": 0, "open_reviews": 0, "total_cost": 0.25 })
    );
}

#[test]
fn feedback_in_a_turn_is_an_event_that_rules_answer() {
    let sentiment = |project: &Project| {
        project.run(&["constraint", "get", "user_sentiment"]).stdout.trim().to_owned()
    };
    for args in [
        ["turn", "add", "--user", "Thanks, that is perfect!"].as_slice(),
        &["turn", "add", "--user", "ok", "--feedback", "positive"],
    ] {
        let project = Project::new();
        project.ok(args);
        assert_eq!(sentiment(&project), "pleased", "{args:?}");
        assert!(project.read("history.md").contains("positive"));
    }
    let project = Project::new();
    project.ok(&["turn", "add", "--user", "Fix the wrong date", "--conversation", "c1"]);
    assert_ne!(sentiment(&project), "pleased");
    let memory = project.json(&["memory"]);
    assert_eq!(memory["working"][0]["conversation"], "c1", "{memory}");
}

#[test]
fn decisions_and_lessons_outlast_fifty_turns() {
    let project = Project::new();
    project.ok(&["var", "set", "project_context", "{\"language\": \"Rust\"}"]);
    let mut changes = vec![json!({ "op": "turn.add", "user_message": "first",
        "decisions": ["use sqlite"], "lessons": ["measure first"] })];
    changes
        .extend((0..55).map(|n| json!({ "op": "turn.add", "user_message": format!("turn {n}") })));
    project.ok_with_input(&["apply", "-"], &json!(changes).to_string());
    let memory = project.json(&["memory"]);
    assert_eq!(memory["long"]["decisions"], json!([{ "turn": 1, "text": "use sqlite" }]));
    assert_eq!(memory["long"]["lessons"][0]["text"], "measure first");
    assert_eq!(memory["long"]["project"]["context"], json!({ "language": "Rust" }));
    assert_eq!(memory["medium"]["turns"].as_array().unwrap().len(), 40);
    let printed = project.ok(&["memory"]).stdout;
    for line in [
        "decision (turn 1): use sqlite",
        "lesson (turn 1): measure first",
        "{\"language\":\"Rust\"}",
    ] {
        assert!(printed.contains(line), "{printed}");
    }
    let tier = project.ok(&["memory", "--tier", "medium"]).stdout;
    assert_eq!(tier.lines().count(), 1, "turns that say nothing have no line: {tier}");
}

#[test]
fn only_what_has_ended_and_is_old_enough_is_pruned_and_only_when_asked() {
    let project = Project::with_steps(1);
    for args in [
        ["step", "start", "1"].as_slice(),
        &["step", "done", "1"],
        &["archive"],
        &["init", "--goal", "Another"],
        &["step", "add", "Never done"],
        &["archive", "--force"],
    ] {
        project.ok(args);
    }
    let kept = || std::fs::read_dir(project.root().join("workspace/archive")).unwrap().count();
    let prune = |now: Option<&str>, more: &[&str]| {
        let args = [&["archive", "prune", "--older-than", "30d", "--json"], more].concat();
        let mut command = project.command(&args);
        command.envs(now.map(|now| ("STATEDIR_NOW", now)));
        Ran::from(command.output().unwrap()).json()
    };
    let later = Some("2199-01-01T12:00:00Z");
    let early = prune(None, &["--yes"]);
    assert_eq!((early["prunable"].as_array().unwrap().len(), kept()), (0, 2), "{early}");
    let shown = prune(later, &[]);
    assert_eq!((shown["prunable"].as_array().unwrap().len(), kept()), (1, 2), "{shown}");
    assert_eq!(shown["deleted"], false);
    // Leftovers of an interrupted attempt belong to no state, and are deleted with the rest.
    let rest = project.root().join("workspace/archive/.pruned-exec_1");
    std::fs::create_dir(&rest).unwrap();
    std::fs::write(rest.join("history.md"), "# Execution Log\n").unwrap();
    let listed = project.json(&["archive", "list"])["archived"].as_array().unwrap().len();
    assert_eq!(listed, 2);
    let deleted = prune(later, &["--yes"]);
    assert!(!rest.exists());
    assert_eq!((&deleted["deleted"], kept()), (&json!(true), 1), "{deleted}");
    let left = project.json(&["archive", "list"])["archived"].clone();
    assert_eq!(left[0]["goal"], "Another", "{left}");
    assert_eq!(
        project.run(&["archive", "prune", "--older-than", "30"]).code,
        2,
        "a unit is needed"
    );
}

#[test]
fn when_a_step_and_the_plan_were_completed_is_written_with_them_and_taken_back() {
    let project = Project::empty();
    project.at("12:00:00", &["init", "--goal", "Ship it"]);
    project.at("12:00:00", &["step", "add", "Build"]);
    project.at("12:00:00", &["step", "add", "Ship"]);
    project.at("12:01:00", &["step", "start", "1"]);
    let before = project.read("plan.md");
    project.at("12:10:00", &["step", "done", "1"]);
    let plan = project.read("plan.md");
    assert!(
        plan.contains(" since 2026-01-31T12:01:00Z · completed 2026-01-31T12:10:00Z\n"),
        "{plan}"
    );
    assert!(!plan.contains("completed_at"), "the plan goes on: {plan}");
    // The heading, the status, the result, and the line that changes with every start.
    let changed = line_diff(&before, &plan);
    assert_eq!(changed.iter().filter(|line| line.starts_with('+')).count(), 4, "{changed:?}");
    project.at("12:11:00", &["step", "start", "2"]);
    project.at("12:20:00", &["step", "done", "2"]);
    let ended = project.read("plan.md");
    assert!(ended.contains("- **completed_at**: 2026-01-31T12:20:00Z\n"), "{ended}");
    let state = project.json(&["state"]);
    assert_eq!(state["timing"]["completed_at"], "2026-01-31T12:20:00Z", "{state}");
    assert_eq!(state["steps"][0]["completed_at"], "2026-01-31T12:10:00Z", "{state}");
    project.ok(&["check", "--strict"]);
    // A step that is redone is not completed, nor is its plan.
    project.at("12:30:00", &["step", "reset", "2"]);
    let again = project.read("plan.md");
    assert!(!again.contains("completed_at") && !again.contains("12:20:00Z"), "{again}");
    assert!(again.contains("· completed 2026-01-31T12:10:00Z\n"), "{again}");
    assert!(project.json(&["metrics"])["steps"][1].get("completed_at").is_none());
    project.ok(&["check", "--strict"]);
    project.ok(&["undo"]);
    assert_eq!(project.read("plan.md"), ended);
    let refused = project.refused(1, &["step", "set", "1", "completed_at=2026-01-01T00:00:00Z"]);
    assert_eq!(refused["error"]["code"], "managed_field", "{refused}");
}

#[test]
fn decisions_that_were_taken_back_do_not_count() {
    let project = Project::new();
    project.at("12:00:00", &["review", "open", "Is the budget fine?"]);
    project.at("12:01:00", &["review", "approve", "r1", "--actor", "eve"]);
    project.at("12:02:00", &["undo"]);
    let reviews = |project: &Project| project.json(&["metrics"])["reviews"].clone();
    assert_eq!(reviews(&project)["approved"], 0);
    project.at("12:05:00", &["review", "reject", "r1", "--why", "no", "--actor", "eve"]);
    let expected = json!({ "approved": 0, "rejected": 1, "waited_ms": 300_000 });
    assert_eq!(reviews(&project), expected, "as the plan has it, from the question to the answer");
}

#[test]
fn a_step_that_waits_for_others_has_the_time_that_was_spent_on_it() {
    let project = Project::with_lifecycle(false);
    project.at("12:00:00", &["init", "--template", "execute", "--goal", "Build"]);
    project.at("12:00:00", &["step", "add", "Task", "layer=1"]);
    project.at("12:01:00", &["step", "start", "1"]);
    project.at("12:05:00", &["step", "move", "1", "verifying", "--cost", "0.50"]);
    project.at("12:50:00", &["step", "move", "1", "verified"]);
    let metrics = project.json(&["metrics", "--by", "layer"]);
    assert_eq!(metrics["steps"][0]["time_ms"], 240_000, "{metrics}");
    assert_eq!(metrics["steps"][0]["cost"], 0.5, "{metrics}");
    assert_eq!(metrics["by"]["shares"][0]["time_ms"], 240_000, "{metrics}");
}

#[test]
fn rework_is_not_a_retry() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    project.ok(&["step", "reset", "1"]);
    project.ok(&["step", "start", "1"]);
    assert_eq!(project.json(&["metrics"])["retries"], 0);
    project.ok(&["step", "fail", "1", "--error", "no"]);
    assert_eq!(project.json(&["metrics"])["retries"], 0, "nobody has tried again yet");
    project.ok(&["step", "retry", "1"]);
    assert_eq!(project.json(&["metrics"])["retries"], 1);
}
