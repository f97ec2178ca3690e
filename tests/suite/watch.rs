//! Following the operation log, and what a conflict reports from it.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::builder::Project;

/// A running `watch`, killed when dropped.
struct Watching {
    child: Child,
    lines: Option<BufReader<ChildStdout>>,
}

impl Watching {
    fn begin(project: &Project, args: &[&str]) -> Self {
        let mut command = project.command(&[&["watch", "--json"], args].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = Some(BufReader::new(child.stdout.take().unwrap()));
        Self { child, lines }
    }

    /// The next operation; waits for it.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.as_mut().unwrap().read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the watch has ended");
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ALL: [&str; 2] = ["--since", "000000000000"];

#[test]
fn operations_are_reported_as_they_happen() {
    let project = Project::new();
    let mut watching = Watching::begin(&project, &ALL);
    assert_eq!(watching.next()["kind"], "init");
    project.ok(&["var", "set", "a", "1", "--actor", "ada"]);
    let printed = watching.next();
    assert_eq!((&printed["kind"], &printed["actor"]), (&json!("var.set"), &json!("ada")));
    assert_eq!(printed["files"], json!(["variables.json"]));
    let newest = project.json(&["op", "log", "--limit", "1"])["operations"][0].clone();
    assert_eq!(printed, newest);
    for n in 0..30 {
        project.ok(&["var", "set", "a", &n.to_string()]);
    }
    let mut parent = printed["id"].clone();
    for _ in 0..30 {
        let next = watching.next();
        assert_eq!(next["parent"], parent, "none is left out, none comes twice");
        parent = next["id"].clone();
    }
}

#[test]
fn a_watch_begins_now_or_after_a_revision() {
    let project = Project::new();
    let first = project.json(&["var", "set", "a", "1"])["revision"].clone();
    project.ok(&["var", "set", "a", "2"]);
    let mut since = Watching::begin(&project, &["--since", first.as_str().unwrap()]);
    assert_eq!(since.next()["parent"], first);
    // Operations before it is ready are not seen: repeat until one is.
    let mut now = Watching::begin(&project, &["--limit", "1"]);
    let mut n = 0;
    while now.child.try_wait().unwrap().is_none() {
        n += 1;
        project.ok(&["var", "set", "b", &n.to_string()]);
    }
    assert_eq!(now.next()["kind"], "var.set");
    let unknown = project.run(&["watch", "--since", "ffffffffffff", "--json"]);
    assert_eq!((unknown.code, unknown.json()["error"]["code"].clone()), (1, json!("not_found")));
}

#[test]
fn a_state_that_is_not_there_yet_is_waited_for() {
    let project = Project::empty();
    let mut watching = Watching::begin(&project, &ALL);
    project.ok(&["init", "--goal", "Later"]);
    assert_eq!(watching.next()["kind"], "init");
    project.ok(&["var", "set", "a", "1"]);
    assert_eq!(watching.next()["kind"], "var.set");
}

#[test]
fn a_lost_log_does_not_end_the_watch() {
    let project = Project::new();
    let mut watching = Watching::begin(&project, &ALL);
    assert_eq!(watching.next()["kind"], "init");
    fs::remove_dir_all(project.path(".statedir")).unwrap();
    project.ok(&["var", "set", "a", "1"]);
    assert_eq!(watching.next()["kind"], "adopt");
    assert_eq!(watching.next()["kind"], "var.set");
    project.ok(&["gc", "--older-than", "0s"]);
    project.ok(&["var", "set", "a", "2"]);
    assert_eq!(watching.next()["kind"], "var.set");
}

#[test]
fn a_watch_ends_when_nobody_reads_it() {
    let project = Project::new();
    let mut watching = Watching::begin(&project, &ALL);
    watching.next();
    drop(watching.lines.take());
    let status = watching.child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_conflict_tells_what_changed_since() {
    let project = Project::with_steps(1);
    let seen = project.json(&["status"])["revision"].as_str().unwrap().to_owned();
    project.ok(&["var", "set", "a", "1", "--actor", "ada"]);
    project.ok(&["step", "start", "1", "--actor", "bob"]);
    let answer = project.refused(3, &["var", "set", "b", "2", "--if-match", &seen]);
    let changed = answer["changed"].as_array().unwrap();
    let printed: Vec<_> =
        changed.iter().map(|op| (op["kind"].as_str(), op["actor"].as_str())).collect();
    assert_eq!(printed, [(Some("var.set"), Some("ada")), (Some("step.start"), Some("bob"))]);
    assert_eq!(changed[0]["files"], json!(["variables.json"]));
    assert!(changed.iter().all(|op| op["id"].is_string()));
    assert_eq!(answer["complete"], true);
    let text = project.run(&["var", "set", "b", "2", "--if-match", &seen]);
    assert_eq!(text.code, 3);
    assert!(
        text.stderr.contains("since then var.set by ada (variables.json), step.start by bob"),
        "{}",
        text.stderr
    );

    // An edit outside that no command has recorded yet is a change, too.
    let now = project.json(&["status"])["revision"].as_str().unwrap().to_owned();
    project.edit("context.md", "#", "# ");
    let answer = project.refused(3, &["var", "set", "b", "2", "--if-match", &now]);
    assert_eq!(answer["changed"].as_array().unwrap().last().unwrap()["kind"], "external");
    let answer = project.refused(3, &["var", "set", "b", "2", "--if-match", "ffffffffffff"]);
    assert_eq!((&answer["changed"], &answer["known"]), (&json!([]), &json!(false)));
}

#[test]
fn claims_have_an_age_and_can_be_listed_by_actor() {
    let project = Project::with_steps(3);
    let at = |time: &str, args: &[&str]| {
        let output = project.command(args).env("STATEDIR_NOW", time).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    at("2026-01-31T12:00:00Z", &["step", "start", "1", "--actor", "ada"]);
    at("2026-01-31T12:30:00Z", &["step", "start", "2", "--actor", "bob"]);
    let list = at("2026-01-31T13:05:00Z", &["step", "list"]);
    let stale = "(by ada@build7 for 1h 5m; stale: no sign of life for 1h 5m, more than 1h; statedir step take 1)";
    let alive = "(by bob@build7 for 35m; last sign of life 35m ago)";
    assert!(list.contains(stale) && list.contains(alive), "{list}");
    let all = at("2026-01-31T13:05:00Z", &["step", "list", "--actor", "bob"]);
    assert_eq!(all.lines().count(), 3, "--actor is who acts: {all}");
    let list = at("2026-01-31T13:05:00Z", &["step", "list", "--claimed-by", "bob", "--json"]);
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["steps"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&list["steps"][0]["number"], &list["steps"][0]["claim_age_ms"]),
        (&json!(2), &json!(2_100_000))
    );
}
