//! The merge queue: worktrees in the order in which their work began to wait.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{
    builder::{Project, Ran},
    merge::repository::Repository,
    needs,
};

/// A repository with so many worktrees, each with a step that is running there.
fn with_worktrees(count: usize) -> Option<(Repository, tempfile::TempDir)> {
    let repository = Repository::without_driver(count)?;
    let place = tempfile::tempdir().unwrap();
    for step in 1..=count {
        let path = place.path().join(format!("t{step}"));
        let (name, step) = (format!("t{step}"), step.to_string());
        let path = path.to_str().unwrap();
        repository.ours(&["worktree", "add", &name, "--step", &step, "--path", path]);
    }
    Some((repository, place))
}

fn in_tree(repository: &Repository, dir: &Path, args: &[&str]) -> Ran {
    let ran = repository.ours_in(dir, args);
    assert_eq!(ran.code, 0, "{args:?}\n{}{}", ran.stdout, ran.stderr);
    ran
}

fn step(project: &Project, number: u32) -> Value {
    project.json(&["step", "show", &number.to_string()])["step"].clone()
}

/// The branches in the queue, in order.
fn queue(repository: &Repository) -> Vec<String> {
    let listed = repository.ours(&["worktree", "list"]);
    let trees = listed["worktrees"].as_array().unwrap();
    let queued = trees.iter().filter(|tree| tree["queue"].is_u64());
    queued.map(|tree| tree["branch"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_done_is_merged_in_turn_and_leaves_no_stale_field() {
    let Some((repository, place)) = with_worktrees(3) else { return };
    assert_eq!(queue(&repository), Vec::<String>::new());
    let refusal = repository.ours_refused(1, "nothing_to_do", &["worktree", "finish", "--next"]);
    assert!(refusal["error"]["hint"].as_str().unwrap().contains("worktree list"));
    for name in ["t3", "t1"] {
        let tree = place.path().join(name);
        std::fs::write(tree.join(format!("{name}.txt")), name).unwrap();
        repository.try_git_in(&tree, &["add", "."]);
        repository.try_git_in(&tree, &["commit", "-qm", "the work"]);
        in_tree(&repository, &tree, &["step", "done"]);
    }
    let order = queue(&repository);
    assert_eq!(order.len(), 2, "{order:?}");
    let merged = repository.ours(&["worktree", "finish", "--next"]);
    assert_eq!(merged["finished"]["branch"], order[0].as_str());
    assert_eq!(queue(&repository), order[1..]);
    let number: u32 = order[0][1..].parse().unwrap();
    let done = step(&repository.project, number);
    let other = &done["other"];
    assert!(other.get("worktree").is_none() && other.get("branch").is_none(), "{done}");
    assert_eq!(other["merge_commit"], merged["finished"]["merge_commit"], "{done}");
    assert!(other["merged_at"].as_str().unwrap().ends_with('Z'), "{done}");
    // What was done there, without the commits that carry the state.
    assert_eq!(other["commits"].as_str().unwrap().split(", ").count(), 1, "{done}");
    assert!(repository.project.root().join(format!("{}.txt", order[0])).exists());
    let history = repository.project.read("history.md");
    assert!(history.contains(&format!("Step {number} Merged")), "{history}");
    repository.ours(&["worktree", "finish", "--all"]);
    assert_eq!(queue(&repository), Vec::<String>::new());
    assert_eq!(repository.project.json(&["check"])["findings"], json!([]));
    repository.project.ok(&["history", "verify"]);
    // The one that is still in progress stays.
    assert!(place.path().join("t2").exists());
}

#[test]
fn a_conflict_stops_the_queue_and_the_same_command_goes_on_after_it() {
    let Some((repository, place)) = with_worktrees(2) else { return };
    std::fs::write(repository.project.root().join("a.txt"), "ours\n").unwrap();
    for name in ["t1", "t2"] {
        let tree = place.path().join(name);
        std::fs::write(tree.join("a.txt"), format!("{name}\n")).unwrap();
        repository.try_git_in(&tree, &["add", "."]);
        repository.try_git_in(&tree, &["commit", "-qm", "the work"]);
        in_tree(&repository, &tree, &["step", "done"]);
    }
    std::fs::remove_file(repository.project.root().join("a.txt")).unwrap();
    let first = queue(&repository)[0].clone();
    let ran = repository.ours_in(repository.project.root(), &["worktree", "finish", "--all"]);
    let answer = ran.json();
    assert_eq!(answer["error"]["code"], "unmerged", "{answer}");
    assert_eq!(answer["merged"][0]["branch"], first.as_str(), "{answer}");
    let hint = answer["error"]["hint"].as_str().unwrap();
    let second = if first == "t1" { "t2" } else { "t1" };
    assert!(hint.contains(&format!("`statedir worktree finish {second}` again")), "{hint}");
    std::fs::write(repository.project.root().join("a.txt"), "both\n").unwrap();
    repository.git(&["add", "a.txt"]);
    repository.git(&["commit", "-qm", "settled"]);
    let merged = repository.ours(&["worktree", "finish", "--next"]);
    assert_eq!(merged["finished"]["branch"], second);
    let number: u32 = second[1..].parse().unwrap();
    let done = step(&repository.project, number);
    assert!(!done["other"]["commits"].as_str().unwrap().is_empty(), "{done}");
    assert_eq!(repository.project.json(&["check"])["findings"], json!([]));
}

/// What an interrupted attempt to make a worktree leaves, at different moments.
fn leave(repository: &Repository, path: &Path, moment: &str) {
    let project = &repository.project;
    project.ok(&["step", "start", "1"]);
    let place = format!("worktree={}", path.display());
    project.ok(&["step", "set", "1", "branch=one", &place]);
    if moment == "claimed" {
        return;
    }
    repository.ours(&["commit"]);
    repository.git(&["branch", "one"]);
    if moment == "branch" {
        std::fs::create_dir_all(path).unwrap();
        return;
    }
    repository.git(&["worktree", "add", "--quiet", path.to_str().unwrap(), "one"]);
    if moment == "half written" {
        let own = repository.project.root().join(".git/worktrees");
        let own = std::fs::read_dir(own).unwrap().next().unwrap().unwrap().path();
        std::fs::write(own.join("locked"), "initializing").unwrap();
        std::fs::remove_dir_all(path.join("workspace")).unwrap();
    }
}

#[test]
fn a_worktree_that_was_begun_and_cut_off_is_finished_by_the_same_command() {
    for moment in ["claimed", "branch", "half written", "made"] {
        let Some(repository) = Repository::without_driver(2) else { return };
        let place = tempfile::tempdir().unwrap();
        let path = place.path().canonicalize().unwrap().join("one");
        leave(&repository, &path, moment);
        let args = ["worktree", "add", "one", "--step", "1", "--path", path.to_str().unwrap()];
        // Somebody else did not begin it.
        let other = [&args[..], &["--actor", "eve"]].concat();
        let ran = repository.ours_in(repository.project.root(), &other);
        assert_eq!(ran.code, 1, "{moment}: {}", ran.stdout);
        let made = repository.ours(&args);
        assert_eq!(made["worktree"]["branch"], "one", "{moment}: {made}");
        assert_eq!(step(&repository.project, 1)["attempts"], 1, "{moment}");
        in_tree(&repository, &path, &["step", "done"]);
        repository.ours(&["worktree", "finish", "one"]);
        assert_eq!(repository.project.json(&["check"])["findings"], json!([]), "{moment}");
    }
}

#[test]
fn a_branch_with_work_of_its_own_is_never_begun_anew() {
    let Some(repository) = Repository::without_driver(2) else { return };
    let place = tempfile::tempdir().unwrap();
    let path: PathBuf = place.path().canonicalize().unwrap().join("one");
    leave(&repository, &path, "branch");
    repository.git(&["checkout", "-q", "one"]);
    std::fs::write(repository.project.root().join("precious.txt"), "x").unwrap();
    repository.git(&["add", "precious.txt"]);
    repository.git(&["commit", "-qm", "precious"]);
    let head = repository.git(&["rev-parse", "one"]);
    repository.git(&["checkout", "-q", "main"]);
    let args = ["worktree", "add", "one", "--step", "1", "--path", path.to_str().unwrap()];
    repository.ours_refused(1, "exists", &args);
    assert_eq!(repository.git(&["rev-parse", "one"]), head);
}

#[test]
fn worktrees_inside_of_the_repository_are_ignored_by_git() {
    let Some(repository) = Repository::without_driver(2) else { return };
    for (name, step) in [("one", "1"), ("two", "2")] {
        let path = format!(".worktrees/{name}");
        repository.ours(&["worktree", "add", name, "--step", step, "--path", &path]);
    }
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    let exclude = repository.project.root().join(".git/info/exclude");
    let listed = std::fs::read_to_string(exclude).unwrap();
    assert_eq!(listed.lines().filter(|line| *line == "/.worktrees/").count(), 1, "{listed}");
}

#[test]
fn a_conflict_leaves_the_step_merging_and_the_rest_of_the_queue_waiting() {
    if !needs::program("git") {
        return;
    }
    // The words of this lifecycle are its own, whatever the run.
    let repository = Repository { project: Project::with_lifecycle(false) };
    let root = repository.project.root().to_owned();
    repository.git(&["init", "--quiet", "--initial-branch=main"]);
    repository.project.ok(&["init", "--goal", "Build the shop", "--template", "execute"]);
    for title in ["Till", "Shelf", "Door"] {
        repository.project.ok(&["step", "add", title, "layer=1-base"]);
    }
    repository.commit("a state");
    for number in 1..=3 {
        let (name, step) = (format!("t{number}"), number.to_string());
        let path = format!(".worktrees/{name}");
        repository.ours(&["worktree", "add", &name, "--step", &step, "--path", &path]);
        let tree = root.join(path);
        let file = if number == 3 { "b.txt" } else { "a.txt" };
        std::fs::write(tree.join(file), &name).unwrap();
        repository.try_git_in(&tree, &["add", "."]);
        repository.try_git_in(&tree, &["commit", "-qm", "the work"]);
        in_tree(&repository, &tree, &["step", "move", &step, "verifying"]);
        in_tree(&repository, &tree, &["step", "move", &step, "verified"]);
    }
    let answer = repository.ours_in(&root, &["worktree", "finish", "--all"]).json();
    assert_eq!(answer["error"]["code"], "unmerged", "{answer}");
    let status = |number| step(&repository.project, number)["status"].clone();
    assert_eq!([status(1), status(2)], ["completed", "merging"]);
    assert_eq!(queue(&repository)[0], "t2", "what is merging comes first");
    assert_eq!(repository.project.json(&["check"])["findings"], json!([]));
    std::fs::write(root.join("a.txt"), "both\n").unwrap();
    repository.git(&["add", "a.txt"]);
    repository.git(&["commit", "-qm", "settled"]);
    repository.ours(&["worktree", "finish", "--all"]);
    assert_eq!([status(2), status(3)], ["completed", "completed"]);
    assert_eq!(repository.project.json(&["check"])["findings"], json!([]));
    repository.project.ok(&["history", "verify"]);
}

#[test]
fn what_is_done_first_is_merged_first_whenever_it_was_begun() {
    let Some((repository, place)) = with_worktrees(2) else { return };
    for name in ["t2", "t1"] {
        in_tree(&repository, &place.path().join(name), &["step", "done"]);
        std::thread::sleep(std::time::Duration::from_millis(1100));
    }
    assert_eq!(queue(&repository), ["t2", "t1"]);
}

/// A task under `execute` on its way to be merged, in a worktree.
fn on_its_way(moves: &[&str]) -> Option<Repository> {
    if !needs::program("git") {
        return None;
    }
    let repository = Repository { project: Project::with_lifecycle(false) };
    repository.git(&["init", "--quiet", "--initial-branch=main"]);
    repository.project.ok(&["init", "--goal", "Build the shop", "--template", "execute"]);
    repository.project.ok(&["step", "add", "Till", "layer=1-base"]);
    repository.commit("a state");
    repository.ours(&["worktree", "add", "t1", "--step", "1", "--path", ".worktrees/t1"]);
    moves.iter().for_each(|to| drop(repository.project.ok(&["step", "move", "1", to])));
    Some(repository)
}

#[test]
fn whatever_a_task_waits_for_its_worktree_can_be_abandoned() {
    let way = ["verifying", "verified", "merging"];
    for moves in (0..=way.len()).map(|count| &way[..count]) {
        let Some(repository) = on_its_way(moves) else { return };
        let answer = repository.ours(&["worktree", "finish", "t1", "--abandon"]);
        assert_eq!(answer["abandoned"]["branch"], "t1", "{moves:?}");
        assert_eq!(step(&repository.project, 1)["status"], "pending", "{moves:?}");
        assert!(!repository.project.root().join(".worktrees/t1").exists());
        assert_eq!(repository.project.json(&["check"])["findings"], json!([]), "{moves:?}");
    }
}

#[test]
fn a_worktree_stays_if_its_step_cannot_be_opened_again() {
    let Some(repository) = on_its_way(&["verifying"]) else { return };
    repository.project.edit("workflow.yaml", "failed, in_progress, pending]}", "failed]}");
    let args = ["worktree", "finish", "t1", "--abandon"];
    repository.ours_refused(1, "illegal_transition", &args);
    assert!(repository.project.root().join(".worktrees/t1").exists());
    assert_eq!(step(&repository.project, 1)["status"], "verifying");
}
