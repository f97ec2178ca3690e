//! Keeping a state under a name and going back to it: exact bytes, nothing lost, always undoable.

use std::fs;

use serde_json::{Value, json};

use crate::builder::Project;

fn names(project: &Project) -> Vec<String> {
    let list = project.json(&["checkpoint", "list"]);
    let all = list["checkpoints"].as_array().unwrap().iter();
    all.map(|line| line["name"].as_str().unwrap().to_owned()).collect()
}

/// The files without the history.
fn rewritable(project: &Project) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut files = project.files();
    files.remove("history.md");
    files
}

fn statuses(project: &Project) -> Vec<String> {
    let list = project.json(&["step", "list"]);
    let steps = list["steps"].as_array().unwrap().iter();
    steps.map(|step| step["status"].as_str().unwrap().to_owned()).collect()
}

/// Step 1 done, step 2 running; then a checkpoint; then steps 2 and 3 done and more changed.
fn went_on() -> Project {
    let project = Project::with_steps(4);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    project.ok(&["step", "start", "2"]);
    project.ok(&["checkpoint", "create", "half-way", "-m", "tests pass"]);
    project.ok(&["step", "done", "2"]);
    project.ok(&["step", "start", "3"]);
    project.ok(&["step", "done", "3", "--output", "rows=4"]);
    project.ok(&["var", "set", "late", "true"]);
    project.ok(&["context", "add", "found later"]);
    project
}

#[test]
fn a_restore_gives_back_the_exact_bytes_and_can_be_undone_and_redone() {
    let project = Project::with_steps(2);
    project.edit("context.md", "\n", "\r\n");
    project.write("variables.json", project.read("variables.json").replace("\n  ", "\n\t"));
    project.ok(&["checkpoint", "create", "then"]);
    let then = rewritable(&project);
    project.ok(&["step", "start", "1"]);
    project.ok(&["var", "set", "x", "1"]);
    project.write("workflow.yaml", "# not there then\n");
    let now = rewritable(&project);
    let history = project.read("history.md");
    let answer = project.json(&["checkpoint", "restore", "then"]);
    assert_eq!(rewritable(&project), then);
    assert!(!project.path("workflow.yaml").exists());
    assert_eq!(answer["saved_as"], "auto-1");
    assert!(project.read("history.md").starts_with(&history));
    assert!(project.read("history.md").contains("### Restored"));
    project.ok(&["undo"]);
    assert_eq!(rewritable(&project), now);
    project.ok(&["redo"]);
    assert_eq!(rewritable(&project), then);
    project.ok(&["checkpoint", "restore", "auto-1"]);
    assert_eq!(rewritable(&project), now);
    project.ok(&["history", "verify"]);
    assert_eq!(names(&project), ["auto-2", "auto-1", "then"]);
    let again = project.json(&["checkpoint", "restore", "auto-1"]);
    assert_eq!(again["committed"], false, "nothing to restore is no operation");
}

#[test]
fn an_operation_is_a_moment_to_go_back_to() {
    let project = Project::new();
    let first = project.json(&["var", "set", "a", "1"])["revision"].clone();
    let then = rewritable(&project);
    project.ok(&["var", "set", "a", "2"]);
    project.ok(&["var", "set", "a", "3"]);
    project.ok(&["checkpoint", "restore", "@-2"]);
    assert_eq!(rewritable(&project), then);
    project.ok(&["undo"]);
    project.ok(&["restore", first.as_str().unwrap()]);
    assert_eq!(rewritable(&project), then);
    let refusal = project.refused(1, &["checkpoint", "restore", "nowhere"]);
    assert_eq!(refusal["error"]["code"], "not_found");
}

#[test]
fn only_the_named_files_are_restored() {
    let project = went_on();
    let (plan, context) = (project.read("plan.md"), project.read("context.md"));
    project.ok(&["checkpoint", "restore", "half-way", "--only", "variables"]);
    assert_eq!((project.read("plan.md"), project.read("context.md")), (plan, context));
    assert!(!project.read("variables.json").contains("late"));
    let refusal = project.refused(1, &["checkpoint", "restore", "half-way", "--only", "history"]);
    assert_eq!(refusal["error"]["code"], "append_only");
    assert_eq!(project.run(&["checkpoint", "restore", "half-way", "--only", "x"]).code, 2);
}

