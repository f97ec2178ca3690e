//! Finished executions are moved aside whole, and come back.

use std::{fs, path::PathBuf, process::Stdio};

use serde_json::json;

use crate::builder::Project;

fn finished() -> Project {
    let project = Project::with_steps(1);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    project
}

fn archived(project: &Project) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(project.root().join("workspace/archive")) else {
        return Vec::new();
    };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Gives the execution a name by hand.
fn call_it(project: &Project, name: &str) {
    let id = project.json(&["status"])["execution_id"].as_str().unwrap().to_owned();
    project.edit("plan.md", &id, name);
}

#[test]
fn a_finished_state_is_moved_whole_and_init_starts_anew() {
    let project = finished();
    project.ok(&["checkpoint", "create", "end"]);
    let files = project.files();
    let id = project.json(&["status"])["execution_id"].as_str().unwrap().to_owned();
    let answer = project.json(&["archive"]);
    assert_eq!(answer["archived"], id);
    assert!(!project.dir().exists());
    let [place] = archived(&project).try_into().unwrap();
    for (name, bytes) in &files {
        let kept = fs::read(place.join(name)).unwrap();
        assert!(kept.starts_with(bytes), "{name}");
        assert!(kept == *bytes || name == "history.md", "{name}");
    }
    assert!(fs::read_to_string(place.join("history.md")).unwrap().contains("### Archived"));
    assert_eq!(project.json(&["archive", "list"])["archived"][0]["percent"], 100);
    assert_eq!(project.json(&["archive", "show", "exec_"])["archived"]["id"], id);
    project.ok(&["init", "--goal", "The next one"]);
    let refusal = project.refused(1, &["archive", "restore", &id]);
    assert_eq!(refusal["error"]["code"], "exists");
    fs::remove_dir_all(project.dir()).unwrap();
    project.ok(&["archive", "restore", "exec_"]);
    assert_eq!(project.json(&["status"])["percent"], 100);
    project.ok(&["history", "verify"]);
    project.ok(&["checkpoint", "restore", "end", "--dry-run"]);
    assert_eq!(project.json(&["check"])["findings"], json!([]));
    assert!(archived(&project).is_empty());
}

#[test]
fn an_unfinished_state_stays_unless_forced_and_names_do_not_collide() {
    let project = Project::with_steps(1);
    assert_eq!(project.refused(1, &["archive"])["error"]["code"], "not_finished");
    call_it(&project, "../../../evil name");
    let dry = project.json(&["archive", "--force", "--dry-run"]);
    assert!(project.dir().exists() && dry["to"].as_str().unwrap().ends_with("archive/evil-name"));
    project.ok(&["archive", "--force"]);
    project.ok(&["init", "--goal", "again"]);
    call_it(&project, "evil name");
    assert_eq!(project.json(&["archive", "--force"])["archived"], "evil-name-2");
    assert_eq!(archived(&project).len(), 2);
    assert_eq!(project.refused(1, &["archive", "show", "evil"])["error"]["code"], "ambiguous");
    let root = project.root().display().to_string();
    project.ok(&["-C", &root, "init", "--goal", "named by its project"]);
    assert!(project.dir().exists(), "the project is still known as one");
}

#[test]
fn a_directory_that_holds_more_than_a_state_is_not_moved() {
    let project = finished();
    fs::create_dir(project.path(".git")).unwrap();
    assert_eq!(project.refused(1, &["archive"])["error"]["code"], "not_movable");
}

#[test]
fn whoever_waits_for_the_lock_does_not_write_into_the_archive() {
    let project = finished();
    let lock = fs::File::open(project.path(".statedir/lock")).unwrap();
    lock.lock().unwrap();
    let mut waiting = project.command(&["var", "set", "late", "1", "--json"]);
    let waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Long enough to be waiting for the lock, however slow the machine: it is not let in before.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let elsewhere = project.root().join("workspace/elsewhere");
    fs::rename(project.dir(), &elsewhere).unwrap();
    let before = fs::read(elsewhere.join("variables.json")).unwrap();
    drop(lock);
    let output = waiting.wait_with_output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    // Had it not begun yet, it would have found nothing at all.
    assert!(matches!(output.status.code(), Some(3 | 1)), "{answer}");
    assert_eq!(fs::read(elsewhere.join("variables.json")).unwrap(), before);
    assert!(!project.dir().exists(), "half a state was made");
}
