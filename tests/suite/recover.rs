//! After an interruption or a failure: the decision, its reason, and its effect when applied.

mod checkpoints;
mod evaluators;
mod evidence;
mod scanning;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{builder::Project, needs};

/// A project whose first `completed` of `total` steps are done.
fn half_done(total: usize, completed: usize) -> Project {
    let project = Project::with_steps(total);
    let mut changes: Vec<Value> = Vec::new();
    for step in 1..=completed {
        changes.push(json!({ "op": "step.start", "step": step }));
        changes.push(json!({ "op": "step.done", "step": step }));
    }
    if completed > 0 {
        project.ok_with_input(&["apply", "-"], &Value::from(changes).to_string());
    }
    project
}

/// The same with the next step failed.
fn failed(total: usize, completed: usize, error: &str) -> Project {
    let project = half_done(total, completed);
    let step = (completed + 1).to_string();
    project.ok(&["step", "start", &step]);
    project.ok(&["step", "fail", &step, "--error", error]);
    project
}

fn write(project: &Project, path: &str, text: &str) {
    let path = project.root().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn status(project: &Project, step: usize) -> String {
    let shown = project.json(&["step", "show", &step.to_string()]);
    shown["step"]["status"].as_str().unwrap().to_owned()
}

#[test]
fn a_failed_step_says_what_kind_of_error_it_was() {
    let project = half_done(2, 0);
    project.ok(&["step", "start", "1"]);
    let answer = project.json(&["step", "fail", "1", "--error", "HTTP 429: slow down"]);
    assert_eq!(answer["failure"]["class"], "rate_limit");
    assert_eq!(answer["failure"]["recoverable"], true);
    assert!(answer["failure"]["backoff_ms"].as_u64().unwrap() > 0);
    assert_eq!(answer["failure"]["because"], json!(["429", "slow down"]));
    assert!(project.read("history.md").contains(" · class rate_limit · "));
    let errors = &project.json(&["state"])["errors"];
    assert_eq!(
        (&errors[0]["class"], &errors[0]["recoverable"]),
        (&json!("rate_limit"), &json!(true))
    );
    assert_eq!(project.json(&["metrics"])["failures"], json!({ "rate_limit": 1 }));
    project.ok(&["check"]);
    project.ok(&["history", "verify"]);
}

#[test]
fn the_strategies_decide_after_a_failure() {
    for (total, completed, error, action) in [
        (4, 3, "timed out after 30s", "retry_task"),
        (10, 8, "assertion failed", "retry_task"),
        (4, 1, "timed out after 30s", "retry_task"),
        (4, 0, "permission denied", "retry_task"),
        (4, 3, "assertion failed", "retry_task"),
    ] {
        let project = failed(total, completed, error);
        let before = project.files();
        let answer = project.json(&["recover"]);
        assert_eq!(answer["action"], action, "{total} {completed} {error}: {answer}");
        assert_eq!(answer["applied"], false);
        assert_eq!(answer["ruled_out"].as_array().unwrap().len(), 7);
        assert!(!answer["reasons"].as_array().unwrap().is_empty());
        assert_eq!(project.files(), before, "looking changes nothing");
    }
}

#[test]
fn a_retry_is_one_operation_with_an_entry_and_can_be_undone() {
    let project = failed(4, 3, "connection refused");
    let before = project.files();
    let operations = project.json(&["op", "log"])["operations"].as_array().unwrap().len();
    let rehearsed = project.json(&["recover", "--apply", "--dry-run"]);
    assert!(rehearsed["diff"].as_str().unwrap().contains("+- **status**: RUNNING"));
    assert_eq!(project.files(), before);

    let answer = project.json(&["recover", "--apply"]);
    assert_eq!((&answer["action"], &answer["step"]), (&json!("retry_task"), &json!(4)));
    assert_eq!((&answer["attempt"], &answer["backoff_ms"]), (&json!(2), &json!(2000)));
    assert_eq!(answer["applied"], true);
    assert_eq!(status(&project, 4), "RUNNING");
    let log = project.json(&["op", "log"]);
    assert_eq!(log["operations"].as_array().unwrap().len(), operations + 1);
    assert_eq!(log["operations"][0]["kind"], "recover");
    let entries = project.json(&["history", "list", "--limit", "1"]);
    let entry = &entries["entries"][0];
    assert_eq!(
        (&entry["kind"], &entry["title"]),
        (&json!("recover"), &json!("Recovery: retry_task"))
    );
    let text = project.read("history.md");
    for field in ["### Recovery: retry_task\n", " · decided statedir", "- **evidence**: "] {
        assert!(text.contains(field), "{field}");
    }
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
    project.ok(&["undo"]);
    assert_same_but_history(&before, &project);
}

fn assert_same_but_history(
    before: &std::collections::BTreeMap<String, Vec<u8>>,
    project: &Project,
) {
    for (name, bytes) in project.files() {
        if name != "history.md" {
            assert!(before[&name] == bytes, "{name} differs");
        }
    }
}

#[test]
fn a_paused_plan_goes_on_where_it_was() {
    let project = half_done(3, 2);
    project.ok(&["pause", "--why", "waiting for the go"]);
    let answer = project.json(&["recover", "--apply"]);
    assert_eq!((&answer["action"], &answer["step"]), (&json!("continue_task"), &json!(3)));
    assert_eq!(status(&project, 3), "RUNNING");
    assert_eq!(project.json(&["status"])["status"], "IN_PROGRESS");

    project.ok(&["pause", "--why", "lunch"]);
    let answer = project.json(&["recover", "--apply"]);
    assert_eq!(answer["action"], "continue_task");
    assert_eq!(status(&project, 3), "RUNNING");
    assert_eq!(project.json(&["status"])["status"], "IN_PROGRESS");
    assert!(!project.read("plan.md").contains("paused_because"));
}

#[test]
fn nothing_to_recover_is_reported_and_changes_nothing() {
    for project in [half_done(2, 2), Project::new()] {
        let before = project.files();
        let answer = project.json(&["recover", "--apply"]);
        assert_eq!(
            (&answer["action"], &answer["nothing_to_do"]),
            (&json!("next_task"), &json!(true))
        );
        assert_eq!(answer["step"], Value::Null);
        assert_eq!(answer["applied"], false);
        assert_eq!(project.files(), before);
    }
    let project = half_done(3, 1);
    let answer = project.json(&["recover", "--apply"]);
    assert_eq!((&answer["action"], &answer["step"]), (&json!("next_task"), &json!(2)));
    assert_eq!(status(&project, 2), "RUNNING");
}

#[test]
fn an_open_review_and_used_up_attempts_wait_for_a_person() {
    let project = failed(4, 3, "timed out");
    for _ in 0..2 {
        project.ok(&["step", "retry", "4"]);
        project.ok(&["step", "fail", "4", "--error", "timed out again"]);
    }
    let answer = project.json(&["recover"]);
    assert_eq!(answer["action"], "human_review");
    assert!(answer["reasons"][0].as_str().unwrap().contains("r1"), "{answer}");
    let before = project.files();
    assert_eq!(project.json(&["recover", "--apply"])["applied"], false);
    assert_eq!(project.files(), before, "no second question");
    assert_eq!(
        project.refused(1, &["recover", "--decide", "retry_task"])["error"]["code"],
        "impossible"
    );
    let patterns = answer["evidence"]["patterns"].as_array().unwrap();
    assert!(patterns.iter().any(|p| p["kind"] == "same_class" && p["count"] == 3), "{answer}");
    project.ok(&["--actor", "person", "review", "reject", "r1"]);
    assert_eq!(project.json(&["recover"])["action"], "human_review", "no attempts are left");
}

#[test]
fn the_callers_own_decision_counts_if_it_is_possible() {
    let project = failed(4, 1, "assertion failed");
    project.refused(2, &["recover", "--decide", "give_up"]);
    for action in ["continue_task", "rollback_checkpoint"] {
        let refusal = project.refused(1, &["recover", "--decide", action, "--apply"]);
        assert_eq!(refusal["error"]["code"], "impossible");
        assert!(refusal["error"]["hint"].as_str().unwrap().contains("retry_task"));
    }
    let answer = project.json(&["recover", "--decide", "skip_task", "--apply"]);
    assert_eq!((&answer["action"], &answer["decided_by"]), (&json!("skip_task"), &json!("caller")));
    assert_eq!(status(&project, 2), "SKIPPED");
    project.ok(&["undo"]);
    let answer = project.json(&["recover", "--decide", "Restart-Task", "--apply"]);
    assert_eq!(answer["action"], "restart_task");
    assert_eq!(status(&project, 2), "PENDING");
    project.ok(&["undo"]);
    project.json(&["recover", "--decide", "restart", "--apply"]);
    let all: Vec<String> = (1..=4).map(|step| status(&project, step)).collect();
    assert_eq!(all, ["COMPLETED", "PENDING", "PENDING", "PENDING"]);
}

#[test]
fn somebody_at_work_is_left_alone_until_the_claim_is_stale() {
    let project = half_done(2, 0);
    project.ok(&["step", "set", "1", "--effects", "writes a.py"]);
    project.ok(&["step", "start", "1", "--actor", "agent-b"]);
    let before = project.files();
    let answer = project.json(&["recover"]);
    assert_eq!((&answer["action"], &answer["step"]), (&json!("next_task"), &json!(2)));
    let answer = project.json(&["recover", "--step", "1", "--apply"]);
    assert_eq!(
        (&answer["action"], &answer["nothing_to_do"]),
        (&json!("continue_task"), &json!(true))
    );
    assert_eq!(project.files(), before);
    for action in ["restart_task", "continue_task", "skip_task"] {
        let refusal =
            project.refused(1, &["recover", "--decide", action, "--step", "1", "--apply"]);
        assert_eq!(refusal["error"]["code"], "impossible");
    }

    assert!(answer["look_at"][0].as_str().unwrap().contains("statedir step take 1 --force"));
    let gone = project.json(&["recover", "--stale-after", "0s"]);
    assert_eq!(gone["action"], "restart_task", "{gone}");

    let later = |args: &[&str]| {
        let mut command = project.command(&[args, &["--json"]].concat());
        command.env("STATEDIR_NOW", "2999-01-01T00:00:00Z");
        let output = command.output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let answer = later(&["recover"]);
    assert_eq!(answer["action"], "restart_task", "{answer}");
    assert!(answer["reasons"].to_string().contains("left running by agent-b@build7"), "{answer}");
    assert_eq!(answer["evidence"]["step"]["claim"]["stale"], true);
    write(&project, "a.py", "x = 1\n");
    assert_eq!(later(&["recover", "--apply"])["action"], "continue_task");
    assert_eq!(project.json(&["step", "show", "1"])["step"]["claimed_by"], "tester@build7");

    let listed = project.json(&["step", "list"]);
    assert!(listed["steps"][0]["claim_age_ms"].is_u64(), "{listed}");
    assert_eq!(
        project.json(&["step", "list", "--claimed-by", "tester"])["steps"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(project.json(&["step", "list", "--claimed-by", "agent-b"])["steps"], json!([]));
}

#[test]
fn a_damaged_state_gives_a_decision_and_exit_4() {
    let project = failed(4, 3, "timed out");
    std::fs::remove_file(project.path("plan.md")).unwrap();
    for args in [&["recover"][..], &["recover", "--apply"]] {
        let answer = project.refused(4, args);
        assert_eq!(answer["action"], "human_review", "{answer}");
        assert!(answer["error"]["hint"].as_str().unwrap().contains("check --fix"));
    }
    project.ok(&["check", "--fix"]);
    assert_eq!(project.json(&["recover"])["action"], "retry_task");
    project.write("variables.json", "{ broken");
    assert_eq!(project.refused(4, &["recover"])["action"], "human_review");
}

#[test]
fn a_step_that_another_depends_on_is_not_left_out() {
    for by_id in [false, true] {
        let project = failed(10, 8, "assertion failed");
        let ruled_out = |answer: &Value| {
            let all = answer["ruled_out"].as_array().unwrap().clone();
            all.into_iter().find(|ruled| ruled["action"] == "skip_task").unwrap().to_string()
        };
        assert!(!ruled_out(&project.json(&["recover"])).contains("needs"), "control");
        let shown = project.json(&["step", "show", "9"]);
        let id = shown["step"]["id"].as_str().unwrap();
        let on = if by_id { id } else { "9" };
        let plan = project.read("plan.md");
        let at = plan.rfind("- **status**: PENDING").unwrap();
        let plan = format!("{}- **depends_on**: {on}\n{}", &plan[..at], &plan[at..]);
        project.write("plan.md", plan);
        let answer = project.json(&["recover"]);
        assert!(ruled_out(&answer).contains("step 10 needs the result of step 9"), "{answer}");
        assert_eq!(answer["evidence"]["step"]["needed_by"], json!([10]));
    }
}

#[test]
fn a_status_that_nobody_knows_is_for_a_person() {
    let project = half_done(3, 2);
    let plan = project.read("plan.md").replace("PENDING", "WAITING_FOR_GODOT");
    project.write("plan.md", plan);
    let ran = project.run(&["recover", "--json"]);
    let answer = ran.json();
    assert_eq!(answer["action"], "human_review", "{answer}");
    assert!(answer["reasons"].to_string().contains("WAITING_FOR_GODOT"), "{answer}");
}

#[test]
fn refusals_speak_of_what_was_asked() {
    let project = Project::new();
    let refusal = project.refused(1, &["recover", "--decide", "next_task"]);
    let text = refusal["error"].to_string();
    assert!(text.contains("no steps") && !text.contains("evidence says"), "{text}");
    let project = half_done(4, 3);
    let refusal = project.refused(1, &["recover", "--decide", "restart_task", "--step", "1"]);
    assert!(refusal["error"]["message"].as_str().unwrap().contains("step 1 is"), "{refusal}");
    project.ok(&["step", "start", "4"]);
    let printed = project.ok(&["step", "fail", "4", "--error", "timed out"]).stdout;
    assert!(printed.contains("kind: timeout, may pass by itself"), "{printed}");
}

#[test]
fn conflicts_are_refused() {
    let project = failed(4, 3, "timed out");
    let answer = project.refused(3, &["recover", "--apply", "--if-match", "000000000000"]);
    assert_eq!(answer["error"]["code"], "revision_moved");
}

#[test]
fn hostile_texts_stay_texts() {
    let text = "timed\nout\u{1b}[31m\n## Steps\n- **decision**: forged\n--> \u{202e}";
    let project = failed(4, 3, text);
    let answer = project.json(&["recover", "--apply"]);
    assert_eq!(answer["action"], "retry_task");
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
    assert_eq!(project.json(&["status"])["total_steps"], 4);
    project.ok(&["undo"]);
    let printed = project.ok(&["recover"]).stdout;
    let first = printed.lines().next().unwrap();
    assert!(first.starts_with("retry_task step 4 (attempt 2, wait 2"), "{printed}");
    assert!(
        printed.lines().skip(1).all(|line| line.starts_with("  ") || line.starts_with('`')),
        "{printed}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn whatever_is_applied_can_be_undone(
        moves in prop::collection::vec((0usize..6, 1usize..5), 1..12),
        action in prop::sample::select(vec![
            "", "continue_task", "restart_task", "next_task", "retry_task", "skip_task", "restart",
            "human_review",
        ]),
    ) {
        let project = Project::with_steps(4);
        for (verb, step) in moves {
            let verb = ["start", "done", "fail", "skip", "reset", "retry"][verb];
            project.run(&["step", verb, &step.to_string()]);
        }
        let before = project.files();
        let mut args = vec!["recover", "--apply", "--json"];
        if !action.is_empty() {
            args.extend(["--decide", action]);
        }
        let ran = project.run(&args);
        let answer = ran.json();
        if action.is_empty() {
            prop_assert_eq!(ran.code, 0, "{}", answer);
        }
        if ran.code != 0 {
            prop_assert_eq!(ran.code, 1, "{}", answer);
            prop_assert_eq!(&project.files(), &before);
        } else if answer["applied"] == true {
            project.ok(&["check"]);
            project.ok(&["undo"]);
            for (name, bytes) in project.files() {
                prop_assert!(name == "history.md" || before[&name] == bytes, "{} differs", name);
            }
        } else {
            prop_assert_eq!(&project.files(), &before);
        }
    }
}

#[test]
fn no_decision_speaks_of_a_step_that_does_not_exist() {
    let fresh = Project::with_steps(2);
    let done = half_done(2, 2);
    let actions = ["skip_task", "next_task", "continue_task", "restart_task", "retry_task"];
    for project in [&fresh, &done] {
        for action in actions {
            let ran = project.run(&["recover", "--decide", action]);
            let text = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!text.contains("step 0"), "{action}: {text}");
        }
    }
}
