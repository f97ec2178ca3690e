//! Plans whose steps are boxes in a list, and steps that another branch came to need.

use serde_json::json;

use super::repository::Repository;
use crate::{builder::Project, needs};

/// A list of boxes on `main`, with the driver.
fn list_of_boxes(titles: &[&str]) -> Option<Repository> {
    if !needs::program("git") {
        return None;
    }
    let repository = Repository { project: Project::empty() };
    repository.project.ok(&["init", "--goal", "A list", "--template", "simple"]);
    for title in titles {
        repository.project.ok(&["step", "add", title]);
    }
    repository.git(&["init", "--quiet", "--initial-branch=main"]);
    repository.project.ok(&["git", "install"]);
    repository.commit("a list");
    Some(repository)
}

#[test]
fn boxes_mean_what_they_meant_when_both_branches_insert_some() {
    let Some(repository) = list_of_boxes(&["Wash", "Dry", "Fold"]) else { return };
    let project = &repository.project;
    for (branch, title) in [("other", "Theirs"), ("main", "Ours")] {
        repository.try_git(&["checkout", "--quiet", "main"]);
        let user = format!("Use {title}");
        let refers = ["--after", "2", "--input", "a={{steps.2.out}}", "--depends-on", "2"];
        let uses = [["step", "add", &user].as_slice(), &refers].concat();
        repository.on(branch, &[&["step", "add", title, "--after", "1"], &uses]);
    }
    assert!(repository.merges("other"));
    let plan = project.read("plan.md");
    for title in ["Ours", "Theirs"] {
        let steps = project.json(&["step", "list"]);
        let mut steps = steps["steps"].as_array().unwrap().iter();
        let number = &steps.find(|step| step["title"] == *title).unwrap()["number"];
        assert!(plan.contains(&format!("depends_on: {number} {title}\n")), "{plan}");
        assert!(plan.contains(&format!("{{{{steps.{number}.out}}}}")), "{plan}");
    }
    let check = project.json(&["check"]);
    assert_eq!(check["findings"], json!([]), "{check}");
}

#[test]
fn a_box_finished_on_both_branches_is_one_box() {
    for has_field in [false, true] {
        let Some(repository) = list_of_boxes(&["Wash", "Dry", "Fold"]) else { return };
        let project = &repository.project;
        if has_field {
            project.ok(&["step", "set", "3", "--component", "c"]);
            repository.commit("a field");
        }
        repository.on("other", &[&["step", "start", "3"], &["step", "done", "3"]]);
        repository.git(&["checkout", "--quiet", "main"]);
        let insert = ["step", "add", "Iron", "--after", "2"];
        repository.on("main", &[&["step", "start", "3"], &["step", "done", "3"], &insert]);
        assert!(repository.merges("other"), "{}", project.read("plan.md"));
        let plan = project.read("plan.md");
        assert_eq!(plan.matches("[x]").count(), 1, "{plan}");
        assert!(plan.contains("- [ ] Iron\n") && plan.contains("- [x] Fold\n"), "{plan}");
        project.ok(&["check"]);
    }
}

#[test]
fn a_step_that_the_other_branch_came_to_need_is_not_removed_silently() {
    for side in ["ours", "theirs"] {
        let Some(repository) = Repository::new() else { return };
        let project = &repository.project;
        let needs = ["step", "add", "Use it", "--depends-on", "2"];
        repository.on("other", &[&needs]);
        repository.git(&["checkout", "--quiet", "main"]);
        repository.on("main", &[&["step", "remove", "2"]]);
        assert!(!repository.merges("other"));
        let conflicts = project.json(&["merge", "--list"]);
        assert_eq!(conflicts["conflicts"].as_array().unwrap().len(), 1, "{conflicts}");
        project.ok(&["merge", "--all", "--take", side]);
        repository.commit("merged");
        let is_kept = project.read("plan.md").contains(": Do part 2");
        assert_eq!(is_kept, side == "theirs");
        assert_eq!(project.run(&["check"]).code, if is_kept { 0 } else { 4 });
    }
}

#[test]
fn what_happened_to_a_box_is_said_of_its_step() {
    let Some(repository) = list_of_boxes(&["Wash", "Dry"]) else { return };
    let project = &repository.project;
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "set", "1", "--component", "c"]);
    let diff = project.ok(&["diff", "HEAD"]).stdout;
    for part in
        ["step 1 (", ") Wash: component \"c\" added", "step 2 (", ") Dry: \"[ ]\" → \"doing\""]
    {
        assert!(diff.contains(part), "{diff}");
    }
    assert!(!diff.contains("plan: Steps"), "{diff}");
    let notes = project.ok(&["review-notes", "HEAD"]).stdout;
    assert!(notes.contains(" Dry: todo → doing"), "{notes}");
}
