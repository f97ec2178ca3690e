//! Worktrees: unfinished, abandoned, gone, and in places where they must not be.

use serde_json::json;

use super::repository::Repository;

/// A repository with two worktrees, each with a step that is running there.
fn with_two() -> Option<(Repository, tempfile::TempDir)> {
    let repository = Repository::new()?;
    let place = tempfile::tempdir().unwrap();
    for (name, step) in [("one", "1"), ("two", "2")] {
        let path = place.path().join(name);
        repository.ours(&["worktree", "add", name, "--step", step, "--path", path.to_str()?]);
    }
    Some((repository, place))
}

fn status(repository: &Repository, step: &str) -> String {
    repository.project.json(&["step", "show", step])["step"]["status"].as_str().unwrap().to_owned()
}

#[test]
fn a_worktree_whose_step_is_running_is_not_finished_by_accident() {
    let Some((repository, place)) = with_two() else { return };
    let finish = ["worktree", "finish", "one"];
    for args in [finish.as_slice(), &["worktree", "finish", "one", "--dry-run"]] {
        let refusal = repository.ours_refused(1, "still_running", args);
        assert_eq!(refusal["running"].as_array().unwrap().len(), 1, "{refusal}");
        assert!(refusal["error"]["hint"].as_str().unwrap().contains("step done"));
    }
    assert!(place.path().join("one").exists());
    let done = repository.ours(&["worktree", "finish", "one", "--force"]);
    assert_eq!(done["running"].as_array().unwrap().len(), 1, "{done}");
    assert!(!place.path().join("one").exists());
    assert_eq!(status(&repository, "1"), "RUNNING");
}

#[test]
fn a_bare_step_command_means_the_step_of_this_worktree() {
    let Some((repository, place)) = with_two() else { return };
    let two = place.path().join("two");
    // Both are claimed by the same actor, and none of them by somebody else.
    repository.project.refused(1, &["step", "done"]);
    let done = repository.ours_in(&two, &["step", "done"]);
    assert_eq!(done.json()["step"]["number"], 2, "{}{}", done.stdout, done.stderr);
    let one = place.path().join("one");
    let moved = place.path().join("moved");
    let (from, to) = (one.to_str().unwrap(), moved.to_str().unwrap());
    repository.git(&["worktree", "move", from, to]);
    // Somebody else names the same step there, and learns who holds it.
    let fail = ["step", "fail", "--error", "no"];
    let other = repository.ours_in(&moved, &[&fail[..], &["--actor", "somebody"]].concat()).json();
    assert_eq!(other["error"]["code"], "held", "{other}");
    assert!(other["error"]["message"].as_str().unwrap().starts_with("step 1 ("), "{other}");
    let failed = repository.ours_in(&moved, &fail);
    assert_eq!(failed.json()["step"]["number"], 1, "{}{}", failed.stdout, failed.stderr);
}

#[test]
fn a_worktree_that_was_removed_by_hand_is_marked_and_has_ways_out() {
    let Some((repository, place)) = with_two() else { return };
    let done = repository.ours_in(&place.path().join("two"), &["step", "done"]);
    assert_eq!(done.code, 0);
    repository.ours_in(&place.path().join("two"), &["commit"]);
    for name in ["one", "two"] {
        std::fs::remove_dir_all(place.path().join(name)).unwrap();
    }
    let listed = repository.ours(&["worktree", "list"]);
    let missing: Vec<bool> = listed["worktrees"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tree| tree["missing"].as_bool().unwrap())
        .collect();
    assert_eq!(missing, [false, true, true], "{listed}");
    for name in ["one", "two"] {
        let refusal = repository.ours_refused(1, "worktree_gone", &["worktree", "finish", name]);
        let hint = refusal["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("--abandon") && hint.contains("git worktree prune"), "{hint}");
    }
    // Committed work is merged; a step that was not begun is open again, and its branch stays.
    repository.ours(&["worktree", "finish", "two", "--force"]);
    assert_eq!(status(&repository, "2"), "COMPLETED");
    repository.ours(&["worktree", "finish", "one", "--abandon"]);
    assert_eq!(status(&repository, "1"), "PENDING");
    assert_eq!(repository.git(&["branch", "--list", "one"]).trim(), "one");
    assert_eq!(repository.ours(&["worktree", "list"])["worktrees"].as_array().unwrap().len(), 1);
    assert_eq!(repository.project.json(&["check"])["findings"], json!([]));
}

#[test]
fn what_nobody_committed_keeps_a_worktree_and_is_named() {
    let Some((repository, place)) = with_two() else { return };
    let note = place.path().join("one").join("note.txt");
    std::fs::write(&note, "precious").unwrap();
    let head = repository.git(&["rev-parse", "HEAD"]);
    for how in ["--force", "--abandon"] {
        let args = ["worktree", "finish", "one", how];
        let refusal = repository.ours_refused(1, "not_committed", &args);
        assert!(refusal["error"]["message"].as_str().unwrap().contains("note.txt"), "{refusal}");
    }
    assert_eq!(repository.git(&["rev-parse", "HEAD"]), head, "nothing was committed either");
    assert_eq!(std::fs::read_to_string(note).unwrap(), "precious");
}

#[test]
fn a_worktree_is_put_where_it_is_in_nobodys_way() {
    let Some(repository) = Repository::new() else { return };
    let head = repository.git(&["rev-parse", "HEAD"]);
    let refused = |code: &str, path: &str| {
        let args = ["worktree", "add", "new", "--step", "1", "--path", path];
        repository.ours_refused(1, code, &args);
    };
    refused("bad_place", "workspace/state/tree");
    refused("bad_place", "workspace/state");
    refused("bad_place", "workspace/../.git/tree");
    refused("exists", "workspace");
    std::fs::write(repository.project.root().join("file"), "").unwrap();
    refused("io", "workspace/state/../../file/tree");
    assert_eq!(repository.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(repository.git(&["branch", "--list", "new"]), "");
    // An empty directory is as good as none.
    let place = tempfile::tempdir().unwrap();
    let path = place.path().to_str().unwrap();
    repository.ours(&["worktree", "add", "new", "--step", "1", "--path", path]);
    assert_eq!(status(&repository, "1"), "RUNNING");
}

#[test]
fn a_step_is_not_left_claimed_for_a_worktree_that_could_not_be_made() {
    let Some(repository) = Repository::new() else { return };
    let hook = repository.project.root().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    super::setup::executable(&hook);
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("tree");
    let args = ["worktree", "add", "new", "--step", "1", "--path", path.to_str().unwrap()];
    let refused = repository.ours_in(repository.project.root(), &args);
    assert_eq!((refused.code, refused.json()["error"]["code"].clone()), (1, json!("git_failed")));
    assert_eq!(status(&repository, "1"), "PENDING");
    assert!(!path.exists());
}
