//! Checklists of others on branches: ticks and lines of both sides are kept.

use std::fs;

use super::{project, steps};
use crate::{merge::repository::Repository, needs};

const TASKS: &str = "specs/001-login/tasks.md";
const TEXT: &str = "# Tasks: Log in\n\n## Phase 1\n\n- [ ] T001 One\n- [ ] T002 Two\n- [-] T003 Three\n\n## Phase 2\n\n- [ ] T004 Four";

/// A repository with an adopted plan and the driver.
fn repository() -> Option<Repository> {
    if !needs::program("git") {
        return None;
    }
    let repository = Repository { project: project(&[(TASKS, TEXT)]) };
    repository.git(&["init", "--quiet", "--initial-branch=main"]);
    repository.project.ok(&["adopt"]);
    repository.project.ok(&["git", "install"]);
    repository.commit("adopted");
    Some(repository)
}

fn read(repository: &Repository) -> String {
    fs::read_to_string(repository.project.root().join(TASKS)).unwrap()
}

fn write(repository: &Repository, text: &str) {
    fs::write(repository.project.root().join(TASKS), text).unwrap();
}

#[test]
fn boxes_that_two_branches_tick_are_all_ticked() {
    let Some(repository) = repository() else { return };
    let attributes = fs::read_to_string(repository.project.root().join(".gitattributes")).unwrap();
    // A clone without the driver keeps what both sides added; this one merges by meaning.
    assert!(attributes.contains("/specs/001-login/history.md merge=union"), "{attributes}");
    assert!(!attributes.contains("merge=statedir"), "{attributes}");
    for name in ["tasks.md", "history.md"] {
        let path = format!("specs/001-login/{name}");
        let found = repository.git(&["check-attr", "merge", "--", &path]);
        assert!(found.ends_with(": statedir\n"), "{found}");
    }
    repository.git(&["switch", "--quiet", "-c", "side"]);
    // A command here, an editor there; lines are added next to each other.
    repository.project.ok(&["step", "start", "T002"]);
    repository.project.ok(&["step", "done", "T002"]);
    write(&repository, &(read(&repository) + "\n- [x] T006 Six\n"));
    repository.commit("side");
    repository.git(&["switch", "--quiet", "main"]);
    repository.project.ok(&["step", "start", "T001"]);
    repository.project.ok(&["step", "done", "T001"]);
    let moved = read(&repository).replace("- [-] T003 Three\n", "");
    write(&repository, &moved.replace("T004 Four", "T004 Four\n- [x] T003 Three\n- [ ] T005 Five"));
    repository.commit("main");
    repository.git(&["merge", "--quiet", "--no-edit", "side"]);
    assert_eq!(
        read(&repository),
        "# Tasks: Log in\n\n## Phase 1\n\n- [x] T001 One\n- [x] T002 Two\n\n## Phase 2\n\n- [ ] T004 Four\n- [x] T003 Three\n- [ ] T005 Five\n- [x] T006 Six\n"
    );
    // What is kept beside the file was merged by meaning, too.
    repository.project.ok(&["history", "verify"]);
    let found = repository.project.json(&["history", "list"]);
    let found = found["entries"].as_array().unwrap().len();
    assert!(found >= 2, "{found}");
    assert_eq!(steps(&repository.project).len(), 6);
    repository.project.ok(&["step", "start", "T005"]);
}

#[test]
fn one_box_both_ways_is_a_conflict_that_no_command_builds_on() {
    let Some(repository) = repository() else { return };
    repository.git(&["switch", "--quiet", "-c", "side"]);
    write(&repository, &TEXT.replace("[-] T003", "[x] T003").replace("[ ] T001", "[x] T001"));
    repository.commit("side");
    repository.git(&["switch", "--quiet", "main"]);
    write(&repository, &TEXT.replace("[-] T003", "[ ] T003").replace("[ ] T004", "[x] T004"));
    repository.commit("main");
    let ran = repository.try_git(&["merge", "--quiet", "--no-edit", "side"]);
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    let text = read(&repository);
    assert!(text.contains("- [x] T001 One") && text.contains("- [x] T004 Four"), "{text}");
    assert!(text.contains("<<<<<<< ours\n- [ ] T003 Three\n||||||| base\n"), "{text}");
    let ran = repository.project.run(&["step", "start", "T002"]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("specs/001-login/tasks.md:7"), "{}", ran.stderr);
    // A person decides.
    let start = text.find("<<<<<<<").unwrap();
    let end = text.find(">>>>>>> theirs\n").unwrap() + ">>>>>>> theirs\n".len();
    write(&repository, &format!("{}- [x] T003 Three\n{}", &text[..start], &text[end..]));
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "--quiet", "--no-edit"]);
    repository.project.ok(&["step", "start", "T002"]);
}

#[test]
fn a_side_of_a_conflict_in_a_list_can_be_taken() {
    for (side, expected) in [("ours", "[ ]"), ("theirs", "[x]"), ("base", "[-]")] {
        let Some(repository) = repository() else { return };
        repository.git(&["switch", "--quiet", "-c", "side"]);
        write(&repository, &TEXT.replace("[-] T003", "[x] T003"));
        repository.commit("side");
        repository.git(&["switch", "--quiet", "main"]);
        write(&repository, &TEXT.replace("[-] T003", "[ ] T003"));
        repository.commit("main");
        repository.try_git(&["merge", "--quiet", "--no-edit", "side"]);
        let listed = repository.project.ok(&["merge", "--list"]).stdout;
        assert!(listed.starts_with("specs/001-login/tasks.md:7\n"), "{listed}");
        assert!(listed.contains("theirs  - [x] T003 Three"), "{listed}");
        let ran = repository.project.run(&["merge", "--take", side, "specs/001-login/tasks.md:9"]);
        assert_ne!(ran.code, 0, "there is no such conflict");
        let field = if side == "base" { "--all" } else { "specs/001-login/tasks.md:7" };
        repository.project.ok(&["merge", "--take", side, field]);
        assert_eq!(read(&repository), TEXT.replace("[-] T003", &format!("{expected} T003")) + "\n");
        assert_eq!(repository.project.ok(&["merge", "--list"]).stdout, "no conflicts\n");
        // Git has the conflict resolved, and commands work again.
        repository.git(&["commit", "--quiet", "--no-edit"]);
        repository.project.ok(&["step", "start", "T002"]);
    }
}

#[test]
fn the_state_is_committed_with_the_files_of_others() {
    let Some(repository) = repository() else { return };
    repository.project.ok(&["step", "start", "T001"]);
    repository.project.ok(&["step", "done", "T001"]);
    repository.project.ok(&["commit"]);
    let shown = repository.try_git(&["show", "--stat", "--format=%s", "HEAD"]).stdout;
    assert!(shown.contains("tasks.md") && shown.contains("history.md"), "{shown}");
    assert_eq!(repository.try_git(&["status", "--porcelain"]).stdout.trim(), "");
}
