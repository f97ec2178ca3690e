//! Agents at work in plans of others: over MCP, with hooks, with their own lists.

use std::fs;

use serde_json::json;

use super::{bytes, project, steps, undo_everything};
use crate::{
    hooks::{context, fire, fire_with},
    mcp::client::Client,
};

const TASKS: &str = "specs/001-login/tasks.md";
const TEXT: &str = "# Tasks: Log in\r\n\r\n- [x] T001 One\r\n- [ ] T002 [P] Two\r\n- [ ] T003 Three\r\n- [!] T004 Four\r\n";
const SPEC: &str = "# Spec\n\n[NEEDS CLARIFICATION]\n\n## Users\nThere are two.\n";

fn adopted() -> crate::builder::Project {
    let project = project(&[(TASKS, TEXT), ("specs/001-login/spec.md", SPEC)]);
    project.ok(&["adopt"]);
    project
}

fn tasks(project: &crate::builder::Project) -> String {
    fs::read_to_string(project.root().join(TASKS)).unwrap()
}

#[test]
fn tools_of_the_server_tick_boxes_and_add_lines_where_asked() {
    let project = adopted();
    let mut client = Client::new(&project);
    client.ok("step", json!({ "verb": "start", "step": "T002" }));
    client.ok("step", json!({ "verb": "done", "step": "T002", "output": { "rows": 3 } }));
    assert_eq!(tasks(&project), TEXT.replace("[ ] T002", "[x] T002"));
    client.ok("step", json!({ "verb": "add", "title": "Beside" }));
    assert_eq!(tasks(&project), TEXT.replace("[ ] T002", "[x] T002"));
    client.ok("step", json!({ "verb": "add", "title": "In between", "after": "T002" }));
    let text = tasks(&project);
    assert!(text.contains("[x] T002 [P] Two\r\n- [ ] T005 In between\r\n- [ ] T003"), "{text}");
    let brief = client.ok("brief", json!({}));
    assert!(brief.to_string().contains("There are two."), "{brief}");
    drop(client);
    undo_everything(&project);
    assert_eq!(tasks(&project), TEXT);
}

#[test]
fn hooks_know_the_files_and_leave_those_of_others_to_be_edited() {
    let project = adopted();
    project.ok(&["step", "start", "T002"]);
    let started = fire(&project, json!({ "hook_event_name": "SessionStart", "source": "startup" }));
    assert!(context(&started.unwrap()).contains("Two"));
    let edit = |file: &str| {
        let path = project.root().join(file);
        fire(
            &project,
            json!({ "hook_event_name": "PreToolUse", "tool_name": "Edit",
                "tool_input": { "file_path": path, "old_string": "a", "new_string": "b" } }),
        )
    };
    let denied = edit("specs/001-login/history.md").unwrap();
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny", "{denied}");
    // A file of that name which is not the log, and the tasks, are theirs.
    assert_eq!(edit("history.md"), None);
    assert_eq!(edit(TASKS), None);
}

#[test]
fn an_agents_own_list_is_kept_beside_the_file() {
    let project = adopted();
    let event = json!({ "hook_event_name": "PostToolUse", "tool_name": "TodoWrite",
        "tool_input": { "todos": [
            { "content": "Look around", "status": "in_progress", "activeForm": "Looking" },
            { "content": "Write it", "status": "pending", "activeForm": "Writing" }] },
        "tool_response": {} });
    fire_with(&project, &["--capture"], event);
    let listed = steps(&project);
    assert!(listed.iter().any(|line| line.ends_with("Look around")), "{listed:?}");
    assert_eq!(tasks(&project), TEXT);
}

#[test]
fn views_and_checks_speak_of_the_files_that_are_there() {
    let project = adopted();
    // An unknown marker is open, with a warning that names its place; a specification is not ours
    // to complete.
    let found = project.json(&["check"]);
    let found = found["findings"].as_array().unwrap();
    let messages: Vec<&str> =
        found.iter().map(|found| found["message"].as_str().unwrap()).collect();
    assert_eq!(found.len(), 1, "{messages:?}");
    assert!(messages[0].starts_with("specs/001-login/tasks.md:6: the marker `!`"), "{messages:?}");
    project.ok(&["step", "start", "T002"]);
    project.ok(&["step", "fail", "T002", "--error", "no key"]);
    let recovered = project.json(&["recover"]);
    assert!(recovered.to_string().contains("T002"), "{recovered}");
    let changed = project.ok(&["diff", "@-1"]).stdout;
    assert!(changed.contains("T002"), "{changed}");
    assert!(project.ok(&["brief"]).stdout.contains("no key"));
    assert!(project.ok(&["report"]).stdout.contains("Three"));
    let graph = project.ok(&["plan", "graph"]).stdout;
    assert!(graph.contains("Two"), "{graph}");
    undo_everything(&project);
    assert_eq!(bytes(project.root())[TASKS], TEXT.as_bytes());
}

