//! Worktrees where a hook refuses, and worktrees that git does not take away.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{repository::Repository, setup::executable};

/// A repository with a worktree in which something was found.
fn with_one() -> Option<(Repository, tempfile::TempDir, PathBuf)> {
    let repository = Repository::new()?;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("tree");
    repository.ours(&["worktree", "add", "other", "--path", path.to_str().unwrap()]);
    assert_eq!(repository.ours_in(&path, &["context", "add", "a finding"]).code, 0);
    Some((repository, place, path))
}

fn hook(root: &Path, name: &str, script: &str) -> PathBuf {
    let hook = root.join(".git/hooks").join(name);
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
    executable(&hook);
    hook
}

#[test]
fn a_merge_that_a_hook_refuses_is_not_a_conflict() {
    for script in ["echo not today >&2; exit 1", "exit 1"] {
        let Some((repository, _place, path)) = with_one() else { return };
        let root = repository.project.root();
        let hook = hook(root, "pre-merge-commit", script);
        let head = repository.git(&["rev-parse", "HEAD"]);
        let refusal = repository.ours_refused(1, "git_failed", &["worktree", "finish", "other"]);
        if script.contains("not today") {
            assert!(refusal.to_string().contains("not today"), "{refusal}");
        }
        assert_eq!(repository.git(&["rev-parse", "HEAD"]), head);
        assert!(!root.join(".git/MERGE_HEAD").exists());
        assert_eq!(repository.git(&["status", "--porcelain"]), "");
        assert!(path.join("workspace/state/.statedir").exists());
        std::fs::remove_file(hook).unwrap();
        repository.ours(&["worktree", "finish", "other"]);
        assert!(repository.project.read("context.md").contains("a finding"));
    }
}

#[test]
fn a_settled_merge_that_a_hook_refuses_is_taken_back() {
    let Some(repository) = Repository::without_driver(2) else { return };
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("tree");
    repository.ours(&["worktree", "add", "other", "--path", path.to_str().unwrap()]);
    assert_eq!(repository.ours_in(&path, &["var", "set", "a", "1"]).code, 0);
    repository.project.ok(&["var", "set", "b", "2"]);
    repository.ours(&["commit"]);
    let root = repository.project.root();
    hook(root, "commit-msg", "grep -q '^Merge' \"$1\" && exit 1; exit 0");
    repository.ours_refused(1, "git_failed", &["worktree", "finish", "other"]);
    assert!(!root.join(".git/MERGE_HEAD").exists());
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_worktree_with_a_submodule_is_refused_before_anything_is_changed() {
    let Some((repository, place, path)) = with_one() else { return };
    let source = place.path().join("source");
    std::fs::create_dir(&source).unwrap();
    for args in [["init", "--quiet"].as_slice(), &["commit", "-qm", "x", "--allow-empty"]] {
        assert_eq!(repository.try_git_in(&source, args).code, 0);
    }
    let source = source.to_str().unwrap();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "sub"];
    let added = repository.try_git_in(&path, &add);
    assert_eq!(added.code, 0, "{}", added.stderr);
    assert_eq!(repository.try_git_in(&path, &["commit", "-qm", "a submodule"]).code, 0);
    let head = repository.git(&["rev-parse", "HEAD", "other"]);
    for how in [["--force"].as_slice(), &["--abandon"], &["--force", "--dry-run"]] {
        let args = [&["worktree", "finish", "other"], how].concat();
        let refusal = repository.ours_refused(1, "submodules", &args);
        assert!(refusal["error"]["hint"].as_str().unwrap().contains("git merge other"));
    }
    assert_eq!(repository.git(&["rev-parse", "HEAD", "other"]), head);
    assert!(path.join("workspace/state/.statedir").exists());
}

#[test]
fn a_worktree_whose_hook_fails_is_not_left_behind() {
    let Some(repository) = Repository::new() else { return };
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("tree");
    let add = ["worktree", "add", "other", "--step", "1", "--path", path.to_str().unwrap()];
    let root = repository.project.root();
    let hook = hook(root, "post-checkout", "exit 1");
    let refused = repository.ours_in(root, &add);
    assert_eq!((refused.code, refused.json()["error"]["code"].clone()), (1, json!("git_failed")));
    assert!(refused.stdout.contains("post-checkout"), "{}", refused.stdout);
    assert!(!path.exists());
    assert_eq!(repository.git(&["branch", "--list", "other"]), "");
    let step = || repository.project.json(&["step", "show", "1"])["step"]["status"].clone();
    assert_eq!(step(), "PENDING");
    let committed = repository.git(&["show", "HEAD:workspace/state/plan.md"]);
    assert!(!committed.contains("RUNNING"), "{committed}");
    std::fs::remove_file(hook).unwrap();
    repository.ours(&add);
    assert_eq!(step(), "RUNNING");
}