#[test]
fn rewinding_puts_unfinished_steps_back_to_pending() {
    let project = went_on();
    assert_eq!(statuses(&project), ["COMPLETED", "COMPLETED", "COMPLETED", "PENDING"]);
    let answer = project.json(&["checkpoint", "restore", "half-way", "--rewind"]);
    assert_eq!(answer["rewound"], json!([2]));
    assert_eq!(statuses(&project), ["COMPLETED", "PENDING", "PENDING", "PENDING"]);
    assert_eq!(project.json(&["check"])["findings"], json!([]));
    project.ok(&["undo"]);
    assert_eq!(statuses(&project), ["COMPLETED", "COMPLETED", "COMPLETED", "PENDING"]);
}

#[test]
fn rewinding_without_the_plan_takes_back_what_was_finished_since() {
    let project = went_on();
    project.ok(&["step", "start", "4"]);
    project.ok(&["step", "done", "4"]);
    assert_eq!(project.json(&["status"])["status"], "COMPLETED_SUCCESS");
    let only = ["checkpoint", "restore", "half-way", "--only", "context,variables", "--rewind"];
    let answer = project.json(&only);
    assert_eq!(answer["rewound"], json!([2, 3, 4]));
    assert_eq!(statuses(&project), ["COMPLETED", "PENDING", "PENDING", "PENDING"]);
    assert_eq!(project.json(&["status"])["status"], "IN_PROGRESS");
    assert_eq!(project.json(&["check"])["findings"], json!([]));
}

#[test]
fn damaged_files_are_kept_and_restored_from() {
    let project = went_on();
    project.write("plan.md", b"\xff\xfe broken \x00");
    project.write("variables.json", "{ not json");
    project.write("workflow.yaml", "[1, 2");
    project.ok(&["checkpoint", "create", "broken"]);
    let broken = project.files();
    project.ok(&["checkpoint", "restore", "half-way"]);
    assert_eq!(statuses(&project)[1], "RUNNING");
    project.ok(&["checkpoint", "restore", "broken"]);
    for name in ["plan.md", "variables.json", "workflow.yaml"] {
        assert_eq!(project.files()[name], broken[name], "{name}");
    }
    project.ok(&["undo"]);
    assert_eq!(statuses(&project)[1], "RUNNING");
}

#[test]
fn a_restore_works_without_a_history_and_says_so() {
    let project = went_on();
    fs::remove_file(project.path("history.md")).unwrap();
    let answer = project.json(&["checkpoint", "restore", "half-way"]);
    assert!(answer["notices"].to_string().contains("history.md"), "{answer}");
    assert!(!project.read("variables.json").contains("late"));
}

#[test]
fn names_are_unique_plain_and_free_ones_are_found() {
    let project = Project::new();
    project.ok(&["checkpoint", "create", "one"]);
    assert_eq!(project.refused(1, &["checkpoint", "create", "one"])["error"]["code"], "exists");
    for bad in ["../x", ".x", "@-1", "working", "a b", "auto-9", "", "x/y", "8f3a2c91b0d4"] {
        let refusal = project.refused(1, &["checkpoint", "create", bad]);
        assert_eq!(refusal["error"]["code"], "bad_name", "{bad}");
    }
    project.ok(&["checkpoint", "create"]);
    project.ok(&["checkpoint", "create"]);
    assert_eq!(names(&project), ["cp-2", "cp-1", "one"]);
    let hint = project.refused(1, &["checkpoint", "show", "onee"])["error"]["hint"].clone();
    assert_eq!(hint, "did you mean `one`?");
}

