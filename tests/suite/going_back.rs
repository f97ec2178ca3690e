//! Going back with git on purpose is no damage: `check` reports what is gone and offers both ways.

use serde_json::{Value, json};

use crate::{builder::Project, merge::repository::Repository};

/// A repository in which step 1 is done and committed, and step 2 is done.
fn two_done() -> Option<Repository> {
    let repository = Repository::without_driver(3)?;
    finish(&repository.project, "1");
    repository.commit("one is done");
    finish(&repository.project, "2");
    Some(repository)
}

fn finish(project: &Project, step: &str) {
    project.ok(&["step", "start", step]);
    project.ok(&["step", "done", step, "--output", "rows=7", "--cost", "0.25"]);
    project.ok(&["context", "add", &format!("step {step} was easy")]);
}

/// How many steps are done by the plan and by the history, and what they cost.
fn totals(project: &Project) -> Value {
    let (status, metrics) = (project.json(&["status"]), project.json(&["metrics"]));
    json!([status["completed"], metrics["completed"], metrics["total_cost"]])
}

/// The only finding, which is no error: entries are gone.
fn assert_went_back(project: &Project, words: &str) {
    let checked = project.json(&["check"]);
    let findings = checked["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{checked}");
    let finding = &findings[0];
    assert_eq!((&finding["code"], &finding["severity"]), (&json!("went_back"), &json!("warning")));
    assert!(finding["message"].as_str().unwrap().contains(words), "{finding}");
    let hint = finding["hint"].as_str().unwrap();
    assert!(hint.contains("`statedir history accept`"), "{hint}");
    assert!(hint.contains("`statedir check --fix`"), "{hint}");
    project.ok(&["history", "verify"]);
}

fn assert_sound(project: &Project) {
    assert_eq!(project.json(&["check"])["findings"], json!([]));
    project.ok(&["history", "verify"]);
}

