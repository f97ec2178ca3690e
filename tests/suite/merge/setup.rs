//! Installing, uninstalling, checking and committing touch what they should and nothing else.

use serde_json::json;

use super::repository::Repository;

#[test]
fn installing_twice_is_installing_once_and_uninstalling_leaves_no_trace() {
    let Some(repository) = Repository::without_driver(1) else { return };
    let root = repository.project.root();
    let project = &repository.project;
    std::fs::write(root.join(".gitattributes"), "* text=auto").unwrap();
    let hooks = root.join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    let mine = "#!/bin/sh\necho mine >> \"$(git rev-parse --show-toplevel)/ran\"\n";
    std::fs::write(hooks.join("pre-commit"), mine).unwrap();
    executable(&hooks.join("pre-commit"));
    let config = || std::fs::read_to_string(root.join(".git/config")).unwrap();
    let before = config();
    assert_eq!(project.json(&["git", "status"])["git"]["merge_driver"], false);
    let all = ["git", "install", "--textconv", "--pre-commit"];
    project.ok(&[&all[..], &["--dry-run"]].concat());
    assert_eq!(config(), before);
    let installed = project.json(&all);
    for part in ["merge_driver", "textconv", "pre_commit"] {
        assert_eq!(installed["git"][part], true, "{installed}");
    }
    assert_eq!(project.json(&all)["git"]["changed"], json!([]));
    repository.commit("runs both hooks");
    assert_eq!(std::fs::read_to_string(root.join("ran")).unwrap(), "mine\n");
    project.ok(&["git", "uninstall"]);
    assert_eq!(std::fs::read_to_string(root.join(".gitattributes")).unwrap(), "* text=auto");
    assert_eq!(std::fs::read_to_string(hooks.join("pre-commit")).unwrap(), mine);
    assert_eq!(config().trim(), before.trim());
    assert_eq!(project.json(&["git", "status"])["git"]["merge_driver"], false);
    assert_eq!(project.json(&["git", "uninstall"])["git"]["changed"], json!([]));
}

#[test]
fn two_states_of_one_repository_do_not_take_away_each_others_driver() {
    let Some(repository) = Repository::without_driver(1) else { return };
    let project = &repository.project;
    let other = project.root().join("other [x]").join("workspace/state");
    let other = other.to_str().unwrap();
    project.ok(&["-C", other, "init", "--goal", "Another"]);
    let first = ["git", "install", "--pre-commit"];
    let second = ["-C", other, "git", "install"];
    let merges = |args: &[&str]| project.json(args)["git"]["merge_driver"] == true;
    let both = || {
        let there = ["-C", other, "git", "status"];
        (merges(&["git", "status"]), merges(&there))
    };
    project.ok(&first);
    project.ok(&second);
    assert_eq!(both(), (true, true));
    // Doing it again changes nothing, in whatever order.
    assert_eq!(project.json(&first)["git"]["changed"], json!([]));
    assert_eq!(project.json(&second)["git"]["changed"], json!([]));
    project.ok(&["git", "uninstall"]);
    assert_eq!(both(), (false, true));
    project.ok(&["-C", other, "git", "uninstall"]);
    assert_eq!(both(), (false, false));
    assert!(!project.root().join(".gitattributes").exists());
    assert!(!repository.git(&["config", "--list"]).contains("statedir"));
}

const OLD_BLOCK: &str = "* text=auto\n\
    # begin statedir (made by `statedir git install`)\n\
    /workspace/state/plan.md merge=statedir\n\
    /workspace/state/history.md merge=statedir\n\
    /other/workspace/state/plan.md merge=statedir\n\
    # end statedir\n";