#[test]
fn a_checkpoint_survives_undo_and_a_deleted_one_comes_back() {
    let project = Project::new();
    project.ok(&["var", "set", "a", "1"]);
    project.ok(&["checkpoint", "create", "kept"]);
    let undone = project.json(&["undo"]);
    assert_eq!(undone["undone"]["kind"], "var.set", "a checkpoint is not in the way of undo");
    project.ok(&["checkpoint", "create", "other"]);
    project.ok(&["redo"]);
    assert_eq!(names(&project), ["other", "kept"]);
    project.ok(&["checkpoint", "delete", "kept"]);
    assert_eq!(names(&project), ["other"]);
    project.ok(&["gc", "--older-than", "0s"]);
    project.ok(&["undo"]);
    assert_eq!(names(&project), ["other", "kept"]);
    project.ok(&["redo"]);
    assert_eq!(names(&project), ["other"]);
    project.ok(&["undo"]);
    project.ok(&["checkpoint", "restore", "kept"]);
    project.ok(&["checkpoint", "delete", "kept"]);
    project.ok(&["checkpoint", "create", "kept"]);
    project.ok(&["undo"]);
    assert!(names(&project).contains(&"kept-2".to_owned()), "a name given away is not taken back");
    project.ok(&["redo"]);
    assert!(names(&project).contains(&"kept".to_owned()), "nor is the new one removed for it");
}

#[test]
fn a_dry_run_shows_the_way_back_and_writes_nothing() {
    let project = went_on();
    let before = project.files();
    let log = fs::read(project.path(".statedir/log/00000001.log")).unwrap();
    let shown = project.json(&["checkpoint", "restore", "half-way", "--dry-run"]);
    assert!(shown["diff"].as_str().unwrap().contains("-  \"late\": true"), "{shown}");
    project.ok(&["checkpoint", "create", "x", "--dry-run"]);
    project.ok(&["checkpoint", "delete", "half-way", "--dry-run"]);
    assert_eq!(project.files(), before);
    assert_eq!(fs::read(project.path(".statedir/log/00000001.log")).unwrap(), log);
    assert_eq!(names(&project), ["half-way"]);
    let moved = ["checkpoint", "restore", "half-way", "--if-match", "000011112222"];
    assert_eq!(project.refused(3, &moved)["error"]["code"], "revision_moved");
}

#[test]
fn an_import_and_a_rule_take_automatic_checkpoints() {
    let project = went_on();
    let document = project.ok(&["state"]).stdout;
    let before = rewritable(&project);
    project.ok_with_input(&["import", "-", "--replace"], &document);
    assert_eq!(names(&project), ["auto-1", "half-way"]);
    project.ok(&["checkpoint", "restore", "auto-1"]);
    assert_eq!(rewritable(&project), before);
    project.ok(&["rule", "add", "If a step fails → checkpoint \"after failure\""]);
    project.ok(&["step", "start", "4"]);
    let answer = project.json(&["step", "fail", "4", "--error", "no"]);
    assert_eq!(answer["checkpoints"][0]["name"], "after-failure", "{answer}");
    let shown = project.json(&["checkpoint", "show", "after-failure"]);
    assert_eq!(shown["steps"][3]["status"], "FAILED");
    assert_eq!(shown["checkpoint"]["automatic"], true);
}

#[test]
fn a_collection_drops_old_automatic_checkpoints_and_never_a_named_one() {
    let project = went_on();
    project.ok(&["checkpoint", "restore", "half-way"]);
    assert_eq!(names(&project), ["auto-1", "half-way"]);
    let then = rewritable(&project);
    let mut command = project.command(&["gc", "--older-than", "7d", "--json"]);
    let output = command.env("STATEDIR_NOW", "2099-01-01T00:00:00Z").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["checkpoints_dropped"], 1, "{report}");
    assert_eq!(names(&project), ["half-way"]);
    project.ok(&["var", "set", "x", "1"]);
    project.ok(&["checkpoint", "restore", "half-way"]);
    assert_eq!(rewritable(&project), then);
}

#[test]
fn a_cut_history_is_noticed_because_a_checkpoint_knows_its_end() {
    let project = Project::new();
    project.ok(&["history", "add", "One"]);
    let len = project.read("history.md").len();
    project.ok(&["checkpoint", "create", "anchor"]);
    project.ok(&["history", "verify"]);
    // Without the log, only the checkpoint has the content.
    let history = project.read("history.md");
    project.write("history.md", &history[..len]);
    fs::remove_dir_all(project.path(".statedir/log")).unwrap();
    fs::remove_file(project.path(".statedir/head")).unwrap();
    let refusal = project.refused(4, &["history", "verify"]);
    assert_eq!(refusal["verification"]["problems"][0]["kind"], "cut_tail", "{refusal}");
    project.write("history.md", &history);
    project.ok(&["history", "verify"]);
}

