//! States that earlier versions wrote.

use std::fs;

use crate::builder::{FIVE, Project, line_diff};

/// Copies in every file, fields of a step one by one, entries with long trailers. Six steps: two
/// done, one running, one skipped; a checkpoint and an open review.
fn older_layout() -> Project {
    Project::with_lifecycle(false).fixture("older-layout")
}

/// A state with seven operations, the last of which took one back, and two checkpoints.
fn older_log() -> Project {
    Project::empty().fixture("older-log")
}

#[test]
fn a_state_of_the_older_layout_opens_and_verifies_without_a_change() {
    let project = older_layout();
    let files = project.files();
    let status = project.json(&["status"]);
    assert_eq!(status["goal"], "Choose a vector store");
    assert_eq!((&status["completed"], &status["total_steps"]), (&2.into(), &6.into()), "{status}");
    project.ok(&["check"]);
    project.ok(&["history", "verify"]);
    for command in [vec!["brief"], vec!["step", "list"], vec!["history", "list"], vec!["state"]] {
        project.ok(&command);
    }
    assert_eq!(project.json(&["var", "get", "steps.1.file"])["value"], "bench.csv");
    assert_eq!(project.files(), files);
}

#[test]
fn work_goes_on_in_the_older_layout_and_is_undone_to_the_byte() {
    let project = older_layout();
    let plan = project.read("plan.md");
    let variables = project.read("variables.json");
    project.ok(&["--actor", "bob", "step", "done", "2", "--cost", "0.01", "--output", "n=1"]);
    for line in line_diff(&plan, &project.read("plan.md")) {
        // Fields are edited where they are; nothing is written in another form.
        assert!(!line.contains(" · ") && !line.contains('✓'), "{line}");
    }
    assert_ne!(project.read("variables.json"), variables);
    project.ok(&["review", "approve", "r1", "--actor", "eve"]);
    project.ok(&["step", "start", "4"]);
    project.ok(&["check"]);
    project.ok(&["history", "verify"]);
    for _ in 0..3 {
        project.ok(&["undo"]);
    }
    assert_eq!(project.read("plan.md"), plan);
    assert_eq!(project.read("variables.json"), variables);
    project.ok(&["history", "verify"]);
}

#[test]
fn migrate_says_the_same_in_the_new_layout_and_can_be_undone() {
    let project = older_layout();
    let files = project.files();
    let steps = |project: &Project| {
        let list = project.json(&["step", "list", "--all"])["steps"].clone();
        let summarise = |step: &serde_json::Value| {
            ["number", "id", "title", "status"].map(|key| step[key].to_string()).join(" ")
        };
        list.as_array().unwrap().iter().map(summarise).collect::<Vec<_>>()
    };
    let (before, cost) = (steps(&project), project.json(&["metrics"])["total_cost"].clone());
    project.ok(&["migrate"]);
    assert_eq!(steps(&project), before);
    assert_eq!(project.json(&["metrics"])["total_cost"], cost);
    let plan = project.read("plan.md");
    assert!(plan.contains("### Step 1: Collect benchmarks ✓\n"), "{plan}");
    assert!(
        plan.contains("- **id**: m9hq · attempt 1 · ada since 2026-11-17T04:38:44Z\n"),
        "{plan}"
    );
    assert!(!plan.contains("**attempts**") && !plan.contains("current_step"), "{plan}");
    assert!(plan.contains("  first line\n  second line\n"), "{plan}");
    project.ok(&["check"]);
    project.ok(&["history", "verify"]);
    let again = project.changed_by(&["migrate"]);
    assert!(again.is_empty(), "{again:?}");
    project.ok(&["undo"]);
    for name in FIVE.iter().filter(|name| **name != "history.md") {
        assert_eq!(project.files()[*name], files[*name], "{name}");
    }
    project.ok(&["restore", "before"]);
    project.ok(&["check"]);
}

#[test]
fn the_log_of_an_earlier_version_opens_undoes_and_verifies() {
    let project = older_log();
    let operations = |project: &Project| {
        let log = project.json(&["op", "log"]);
        log["operations"].as_array().unwrap().len()
    };
    assert_eq!(operations(&project), 7);
    let names = project.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().len();
    assert_eq!(names, 2);
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
    project.ok(&["redo"]);
    assert_eq!(project.json(&["var", "get", "extracted_data.rows"])["value"], 3);
    project.ok(&["undo"]);
    project.ok(&["restore", "first"]);
    project.ok(&["undo"]);
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
    assert!(operations(&project) > 7, "the old log is gone on with");
}

#[test]
fn the_log_of_an_earlier_version_with_one_byte_changed_is_damaged() {
    let project = older_log();
    let path = project.path(".statedir/log/00000001.log");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("step.start", "step.stArt", 1)).unwrap();
    let ran = project.run(&["undo", "--json"]);
    assert_ne!(ran.code, 0, "{}", ran.stdout);
}