#[test]
fn what_is_committed_leaves_clones_without_the_driver_their_union() {
    let Some(repository) = Repository::without_driver(2) else { return };
    let project = &repository.project;
    let root = project.root();
    std::fs::write(root.join(".gitattributes"), OLD_BLOCK).unwrap();
    repository.commit("as an earlier version wrote it");
    let merge_of = |at: &Repository, name: &str| {
        let path = format!("workspace/state/{name}");
        at.git(&["check-attr", "merge", "--", &path])
            .trim_end()
            .rsplit(' ')
            .next()
            .unwrap()
            .to_owned()
    };
    let clone = || {
        let clone = Repository { project: crate::builder::Project::empty() };
        clone.git(&["clone", "--quiet", &root.to_string_lossy(), "."]);
        clone
    };
    assert_eq!(merge_of(&clone(), "history.md"), "statedir", "the control");
    project.ok(&["git", "install"]);
    assert_eq!(std::fs::read_to_string(root.join(".gitattributes")).unwrap(), "* text=auto\n");
    let local = std::fs::read_to_string(root.join(".git/info/attributes")).unwrap();
    assert!(local.contains("/other/workspace/state/plan.md merge=statedir"), "{local}");
    assert_eq!(merge_of(&repository, "history.md"), "statedir");
    repository.commit("attributes");
    let clone = clone();
    assert_eq!(merge_of(&clone, "history.md"), "union");
    assert_eq!(merge_of(&clone, "plan.md"), "unspecified");
    // Two branches of the clone that both wrote to the history merge without the driver, ...
    clone.on("one", &[&["history", "add", "one"]]);
    clone.on("main", &[]);
    clone.on("two", &[&["history", "add", "two"]]);
    assert!(clone.merges("one"));
    clone.project.ok(&["check"]);
    // ... and one command turns it on, worktrees included.
    let off = clone.project.ok(&["git", "status"]).stdout;
    assert!(off.contains("`statedir git install`"), "{off}");
    clone.project.ok(&["git", "install"]);
    assert_eq!(merge_of(&clone, "history.md"), "statedir");
    assert_eq!(clone.git(&["status", "--short"]), "", "nothing is left to commit");
    let tree = tempfile::tempdir().unwrap();
    let tree = tree.path().join("tree");
    clone.git(&["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap()]);
    let path = "workspace/state/history.md";
    let there = clone.git(&["-C", tree.to_str().unwrap(), "check-attr", "merge", "--", path]);
    assert!(there.ends_with(": statedir\n"), "{there}");
}

#[test]
fn the_hook_refuses_a_shortened_or_changed_history_and_lets_a_grown_one_pass() {
    let Some(repository) = Repository::without_driver(1) else { return };
    let project = &repository.project;
    project.ok(&["git", "install", "--pre-commit"]);
    project.ok(&["history", "add", "One"]);
    project.ok(&["history", "add", "Two"]);
    repository.commit("grown");
    let good = project.read("history.md");
    let cut = good[..good.find("\n### Two").unwrap()].to_owned();
    for bad in [cut, good.replace("### One", "### Uno")] {
        project.write("history.md", &bad);
        repository.git(&["add", "-A"]);
        let refused = repository.try_git(&["commit", "-m", "x"]);
        assert_ne!(refused.code, 0);
        assert!(refused.stderr.contains("history.md"), "{}", refused.stderr);
    }
    project.write("history.md", &good);
    project.ok(&["history", "add", "Three"]);
    repository.commit("grown again");
}

#[test]
fn textconv_shows_changes_by_meaning() {
    let Some(repository) = Repository::without_driver(1) else { return };
    repository.project.ok(&["git", "install", "--textconv"]);
    repository.commit("attributes");
    repository.project.ok(&["step", "start", "1"]);
    let diff = repository.git(&["diff", "--", "workspace/state/plan.md"]);
    assert!(diff.lines().any(|line| line.starts_with('+') && line.contains("RUNNING")), "{diff}");
    let plain = repository.git(&["diff", "--no-textconv", "--", "workspace/state/plan.md"]);
    assert_ne!(diff, plain);
}

#[test]
fn commit_takes_the_state_files_and_leaves_the_rest_staged() {
    let Some(repository) = Repository::without_driver(1) else { return };
    let project = &repository.project;
    std::fs::write(project.root().join("code.txt"), "staged").unwrap();
    repository.git(&["add", "code.txt"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--note", "Signed-off-by: nobody"]);
    project.write("workflow.yaml", "version: 1\n");
    let committed = with_identity(&repository, &["commit", "--sign-off", "--json"]);
    assert_eq!(committed["ok"], true, "{committed}");
    let files = repository.git(&["show", "--name-only", "--format=", "HEAD"]);
    assert!(
        !files.contains("code.txt") && files.contains("workspace/state/workflow.yaml"),
        "{files}"
    );
    assert_eq!(repository.git(&["diff", "--cached", "--name-only"]).trim(), "code.txt");
    let message = repository.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("Signed-off-by: tester"), "{message}");
    let trailer = |key: &str| {
        repository
            .git(&["log", "-1", &format!("--format=%(trailers:key={key},valueonly)")])
            .trim()
            .to_owned()
    };
    assert_eq!(trailer("Statedir-Revision"), project.json(&["status"])["revision"]);
    let heads = project.json(&["history", "verify"])["heads"].clone();
    assert_eq!(trailer("Statedir-History-Heads"), heads[0].as_str().unwrap());
    let again = with_identity(&repository, &["commit", "--json"]);
    assert_eq!(again["commit"], json!(null));
    // The next message tells only what came after.
    project.ok(&["context", "add", "a finding"]);
    with_identity(&repository, &["commit", "--json"]);
    let message = repository.git(&["log", "-1", "--format=%s"]);
    assert!(!message.contains("changes"), "{message}");
}

#[test]
fn a_message_tells_what_came_after_a_commit_by_hand() {
    let Some(repository) = Repository::without_driver(1) else { return };
    let project = &repository.project;
    let set_at = |time: &str, key: &str| {
        let mut command = project.command(&["var", "set", key, "1"]);
        assert!(command.env("STATEDIR_NOW", time).output().unwrap().status.success());
    };
    set_at("2030-01-01T00:00:00Z", "early");
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "--quiet", "--date=2030-01-02T00:00:00Z", "-m", "by hand"]);
    set_at("2030-01-03T00:00:00Z", "late");
    let message = repository.ours(&["commit"])["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("state: late = 1\n"), "{message}");
}

#[test]
fn a_hook_that_refuses_leaves_the_index_as_it_was() {
    let Some(repository) = Repository::without_driver(1) else { return };
    let hook = repository.project.root().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\necho no >&2\nexit 1\n").unwrap();
    executable(&hook);
    repository.project.write("workflow.yaml", "version: 1\n");
    let before = repository.git(&["ls-files", "--stage"]);
    let refused = with_identity(&repository, &["commit", "--json"]);
    assert_eq!(refused["error"]["code"], "git_failed");
    assert_eq!(repository.git(&["ls-files", "--stage"]), before);
}

fn with_identity(repository: &Repository, args: &[&str]) -> serde_json::Value {
    let mut command = repository.project.command(args);
    for (kind, word) in [("NAME", "tester"), ("EMAIL", "tester@example.org")] {
        command.env(format!("GIT_AUTHOR_{kind}"), word);
        command.env(format!("GIT_COMMITTER_{kind}"), word);
    }
    crate::builder::Ran::from(command.output().unwrap()).json()
}

pub(super) fn executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_worktree_has_its_own_state_and_is_merged_back() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("else where");
    let added = with_identity(
        &repository,
        &["worktree", "add", "bench", "--step", "1", "--path", path.to_str().unwrap(), "--json"],
    );
    assert_eq!(added["ok"], true, "{added}");
    assert_eq!(project.json(&["step", "show", "1"])["step"]["status"], "RUNNING");
    assert!(project.read("plan.md").contains("- **branch**: bench\n"));
    let state = path.join("workspace/state");
    let there = state.to_str().unwrap();
    project.ok(&["-C", there, "step", "done", "1", "--note", "there"]);
    project.ok(&["step", "start", "2"]);
    assert_eq!(
        project.json(&["step", "show", "1"])["step"]["status"],
        "RUNNING",
        "states are apart"
    );
    let listed = project.json(&["worktree", "list"]);
    assert_eq!(listed["worktrees"].as_array().unwrap().len(), 2, "{listed}");
    assert!(listed["worktrees"][1]["steps"][0].as_str().unwrap().contains("COMPLETED"), "{listed}");
    let finished = with_identity(&repository, &["worktree", "finish", "bench", "--json"]);
    assert_eq!(finished["ok"], true, "{finished}");
    assert!(!path.exists());
    assert_eq!(project.json(&["step", "show", "1"])["step"]["status"], "COMPLETED");
    assert_eq!(project.json(&["step", "show", "2"])["step"]["status"], "RUNNING");
    assert_eq!(repository.git(&["branch", "--list", "bench"]), "");
    assert_eq!(project.json(&["check"])["findings"], json!([]));
}

#[test]
fn review_notes_tell_what_a_branch_did() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    repository.on(
        "work",
        &[
            &["step", "start", "1"],
            &["step", "done", "1", "--cost", "0.25"],
            &["context", "add", "--section", "Decision Rationale", "took the second"],
        ],
    );
    for range in
        [["review-notes"].as_slice(), &["review-notes", "main..work"], &["review-notes", "main"]]
    {
        let notes = project.ok(range).stdout;
        for part in ["PENDING → COMPLETED", "## Decisions\n\n- took the second", ", $0.25\n"] {
            assert!(notes.contains(part), "{range:?} {part}\n{notes}");
        }
    }
    project.refused(1, &["review-notes", "no-such-branch"]);
}

#[test]
fn lost_files_come_back_from_the_newest_good_commit() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    project.ok(&["history", "add", "Kept"]);
    repository.commit("good");
    let good = project.read("history.md");
    project.write("history.md", good.replace("### Kept", "### Torn"));
    project.write("variables.json", "{ no json");
    repository.commit("bad");
    for name in ["history.md", "variables.json", "context.md"] {
        std::fs::remove_file(project.path(name)).unwrap();
    }
    let rebuilt = statedir::internals::rebuild(&project.dir(), false).unwrap();
    assert_eq!(rebuilt.restored.len(), 3);
    assert_eq!(rebuilt.passed_over.len(), 2, "{rebuilt:?}");
    assert_eq!(project.read("history.md"), good);
    assert!(rebuilt.not_found.is_empty());
}
