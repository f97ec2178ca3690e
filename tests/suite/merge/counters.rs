//! Counters that follow from the plan, where git merges the plan and not them.

use serde_json::json;

use super::repository::Repository;

/// Two branches with one more step each; `main` is checked out.
fn apart(repository: &Repository) {
    repository.on("other", &[&["step", "add", "Theirs"]]);
    repository.git(&["checkout", "--quiet", "main"]);
    repository.on("main", &[&["step", "add", "Ours"]]);
    let changed = repository.git(&["diff", "--name-only", "main", "other"]);
    assert!(!changed.contains("variables.json"), "the control: git sees no two versions");
}

fn total(repository: &Repository) -> serde_json::Value {
    repository.project.json(&["var", "get", "step_data.total_steps"])["value"].clone()
}

#[test]
fn the_first_change_after_a_merge_takes_them_over() {
    let Some(repository) = Repository::classic(true) else { return };
    apart(&repository);
    assert!(repository.merges("other"));
    let project = &repository.project;
    assert_eq!(total(&repository), 3, "the control: they lag behind");
    assert_eq!(project.json(&["check"])["findings"], json!([]), "which is no matter");
    let text = project.read("variables.json");
    let fixed = project.json(&["check", "--fix"]);
    assert_eq!(fixed["fixed"].as_array().unwrap().len(), 1, "{fixed}");
    project.ok(&["undo"]);
    project.write("plan.md", project.read("plan.md").replace("Theirs", "Their own"));
    assert_eq!(project.read("variables.json"), text);
    let printed = project.ok(&["context", "add", "a finding"]).stderr;
    assert!(printed.contains("follows plan.md again"), "{printed}");
    assert_eq!(total(&repository), 4);
    assert_eq!(project.json(&["check"])["findings"], json!([]));
    // The control: an edit of the counters themselves is nobody's consequence.
    let text = project.read("variables.json").replace("\"total_steps\": 4", "\"total_steps\": 9");
    project.write("variables.json", &text);
    project.ok(&["context", "add", "another"]);
    assert_eq!(total(&repository), 9);
    assert_eq!(project.json(&["check"])["findings"], json!([]));
    project.ok(&["step", "start", "1"]);
    assert_eq!(total(&repository), 4, "copies follow");
}

#[test]
fn finishing_a_worktree_takes_them_over() {
    let Some(repository) = Repository::classic(true) else { return };
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("tree");
    repository.ours(&["worktree", "add", "other", "--path", path.to_str().unwrap()]);
    assert_eq!(repository.ours_in(&path, &["step", "add", "Theirs"]).code, 0);
    repository.project.ok(&["step", "add", "Ours"]);
    repository.ours(&["worktree", "finish", "other"]);
    assert_eq!(total(&repository), 4);
    assert_eq!(repository.project.json(&["check"])["findings"], json!([]));
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn resolving_without_the_driver_takes_them_over() {
    let Some(repository) = Repository::classic(false) else { return };
    apart(&repository);
    assert!(!repository.merges("other"));
    let project = &repository.project;
    let rehearsed = project.json(&["merge", "--resolve", "--dry-run"]);
    assert_eq!((rehearsed["left"].clone(), total(&repository)), (json!(0), json!(3)));
    let resolved = project.json(&["merge", "--resolve"]);
    assert_eq!(resolved["left"], 0, "{resolved}");
    assert_eq!(total(&repository), 4);
    assert_eq!(repository.git(&["diff", "--name-only"]), "", "all of it is staged");
    assert_eq!(project.json(&["check"])["findings"], json!([]));
}

/// What a merge brought is taken back with it, also out of the counts: its entries stay.
#[test]
fn an_undo_of_a_merge_takes_its_executions_out_of_the_counts() {
    for driver in [true, false] {
        let Some(repository) = Repository::classic(driver) else { return };
        let project = &repository.project;
        let done = |step: &'static str, cost: &'static str| {
            [vec!["step", "start", step], vec!["step", "done", step, "--cost", cost]]
        };
        let theirs = done("2", "0.03");
        repository.on("other", &[&theirs[0], &theirs[1]]);
        repository.git(&["checkout", "--quiet", "main"]);
        let ours = done("1", "0.02");
        repository.on("main", &[&ours[0], &ours[1]]);
        if !repository.merges("other") {
            project.ok(&["merge", "--resolve"]);
            repository.commit("merged");
        }
        let counts = || {
            let state = project.json(&["state"]);
            let metrics = &state["metrics"];
            let cost = metrics["total_cost"].as_f64().unwrap();
            (
                (cost * 100.0).round(),
                metrics["attempts"].clone(),
                state["progress"]["completed"].clone(),
            )
        };
        assert_eq!(counts(), (5.0, json!(2), json!(2)), "merged, driver {driver}");
        let entries = project.read("history.md").matches("\n### ").count();
        project.ok(&["undo"]);
        assert_eq!(counts(), (2.0, json!(1), json!(1)), "undone, driver {driver}");
        assert!(project.read("history.md").matches("\n### ").count() > entries);
        assert_eq!(project.json(&["check"])["findings"], json!([]), "driver {driver}");
        project.ok(&["redo"]);
        assert_eq!(counts(), (5.0, json!(2), json!(2)), "done again, driver {driver}");
    }
}
