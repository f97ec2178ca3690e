//! Arguments: one JSON document whatever happens, a code from the contract, nothing outside.

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt as _,
    process::{Command, Stdio},
};

use crate::{
    builder::{Project, Ran},
    needs,
};

#[test]
fn every_answer_is_one_document_also_for_wrong_usage() {
    let project = Project::with_steps(1);
    for args in [
        &[][..],
        &["bogus"],
        &["step"],
        &["step", "bogus"],
        &["step", "start", "--bogus"],
        &["var", "set"],
        &["--version"],
        &["--help"],
        &["step", "--help"],
        &["completions"],
        &["completions", "bash"],
        &["man"],
        &["status", "--wait", "abc"],
        &["status", "--wait", "99999999999999999999s"],
        &["op", "log", "--limit", "-1"],
        &["gc", "--older-than", "abc"],
        &["-C", "", "status"],
        &["-C", "/nonexistent/x", "status"],
        &["-C", "/etc/passwd", "status"],
        &["-C", "../..", "status"],
        &["plan", "set", "x"],
        &["show", "../../etc/passwd"],
        &["apply", "/nonexistent"],
        &["apply", "/"],
        &["var", "merge", "/dev/zero"],
        &["init"],
        &["op", "show", "zzz"],
        &["diff", "zzz"],
    ] {
        for json in [&[&["--json"][..], args].concat(), &[args, &["--json"]].concat()] {
            if args.is_empty() || args[0] != "help" {
                let ran = project.run(json);
                let answer = ran.json();
                assert_eq!(answer["ok"], ran.code == 0, "{json:?}");
                assert!([0, 1, 2].contains(&ran.code), "{json:?} {}", ran.code);
                assert_eq!(answer["error"].is_object(), ran.code != 0);
            }
        }
    }
}

#[test]
fn every_exit_code_of_the_contract_is_given() {
    let project = Project::with_steps(2);
    assert_eq!(project.run(&["status"]).code, 0);
    assert_eq!(project.refused(1, &["step", "done", "1"])["error"]["code"], "illegal_transition");
    assert_eq!(project.refused(1, &["step", "start", "99"])["error"]["code"], "not_found");
    assert_eq!(project.refused(2, &["step", "bogus"])["error"]["code"], "usage");
    let moved = project.refused(3, &["var", "set", "a", "1", "--if-match", "000000000000"]);
    assert_eq!(moved["error"]["code"], "revision_moved");
    project.write("variables.json", "{");
    assert_eq!(project.refused(4, &["var", "set", "a", "1"])["error"]["code"], "unreadable");
}

