//! `step move`: every move of a lifecycle, and statuses in which a step waits.

use serde_json::json;

use crate::builder::Project;

/// The tasks of an execution in layers: verified, merged, abandoned.
const LAYERS: &str = "version: 1
retry_limit: 5
step:
  - {status: pending, role: open, next: [in_progress, skipped]}
  - {status: in_progress, role: active, next: [verifying, failed, pending, blocked]}
  - {status: blocked, role: waiting, next: [in_progress, pending]}
  - {status: verifying, role: waiting, next: [verified, failed]}
  - {status: verified, role: waiting, next: [merging]}
  - {status: merging, role: waiting, next: [completed, failed]}
  - {status: completed, role: done, next: [pending]}
  - {status: failed, role: failed, next: [in_progress, abandoned]}
  - {status: abandoned, role: failed, next: [pending]}
  - {status: skipped, role: skipped, next: [pending]}
";

fn layered(steps: usize) -> Project {
    let project = Project::with_lifecycle(false);
    project.begin(steps);
    project.write("plan.md", project.read("plan.md").replace("PENDING", "pending"));
    project.write("workflow.yaml", LAYERS);
    project
}

fn refusal(project: &Project, args: &[&str]) -> serde_json::Value {
    project.refused(1, args)["error"].clone()
}

fn status(project: &Project, step: &str) -> String {
    project.json(&["step", "show", step])["step"]["status"].as_str().unwrap().to_owned()
}

#[test]
fn a_step_is_moved_through_every_status_of_its_lifecycle() {
    let project = layered(2);
    project.ok(&["step", "set", "2", "--depends-on", "1"]);
    project.ok(&["step", "start", "1"]);
    for to in ["verifying", "verified", "merging", "completed"] {
        let refused = refusal(&project, &["step", "start", "2"]);
        assert_eq!(refused["code"], "dependency_open", "{refused}");
        let moved = project.ok(&["step", "move", "1", to]).stdout;
        assert!(moved.starts_with(&format!("step 1 {to}: Do part 1")), "{moved}");
        assert_eq!(status(&project, "1"), to);
        assert!(project.ok(&["check"]).stdout.contains("consistent"));
    }
    project.ok(&["step", "start", "2"]);
    // Each move is an operation of its own.
    project.ok(&["undo"]);
    project.ok(&["undo"]);
    assert_eq!(status(&project, "1"), "merging");
    let history = project.read("history.md");
    assert!(history.contains("verifying → verified"), "{history}");
    project.ok(&["history", "verify"]);
}

#[test]
fn what_is_not_allowed_is_refused_with_the_moves_that_are() {
    let project = layered(1);
    let refused = refusal(&project, &["step", "move", "1", "verified"]);
    assert_eq!(refused["code"], "illegal_transition");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("allowed: `in_progress`, `skipped`"), "{message}");
    let hint = refused["hint"].as_str().unwrap();
    assert!(hint.contains("`statedir step move 1 in_progress`"), "{hint}");
    let refused = refusal(&project, &["step", "move", "1", "polished"]);
    assert_eq!(refused["code"], "unknown_status");
    assert!(refused["hint"].as_str().unwrap().contains("step move 1 skipped"), "{refused}");
    refusal(&project, &["step", "move", "9", "in_progress"]);
    // Moving to the current status changes nothing.
    assert_eq!(project.changed_by(&["step", "move", "1", "pending"]), Vec::<String>::new());
}

#[test]
fn done_says_which_move_is_missing() {
    let project = layered(1);
    project.ok(&["step", "start", "1"]);
    for (missing, to) in
        [("verifying", "verifying"), ("verified", "verified"), ("merging", "merging")]
    {
        let refused = refusal(&project, &["step", "done", "1"]);
        let hint = refused["hint"].as_str().unwrap();
        assert_eq!(hint, format!("`statedir step move 1 {missing}` comes first"));
        project.ok(&["step", "move", "1", to]);
    }
    project.ok(&["step", "done", "1", "--output", "commit=abc1234"]);
    assert_eq!(status(&project, "1"), "completed");
}