#[test]
fn a_damaged_checkpoint_hides_no_other_and_is_reported() {
    let project = Project::new();
    project.ok(&["checkpoint", "create", "good"]);
    project.ok(&["checkpoint", "create", "bad"]);
    let path = project.path(".statedir/checkpoints/00000002-bad");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("tester", "forger")).unwrap();
    let list = project.json(&["checkpoint", "list"]);
    assert_eq!((&list["damaged"], list["total"].as_u64()), (&json!(["bad"]), Some(1)));
    let findings = project.json(&["check"])["findings"].clone();
    assert_eq!(findings[0]["code"], "checkpoint_damaged", "{findings}");
    assert_eq!(project.run(&["checkpoint", "restore", "bad"]).code, 4);
    project.ok(&["checkpoint", "restore", "good"]);
}

#[test]
fn a_checkpoint_is_an_operation_for_diff_op_show_and_apply() {
    let project = Project::new();
    let batch = r#"[{"op": "var.set", "path": "a", "value": 1},
        {"op": "checkpoint.create", "name": "batch", "message": "in one go"},
        {"op": "var.set", "path": "b", "value": 2}]"#;
    project.ok_with_input(&["apply", "-"], batch);
    project.ok(&["var", "set", "a", "5"]);
    let diff = project.ok(&["diff", "batch"]).stdout;
    assert!(diff.contains("5") && !diff.contains("\"b\": 2\n+"), "{diff}");
    assert_eq!(project.json(&["op", "show", "batch"])["operation"]["kind"], "apply");
    project.ok(&["checkpoint", "restore", "batch"]);
    assert_eq!(project.json(&["var", "get", "a"])["value"], 1);
    assert_eq!(project.json(&["var", "get", "b"])["value"], 2, "the state after all changes");
    let last = &project.json(&["state"])["last_checkpoint"];
    assert_eq!((&last["name"], &last["automatic"]), (&json!("auto-1"), &json!(true)));
}

#[test]
fn a_checkpoint_costs_what_changed_and_not_the_history() {
    let project = Project::new();
    project.ok(&["history", "add", "Long", &format!("notes={}", "x".repeat(100_000))]);
    project.ok(&["checkpoint", "create", "one"]);
    let size = || {
        let files = fs::read_dir(project.path(".statedir/objects")).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>()
    };
    let first = size();
    assert!(first < 10_000, "{first}");
    project.ok(&["checkpoint", "create", "two"]);
    assert_eq!(size(), first, "nothing changed, nothing stored");
    project.ok(&["var", "set", "a", "1"]);
    project.ok(&["checkpoint", "create", "three"]);
    assert_eq!(size() - first, project.read("variables.json").len() as u64);
}

/// Overwrites the image of the plan in a checkpoint with as many other bytes.
fn spoil_plan_image(project: &Project, name: &str) {
    let shown = project.json(&["checkpoint", "show", name]);
    let hash = shown["files"]["plan.md"]["hash"].as_str().unwrap().to_owned();
    let path = project.path(&format!(".statedir/objects/{hash}"));
    let len = fs::read(&path).unwrap().len();
    fs::write(&path, vec![b'#'; len]).unwrap();
}

#[test]
fn a_restore_on_a_damaged_log_says_how_to_go_back() {
    let project = Project::with_steps(4);
    project.ok(&["checkpoint", "create", "c"]);
    project.ok(&["var", "set", "a", "1"]);
    let sound = project.json(&["restore", "c", "--dry-run"]);
    assert_eq!(sound["notices"], Value::Null, "control");
    let now = rewritable(&project);
    let log = project.path(".statedir/log/00000001.log");
    let mut bytes = fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&log, bytes).unwrap();
    let answer = project.json(&["restore", "c"]);
    assert!(answer["notices"].to_string().contains("statedir restore auto-1"), "{answer}");
    let refusal = project.refused(4, &["undo"]);
    assert_eq!(refusal["error"]["code"], "log_damaged");
    let hint = refusal["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("check --fix") && hint.contains("restore auto-1"), "{hint}");
    project.ok(&["restore", "auto-1"]);
    assert_eq!(rewritable(&project), now);
}

