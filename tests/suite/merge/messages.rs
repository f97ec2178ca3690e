//! Messages when git is missing, is busy, or is not the cause.

use super::repository::Repository;
use crate::builder::Project;

fn hint(answer: &serde_json::Value) -> &str {
    answer["error"]["hint"].as_str().unwrap_or_default()
}

#[test]
fn outside_of_a_repository_the_hint_fits_the_command() {
    let project = Project::new();
    for command in [["commit"].as_slice(), &["worktree", "list"], &["git", "install"]] {
        let refusal = project.refused(1, command);
        assert_eq!(refusal["error"]["code"], "no_repository");
        assert!(hint(&refusal).contains("git init"), "{command:?} {refusal}");
    }
    // The control: a comparison has another hint.
    let refusal = project.refused(1, &["diff", "git:HEAD"]);
    assert!(hint(&refusal).contains("statedir op log"), "{refusal}");
}

#[test]
fn an_empty_message_is_refused() {
    let Some(repository) = Repository::new() else { return };
    repository.project.ok(&["var", "set", "a", "1"]);
    let head = repository.git(&["rev-parse", "HEAD"]);
    for message in ["", " \n\t"] {
        repository.ours_refused(1, "bad_value", &["commit", "-m", message]);
    }
    assert_eq!(repository.git(&["rev-parse", "HEAD"]), head);
}

#[test]
fn a_lock_of_git_is_a_conflict_that_may_pass() {
    let Some(repository) = Repository::new() else { return };
    repository.project.ok(&["var", "set", "a", "1"]);
    let git = repository.project.root().join(".git");
    for (lock, commands) in [
        (
            "index.lock",
            [["commit"].as_slice(), &["worktree", "add", "x", "--step", "1"]].as_slice(),
        ),
        ("HEAD.lock", &[&["commit"]]),
        ("refs/heads/main.lock", &[&["commit"]]),
    ] {
        std::fs::write(git.join(lock), "").unwrap();
        for command in commands {
            let refusal = repository.ours_refused(3, "git_locked", command);
            let message = refusal["error"]["message"].as_str().unwrap();
            assert!(message.contains(lock) && !message.contains('\n'), "{message}");
            assert!(!message.contains("git failed") && hint(&refusal).contains("try again"));
        }
        std::fs::remove_file(git.join(lock)).unwrap();
    }
    repository.ours(&["commit"]);
}

#[test]
fn git_is_blamed_only_for_what_git_did() {
    let Some(repository) = Repository::new() else { return };
    repository.on("other", &[&["history", "add", "There"]]);
    repository.on("main", &[&["history", "add", "Here"]]);
    repository.git(&["merge", "--no-commit", "--no-ff", "other"]);
    let refusal = repository.ours_refused(1, "merging", &["commit"]);
    assert!(hint(&refusal).contains("git commit"), "{refusal}");
    let answers = [
        refusal,
        repository.ours_refused(1, "not_found", &["worktree", "finish", "nowhere"]),
        repository.ours_refused(1, "exists", &["worktree", "add", "other"]),
        repository.ours_refused(1, "bad_value", &["worktree", "add", "a..b"]),
    ];
    for answer in answers {
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(!message.contains("git failed"), "{message}");
    }
}

#[test]
fn an_edit_outside_has_no_author_in_a_conflict_of_revisions() {
    let project = Project::new();
    let revision = project.json(&["status"])["revision"].as_str().unwrap().to_owned();
    project.edit("context.md", "# ", "#  ");
    for recorded in [false, true] {
        if recorded {
            project.ok(&["var", "set", "a", "1"]);
        }
        let refusal = project.run(&["var", "set", "b", "1", "--if-match", &revision, "--json"]);
        assert_eq!(refusal.code, 3);
        let answer = refusal.json();
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("an edit outside"), "{message}");
        assert!(!message.contains("by  "), "{message}");
        assert_eq!(answer["changed"][0]["actor"], "unknown");
    }
}

#[test]
fn a_state_that_git_ignores_is_not_nothing_to_commit() {
    let Some(repository) = Repository::new() else { return };
    repository.git(&["rm", "-r", "--quiet", "--cached", "workspace"]);
    repository.git(&["commit", "--quiet", "-m", "not in git"]);
    std::fs::write(repository.project.root().join(".git/info/exclude"), "workspace/\n").unwrap();
    repository.project.ok(&["var", "set", "a", "1"]);
    repository.ours_refused(1, "ignored", &["commit"]);
    repository.ours_refused(1, "ignored", &["worktree", "add", "new", "--step", "1"]);
}

#[test]
fn after_uninstalling_nothing_asks_to_install() {
    let Some(repository) = Repository::new() else { return };
    let gone = repository.project.json(&["git", "uninstall"]);
    // The committed attributes keep both sides of the history, with the driver and without.
    assert_eq!(gone["git"]["problems"], serde_json::json!([]), "{gone}");
    let status = repository.project.json(&["git", "status"]);
    assert_eq!(status["git"]["problems"], serde_json::json!([]), "{status}");
}