#[test]
fn a_step_is_added_where_it_is_asked_for() {
    let text = "- [ ] 1. Models\n  - [x] 1.1 User\n    more\n  - [ ] 1.2 Order\n- [ ] 2. Views";
    let project = project(&[("TODO.md", text)]);
    project.ok(&["adopt"]);
    let file = || fs::read_to_string(project.root().join("TODO.md")).unwrap();
    let printed = project.ok(&["step", "add", "Item", "--after", "1.1"]).stdout;
    assert!(printed.contains("(1.3) added: Item"), "{printed}");
    assert!(file().contains("    more\n  - [ ] 1.3 Item\n  - [ ] 1.2 Order\n"), "{}", file());
    project.ok(&["step", "add", "First", "--before", "1"]);
    assert!(file().starts_with("- [ ] 3. First\n- [ ] 1. Models\n"), "{}", file());
    project.ok(&["step", "add", "Last", "--after", "2"]);
    assert!(file().ends_with("- [ ] 2. Views\n- [ ] 4. Last"), "{}", file());
    let ran = project.run(&["step", "add", "More", "--after", "2", "--component", "x"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    undo_everything(&project);
    assert_eq!(file(), text);
}

#[test]
fn a_state_whose_plan_became_a_checklist_is_adopted_where_it_is() {
    let project = project(&[]);
    project.ok(&["init", "--goal", "Ship it"]);
    project.ok(&["history", "add", "Before"]);
    let plan = "# Ours\n\n## Phase 1\n**Status:** in_progress\n- [x] a\n- [ ] b\n";
    project.write("plan.md", plan);
    let printed = project.ok(&["status"]).stdout;
    assert!(printed.contains("2 checkboxes, no steps known: statedir adopt"), "{printed}");
    project.ok(&["adopt"]);
    assert_eq!(steps(&project).len(), 2);
    project.ok(&["step", "next", "--claim"]);
    project.ok(&["step", "done", "2"]);
    assert_eq!(project.read("plan.md"), plan.replace("[ ] b", "[x] b"));
    assert!(project.ok(&["history", "list"]).stdout.contains("Before"));
}

#[test]
fn plans_of_programs_that_write_them_themselves_are_offered_for_import() {
    let project =
        project(&[(".planning/ROADMAP.md", "# R\n\n- [x] Phase 1: A\n- [ ] Phase 2: B\n")]);
    for args in [&["status"][..], &["adopt"], &["step", "next"]] {
        let ran = project.run(args);
        assert!(ran.stderr.contains("`statedir import --from gsd .`"), "{}", ran.stderr);
    }
    let found = project.json(&["scan"]);
    assert_eq!(found["adoptable"][0]["profile"], "gsd", "{found}");
    project.ok(&["import", "--from", "gsd", "."]);
    assert_eq!(project.json(&["status"])["completed"], 1);
}

#[test]
fn everything_is_named_after_the_file_it_is_in() {
    let text = "# To do\n\n- [!] Fence\n- [ ] Gate\n";
    let rules = "# Rules\n\n## Active Directives\n- Never on Sundays\n\n## Adaptation Rules\n\
                 - If the moon is full \u{2192} pause\n";
    let project = project(&[("TODO.md", text), ("docs/rules.md", rules)]);
    project.ok(&["adopt"]);
    let layout = project.root().join("statedir.yaml");
    let written = fs::read_to_string(&layout).unwrap();
    fs::write(&layout, written.replace("added:", "constraints:\n- docs/rules.md\nadded:")).unwrap();
    let headings = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("## ")).map(str::to_owned).collect()
    };
    let brief = project.ok(&["brief"]).stdout;
    let named = headings(&brief);
    for heading in [
        "## Goal (statedir.yaml)",
        "## What to do next (TODO.md)",
        "## Rules in force (docs/rules.md)",
        "## Open steps (TODO.md)",
    ] {
        assert!(named.contains(&heading.to_owned()), "{heading}\n{brief}");
    }
    assert!(!brief.contains("plan.md") && !brief.contains("constraints.md"), "{brief}");
    let sections = project.json(&["brief"])["sections"].clone();
    let sources: Vec<&str> =
        sections.as_array().unwrap().iter().map(|one| one["source"].as_str().unwrap()).collect();
    assert!(!sources.contains(&"plan.md") && sources.contains(&"TODO.md"), "{sources:?}");
    let checked = project.ok(&["check"]).stdout;
    assert!(checked.contains("warning: TODO.md:3: the marker `!`"), "{checked}");
    assert!(checked.contains("warning: docs/rules.md:7: "), "{checked}");
    assert!(!checked.contains("plan.md") && !checked.contains("constraints.md"), "{checked}");
    // What was added beside them has a file of its own.
    project.ok(&["constraint", "set", "priority", "cost_efficiency"]);
    let brief = project.ok(&["brief"]).stdout;
    let own = "## Rules in force (constraints.md, docs/rules.md)".to_owned();
    assert!(headings(&brief).contains(&own), "{brief}");
}

#[test]
fn a_marker_that_is_not_known_stays_until_the_task_is_done() {
    let text = "- [!] Fence\n- [ ] Gate\n";
    let project = project(&[("TODO.md", text)]);
    project.ok(&["adopt"]);
    let file = || fs::read_to_string(project.root().join("TODO.md")).unwrap();
    for command in ["start", "reset"] {
        project.ok(&["step", command, "1"]);
        assert_eq!(file(), text, "{command}");
    }
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    assert_eq!(file(), text.replace('!', "x"));
    project.ok(&["step", "reset", "1"]);
    assert_eq!(file(), text.replace('!', " "));
}

#[test]
fn undo_names_the_file_that_it_changed() {
    let project = project(&[("TODO.md", "- [ ] Fence\n")]);
    project.ok(&["adopt"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    let undone = project.ok(&["undo"]).stdout;
    assert!(undone.contains("; TODO.md") && !undone.contains("plan.md"), "{undone}");
}
