//! A plan that somebody brought along, without the other files of a state.

use std::fs;

use super::project;
use crate::builder::Project;

const PLAN: &str =
    "# Move house\n\nBefore winter.\n\n## Steps\n\n### Step 1: Pack\n\n### Step 2: Drive\n";

fn brought(plan: &str) -> Project {
    project(&[("workspace/state/plan.md", plan)])
}

fn damaged(project: &Project) -> Vec<String> {
    let commands =
        [&["status"][..], &["brief"], &["check"], &["recover"], &["state"], &["step", "next"]];
    let ran = commands.iter().map(|args| (args, project.run(args)));
    let bad = ran.filter(|(_, ran)| ran.code != 0 || ran.stdout.contains("missing"));
    bad.map(|(args, ran)| format!("{args:?} {}{}", ran.stdout, ran.stderr)).collect()
}

#[test]
fn a_plan_alone_is_a_whole_state() {
    let project = brought(PLAN);
    assert_eq!(damaged(&project), Vec::<String>::new());
    // A file is created when it is needed, and no other is reported as missing.
    project.ok(&["var", "set", "boxes", "12"]);
    assert_eq!(damaged(&project), Vec::<String>::new());
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    assert_eq!(damaged(&project), Vec::<String>::new());
    assert_eq!(project.json(&["status"])["completed"], 1);
    for _ in 0..3 {
        project.ok(&["undo"]);
    }
    assert_eq!(fs::read_to_string(project.dir().join("plan.md")).unwrap(), PLAN);
}

/// Control: a file that existed and is gone is damage.
#[test]
fn a_file_that_was_there_is_missed() {
    let project = brought(PLAN);
    project.ok(&["var", "set", "boxes", "12"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    for name in ["variables.json", "history.md"] {
        let path = project.dir().join(name);
        let text = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let ran = project.run(&["check"]);
        assert!(
            ran.code == 4 && ran.stdout.contains(&format!("`{name}` is missing")),
            "{}",
            ran.stdout
        );
        fs::write(&path, text).unwrap();
    }
}

#[test]
fn boxes_that_are_not_steps_lead_to_adopting_them() {
    let project = brought("# Login\n\n## Phase 1\n- [x] Read\n- [ ] Write\n");
    for args in [&["status"][..], &["brief"], &["check"], &["step", "next"], &["recover"]] {
        let ran = project.run(args);
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert!(printed.contains("statedir adopt"), "{args:?} {printed}");
        assert!(!printed.contains("damaged") && ran.code != 4, "{args:?} {printed}");
    }
    project.ok(&["adopt"]);
    assert_eq!(project.json(&["status"])["completed"], 1);
}