#[test]
fn a_step_that_waits_is_nobodys_and_keeps_others_waiting() {
    let project = layered(2);
    project.ok(&["step", "set", "2", "--depends-on", "1"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "move", "1", "blocked", "--note", "waits for the API key"]);
    let plan = project.read("plan.md");
    assert!(plan.contains("### Step 1: Do part 1 ⏸"), "{plan}");
    let step = &project.json(&["step", "show", "1"])["step"];
    assert!(step["claimed_by"].is_null() && step["claim"].is_null(), "{step}");
    assert!(!step["started_at"].is_null(), "since when it waits: {step}");
    let status = project.json(&["status"]);
    assert_eq!((&status["waiting"], &status["running"]), (&json!(1), &json!(0)), "{status}");
    assert_eq!(status["next_move"]["action"], "advance");
    assert_eq!(status["next_move"]["command"], "statedir step move 1 in_progress");
    // A step that waits is not reported as abandoned.
    let recover = project.ok(&["recover"]).stdout;
    assert!(recover.contains("nothing was interrupted"), "{recover}");
    let refused = refusal(&project, &["step", "next"]);
    assert!(refused["message"].as_str().unwrap().contains("step 1 is blocked"), "{refused}");
    assert!(project.ok(&["brief"]).stdout.contains("1 waiting"));
    // Resumed, it is the same attempt, held by whoever resumes it.
    project.ok(&["step", "move", "1", "in_progress", "--actor", "bob"]);
    let step = &project.json(&["step", "show", "1"])["step"];
    assert_eq!(step["attempts"], 1);
    assert!(step["claimed_by"].to_string().contains("bob"), "{step}");
    assert_eq!(refusal(&project, &["step", "move", "1", "verifying"])["code"], "held");
}

#[test]
fn a_plan_does_not_succeed_while_a_step_waits() {
    let project = layered(1);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "move", "1", "verifying"]);
    let refused = refusal(&project, &["plan", "set", "status=COMPLETED_SUCCESS"]);
    assert_eq!(refused["code"], "unfinished_steps");
    project.ok(&["step", "move", "1", "verified"]);
    project.ok(&["step", "move", "1", "merging"]);
    project.ok(&["step", "move", "1", "completed"]);
    assert_eq!(project.json(&["status"])["status"], "COMPLETED_SUCCESS");
}

#[test]
fn a_failed_verification_is_a_failed_attempt() {
    let project = layered(1);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "move", "1", "verifying"]);
    project.ok(&["step", "move", "1", "failed", "--error", "expected 201 got 422"]);
    let listed = project.json(&["step", "list"]);
    assert_eq!(
        (&listed["steps"][0]["failures"], &listed["steps"][0]["attempts"]),
        (&json!(1), &json!(1))
    );
    project.ok(&["step", "retry", "1"]);
    project.ok(&["step", "move", "1", "verifying"]);
    assert_eq!(project.json(&["step", "list"])["steps"][0]["failures"], 1);
    // Abandoned: what depends on it never starts.
    project.ok(&["step", "fail", "1", "--error", "again"]);
    project.ok(&["step", "move", "1", "abandoned", "--error", "it cannot be done"]);
    assert_eq!(project.json(&["status"])["failed"], 1);
}

#[test]
fn moves_go_through_apply_as_one_operation() {
    let project = layered(1);
    project.ok(&["step", "start", "1"]);
    let changes = json!([
        { "op": "step.move", "step": 1, "to": "verifying" },
        { "op": "step.move", "step": 1, "to": "completed" },
    ]);
    let before = project.files();
    let ran = project.run_with_input(&["apply", "-", "--json"], &changes.to_string());
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert_eq!(project.files(), before);
    let moves = ["verifying", "verified", "merging", "completed"];
    let changes: Vec<_> =
        moves.iter().map(|to| json!({ "op": "step.move", "step": 1, "to": to })).collect();
    project.ok_with_input(&["apply", "-"], &json!(changes).to_string());
    assert_eq!(status(&project, "1"), "completed");
    project.ok(&["undo"]);
    assert_eq!(status(&project, "1"), "in_progress");
}

#[test]
fn the_built_in_lifecycle_can_be_moved_through_as_well() {
    let project = Project::with_steps(1);
    project.ok(&["step", "move", "1", "RUNNING"]);
    project.ok(&["step", "move", "1", "FAILED", "--error", "timeout"]);
    project.ok(&["step", "move", "1", "RUNNING"]);
    assert_eq!(project.json(&["step", "show", "1"])["step"]["attempts"], 2);
    project.ok(&["step", "move", "1", "done", "--output", "rows=3"]);
    assert_eq!(project.json(&["var", "get", "step_data"])["value"]["completed_steps"], json!(null));
    assert_eq!(project.json(&["status"])["status"], "COMPLETED_SUCCESS");
}

