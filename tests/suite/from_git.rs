//! A state whose files or log are lost is recovered from commits.

use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    builder::{FIVE, Project},
    merge::repository::Repository,
};

const RECOVER: [&str; 2] = ["recover", "--from-git"];

/// A repository with a state of two steps and two more commits that worked on it.
fn worked() -> Option<Repository> {
    let repository = Repository::without_driver(2)?;
    repository.project.ok(&["step", "start", "1"]);
    repository.commit("begin");
    repository.project.ok(&["step", "done", "1", "--note", "went well"]);
    repository.commit("finish the first");
    Some(repository)
}

fn lose_log(project: &Project) {
    fs::remove_dir_all(project.path(".statedir")).unwrap();
}

fn lose(project: &Project, names: &[&str]) {
    for name in names {
        fs::remove_file(project.path(name)).unwrap();
    }
}

fn kinds(project: &Project) -> Vec<String> {
    let log = project.json(&["op", "log"]);
    let operations = log["operations"].as_array().unwrap();
    operations.iter().map(|op| op["kind"].as_str().unwrap().to_owned()).collect()
}

fn assert_sound(project: &Project) {
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
}

#[test]
fn a_lost_log_is_made_of_the_commits_and_reaches_back() {
    let Some(repository) = worked() else { return };
    let project = &repository.project;
    let files = project.files();
    lose_log(project);
    let dry = project.json(&[&RECOVER[..], &["--dry-run"]].concat());
    assert_eq!((&dry["operations"], &dry["log"]), (&json!(3), &json!("rebuilt")));
    assert!(!project.path(".statedir").exists(), "a dry run writes nothing");
    let answer = project.json(&RECOVER);
    assert_eq!((&answer["operations"], &answer["edited"]), (&json!(3), &json!([])));
    assert_eq!((&answer["restored"], &answer["passed_over"]), (&json!([]), &json!([])));
    assert_eq!(project.files(), files);
    assert_eq!(kinds(project), ["git", "git", "git"]);
    assert_sound(project);
    let newest = &project.json(&["op", "log"])["operations"][0];
    assert_eq!(newest["actor"], "tester");
    let command = newest["command"].as_str().unwrap();
    assert!(command.starts_with("git ") && command.ends_with(" finish the first"), "{command}");
    assert!(project.ok(&["diff", "@-2"]).stdout.contains("COMPLETED"));
    project.ok(&["undo"]);
    assert!(project.read("plan.md").contains("RUNNING"));
    project.ok(&["undo"]);
    assert!(!project.read("plan.md").contains("RUNNING"));
    project.refused(1, &["undo"]);
    assert_sound(project);
    let leftover = project.path(".statedir/rebuild");
    assert!(!leftover.exists());
}

#[test]
fn doing_it_again_does_nothing() {
    let Some(repository) = worked() else { return };
    let project = &repository.project;
    assert!(project.ok(&RECOVER).stdout.contains("nothing to do"), "nothing is lost");
    lose_log(project);
    lose(project, &["context.md"]);
    project.ok(&RECOVER);
    let log = project.json(&["op", "log"]);
    let answer = project.json(&RECOVER);
    assert_eq!((&answer["log"], &answer["restored"]), (&json!("kept"), &json!([])));
    assert_eq!(project.json(&["op", "log"]), log);
}

#[test]
fn lost_files_come_back_and_edits_are_kept() {
    let Some(repository) = worked() else { return };
    let project = &repository.project;
    let files = project.files();
    lose_log(project);
    lose(project, &["plan.md", "history.md"]);
    let variables = project.read("variables.json").replacen('{', "{\n  \"mine\": 1,", 1);
    project.write("variables.json", &variables);
    let ran = project.ok(&RECOVER);
    let head = repository.git(&["rev-parse", "HEAD"]);
    let line = format!("restored plan.md from commit {}", &head[..12]);
    assert!(ran.stdout.contains(&line), "{}", ran.stdout);
    assert!(ran.stdout.contains("edited since the newest commit: variables.json"));
    for name in ["plan.md", "history.md"] {
        assert_eq!(project.read(name).as_bytes(), files[name]);
    }
    assert_eq!(project.read("variables.json"), variables);
    assert_eq!(kinds(project), ["external", "git", "git", "git"]);
    assert_sound(project);
}