#[test]
fn a_restore_on_a_sound_log_says_nothing_of_damage() {
    let project = Project::new();
    project.ok(&["checkpoint", "create", "c"]);
    project.ok(&["var", "set", "a", "1"]);
    assert_eq!(project.json(&["restore", "c"])["notices"], Value::Null);
    project.ok(&["undo"]);
}

#[test]
fn a_damaged_checkpoint_is_set_aside_and_its_name_is_free_again() {
    for fix in [&["checkpoint", "delete", "bad"][..], &["check", "--fix"]] {
        let project = Project::new();
        project.ok(&["checkpoint", "create", "bad"]);
        project.ok(&["var", "set", "a", "1"]);
        fs::write(project.path(".statedir/checkpoints/00000001-bad"), "garbage").unwrap();
        let refusal = project.refused(4, &["restore", "bad"]);
        assert!(refusal["error"]["hint"].to_string().contains("checkpoint delete bad"));
        let refusal = project.refused(1, &["checkpoint", "create", "bad"]);
        assert!(refusal["error"]["hint"].to_string().contains("checkpoint delete bad"));
        project.ok(&["checkpoint", "delete", "bad", "--dry-run"]);
        assert!(project.path(".statedir/checkpoints/00000001-bad").exists());
        project.ok(fix);
        let salvage = fs::read_dir(project.path(".statedir/salvage")).unwrap();
        let kept: Vec<_> = salvage.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
        assert_eq!(kept, [b"garbage"]);
        assert_eq!(project.json(&["check"])["findings"], json!([]));
        project.ok(&["checkpoint", "create", "bad"]);
        project.ok(&["restore", "bad"]);
    }
}

#[test]
fn a_spoilt_image_is_taken_from_the_log_and_healed() {
    let project = went_on();
    let shown = project.json(&["checkpoint", "show", "half-way"]);
    spoil_plan_image(&project, "half-way");
    assert_eq!(project.json(&["checkpoint", "show", "half-way"]), shown);
    let findings = project.json(&["check"])["findings"].clone();
    assert_eq!(findings[0]["code"], "checkpoint_damaged", "{findings}");
    assert!(findings[0]["hint"].to_string().contains("check --fix"), "{findings}");
    project.ok(&["check", "--fix"]);
    assert_eq!(project.json(&["check"])["findings"], json!([]));
    fs::remove_dir_all(project.path(".statedir/log")).unwrap();
    project.ok(&["restore", "half-way"]);
    assert_eq!(statuses(&project), ["COMPLETED", "RUNNING", "PENDING", "PENDING"]);
}

#[test]
fn a_restore_that_changes_nothing_says_what_is_missing_and_claims_no_more() {
    let project = went_on();
    project.ok(&["restore", "half-way", "--rewind"]);
    let again = project.ok(&["restore", "half-way", "--rewind"]).stdout;
    assert!(!again.contains("already match"), "{again}");
    project.ok(&["restore", "half-way"]);
    let same = project.json(&["restore", "half-way"]);
    assert_eq!(same["notices"], Value::Null, "control");
    fs::remove_file(project.path("history.md")).unwrap();
    project.run(&["var", "list"]);
    let same = project.json(&["restore", "half-way"]);
    let notices = same["notices"].to_string();
    assert!(notices.contains("history.md") && notices.contains("check --fix"), "{notices}");
}

#[test]
fn no_limit_lists_all_checkpoints() {
    let project = Project::new();
    project.ok(&["checkpoint", "create", "one"]);
    project.ok(&["checkpoint", "create", "two"]);
    let list = project.json(&["checkpoint", "list", "--limit", "0"]);
    assert_eq!(list["checkpoints"].as_array().unwrap().len(), 2);
    assert_eq!(list["more"], false);
}

#[test]
fn a_step_that_was_put_back_shows_no_time() {
    let project = Project::with_steps(1);
    project.ok(&["checkpoint", "create", "c"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    assert!(project.ok(&["status"]).stdout.contains("took"), "control");
    project.ok(&["restore", "c"]);
    let status = project.ok(&["status"]).stdout;
    assert!(status.contains("PENDING") && !status.contains("took"), "{status}");
}

#[test]
fn an_age_without_a_unit_is_refused() {
    let project = Project::new();
    assert_eq!(project.run(&["gc", "--older-than", "7"]).code, 2);
    project.ok(&["gc", "--older-than", "7d", "--dry-run"]);
}