#[test]
fn a_lifecycle_to_tick_off_needs_three_statuses() {
    let project = Project::with_lifecycle(false);
    project.begin(1);
    project.write("plan.md", project.read("plan.md").replace("PENDING", "todo"));
    project.write(
        "workflow.yaml",
        "version: 1\nstep:\n  - {status: todo, role: open, next: [doing, done]}\n  - {status: \
         doing, role: active, next: [done, todo]}\n  - {status: done, role: done, next: [todo]}\n",
    );
    let refused = refusal(&project, &["step", "skip", "1"]);
    assert!(
        refused["message"].as_str().unwrap().contains("no status for steps that are skipped"),
        "{refused}"
    );
    project.ok(&["step", "move", "1", "done"]);
    assert_eq!(status(&project, "1"), "done");
}

#[test]
fn a_refusal_offers_what_the_lifecycle_allows_and_not_the_contrary() {
    let project = Project::with_lifecycle(false);
    project.ok(&["init", "--goal", "Move", "--template", "simple"]);
    project.ok(&["step", "add", "Pack"]);
    project.ok(&["step", "start", "1"]);
    for command in [&["step", "fail", "1", "--error", "boom"][..], &["step", "skip", "1"]] {
        let hint = refusal(&project, command)["hint"].as_str().unwrap().to_owned();
        assert_eq!(hint, "possible: `statedir step reset 1`");
    }
    project.ok(&["step", "reset", "1"]);
    let hint = refusal(&project, &["step", "skip", "1"])["hint"].as_str().unwrap().to_owned();
    assert_eq!(hint, "possible: `statedir step start 1`");
    project.ok(&["step", "start", "1"]);
}

#[test]
fn a_step_that_waits_is_not_told_to_start() {
    let project = Project::with_steps(2);
    project.ok(&["step", "set", "2", "--depends-on", "1"]);
    let hint = refusal(&project, &["step", "done", "2"])["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("waits for step 1") && !hint.contains("step start"), "{hint}");
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    let hint = refusal(&project, &["step", "done", "2"])["hint"].as_str().unwrap().to_owned();
    assert_eq!(hint, "start it first: `statedir step start 2`");
}

#[test]
fn a_status_that_was_renamed_can_be_an_alias() {
    let project = Project::with_lifecycle(false);
    project.begin(1);
    project.ok(&["step", "start", "1"]);
    let workflow = include_str!("../../templates/default/workflow.yaml");
    project.write("workflow.yaml", workflow.replace("RUNNING", "WORKING"));
    let hint = project.json(&["check"])["findings"][0]["hint"].as_str().unwrap().to_owned();
    assert!(hint.ends_with("or one of them gets `aliases: [RUNNING]` in workflow.yaml"), "{hint}");
}

/// A lifecycle in which a step is written, then tested by the same hands.
const TWO_ACTIVE: &str = "version: 1
step:
  - {status: pending, role: open, next: [writing]}
  - {status: writing, role: active, next: [testing, pending]}
  - {status: testing, role: active, next: [completed, writing]}
  - {status: completed, role: done, next: [pending]}
";

#[test]
fn starting_a_step_that_is_worked_on_neither_moves_it_nor_takes_it_from_its_holder() {
    let project = Project::with_lifecycle(false);
    project.begin(1);
    project.write("plan.md", project.read("plan.md").replace("PENDING", "pending"));
    project.write("workflow.yaml", TWO_ACTIVE);
    project.ok(&["step", "start", "1", "--actor", "ada"]);
    for status in ["writing", "testing"] {
        assert_eq!(self::status(&project, "1"), status);
        let before = project.read("plan.md");
        for actor in ["ada", "bob"] {
            let refused = refusal(&project, &["step", "start", "1", "--actor", actor]);
            let message = refused["message"].as_str().unwrap();
            assert!(message.contains(&format!("is {status} already, held by")), "{message}");
            assert_eq!(project.read("plan.md"), before);
        }
        if status == "writing" {
            project.ok(&["step", "move", "1", "testing", "--actor", "ada"]);
        }
    }
}

#[test]
fn nobody_is_told_to_start_a_step_while_a_review_is_open() {
    let project = Project::with_steps(1);
    let hint = || refusal(&project, &["step", "done", "1"])["hint"].as_str().unwrap().to_owned();
    assert_eq!(hint(), "start it first: `statedir step start 1`");
    project.ok(&["review", "request", "May I?"]);
    let told = hint();
    assert!(told.starts_with("the plan is waiting for a review: r1 (May I?): a person"), "{told}");
}
