//! Branches, and every way that git has to bring them together.

use serde_json::json;

use super::repository::Repository;
use crate::builder::texts;

fn status(repository: &Repository, step: &str) -> String {
    let shown = repository.project.json(&["step", "show", step]);
    shown["step"]["status"].as_str().unwrap_or_default().to_owned()
}

fn entries(repository: &Repository) -> u64 {
    repository.project.json(&["history", "verify"])["entries"].as_u64().unwrap()
}

#[test]
fn two_branches_of_work_become_one_state() {
    let Some(repository) = Repository::new() else { return };
    repository.on(
        "one",
        &[
            &["step", "start", "1"],
            &["step", "done", "1", "--cost", "0.10"],
            &["step", "add", "From one"],
        ],
    );
    repository.on("main", &[]);
    repository.on(
        "two",
        &[
            &["step", "start", "2"],
            &["step", "done", "2", "--cost", "0.10"],
            &["step", "add", "From two"],
            &["var", "append", "extracted_data.urls_processed", "\"u\""],
            &["context", "add", "a finding"],
            &["constraint", "set", "priority", "quality"],
        ],
    );
    let before = entries(&repository);
    assert!(repository.merges("one"));
    let project = &repository.project;
    assert_eq!(
        (status(&repository, "1"), status(&repository, "2")),
        ("COMPLETED".into(), "COMPLETED".into())
    );
    let titles: Vec<String> = project.json(&["step", "list"])["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| format!("{} {}", step["number"], step["title"].as_str().unwrap()))
        .collect();
    assert_eq!(titles[2..], ["3 From one", "4 From two"]);
    assert_eq!(project.json(&["var", "get", "cost_tracking.total_cost"])["value"], json!(0.2));
    assert_eq!(project.json(&["var", "get", "step_data.total_steps"])["value"], 4);
    assert!(entries(&repository) > before);
    assert_eq!(project.json(&["check"])["findings"], json!([]));
    // The next entry names both heads, and changes continue.
    project.ok(&["history", "add", "Together again"]);
    assert_eq!(project.json(&["history", "verify"])["heads"].as_array().unwrap().len(), 1);
    project.ok(&["step", "start", "3"]);
}

#[test]
fn a_real_conflict_is_a_value_that_is_listed_refused_and_settled() {
    let Some(repository) = Repository::new() else { return };
    repository.on(
        "one",
        &[&["constraint", "set", "priority", "speed_and_clarity"], &["var", "set", "k", "1"]],
    );
    repository.on("main", &[]);
    repository.on(
        "two",
        &[&["constraint", "set", "priority", "cost_efficiency"], &["var", "set", "k", "2"]],
    );
    assert!(!repository.merges("one"));
    let project = &repository.project;
    let listed = project.json(&["merge", "--list"]);
    let fields = texts(&listed["conflicts"], "field");
    assert_eq!(fields, ["variables.k", "constraints.behavioral_modifiers.priority"]);
    assert_eq!(listed["conflicts"][0]["ours"], "2");
    for command in [
        ["var", "set", "other", "1"].as_slice(),
        &["step", "start", "1"],
        &["context", "add", "x"],
        &["history", "add", "x"],
        &["directive", "add", "x"],
        &["var", "set", "o", "1", "--dry-run"],
    ] {
        let refusal = project.refused(4, command);
        assert_eq!(refusal["error"]["code"], "unmerged", "{command:?}");
    }
    // Reading still works, with a notice.
    let status = project.json(&["status"]);
    assert_eq!(status["problems"].as_array().unwrap().len(), 2);
    assert_eq!(project.refused(4, &["check"])["error"]["code"], "inconsistent");
    project.refused(4, &["commit"]);
    project.refused(1, &["merge", "--take", "ours", "variables.nothing"]);
    project.ok(&["merge", "--take", "theirs", "variables.k"]);
    project.ok(&["merge", "--take", "ours", "constraints.behavioral_modifiers.priority"]);
    assert_eq!(project.json(&["var", "get", "k"])["value"], 1);
    assert!(project.read("constraints.md").contains("- **priority**: \"cost_efficiency\"\n"));
    project.ok(&["var", "set", "other", "1"]);
    assert_eq!(repository.git(&["ls-files", "-u"]), "", "git was told that it is settled");
    repository.commit("merged");
    assert_eq!(project.json(&["check"])["findings"], json!([]));
}

#[test]
fn criss_cross_octopus_rebase_cherry_pick_and_revert_keep_the_state_whole() {
    let Some(repository) = Repository::new() else { return };
    let note = |text: &'static str| ["history", "add", text];
    let finding = |text: &'static str| ["context", "add", text];
    repository.on("a", &[&note("a1"), &finding("from a")]);
    repository.on("main", &[]);
    repository.on("b", &[&note("b1"), &finding("from b")]);
    // Criss-cross: each takes the other in, then both go on.
    repository.git(&["branch", "b-before"]);
    assert!(repository.merges("a"));
    repository.git(&["checkout", "--quiet", "a"]);
    assert!(repository.merges("b-before"));
    assert_eq!(repository.git(&["diff", "a", "b"]), "", "merging is commutative");
    repository.on("a", &[&note("a2")]);
    repository.on("b", &[&note("b2")]);
    assert!(repository.merges("a"));
    // 4 entries by hand and the init one, if any: all are there.
    let count = entries(&repository);
    // Octopus.
    for name in ["x", "y"] {
        repository.git(&["checkout", "--quiet", "b"]);
        repository.on(name, &[&["history", "add", name], &["var", "set", name, "1"]]);
    }
    repository.git(&["checkout", "--quiet", "b"]);
    let octopus = repository.try_git(&["merge", "--quiet", "--no-edit", "x", "y"]);
    if octopus.code != 0 {
        // Git gives up on an octopus with content to merge; one after another works.
        repository.try_git(&["reset", "--quiet", "--hard", "b"]);
        assert!(repository.merges("x") && repository.merges("y"));
    }
    repository.assert_history(count + 2);
    // Rebase.
    repository.on("r", &[&note("r1"), &["var", "set", "r", "1"]]);
    repository.on("b", &[&note("b3"), &finding("later")]);
    repository.git(&["checkout", "--quiet", "r"]);
    let rebased = repository.try_git(&["rebase", "--quiet", "b"]);
    assert_eq!(rebased.code, 0, "{}{}", rebased.stdout, rebased.stderr);
    repository.assert_history(count + 4);
    // Cherry-pick, and the merge that brings the same entry again.
    repository.git(&["checkout", "--quiet", "b"]);
    repository.git(&["cherry-pick", "r"]);
    repository.assert_history(count + 4);
    assert!(repository.merges("r"));
    repository.assert_history(count + 4);
    // Revert: the state goes back where it can; entries stay or go as git says, all intact.
    repository.git(&["checkout", "--quiet", "r"]);
    repository.on("r", &[&finding("a mistake")]);
    let reverted = repository.try_git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(reverted.code, 0, "{}{}", reverted.stdout, reverted.stderr);
    assert!(!repository.project.read("context.md").contains("a mistake"));
    assert_eq!(repository.project.json(&["check"])["findings"], json!([]));
}

#[test]
fn without_the_driver_git_conflicts_and_resolve_settles_it_from_the_index() {
    let Some(repository) = Repository::without_driver(2) else { return };
    repository.on(
        "one",
        &[&["history", "add", "one"], &["step", "start", "1"], &["var", "set", "a", "1"]],
    );
    repository.on("main", &[]);
    repository.on(
        "two",
        &[&["history", "add", "two"], &["step", "start", "2"], &["var", "set", "b", "2"]],
    );
    assert!(!repository.merges("one"), "the control: git alone cannot do it");
    let project = &repository.project;
    assert!(project.read("history.md").contains("<<<<<<< "));
    project.refused(4, &["history", "add", "x"]);
    project.refused(4, &["var", "set", "c", "3"]);
    let resolved = project.json(&["merge", "--resolve"]);
    assert_eq!(resolved["left"], 0, "{resolved}");
    assert_eq!(repository.git(&["ls-files", "-u"]), "");
    assert_eq!(project.json(&["var", "get", "a"])["value"], 1);
    assert_eq!(project.json(&["var", "get", "b"])["value"], 2);
    assert_eq!(project.json(&["history", "verify"])["heads"].as_array().unwrap().len(), 2);
    assert_eq!(
        (status(&repository, "1"), status(&repository, "2")),
        ("RUNNING".into(), "RUNNING".into())
    );
    repository.commit("merged");
}

#[test]
fn markers_that_were_committed_can_still_be_settled() {
    let Some(repository) = Repository::without_driver(1) else { return };
    repository.on("one", &[&["history", "add", "one"], &["context", "add", "from one"]]);
    repository.on("main", &[]);
    repository.on("two", &[&["history", "add", "two"], &["context", "add", "from two"]]);
    assert!(!repository.merges("one"));
    repository.commit("careless");
    let project = &repository.project;
    project.refused(4, &["context", "add", "x"]);
    let resolved = project.json(&["merge", "--resolve"]);
    assert_eq!(resolved["left"], 0, "{resolved}");
    let context = project.read("context.md");
    assert!(context.contains("from one") && context.contains("from two"), "{context}");
    repository.assert_history(entries(&repository));
    project.ok(&["context", "add", "x"]);
}

#[test]
fn windows_line_ends_a_renamed_step_and_an_odd_path_survive() {
    let Some(repository) = Repository::without_driver(2) else { return };
    let odd = repository.project.root().join("it's a \"dir\" [x]");
    std::fs::create_dir_all(&odd).unwrap();
    repository.git(&["mv", "workspace", odd.to_str().unwrap()]);
    let state = odd.join("workspace").join("state");
    let dir = state.to_str().unwrap().to_owned();
    for name in crate::builder::FIVE {
        let text = std::fs::read_to_string(state.join(name)).unwrap();
        std::fs::write(state.join(name), text.replace('\n', "\r\n")).unwrap();
    }
    repository.project.ok(&["-C", &dir, "git", "install"]);
    repository.commit("moved");
    repository.on("one", &[&["-C", &dir, "step", "set", "1", "title=A better name"]]);
    repository.on("main", &[]);
    repository
        .on("two", &[&["-C", &dir, "step", "start", "1"], &["-C", &dir, "step", "add", "More"]]);
    // Called from anywhere.
    let inner = repository.try_git_in(&state, &["merge", "--no-edit", "one"]);
    assert_eq!(inner.code, 0, "{}{}", inner.stdout, inner.stderr);
    let plan = repository.project.read_at(&state.join("plan.md"));
    assert!(plan.contains("### Step 1: A better name ▶\r\n") && plan.contains("RUNNING"), "{plan}");
    assert_eq!(plan.matches('\n').count(), plan.matches("\r\n").count());
}

#[test]
fn a_side_without_a_state_directory_merges() {
    let Some(repository) = Repository::new() else { return };
    repository.git(&["checkout", "--quiet", "--orphan", "bare"]);
    repository.git(&["rm", "-r", "--quiet", "--cached", "."]);
    std::fs::write(repository.project.root().join("code.txt"), "x").unwrap();
    repository.git(&["add", "code.txt"]);
    repository.git(&["commit", "--quiet", "-m", "code"]);
    repository.git(&["checkout", "--quiet", "--force", "main"]);
    let merged = repository.try_git(&["merge", "--no-edit", "--allow-unrelated-histories", "bare"]);
    assert_eq!(merged.code, 0, "{}{}", merged.stdout, merged.stderr);
    assert_eq!(repository.project.json(&["check"])["findings"], json!([]));
}