/// The older version is what the last operation started from: it must not look like an interrupted operation.
#[test]
fn a_file_as_an_older_commit_has_it_is_left_alone() {
    let Some(repository) = worked() else { return };
    let project = &repository.project;
    repository.git(&["checkout", "HEAD~1", "--", "workspace/state/plan.md"]);
    let older = project.read("plan.md");
    lose_log(project);
    project.ok(&RECOVER);
    assert_eq!(project.read("plan.md"), older);
    project.ok(&["var", "set", "a", "1"]);
    assert_eq!(project.read("plan.md"), older);
    assert_eq!(kinds(project), ["var.set", "external", "git", "git", "git"]);
}

#[test]
fn a_damaged_version_is_passed_over_for_an_older_one() {
    let Some(repository) = worked() else { return };
    let project = &repository.project;
    let good = project.files();
    project.write("variables.json", "{ no json");
    project.write("context.md", b"\xff\xfe");
    let history = project.read("history.md");
    project.write("history.md", history.replacen("went well", "went badly", 1));
    repository.commit("damaged");
    let damaged = repository.git(&["rev-parse", "HEAD"]).trim().to_owned();
    lose_log(project);
    lose(project, &FIVE);
    let answer = project.json(&RECOVER);
    assert_eq!(project.files(), good);
    let passed = answer["passed_over"].as_array().unwrap();
    let mut names: Vec<&str> = passed.iter().filter_map(|one| one["file"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["context.md", "history.md", "variables.json"], "{answer}");
    assert!(passed.iter().all(|one| one["commit"] == damaged && one["why"].is_string()));
    assert_sound(project);
    project.ok(&["undo"]);
    assert_sound(project);
}

#[cfg(unix)]
#[test]
fn a_committed_link_is_not_a_state_file() {
    let Some(repository) = worked() else { return };
    let project = &repository.project;
    let good = project.read("plan.md");
    lose(project, &["plan.md"]);
    std::os::unix::fs::symlink("/etc/passwd", project.path("plan.md")).unwrap();
    repository.commit("link");
    lose(project, &["plan.md"]);
    lose_log(project);
    let answer = project.json(&RECOVER);
    assert_eq!(answer["passed_over"][0]["why"], "not a regular file");
    assert_eq!(project.read("plan.md"), good);
}

#[test]
fn merges_are_one_operation_each_and_bring_back_the_merged_history() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    repository.on("work", &[&["history", "add", "There"]]);
    repository.on("main", &[&["history", "add", "Here"]]);
    assert!(repository.merges("work"));
    project.ok(&["history", "add", "After"]);
    repository.commit("after");
    let files = project.files();
    lose_log(project);
    lose(project, &["history.md"]);
    let answer = project.json(&RECOVER);
    assert_eq!(project.files(), files, "{answer}");
    let commands: Vec<Value> = project.json(&["op", "log"])["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|op| op["command"].clone())
        .collect();
    let named = |word: &str| commands.iter().any(|one| one.as_str().unwrap().contains(word));
    assert!(!named(" work"), "the other side is no operation of its own: {commands:?}");
    repository.assert_history(project.json(&["history", "verify"])["entries"].as_u64().unwrap());
    assert_sound(project);
}

#[test]
fn a_rewritten_history_is_captured_as_an_edit() {
    let Some(repository) = worked() else { return };
    let project = &repository.project;
    let longer = project.read("history.md");
    repository.git(&["checkout", "HEAD~2", "--", "workspace/state/history.md"]);
    repository.commit("shortened");
    project.write("history.md", &longer);
    repository.commit("as before");
    lose_log(project);
    project.ok(&RECOVER);
    assert_eq!(kinds(project), ["git", "external", "git", "git", "git"]);
    assert_eq!(project.read("history.md"), longer);
    assert_sound(project);
}

#[test]
fn what_no_commit_has_is_listed_and_the_rest_is_done() {
    let Some(repository) = worked() else { return };
    let project = &repository.project;
    repository.git(&["rm", "--quiet", "--cached", "workspace/state/context.md"]);
    repository.git(&["commit", "--quiet", "--amend", "-m", "x"]);
    // Only the amended commit has no context.md, so it is still found before it.
    lose_log(project);
    lose(project, &["context.md"]);
    assert_eq!(project.json(&RECOVER)["restored"][0]["file"], "context.md");

    let bare = Project::with_steps(1);
    let git = |args: &[&str]| repository.try_git_in(bare.root(), args);
    assert_eq!(git(&["init", "--quiet"]).code, 0);
    fs::write(bare.root().join(".gitignore"), "context.md\n").unwrap();
    git(&["add", "-A"]);
    assert_eq!(git(&["commit", "--quiet", "-m", "most"]).code, 0);
    lose_log(&bare);
    lose(&bare, &["context.md", "plan.md"]);
    let ran = bare.run(&[&RECOVER[..], &["--json"]].concat());
    let answer = ran.json();
    assert_eq!((ran.code, &answer["error"]["code"]), (4, &json!("not_in_git")));
    assert_eq!(answer["not_found"], json!(["context.md"]));
    assert!(bare.path("plan.md").exists() && !bare.path("context.md").exists());
    assert_eq!(kinds(&bare), ["git"]);
}

#[test]
fn with_nothing_committed_everything_is_listed_and_nothing_written() {
    let project = Project::with_steps(1);
    let outside = project.refused(1, &RECOVER);
    assert_eq!(outside["error"]["code"], "no_repository");
    let Some(repository) = worked() else { return };
    let git = |args: &[&str]| repository.try_git_in(project.root(), args);
    assert_eq!(git(&["init", "--quiet"]).code, 0);
    assert_eq!(project.json(&RECOVER)["log"], "kept");
    lose_log(&project);
    let answer = project.refused(4, &RECOVER);
    assert_eq!(answer["not_found"], json!([".statedir/log"]));
    fs::remove_dir_all(project.root().join("workspace")).unwrap();
    let answer = project.refused(4, &RECOVER);
    assert_eq!(answer["not_found"].as_array().unwrap().len(), 6, "{answer}");
    assert!(!project.root().join("workspace").exists());
}

#[test]
fn a_state_directory_that_is_wholly_gone_is_found_from_anywhere() {
    let Some(repository) = worked() else { return };
    let project = &repository.project;
    let sub = project.root().join("deep [x]/er");
    fs::create_dir_all(&sub).unwrap();
    fs::rename(project.root().join("workspace"), sub.join("workspace")).unwrap();
    repository.commit("moved");
    let state = sub.join("workspace/state");
    let plan = fs::read(state.join("plan.md")).unwrap();
    let state_text = state.to_str().unwrap().to_owned();
    let sub_text = sub.to_str().unwrap().to_owned();
    for args in [vec![], vec!["-C", &state_text], vec!["-C", &sub_text]] {
        fs::remove_dir_all(sub.join("workspace")).unwrap();
        project.ok(&[&args[..], &RECOVER].concat());
        assert_eq!(fs::read(state.join("plan.md")).unwrap(), plan, "{args:?}");
        project.ok(&["-C", &state_text, "history", "verify"]);
    }
    fs::remove_dir_all(sub.join("workspace")).unwrap();
    let inner = sub.join("src");
    fs::create_dir_all(&inner).unwrap();
    let ran = project.command(&RECOVER).current_dir(&inner).output().unwrap();
    assert!(ran.status.success());
    assert_eq!(fs::read(state.join("plan.md")).unwrap(), plan);
}

#[test]
fn what_the_log_knows_is_newer_than_the_commits() {
    let Some(repository) = worked() else { return };
    let project = &repository.project;
    project.ok(&["step", "start", "2"]);
    project.ok(&["history", "add", "Not committed"]);
    let files = project.files();
    lose(project, &["plan.md", "history.md"]);
    let dry = project.json(&[&RECOVER[..], &["--dry-run"]].concat());
    assert_eq!(dry["from_log"], json!(["plan.md", "history.md"]), "{dry}");
    assert!(!project.path("plan.md").exists(), "a dry run writes nothing");
    let answer = project.json(&RECOVER);
    assert_eq!((&answer["from_log"], &answer["restored"]), (&dry["from_log"], &json!([])));
    assert_eq!(project.files(), files);
    assert_sound(project);
    lose(project, &["plan.md"]);
    let ran = project.ok(&RECOVER);
    assert!(ran.stdout.contains("restored plan.md from the operation log"), "{}", ran.stdout);
    // A log that never saw the file leaves it to git.
    lose_log(project);
    lose(project, &["plan.md"]);
    project.refused(4, &["step", "add", "x"]);
    assert!(project.path(".statedir/log").exists());
    let answer = project.json(&RECOVER);
    assert_eq!(
        (&answer["from_log"], &answer["restored"][0]["file"]),
        (&json!([]), &json!("plan.md"))
    );
    project.ok(&["history", "verify"]);
}

#[test]
fn a_file_that_the_log_does_not_know_is_not_promised_by_it() {
    let Some(repository) = worked() else { return };
    let committed = &repository.project;
    let alone = Project::with_steps(1);
    for (project, way) in [(committed, "recover --from-git"), (&alone, "statedir init")] {
        lose_log(project);
        lose(project, &["plan.md"]);
        let hint = |answer: &Value| answer["error"]["hint"].as_str().unwrap_or_default().to_owned();
        let finding = |answer: &Value| {
            let all = answer["findings"].as_array().unwrap();
            let one = all.iter().find(|one| one["code"] == "file_missing").unwrap();
            one["hint"].as_str().unwrap().to_owned()
        };
        // The second round has a log that has adopted what was left.
        for _ in 0..2 {
            let checked = project.refused(4, &["check"]);
            let hints = [
                hint(&project.refused(4, &["step", "list"])),
                finding(&checked),
                hint(&project.refused(4, &["status"])),
                hint(&project.refused(4, &["recover"])),
                hint(&project.refused(4, &["step", "add", "x"])),
            ];
            for hint in hints {
                assert!(hint.contains(way) && !hint.contains("check --fix"), "{hint}");
            }
            assert!(!hint(&checked).contains("check --fix"), "{checked}");
        }
    }
    committed.ok(&RECOVER);
    alone.ok(&["init", "--goal", "Compare three vector databases"]);
    assert!(alone.path("plan.md").exists());
    // The control: what the log has is left to `check --fix`.
    committed.ok(&["step", "add", "Known to the log"]);
    lose(committed, &["plan.md"]);
    let refusal = committed.refused(4, &["step", "list"]);
    assert!(refusal["error"]["hint"].as_str().unwrap().contains("check --fix"), "{refusal}");
}

#[test]
fn it_stands_alone() {
    let Some(repository) = worked() else { return };
    let project = &repository.project;
    for other in [&["--apply"][..], &["--decide", "skip_task"], &["--all", "."]] {
        project.refused(2, &[&RECOVER[..], other].concat());
    }
    project.refused(2, &[&RECOVER[..], &["--if-match", "0123456789ab"]].concat());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..Default::default() })]

    /// Whatever was committed and whatever is lost: the files are as they were, and every commit
    /// that changed the state can be looked at and taken back.
    #[test]
    fn any_loss_after_any_work_is_made_good(
        work in prop::collection::vec(0..5_u8, 1..8),
        lost in prop::collection::vec(any::<bool>(), FIVE.len()),
    ) {
        let Some(repository) = Repository::without_driver(1) else { return Ok(()) };
        let project = &repository.project;
        let mut versions = vec![project.files()];
        for (at, kind) in work.iter().enumerate() {
            let text = format!("text {at}");
            match kind {
                0 => project.ok(&["var", "set", "key", &text]),
                1 => project.ok(&["history", "add", &text]),
                2 => project.ok(&["step", "add", &text]),
                3 => project.ok(&["context", "add", &text]),
                _ => project.ok(&["event", "emit", "note"]),
            };
            repository.commit(&text);
            versions.push(project.files());
        }
        versions.dedup();
        lose_log(project);
        let lost: Vec<&str> =
            FIVE.iter().zip(&lost).filter(|(_, lost)| **lost).map(|(name, _)| *name).collect();
        lose(project, &lost);
        let answer = project.json(&RECOVER);
        prop_assert_eq!(&project.files(), versions.last().unwrap(), "{}", answer);
        prop_assert_eq!(answer["operations"].as_u64(), Some(versions.len() as u64));
        prop_assert_eq!(answer["restored"].as_array().map(Vec::len), Some(lost.len()));
        assert_sound(project);
        prop_assert_eq!(&project.json(&RECOVER)["log"], "kept");
    }
}