/// Both ways out of the same place: what plan and history say then.
fn both_ways(make: impl Fn() -> Option<(Repository, &'static str)>, before: Value, after: Value) {
    let Some((repository, words)) = make() else { return };
    let project = &repository.project;
    assert_went_back(project, words);
    let accepted = project.ok(&["history", "accept", "--why", "the other way is better"]);
    assert!(accepted.stdout.contains("accepted without 1 entry"), "{}", accepted.stdout);
    assert_sound(project);
    assert_eq!(totals(project), after, "accepted");
    assert!(project.read("history.md").contains("the other way is better"));
    // Released entries are never restored, and a clone without the log knows it, too.
    project.ok(&["check", "--fix"]);
    assert_eq!(totals(project), after, "accepted and fixed");
    std::fs::remove_dir_all(project.path(".statedir")).unwrap();
    assert_sound(project);
    finish(project, "3");
    assert_sound(project);

    let Some((repository, words)) = make() else { return };
    let project = &repository.project;
    assert_went_back(project, words);
    project.ok(&["check", "--fix"]);
    assert_sound(project);
    assert_eq!(totals(project), before, "brought back");
    finish(project, "3");
    assert_sound(project);
    project.ok(&["undo"]);
}

#[test]
fn a_checkout_of_the_files_is_reported_with_both_ways_out() {
    let make = || {
        let repository = two_done()?;
        repository.git(&["checkout", "--quiet", "--", "workspace"]);
        Some((repository, "Step 2"))
    };
    both_ways(make, json!([2, 2, 0.5]), json!([1, 1, 0.25]));
}

#[test]
fn a_revert_is_reported_with_both_ways_out() {
    let make = || {
        let repository = two_done()?;
        repository.commit("two is done");
        repository.git(&["revert", "--no-edit", "HEAD"]);
        Some((repository, "Revert \"two is done\""))
    };
    both_ways(make, json!([2, 2, 0.5]), json!([1, 1, 0.25]));
}

#[test]
fn a_reset_is_reported_with_both_ways_out() {
    let make = || {
        let repository = two_done()?;
        repository.commit("two is done");
        repository.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
        Some((repository, "Step 2"))
    };
    both_ways(make, json!([2, 2, 0.5]), json!([1, 1, 0.25]));
}

#[test]
fn an_earlier_version_of_the_files_is_reported_with_both_ways_out() {
    let make = || {
        let repository = two_done()?;
        repository.commit("two is done");
        repository.git(&["checkout", "--quiet", "HEAD~1", "--", "workspace"]);
        Some((repository, "Step 2"))
    };
    both_ways(make, json!([2, 2, 0.5]), json!([1, 1, 0.25]));
}

#[test]
fn a_revert_in_a_clone_without_the_log_is_reported_with_both_ways_out() {
    let make = || {
        let repository = two_done()?;
        repository.commit("two is done");
        repository.git(&["revert", "--no-edit", "HEAD"]);
        std::fs::remove_dir_all(repository.project.path(".statedir")).unwrap();
        Some((repository, "Revert \"two is done\""))
    };
    both_ways(make, json!([2, 2, 0.5]), json!([1, 1, 0.25]));
}

#[test]
fn work_that_was_done_since_stays() {
    let Some(repository) = two_done() else { return };
    let project = &repository.project;
    repository.git(&["checkout", "--quiet", "--", "workspace"]);
    let printed = project.ok(&["step", "start", "3"]).stderr;
    assert!(printed.contains("`statedir history accept`"), "{printed}");
    project.ok(&["step", "done", "3", "--output", "rows=9"]);
    assert_went_back(project, "Step 2");
    project.ok(&["check", "--fix"]);
    assert_sound(project);
    assert_eq!(totals(project), json!([3, 3, 0.5]));
    let variables = project.read("variables.json");
    assert!(variables.contains("\"rows\": 9") && variables.matches("\"rows\": 7").count() == 2);
}

#[test]
fn switching_branches_is_not_a_problem() {
    let Some(repository) = two_done() else { return };
    let project = &repository.project;
    repository.on("other", &[]);
    for branch in ["main", "other", "main"] {
        repository.git(&["checkout", "--quiet", branch]);
        assert_sound(project);
        let ran = project.ok(&["var", "set", "on", branch]);
        assert!(!ran.stderr.contains("history accept"), "{}", ran.stderr);
        repository.commit(branch);
    }
}

#[test]
fn what_an_editor_cut_out_is_damage_as_before() {
    let Some(repository) = two_done() else { return };
    let project = &repository.project;
    finish(project, "3");
    let text = project.read("history.md");
    // Within what was never committed: no version of git's ends there.
    let at = text.rfind("\n### ").unwrap();
    project.write("history.md", &text[..at]);
    project.refused(4, &["check"]);
    let before = project.read("history.md");
    project.ok(&["history", "accept"]);
    assert_eq!(project.read("history.md"), before, "nothing was accepted");
    project.ok(&["check", "--fix"]);
    assert_eq!(project.read("history.md"), text);
}

#[test]
fn init_restores_a_missing_file_from_the_log_or_from_git() {
    for has_log in [true, false] {
        let Some(repository) = two_done() else { return };
        let project = &repository.project;
        repository.commit("two is done");
        let before = project.read("context.md");
        if !has_log {
            std::fs::remove_dir_all(project.path(".statedir")).unwrap();
        }
        std::fs::remove_file(project.path("context.md")).unwrap();
        let printed = project.ok(&["init"]).stderr;
        let from = if has_log { "the log" } else { "the last commit" };
        assert!(printed.contains(&format!("restored from {from}")), "{printed}");
        assert_eq!(project.read("context.md"), before);
        assert_sound(project);
        project.ok(&["undo"]);
        assert!(!project.path("context.md").exists());
    }
}

#[test]
fn what_was_let_go_stays_so_when_the_entry_that_says_it_is_brought_back() {
    let Some(repository) = two_done() else { return };
    let project = &repository.project;
    repository.git(&["checkout", "--quiet", "--", "workspace"]);
    project.ok(&["history", "accept", "--why", "the other way is better"]);
    finish(project, "2");
    let before = totals(project);
    repository.commit("two is done otherwise");
    repository.git(&["revert", "--no-edit", "HEAD"]);
    assert_ne!(totals(project), before);
    project.ok(&["check", "--fix"]);
    assert_sound(project);
    assert_eq!(totals(project), before, "the first way is not brought back");
}

#[test]
fn the_driver_goes_before_the_attributes_of_the_state() {
    let Some(repository) = Repository::begun_in_git(2) else { return };
    let attribute = || repository.git(&["check-attr", "merge", "--", "workspace/state/history.md"]);
    assert!(attribute().ends_with(": union\n"), "{}", attribute());
    repository.project.ok(&["git", "install"]);
    assert!(attribute().ends_with(": statedir\n"), "{}", attribute());
}
