//! The commands of a fleet, with a database in SQLite and a second machine.
//!
//! What holds: what was acknowledged is in the database; a project has one lease; and after the
//! command was repeated another machine gets the published files byte for byte.

use std::{fs, process::Command};

use serde_json::Value;

use super::{
    outside::Outside,
    scene::{self, MACHINES, run},
};
use crate::builder::{Project, Ran};

/// Runs a command as another machine of the fleet, in its own copy of the project.
fn run_on_beta(project: &Project, args: &[&str]) -> Ran {
    let home = project.root().join(MACHINES).join("beta");
    fs::create_dir_all(&home).unwrap();
    let mut command: Command = project.command(args);
    scene::on_machine(&mut command, project, "beta").current_dir(&home);
    Ran::from(command.output().unwrap())
}

fn ok(project: &Project, args: &[&str]) {
    let ran = run(project, args);
    assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
}

fn ok_on_beta(project: &Project, args: &[&str]) {
    let ran = run_on_beta(project, args);
    assert_eq!(ran.code, 0, "{args:?} on beta: {}{}", ran.stdout, ran.stderr);
}

/// A database and a state that is not in it.
fn alone(project: &Project) {
    fs::create_dir_all(project.root().join(MACHINES)).unwrap();
    scene::busy(project);
    ok(project, &["fleet", "init"]);
}

fn joined(project: &Project) {
    alone(project);
    ok(project, &["fleet", "join", "--name", "billing", "--for", "10h"]);
}

fn changed(project: &Project) {
    joined(project);
    ok(project, &["step", "done", "1", "--output", "rows=42"]);
}

fn released(project: &Project) {
    joined(project);
    ok(project, &["fleet", "release", "billing"]);
}

/// Beta has the lease and the newest files; alpha has an older copy.
fn elsewhere(project: &Project) {
    joined(project);
    ok_on_beta(project, &["fleet", "steal", "billing", "--why", "test", "--for", "10h"]);
    ok_on_beta(project, &["fleet", "pull", "billing"]);
    ok_on_beta(project, &["-C", "billing/state", "step", "skip", "4"]);
    ok_on_beta(project, &["-C", "billing/state", "fleet", "push", "--for", "10h"]);
}

/// The same, and alpha has changes that it has not published.
fn apart(project: &Project) {
    elsewhere(project);
    ok(project, &["history", "add", "Only here"]);
}

/// A lease that has run out, of a machine that was in the middle of a step.
fn expired(project: &Project) {
    alone(project);
    ok(project, &["fleet", "join", "--name", "billing", "--for", "1s"]);
    std::thread::sleep(std::time::Duration::from_millis(1100));
}

/// What the database says: who has the lease, and the files as another machine gets them.
fn published(project: &Project) -> Result<Value, String> {
    let list = run_on_beta(project, &["fleet", "list", "--json"]);
    if list.code != 0 {
        return Err(format!("fleet list: {}{}", list.stdout, list.stderr));
    }
    let found: Value = serde_json::from_str(&list.stdout).map_err(|error| error.to_string())?;
    let mut seen = Vec::new();
    for one in found["projects"].as_array().into_iter().flatten() {
        let name = one["name"].as_str().unwrap_or_default();
        let copy = tempfile::tempdir().unwrap();
        let place = copy.path().join("state").display().to_string();
        let pulled = run_on_beta(project, &["fleet", "pull", name, &place]);
        let kept = run_on_beta(project, &["-C", &place, "history", "verify"]);
        if pulled.code != 0 || kept.code != 0 {
            return Err(format!("`{name}` cannot be pulled: {}{}", pulled.stderr, kept.stdout));
        }
        seen.push(serde_json::json!({
            "name": name,
            "host": one["lease"]["host"],
            "steps": one["metadata"]["steps"],
            "done": one["metadata"]["steps_done"],
        }));
    }
    Ok(Value::from(seen))
}

/// Every command that writes to the database.
pub fn all() -> Vec<Outside> {
    let scene = |name, args: &[&str], prepare: fn(&Project), done_already| {
        let mut scene = Outside::new(name, args, prepare, done_already);
        scene.elsewhere = Some(published);
        scene
    };
    let join = ["fleet", "join", "--name", "billing", "--for", "10h"];
    vec![
        scene("fleet init", &["fleet", "init"], scene::busy_on_a_machine, ""),
        scene("fleet join", &join, alone, "already"),
        scene("fleet push", &["fleet", "push", "--for", "10h"], changed, ""),
        scene("fleet release", &["fleet", "release", "billing"], joined, "does not have"),
        scene("fleet claim", &["fleet", "claim", "billing", "--for", "10h"], released, ""),
        scene("fleet steal", &["fleet", "steal", "billing", "--why", "x"], elsewhere, "already"),
        scene("fleet pull", &["fleet", "pull", "billing"], elsewhere, ""),
        scene("fleet pull to a new place", &["fleet", "pull", "billing", "copy"], elsewhere, ""),
        scene("fleet pull --merge", &["fleet", "pull", "billing", "--merge"], apart, ""),
        scene("fleet recover", &["fleet", "recover", "--all", "--apply"], expired, ""),
        scene("fleet agent", &["fleet", "agent", "--once"], changed, ""),
    ]
}
