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
        let kept = project.in_builtin_words(fs::read(place.join(name)).unwrap());
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

#[test]
fn undo_and_redo_pass_over_a_move_there_and_back() {
    let project = Project::with_steps(1);
    project.ok(&["var", "set", "a", "1"]);
    let with = project.read("variables.json");
    project.ok(&["archive", "--force"]);
    project.ok(&["archive", "restore", "exec_"]);
    assert!(project.json(&["undo", "--dry-run"])["changed"].to_string().contains("variables"));
    project.ok(&["undo"]);
    assert_ne!(project.read("variables.json"), with);
    project.ok(&["archive", "--force"]);
    project.ok(&["archive", "restore", "exec_"]);
    project.ok(&["redo"]);
    assert_eq!(project.read("variables.json"), with);
}

#[test]
#[cfg(unix)]
fn a_linked_archive_is_not_followed() {
    let project = finished();
    let elsewhere = project.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let link = project.root().join("workspace/archive");
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    for args in [&["archive"][..], &["archive", "list"], &["archive", "restore", "x"]] {
        let refusal = project.refused(1, args);
        assert_eq!(refusal["error"]["code"], "not_a_directory", "{args:?}");
        assert!(refusal["error"]["hint"].is_string());
    }
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    fs::remove_file(&link).unwrap();
    project.ok(&["archive"]);
}

#[test]
fn what_cannot_be_an_archive_or_a_state_is_reported_with_a_hint() {
    let project = finished();
    let place = project.root().join("workspace/archive");
    fs::write(&place, "").unwrap();
    for args in [&["archive"][..], &["archive", "list"]] {
        let error = project.refused(1, args)["error"].clone();
        assert!(error["message"].to_string().contains("workspace/archive"), "{error}");
        assert!(error["hint"].is_string(), "{error}");
    }
    let file = place.display().to_string();
    for args in [&["-C", &file, "status"][..], &["-C", &file, "archive", "list"]] {
        let error = project.refused(1, args)["error"].clone();
        assert!(error["message"].to_string().contains("is a file"), "{error}");
    }
    let nowhere = project.root().join("no/where").display().to_string();
    let refusal = project.refused(1, &["-C", &nowhere, "archive", "list"]);
    assert_eq!(refusal["error"]["code"], "not_found");
}

#[test]
fn an_empty_name_means_no_archived_state() {
    let project = finished();
    project.ok(&["archive"]);
    assert_eq!(project.refused(1, &["archive", "show", ""])["error"]["code"], "bad_name");
    assert_eq!(project.refused(1, &["archive", "restore", " "])["error"]["code"], "bad_name");
}

#[test]
fn a_rehearsal_does_not_claim_to_have_recorded_an_edit() {
    let project = finished();
    project.write("context.md", project.read("context.md") + "\nby hand\n");
    let notices = project.json(&["archive", "--dry-run"])["notices"].to_string();
    assert!(notices.contains("not yet recorded"), "{notices}");
    let notices = project.json(&["archive"])["notices"].to_string();
    assert!(notices.contains("recorded an edit"), "{notices}");
}
