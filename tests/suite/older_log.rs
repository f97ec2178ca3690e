//! A state with a log that an earlier version wrote.

use std::{fs, path::Path};

use crate::builder::Project;

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

/// A state with seven operations, the last of which took one back, and two checkpoints.
fn older() -> Project {
    let project = Project::empty();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/older-log");
    copy_tree(&kept, &project.dir());
    fs::rename(project.path("private"), project.path(".statedir")).unwrap();
    project
}

#[test]
fn the_log_of_an_earlier_version_opens_undoes_and_verifies() {
    let project = older();
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
    let project = older();
    let path = project.path(".statedir/log/00000001.log");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("step.start", "step.stArt", 1)).unwrap();
    let ran = project.run(&["undo", "--json"]);
    assert_ne!(ran.code, 0, "{}", ran.stdout);
}
