//! What a failing disk hides is not taken for missing, and what was done before it failed is done.

use std::{fs, process::Command};

use super::{
    outside, scene,
    strace::{self, Call, Fault},
};
use crate::{
    builder::{Project, outside_of_any_session},
    needs, program,
};

/// The brief is read after the commit point, with many calls that can fail.
#[test]
fn a_resume_that_cannot_read_its_brief_is_done_and_says_what_is_missing() {
    if !needs::program("strace") {
        return;
    }
    let scene = scene::all().into_iter().find(|scene| scene.name == "resume").unwrap();
    let calls = strace::calls(&scene);
    let last = calls.iter().rposition(Call::changes).unwrap();
    let mut incomplete = 0;
    for call in calls[last + 1..].iter().filter(|call| call.name != "close").step_by(3) {
        scene.reset();
        let Some(finish) = strace::disturb(&scene, call, Fault::Eio) else { continue };
        assert_eq!(finish.code, Some(0), "{} {}: {}", call.index, call.line, finish.text());
        let printed = finish.text();
        incomplete += usize::from(printed.contains("note: ") && printed.contains("statedir brief"));
    }
    assert!(incomplete > 3, "only {incomplete} briefs were incomplete");
}

/// What a failing disk does not let through is not taken for missing: a report is not made without
/// the history, an archived state that cannot be read is not one that is too young to be deleted, and
/// a folder that cannot be looked into is not empty.
#[test]
fn what_a_failing_disk_hides_is_not_taken_for_missing() {
    if !needs::program("strace") {
        return;
    }
    let scenes = [
        ("report", "history.md>"),
        ("archive prune", "plan.md>"),
        ("setup beside an empty folder", ".claude/skills>"),
        ("setup --remove", "rmdir("),
        ("fleet pull", "workspace/state\", AT_STATX_SYNC_AS_STAT, "),
        ("fleet recover", "workspace/state\", AT_STATX_SYNC_AS_STAT, "),
    ];
    for (name, part) in scenes {
        let outside = outside::all().into_iter().find(|one| one.scene.name == name).unwrap();
        outside.learn();
        let calls = strace::calls(&outside.scene);
        let reads = calls.iter().filter(|call| call.line.contains(part) && call.name != "close");
        let mut fired = 0;
        for call in reads {
            for fault in [Fault::Eio, Fault::Enospc] {
                outside.scene.reset();
                let Some(finish) = strace::disturb(&outside.scene, call, fault) else { continue };
                fired += 1;
                let verdict = outside.examine(&finish);
                assert_eq!(verdict, Ok(()), "{name}, {fault:?} in {} {}", call.index, call.line);
            }
        }
        assert!(fired > 1, "{name}: only {fired} faults happened");
    }
}

/// A project inside another one: if the look at its state fails, the outer state is not taken instead.
#[test]
fn a_project_that_cannot_be_looked_at_is_not_taken_for_the_one_around_it() {
    if !needs::program("strace") {
        return;
    }
    let outer = Project::with_steps(1);
    let inner = outer.root().join("inner");
    let state = inner.join("workspace/state");
    fs::create_dir_all(&state).unwrap();
    let before = outer.files();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let change = |before: &[&str]| {
        let words: Vec<&str> = before.iter().copied().chain([program::name()]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["var", "set", "a", "1"]).current_dir(&inner);
        outside_of_any_session(&mut command).env_remove("STATEDIR").output().unwrap()
    };
    let (path, output) = (state.to_str().unwrap(), trace.path().to_str().unwrap());
    let fault = ["strace", "-o", output, "-P", path, "-e", "inject=statx:error=EIO:when=1"];
    let failed = change(&fault);
    assert!(fs::read_to_string(trace.path()).unwrap().contains("(INJECTED)"));
    let said = String::from_utf8_lossy(&failed.stderr);
    assert!(failed.status.code() == Some(1) && said.contains("inner/workspace/state"), "{said}");
    assert_eq!(outer.files(), before);
    // The control: without a directory there, the outer state is the one that is meant.
    fs::remove_dir(&state).unwrap();
    assert!(change(&[]).status.success());
    assert_ne!(outer.files(), before);
}
