//! While git waits for a person, nothing of what the other side did is dropped.

use super::repository::Repository;
use crate::builder::Project;

/// A merge that stopped at `k`; the other side also finished a step and wrote into the context.
fn stopped() -> Option<Repository> {
    let repository = Repository::new()?;
    let other: [&[&str]; 4] = [
        &["step", "start", "1"],
        &["step", "done", "1"],
        &["context", "add", "a finding of theirs"],
        &["var", "set", "k", "theirs"],
    ];
    repository.on("other", &other);
    repository.git(&["checkout", "--quiet", "main"]);
    repository.on("main", &[&["var", "set", "k", "ours"]]);
    assert!(!repository.merges("other"));
    Some(repository)
}

fn assert_theirs(project: &Project) {
    assert!(project.read("context.md").contains("a finding of theirs"));
    assert_eq!(project.json(&["step", "show", "1"])["step"]["status"], "COMPLETED");
}

#[test]
fn undo_and_redo_are_refused_in_a_merge_that_is_not_settled() {
    let Some(repository) = stopped() else { return };
    let project = &repository.project;
    let dry_run = "--dry-run";
    for command in [["undo"].as_slice(), &["redo"], &["undo", dry_run], &["redo", dry_run]] {
        let refusal = repository.ours_refused(4, "unmerged", command);
        let hint = refusal["error"]["hint"].as_str().unwrap();
        for way in ["merge --list", "merge --take", "git merge --abort"] {
            assert!(hint.contains(way), "{hint}");
        }
    }
    assert_theirs(project);
    project.ok(&["merge", "--take", "ours", "--all"]);
    assert_theirs(project);
    // The choice can be taken back, and then there is a conflict again.
    project.ok(&["undo"]);
    repository.ours_refused(4, "unmerged", &["redo", "--dry-run"]);
    assert!(project.read("variables.json").contains("<<<<<<<"));
    project.ok(&["merge", "--take", "theirs", "--all"]);
    repository.commit("merged");
    assert_theirs(project);
    // The control: once it is committed, undo is what it always was.
    project.ok(&["context", "add", "later"]);
    project.ok(&["undo"]);
    assert!(!project.read("context.md").contains("later"));
}

#[test]
fn only_the_merge_itself_is_undone_while_git_knows_both_sides() {
    let Some(repository) = Repository::without_driver(1) else { return };
    repository.on("other", &[&["var", "set", "k", "theirs"]]);
    repository.git(&["checkout", "--quiet", "main"]);
    repository.on("main", &[&["var", "set", "k", "ours"]]);
    assert!(!repository.merges("other"));
    let project = &repository.project;
    project.ok(&["undo"]);
    assert_eq!(project.json(&["var", "get", "k"])["value"], "ours");
    // One more would change our side, and nobody could tell that theirs is missing.
    repository.ours_refused(4, "unmerged", &["undo"]);
    repository.ours_refused(4, "unmerged", &["undo", "--dry-run"]);
    assert_eq!(project.json(&["merge", "--resolve"])["left"], 1);
}

#[test]
fn conflicts_that_no_merge_left_are_an_edit_to_be_undone() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    let good = project.read("variables.json");
    let torn = format!("<<<<<<< HEAD\n{good}=======\n{{}}\n>>>>>>> other\n");
    project.write("variables.json", &torn);
    let refusal = project.refused(4, &["check"]);
    let hint = "if no merge is in progress, `statedir diff` shows what was edited";
    assert!(refusal.to_string().contains(hint), "{refusal}");
    assert!(!refusal.to_string().contains("`statedir undo`"), "{refusal}");
    assert_eq!(project.json(&["diff"])["files"][0]["file"], "variables.json");
    project.ok(&["undo"]);
    assert_eq!(project.read("variables.json"), good);
}

#[test]
fn nothing_is_committed_alone_in_the_middle_of_a_revert_or_a_rebase() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    for value in ["1", "2"] {
        repository.on("main", &[&["var", "set", "k", value]]);
    }
    repository.git(&["checkout", "--quiet", "-b", "other", "HEAD~1"]);
    repository.on("other", &[&["var", "set", "k", "3"]]);
    repository.git(&["checkout", "--quiet", "main"]);
    for (command, way) in [
        (["revert", "--no-edit", "HEAD~1"].as_slice(), "git revert --continue"),
        (&["rebase", "other"], "git rebase --continue"),
        (&["rebase", "--apply", "other"], "git rebase --continue"),
        (&["cherry-pick", "other"], "git commit"),
    ] {
        let head = repository.git(&["rev-parse", "HEAD"]);
        assert_ne!(repository.try_git(command).code, 0, "{command:?} is clean");
        project.ok(&["merge", "--resolve"]);
        project.ok(&["merge", "--take", "ours", "--all"]);
        project.ok(&["var", "set", "extra", "1"]);
        let there = repository.git(&["rev-parse", "HEAD"]);
        let refusal = repository.ours_refused(1, "merging", &["commit"]);
        assert!(refusal["error"]["hint"].as_str().unwrap().contains(way), "{refusal}");
        assert_eq!(repository.git(&["rev-parse", "HEAD"]), there);
        repository.git(&[command[0], "--abort"]);
        repository.git(&["reset", "--quiet", "--hard"]);
        assert_eq!(repository.git(&["rev-parse", "HEAD"]), head);
    }
    project.ok(&["var", "set", "extra", "2"]);
    assert!(repository.ours(&["commit"])["commit"].is_string(), "the control");
}
