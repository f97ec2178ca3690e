//! The check before a commit: where it is put, and what it lets pass.

use super::{repository::Repository, setup::executable};

#[test]
fn hooks_that_others_share_are_not_written_for_one_repository() {
    let Some(repository) = Repository::without_driver(1) else { return };
    let project = &repository.project;
    let elsewhere = tempfile::tempdir().unwrap();
    let shared = elsewhere.path().join("hooks");
    repository.git(&["config", "core.hooksPath", shared.to_str().unwrap()]);
    let config = || std::fs::read_to_string(project.root().join(".git/config")).unwrap();
    let before = config();
    for dry_run in [&[][..], &["--dry-run"]] {
        let args = [&["git", "install", "--pre-commit"], dry_run].concat();
        let refusal = repository.ours_refused(1, "outside", &args).to_string();
        for part in ["core.hooksPath", shared.to_str().unwrap(), "--global"] {
            assert!(refusal.contains(part), "{part}: {refusal}");
        }
    }
    assert!(!shared.exists());
    assert_eq!(config(), before, "nothing else is set up either");
    project.ok(&["git", "install"]);
    // One's own may be anywhere inside.
    repository.git(&["config", "core.hooksPath", ".husky"]);
    project.ok(&["git", "install", "--pre-commit"]);
    assert!(project.path("../../.husky/pre-commit").exists());
    // What was put there for all is not taken away for one.
    repository.git(&["config", "core.hooksPath", shared.to_str().unwrap()]);
    std::fs::create_dir(&shared).unwrap();
    let ours = shared.join("pre-commit");
    std::fs::copy(project.path("../../.husky/pre-commit"), &ours).unwrap();
    executable(&ours);
    project.ok(&["git", "uninstall"]);
    assert!(ours.exists());
}

#[test]
fn a_state_is_not_removed_as_a_whole_unless_it_is_kept_elsewhere() {
    let Some(repository) = Repository::without_driver(1) else { return };
    repository.project.ok(&["history", "add", "One"]);
    repository.project.ok(&["git", "install", "--pre-commit"]);
    repository.commit("guarded");
    let head = repository.git(&["rev-parse", "HEAD"]);
    repository.git(&["rm", "-r", "--quiet", "workspace/state"]);
    let refused = repository.try_git(&["commit", "-m", "gone"]);
    assert_ne!(refused.code, 0);
    for part in ["history would be removed", "--no-verify", "statedir archive"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert_eq!(repository.git(&["rev-parse", "HEAD"]), head);
    repository.git(&["reset", "--quiet", "--hard"]);
    // A directory that is moved keeps everything.
    repository.git(&["mv", "workspace/state", "workspace/moved"]);
    repository.git(&["commit", "--quiet", "-m", "moved"]);
    // The control: it is guarded there, too, and whoever means it is not kept from it.
    repository.git(&["rm", "-r", "--quiet", "workspace/moved"]);
    assert_ne!(repository.try_git(&["commit", "-m", "gone"]).code, 0);
    repository.git(&["commit", "--quiet", "--no-verify", "-m", "gone"]);
}