#[test]
fn a_lock_that_is_held_is_waited_for_and_a_dead_holder_is_none() {
    let project = Project::with_steps(1);
    let held =
        fs::OpenOptions::new().read(true).write(true).open(project.path(".statedir/lock")).unwrap();
    held.lock().unwrap();
    for args in [&["--wait", "100ms", "var", "set", "a", "1"][..], &["--wait", "0s", "status"]] {
        let refusal = project.refused(3, args);
        assert_eq!(refusal["error"]["code"], "lock_timeout");
        assert!(refusal["error"]["message"].as_str().unwrap().contains("process"));
    }
    drop(held);
    if !needs::program("flock") {
        return;
    }
    let script = "exec 9<>\"$0\"; flock 9 && echo locked && exec sleep 60";
    let mut holder = Command::new("sh")
        .args(["-c", script])
        .arg(project.path(".statedir/lock"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(holder.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    assert_eq!(line, "locked\n");
    assert_eq!(project.run(&["--wait", "50ms", "var", "set", "a", "1"]).code, 3);
    holder.kill().unwrap();
    holder.wait().unwrap();
    project.ok(&["--wait", "1s", "var", "set", "a", "1"]);
}

#[test]
fn nothing_outside_is_read_or_written() {
    let project = Project::with_steps(1);
    fs::write(project.root().join("secret.md"), "secret words").unwrap();
    for args in [
        &["show", "../../secret.md"][..],
        &["show", "plan", "--section", "../../secret.md"],
        &["context", "show", "--section", "../../secret.md"],
        &["context", "add", "--section", "../../secret.md", "x"],
        &["var", "get", "../../secret.md"],
        &["op", "show", "../../secret.md"],
        &["apply", "../../etc/passwd"],
        &["apply", "secret.md"],
        &["init", "--template", "../../../etc", "--goal", "x"],
    ] {
        let refusal = project.refused(1, args);
        assert!(!refusal.to_string().contains("secret words"), "{refusal}");
    }
    project.ok(&["context", "add", "--section", "a/../b", "--create", "x"]);
    assert_eq!(fs::read_to_string(project.root().join("secret.md")).unwrap(), "secret words");
    let inside: Vec<_> =
        fs::read_dir(project.dir()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(inside.len(), 6, "{inside:?}");
}

#[test]
fn empty_arguments_are_refused_or_mean_something() {
    let project = Project::with_steps(1);
    for args in [
        &["step", "add", ""][..],
        &["step", "start", ""],
        &["step", "done", ""],
        &["step", "set", ""],
        &["step", "remove", ""],
        &["step", "set", "1", "title="],
        &["context", "add", ""],
        &["history", "add", ""],
        &["directive", "add", ""],
        &["directive", "remove", ""],
        &["constraint", "get", ""],
        &["constraint", "set", "", "x"],
        &["constraint", "set", "priority", ""],
        &["var", "unset", ""],
        &["var", "set", "", "1"],
        &["var", "append", "", "1"],
        &["op", "show", ""],
        &["apply", ""],
        &["var", "merge", ""],
        &["show", ""],
        &["plan", "set", "status="],
        &["plan", "set", "mode="],
    ] {
        project.refused(1, args);
    }
    for args in [&["plan", "set", ""][..], &["plan", "set", "=x"], &["-C", "", "status"]] {
        project.refused(2, args);
    }
}

#[test]
fn a_plan_without_goal_title_or_a_section_without_a_name_is_refused() {
    let project = Project::with_steps(1);
    let mut accepted = Vec::new();
    for args in [
        &["plan", "set", "goal="][..],
        &["plan", "set", "title="],
        &["context", "add", "--section", "", "--create", "x"],
    ] {
        if project.run(args).code == 0 {
            accepted.push(args);
        }
    }
    assert!(accepted.is_empty(), "{accepted:?}");
}

#[test]
fn arguments_that_are_not_text_are_refused() {
    let project = Project::with_steps(1);
    let bad = OsStr::from_bytes(b"a\xff");
    for before in [&["step", "start"][..], &["var", "set", "a"], &["history", "add"], &[]] {
        let ran = Ran::from(project.command(before).arg(bad).arg("--json").output().unwrap());
        assert_eq!(ran.code, 2, "{before:?} {}", ran.stdout);
        assert_eq!(ran.json()["error"]["code"], "usage");
    }
}

#[test]
fn very_long_arguments_are_taken_or_refused() {
    let project = Project::with_steps(1);
    let long = "x".repeat(100_000);
    for args in [
        &["var", "set", "k", &long][..],
        &["var", "set", &long, "1"],
        &["step", "add", &long],
        &["history", "add", &long],
        &["history", "add", "T", &format!("k={long}")],
        &["plan", "set", &format!("goal={long}")],
        &["plan", "set", &format!("{long}=1")],
        &["context", "add", &long],
        &["directive", "add", &long],
        &["step", "start", &long],
        &["--actor", &long, "var", "set", "a", "1"],
        &["op", "show", &long],
        &["var", "get", &"a.".repeat(40_000)],
    ] {
        let ran = project.run(&[args, &["--json"]].concat());
        assert!([0, 1, 2].contains(&ran.code), "{} {:.200}", ran.code, ran.stdout);
        assert_eq!(ran.json()["ok"], ran.code == 0);
    }
    project.ok(&["check"]);
    project.ok(&["history", "verify"]);
    project.ok(&["op", "log"]);
}

#[test]
fn bad_changes_in_a_batch_change_nothing() {
    let project = Project::with_steps(1);
    let before = project.files();
    for (args, input) in [
        (["var", "merge", "-"], "{\"a\":"),
        (["var", "merge", "-"], "[1]"),
        (["var", "patch", "-"], "[{\"op\":\"add\",\"path\":\"/no/where\",\"value\":1}]"),
        (
            ["var", "patch", "-"],
            "[{\"op\":\"add\",\"path\":\"/z\",\"value\":1},{\"op\":\"test\",\"path\":\"/z\",\"value\":2}]",
        ),
        (["var", "patch", "-"], "{}"),
    ] {
        let ran = project.run_with_input(&args, input);
        assert_eq!(ran.code, 1, "{input} {}{}", ran.stdout, ran.stderr);
    }
    for input in [
        "[",
        "[]",
        "",
        "nonsense",
        "[{\"op\":\"nosuch\"}]",
        "[1]",
        "{\"changes\":1}",
        "{\"op\":\"var.set\",\"path\":\"z\",\"value\":1}\n{\"op\":\"step.start\",\"step\":99}\n",
        "[{\"op\":\"step.start\",\"step\":1},{\"op\":\"step.start\",\"step\":1}]",
        "[{\"op\":\"step.start\",\"step\":1,\"bogus\":1}]",
    ] {
        let ran = project.run_with_input(&["apply", "-", "--json"], input);
        assert_eq!(ran.code, 1, "{input} {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.json()["ok"], false);
    }
    assert_eq!(project.files(), before);
}

#[test]
fn text_that_begins_with_a_hyphen_is_text() {
    let project = Project::with_steps(3);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "fail", "1", "--error", "-bash: foo: not found", "--note", "- item"]);
    project.ok(&["context", "add", "- bullet", "--json"]);
    project.ok(&["directive", "add", "--force is never used", "--for-steps", "3"]);
    project.ok(&["step", "add", "-> next"]);
    project.ok(&["pause", "--why", "- x"]);
    let history = project.read("history.md");
    assert!(history.contains("-bash: foo: not found") && history.contains("- item"), "{history}");
    let context = project.read("context.md");
    assert!(context.contains("\n- bullet <!-- "), "{context}");
    assert!(project.read("constraints.md").contains("--force is never used"));
    assert!(project.read("plan.md").contains(": -> next\n"));
    assert!(history.contains("- x") || project.read("history.md").contains("- x"));
    // A word that may be an option is never read as text.
    for args in [
        ["context", "add", "--sectoin"].as_slice(),
        &["step", "skip", "2", "--note", "--json"],
        &["step", "skip", "2", "--cost", "- 1"],
        &["brief", "--max-tokens", "-1"],
    ] {
        assert_eq!(project.run(args).code, 2, "{args:?}");
    }
}
