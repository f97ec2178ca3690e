//! Entries that somebody cut out of the history are missed for as long as the log has them.

use std::fs;

use crate::builder::Project;

/// Adds A and B, takes B out again as an editor would, and goes on with C.
fn cut(project: &Project) -> String {
    let history = project.root().join("workspace/state/history.md");
    project.ok(&["history", "add", "A"]);
    let kept = fs::read(&history).unwrap();
    project.ok(&["history", "add", "B", "why=it matters"]);
    let whole = fs::read_to_string(&history).unwrap();
    fs::write(&history, &kept).unwrap();
    project.ok(&["history", "add", "C"]);
    whole[kept.len()..].trim().to_owned()
}

#[test]
fn an_entry_that_was_cut_off_is_named_after_the_history_went_on() {
    let project = Project::new();
    let lost = cut(&project);
    let verified = project.run(&["history", "verify"]);
    let told = format!("{}{}", verified.stdout, verified.stderr);
    assert_eq!(verified.code, 4, "{told}");
    assert!(told.contains("an edit outside statedir, operation "), "{told}");
    let fixed = project.ok(&["check", "--fix"]).stdout;
    assert!(fixed.contains("1 entry that had been removed: appended again"), "{fixed}");
    let history = fs::read_to_string(project.root().join("workspace/state/history.md")).unwrap();
    assert!(history.ends_with(&format!("{lost}\n")), "{history}");
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
}

/// The control: what is only added by hand is missed by nobody.
#[test]
fn a_history_that_only_grew_is_whole() {
    let project = Project::new();
    let history = project.root().join("workspace/state/history.md");
    project.ok(&["history", "add", "A"]);
    let mut text = fs::read_to_string(&history).unwrap();
    text.push_str("\nA person wrote this.\n");
    fs::write(&history, text).unwrap();
    project.ok(&["history", "add", "B"]);
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
}
