//! `recover` over many states at once.

use std::path::Path;

use serde_json::{Value, json};

use super::{failed, half_done};
use crate::{builder::Project, needs};

fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from).into_iter().filter_map(Result::ok) {
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(target).unwrap();
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A directory with several projects: finished, failed, paused, damaged, archived, and none.
fn several() -> Project {
    let all = Project::empty();
    let put = |project: &Project, at: &str| copy(&project.dir(), &all.root().join(at));
    put(&half_done(2, 2), "a-finished/workspace/state");
    put(&failed(4, 3, "timed out"), "b-failed/workspace/state");
    let paused = half_done(2, 1);
    paused.ok(&["pause", "--why", "lunch"]);
    put(&paused, "c-paused/workspace/state");
    let damaged = half_done(2, 1);
    std::fs::remove_file(damaged.path("plan.md")).unwrap();
    put(&damaged, "d-damaged/workspace/state");
    put(&failed(4, 3, "timed out"), "e/workspace/archive/exec-1");
    std::fs::create_dir_all(all.root().join("f-docs")).unwrap();
    std::fs::write(all.root().join("f-docs/plan.md"), "# A plan\n").unwrap();
    all
}

fn states(answer: &Value) -> Vec<(String, &Value)> {
    let name = |state: &Value| {
        let directory = state["directory"].as_str().unwrap();
        let at = directory.rfind("/workspace").unwrap();
        directory[..at].rsplit('/').next().unwrap().to_owned()
    };
    answer["states"].as_array().unwrap().iter().map(|state| (name(state), state)).collect()
}

#[test]
fn a_scan_finds_every_state_and_what_is_wrong_with_it() {
    let all = several();
    #[cfg(unix)]
    std::os::unix::fs::symlink(all.root(), all.root().join("loop")).unwrap();
    let root = all.root().to_str().unwrap().to_owned();
    let answer = all.json(&["scan", &root]);
    let found = states(&answer);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a-finished", "b-failed", "c-paused", "d-damaged", "e"]);
    let of = |name: &str| found.iter().find(|(found, _)| found == name).unwrap().1;
    assert_eq!(of("a-finished")["status"], "COMPLETED_SUCCESS");
    assert_eq!((&of("b-failed")["percent"], &of("b-failed")["failed"]), (&json!(75), &json!(1)));
    assert!(of("b-failed")["age_ms"].is_u64());
    assert_eq!(of("c-paused")["status"], "PAUSED");
    assert_eq!(of("d-damaged")["damaged"], true);
    assert_eq!(of("d-damaged")["error"]["code"], "file_missing");
    assert_eq!(of("e")["archived"], true);
    let answer = all.json(&["scan", &root, "--unfinished"]);
    let names: Vec<String> = states(&answer).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["b-failed", "c-paused", "d-damaged"]);
    let printed = all.ok(&["scan", &root]).stdout;
    assert_eq!(printed.lines().count(), 5, "{printed}");
    assert!(printed.contains("DAMAGED"));
    assert_eq!(all.json(&["scan", &root, "--depth", "1"])["states"], json!([]));
    assert_eq!(all.run(&["scan", "/no/such/dir", "--json"]).code, 1);
}

#[test]
fn all_are_decided_for_and_one_that_fails_does_not_stop_the_others() {
    let all = several();
    let root = all.root().to_str().unwrap().to_owned();
    let ran = all.run(&["recover", "--all", &root, "--json"]);
    assert_eq!(ran.code, 4, "one is damaged: {}", ran.stdout);
    let answer = ran.json();
    let actions: Vec<(String, Value)> =
        states(&answer).into_iter().map(|(name, state)| (name, state["action"].clone())).collect();
    assert_eq!(
        actions,
        [
            ("a-finished".to_owned(), json!("next_task")),
            ("b-failed".to_owned(), json!("retry_task")),
            ("c-paused".to_owned(), json!("continue_task")),
            ("d-damaged".to_owned(), json!("human_review")),
        ]
    );
    let ran = all.run(&["recover", "--all", &root, "--apply", "--json"]);
    assert_eq!(ran.code, 4);
    let answer = ran.json();
    let applied: Vec<bool> =
        states(&answer).into_iter().map(|(_, state)| state["applied"] == true).collect();
    assert_eq!(applied, [false, true, false, false], "{answer}");
    let status = |name: &str| {
        let dir = all.root().join(name).join("workspace/state");
        all.json(&["-C", dir.to_str().unwrap(), "status"])
    };
    assert_eq!(status("b-failed")["running"], 1);
    assert_eq!(status("c-paused")["status"], "PAUSED", "paused on purpose");
    std::fs::remove_dir_all(all.root().join("d-damaged")).unwrap();
    assert_eq!(all.run(&["recover", "--all", &root, "--json"]).code, 0);
}

#[test]
fn one_revision_is_not_expected_of_many_states() {
    let all = several();
    let root = all.root().to_str().unwrap().to_owned();
    for args in [&["recover", "--all", &root, "--apply"][..], &["scan", &root]] {
        let refusal = all.refused(2, &[args, &["--if-match", "000000000000"]].concat());
        assert!(refusal["error"]["message"].as_str().unwrap().contains("--if-match"), "{refusal}");
    }
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt as _;

    let all = Project::empty();
    copy(&half_done(2, 2).dir(), &all.root().join("a/workspace/state"));
    let closed = all.root().join("closed");
    std::fs::create_dir_all(&closed).unwrap();
    let set = |mode| {
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(0o000);
    // Root can read everything, so permissions stop nothing.
    let kept_out = std::fs::read_dir(&closed).is_err();
    let root = all.root().to_str().unwrap().to_owned();
    let answers = [&["scan", &root, "--json"][..], &["recover", "--all", &root, "--json"]]
        .map(|args| all.run(args));
    set(0o755);
    for ran in answers {
        assert_eq!(ran.code, if kept_out { 4 } else { 0 });
        assert_eq!(ran.json()["left_out"].to_string().contains("closed"), kept_out);
        assert_eq!(ran.json()["states"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn without_a_thread_to_be_had_a_recovery_still_decides() {
    if !needs::program("git") {
        return;
    }
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    std::process::Command::new("git").arg("init").current_dir(project.root()).output().unwrap();
    let decided = project.json(&["recover", "--dry-run"]);
    for args in
        [&["recover", "--dry-run", "--json"][..], &["recover", "--dry-run", "--evaluator", "cat"]]
    {
        // No thread gets a stack of this size.
        let output = project.command(args).env("RUST_MIN_STACK", (1u64 << 60).to_string()).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        if args.contains(&"--json") {
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(answer["action"], decided["action"]);
        }
    }
}
