//! Attempts, failures and their limit; what a step needs to be done.

use serde_json::{Value, json};

use crate::builder::{Project, texts};

fn limited(limit: &str, steps: usize) -> Project {
    let project = Project::empty();
    let set = format!("retry_limit={limit}");
    project.ok(&["init", "--goal", "Compare three vector databases", "--set", &set]);
    for n in 1..=steps {
        project.ok(&["step", "add", &format!("Do part {n}")]);
    }
    project
}

fn fail(project: &Project, step: &str, error: &str) -> Value {
    let begin = if project.run(&["step", "start", step]).code == 0 { "start" } else { "retry" };
    if begin == "retry" {
        project.ok(&["step", "retry", step]);
    }
    project.json(&["step", "fail", step, "--error", error])
}

fn counts(project: &Project, at: usize) -> (u64, u64) {
    let step = project.json(&["step", "list"])["steps"][at].clone();
    (step["attempts"].as_u64().unwrap(), step["failures"].as_u64().unwrap_or(0))
}

#[test]
fn init_sets_the_limit() {
    let project = limited("2", 1);
    assert!(fail(&project, "1", "timeout")["reviews_opened"].is_null());
    let second = fail(&project, "1", "timeout");
    assert_eq!(second["reviews_opened"], json!(["r1"]), "{second}");
    assert_eq!(project.json(&["status"])["retry_limit"], 2);
    project.ok(&["check"]);
    let refused = Project::empty();
    let ran = refused.run(&["init", "--goal", "x", "--set", "retry_limit=0"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("between 1 and 100"), "{}", ran.stderr);
}

#[test]
fn interruptions_and_rework_are_not_failures() {
    let project = limited("3", 1);
    for _ in 0..3 {
        project.ok(&["step", "start", "1"]);
        project.ok(&["step", "reset", "1", "--note", "the process died"]);
    }
    let failed = fail(&project, "1", "timeout");
    assert!(failed["reviews_opened"].is_null(), "{failed}");
    assert_eq!(counts(&project, 0), (4, 1));
    project.ok(&["step", "retry", "1"]);
    project.ok(&["step", "done", "1"]);
    project.ok(&["step", "reset", "1"]);
    assert_eq!(counts(&project, 0), (5, 1));
    // A rule counts the same.
    project.ok(&["rule", "add", "If step_failures >= 2 -> pause"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "reset", "1"]);
    assert_eq!(project.json(&["status"])["status"], "IN_PROGRESS");
    fail(&project, "1", "again");
    assert_eq!(project.json(&["status"])["status"], "PAUSED");
}

#[test]
fn attempts_and_failures_are_shown_apart_and_the_third_failure_asks_a_person() {
    let project = Project::with_steps(3);
    for _ in 0..4 {
        project.ok(&["step", "start", "1"]);
        project.ok(&["step", "reset", "1"]);
    }
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "fail", "1", "--error", "x"]);
    let step = project.json(&["step", "show", "1"])["step"].clone();
    assert_eq!((&step["attempts"], &step["failures"]), (&json!(5), &json!(1)));
    let status = project.ok(&["status"]).stdout;
    assert!(status.contains("attempt 5, failed 1 of 3"), "{status}");
    project.ok(&["step", "retry", "1"]);
    project.ok(&["step", "done", "1"]);
    // A finished step that is redone has not failed either.
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "done", "2"]);
    project.ok(&["step", "reset", "2"]);
    for _ in 0..2 {
        project.ok(&["step", "start", "2"]);
        project.ok(&["step", "fail", "2", "--error", "x"]);
        project.ok(&["step", "reset", "2"]);
    }
    assert!(project.json(&["review", "list"])["reviews"].as_array().unwrap().is_empty());
    project.ok(&["step", "start", "2"]);
    let third = project.json(&["step", "fail", "2", "--error", "x"]);
    assert_eq!(third["reviews_opened"], json!(["r1"]), "the third failure asks a person");
    project.ok(&["check"]);
}

#[test]
fn a_fresh_start_clears_the_counts_and_closes_the_review() {
    let project = limited("1", 2);
    assert_eq!(fail(&project, "1", "timeout")["reviews_opened"], json!(["r1"]));
    let refused = project.refused(1, &["step", "retry", "1"]);
    assert_eq!(refused["error"]["code"], "retry_limit");
    project.ok(&["step", "reset", "1", "--fresh"]);
    assert_eq!(counts(&project, 0), (0, 0));
    let reviews = project.json(&["review", "list", "--all"])["reviews"].clone();
    assert_eq!(reviews[0]["decision"], "closed", "{reviews}");
    project.ok(&["step", "start", "1"]);
    project.ok(&["check"]);
    // Nor does an approved extra attempt carry over to the fresh start.
    project.ok(&["step", "fail", "1", "--error", "timeout"]);
    project.ok(&["--actor", "ada", "review", "approve", "r2"]);
    project.ok(&["step", "reset", "1", "--fresh"]);
    fail(&project, "1", "timeout");
    assert_eq!(project.refused(1, &["step", "retry", "1"])["error"]["code"], "retry_limit");
    project.ok(&["undo"]);
}

