//! A state in the layout that an earlier version wrote: copies in every file, fields of a step one
//! by one, entries with long trailers.

use std::{fs, path::Path};

use crate::builder::{FIVE, Project, line_diff};

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_tree(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

/// Six steps: two done, one running, one skipped; a checkpoint and an open review.
fn older() -> Project {
    let project = Project::with_lifecycle(false);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/older-layout");
    copy_tree(&kept, &project.dir());
    fs::rename(project.path("private"), project.path(".statedir")).unwrap();
    project
}

#[test]
fn a_state_of_the_older_layout_opens_and_verifies_without_a_change() {
    let project = older();
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
    let project = older();
    let plan = project.read("plan.md");
    let variables = project.read("variables.json");
    project.ok(&["--actor", "bob", "step", "done", "2", "--cost", "0.01", "--output", "n=1"]);
    for line in line_diff(&plan, &project.read("plan.md")) {
        // Fields are edited where they stand; nothing is written in another form.
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
    let project = older();
    let files = project.files();
    let steps = |project: &Project| {
        let list = project.json(&["step", "list", "--all"])["steps"].clone();
        let said = |step: &serde_json::Value| {
            ["number", "id", "title", "status"].map(|key| step[key].to_string()).join(" ")
        };
        list.as_array().unwrap().iter().map(said).collect::<Vec<_>>()
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