#[test]
fn what_was_built_on_a_step_is_reopened_with_it() {
    let project = Project::with_steps(4);
    project.ok(&["step", "set", "2", "--depends-on", "1"]);
    project.ok(&["step", "set", "3", "--depends-on", "2"]);
    for step in ["1", "2", "3", "4"] {
        project.ok(&["step", "start", step]);
        project.ok(&["step", "done", step]);
    }
    let printed = project.ok(&["step", "reset", "1", "--dependents"]).stdout;
    assert!(printed.contains("(again: 1, 2, 3)"), "{printed}");
    let steps = project.json(&["step", "list"])["steps"].clone();
    let statuses: Vec<&str> =
        steps.as_array().unwrap().iter().map(|s| s["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["PENDING", "PENDING", "PENDING", "COMPLETED"]);
    assert_eq!(project.json(&["status"])["status"], "IN_PROGRESS");
    project.ok(&["undo"]);
    assert_eq!(project.json(&["status"])["status"], "COMPLETED_SUCCESS");
}

#[test]
fn a_note_for_the_next_attempt_is_passed_on_with_every_error() {
    let project = Project::with_steps(1);
    fail(&project, "1", "test_create_task failed: expected 201 got 422");
    project.ok(&["step", "retry", "1", "--note", "Add min_length=1 to the title"]);
    project.ok(&["step", "fail", "1", "--error", "expected 201 got 500"]);
    project.ok(&["step", "retry", "1", "--note", "Look at the handler"]);
    let brief = project.ok(&["brief", "--for", "1"]).stdout;
    for expected in [
        "attempt 1 failed: test_create_task failed: expected 201 got 422",
        "attempt 2 failed: expected 201 got 500",
        "Add min_length=1 to the title",
        "Look at the handler",
    ] {
        assert!(brief.contains(expected), "{expected}: {brief}");
    }
}

const ABANDONED: &str = "version: 1
retry_limit: 2
at_limit: abandoned
step:
  - {status: pending, role: open, next: [in_progress, skipped]}
  - {status: in_progress, role: active, next: [completed, failed, pending]}
  - {status: completed, role: done, next: [pending]}
  - {status: failed, role: failed, next: [in_progress, abandoned, pending]}
  - {status: abandoned, role: failed, next: [pending]}
  - {status: skipped, role: skipped, next: [pending]}
";

#[test]
fn a_step_is_given_up_at_its_limit() {
    let project = Project::with_lifecycle(false);
    project.begin(2);
    project.write("plan.md", project.read("plan.md").replace("PENDING", "pending"));
    project.write("workflow.yaml", ABANDONED);
    project.ok(&["step", "set", "2", "--depends-on", "1"]);
    fail(&project, "1", "one");
    let failed = fail(&project, "1", "two");
    assert_eq!(failed["step"]["status"], "abandoned", "{failed}");
    assert!(failed["message"].as_str().unwrap().contains("step reset 1 --fresh"), "{failed}");
    assert!(project.json(&["review", "list"])["reviews"].as_array().unwrap().is_empty());
    // Nothing that depends on it starts.
    assert_eq!(project.refused(1, &["step", "start", "2"])["error"]["code"], "dependency_open");
    assert_eq!(project.refused(1, &["step", "retry", "1"])["error"]["code"], "retry_limit");
    assert_eq!(project.json(&["status"])["failed"], 1);
    project.ok(&["check"]);
    project.ok(&["step", "reset", "1", "--fresh"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    project.ok(&["step", "start", "2"]);
}

#[test]
fn a_step_is_done_only_with_what_it_should_give() {
    let project = Project::new();
    project.ok(&["step", "add", "Plan", "--output", "plan=the file", "--output", "risk=how much"]);
    let own = match project.is_renamed() {
        true => std::fs::read_to_string(project.path("workflow.yaml")).unwrap(),
        false => "version: 1\nrequire_outputs: false\n".to_owned(),
    };
    project.write("workflow.yaml", own.replace("require_outputs: false", "require_outputs: true"));
    project.ok(&["step", "start", "1"]);
    let refused = project.refused(1, &["step", "done", "1", "--output", "plan=docs/7.md"]);
    assert_eq!(refused["error"]["code"], "output_missing");
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("--output risk="), "{hint}");
    // Failing or skipping it needs none of them.
    project.ok(&["step", "done", "1", "--output", "plan=docs/7.md", "--output", "risk=low"]);
}

#[test]
fn the_brief_for_a_step_has_the_error_of_every_attempt_and_every_note() {
    let project = limited("9", 1);
    project.ok(&["step", "start", "1"]);
    for attempt in 1..=8 {
        project.ok(&["step", "fail", "1", "--error", &format!("mishap {attempt}")]);
        project.ok(&["step", "retry", "1", "--note", &format!("advice {attempt}")]);
    }
    let brief = project.ok(&["brief", "--for", "1"]).stdout;
    for attempt in 1..=8 {
        assert!(brief.contains(&format!("mishap {attempt}")), "{attempt}: {brief}");
        assert!(brief.contains(&format!("advice {attempt}")), "{attempt}: {brief}");
    }
}

#[test]
fn an_attempt_that_ends_in_a_skip_is_not_a_failure() {
    let project = limited("2", 2);
    fail(&project, "1", "timeout");
    project.ok(&["step", "retry", "1"]);
    project.ok(&["step", "skip", "1", "--note", "not needed"]);
    assert_eq!(counts(&project, 0), (2, 1));
    let status = project.ok(&["status"]).stdout;
    assert!(status.contains("attempt 2, failed 1 of 2"), "{status}");
    // Nor does it count later.
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "skip", "2"]);
    project.ok(&["step", "reset", "2"]);
    let failed = fail(&project, "2", "timeout");
    assert!(failed["reviews_opened"].is_null(), "{failed}");
    assert_eq!(counts(&project, 1), (2, 1));
    project.ok(&["check"]);
}

#[test]
fn an_attempt_that_was_undone_is_no_earlier_attempt() {
    let project = Project::with_steps(2);
    fail(&project, "1", "the wrong step");
    project.ok(&["undo"]);
    let end = ["step", "fail", "1", "--error", "disk full", "--time", "10s"];
    project.ok(&end);
    let errors = |project: &Project| project.json(&["state"])["errors"].clone();
    assert_eq!(texts(&errors(&project), "error"), ["disk full"]);
    let metrics = project.json(&["metrics"]);
    assert_eq!(metrics["failures"].as_object().unwrap().values().next(), Some(&json!(1)));
    assert_eq!(metrics["steps"][0]["time_ms"], 10_000, "{metrics}");
    assert!(!project.ok(&["brief"]).stdout.contains("the wrong step"));
    let retried = project.json(&["step", "retry", "1"]);
    assert_eq!(retried["earlier_errors"], json!(["disk full"]), "{retried}");
    // A redo makes it count again.
    project.ok(&["undo"]);
    project.ok(&["undo"]);
    assert_eq!(errors(&project), json!([]));
    project.ok(&["redo"]);
    assert_eq!(texts(&errors(&project), "error"), ["disk full"]);
}

/// Given up by a person before the limit: no command leads back.
const FINAL: &str = "  - {status: abandoned, role: failed, next: []}";

#[test]
fn nobody_is_told_to_retry_a_step_that_was_given_up() {
    let project = Project::with_lifecycle(false);
    project.begin(2);
    project.write("plan.md", project.read("plan.md").replace("PENDING", "pending"));
    let old = "  - {status: abandoned, role: failed, next: [pending]}";
    project.write("workflow.yaml", ABANDONED.replace(old, FINAL));
    project.ok(&["rule", "add", "If a step fails → add directive \"slow down\""]);
    fail(&project, "1", "one");
    project.ok(&["directive", "remove", "1"]);
    let again = project.refused(1, &["step", "fail", "1", "--error", "two"])["error"].clone();
    assert_eq!(again["code"], "illegal_transition", "{again}");
    assert!(again["hint"].as_str().unwrap().contains("step move 1 abandoned"), "{again}");
    // The step failed before; another word for it is no second failure.
    project.ok(&["step", "move", "1", "abandoned"]);
    assert!(project.json(&["directive", "list"])["directives"].as_array().unwrap().is_empty());
    let next = project.json(&["status"])["next_move"].clone();
    assert_eq!(next["action"], "start", "{next}");
    let decision = project.json(&["recover"]);
    assert_ne!(decision["action"], "retry_task", "{decision}");
    for verb in ["retry", "reset"] {
        let hint = project.refused(1, &["step", verb, "1"])["error"]["hint"].to_string();
        assert!(hint.contains("nothing follows abandoned"), "{verb}: {hint}");
    }
}

#[test]
fn a_recovery_that_the_lifecycle_forbids_is_refused_with_and_without_apply() {
    let project = Project::with_lifecycle(false);
    project.begin(2);
    project.write("plan.md", project.read("plan.md").replace("PENDING", "pending"));
    let old = "  - {status: abandoned, role: failed, next: [pending]}";
    project.write("workflow.yaml", ABANDONED.replace(old, FINAL));
    fail(&project, "1", "one");
    let is_refused = |action: &str| {
        let decide = ["recover", "--decide", action];
        let before = project.files();
        let apply = [&decide[..], &["--apply"]].concat();
        let [shown, applied] =
            [&decide[..], &apply].map(|args| project.refused(1, args)["error"].clone());
        assert_eq!(shown, applied, "{action}");
        assert_eq!(shown["code"], "illegal_transition", "{action}: {shown}");
        assert_eq!(project.files(), before, "{action}");
    };
    is_refused("skip_task");
    // Control: what is allowed is shown, and changes nothing.
    let before = project.files();
    assert_eq!(project.json(&["recover", "--decide", "restart"])["action"], "restart");
    assert_eq!(project.files(), before);
    project.ok(&["step", "move", "1", "abandoned"]);
    is_refused("restart");
}
