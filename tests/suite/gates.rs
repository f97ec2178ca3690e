//! Gates: moves that wait for a person, what an approval makes, and where a refusal leads.

use serde_json::{Value, json};

use crate::builder::{Project, Ran};

/// A checkpoint behind two phases, with a way back for every refusal.
const PLAN_REVIEW: &str = "version: 1
gates:
  - name: plan_review
    step: PLAN_CHECKPOINT
    to: COMPLETED
    reject:
      - {when: 'reason contains \"risk\" or reason contains \"mitigation\"', reset: ANALYSIS}
      - {reset: PLANNING}
";

/// A state with these steps, each behind the one before, and a lifecycle with these gates.
fn gated(gates: &str, steps: &[&str]) -> Project {
    let project = Project::new();
    for (at, title) in steps.iter().enumerate() {
        let before = at.to_string();
        let mut args = vec!["step", "add", title];
        if at > 0 {
            args.extend(["--depends-on", &before]);
        }
        project.ok(&args);
    }
    let statuses = match project.is_renamed() {
        true => {
            let own = std::fs::read_to_string(project.path("workflow.yaml")).unwrap();
            let rest = own.split("version: 1").nth(1).unwrap().to_owned();
            let rest = rest.replace("gates: []", "").replace("retry_limit: 3", "");
            let rest = rest.replace("at_limit: review", "").replace("require_outputs: false", "");
            rest.replace("auto_complete: true", "")
        }
        false => String::new(),
    };
    let defaults = ["retry_limit: 3", "at_limit: review", "auto_complete: true"];
    let missing = defaults.iter().filter(|line| !gates.contains(&line[..=line.find(':').unwrap()]));
    let missing: String = missing.map(|line| format!("{line}\n")).collect();
    project.write("workflow.yaml", format!("{gates}{missing}{statuses}"));
    project.ok(&["check"]);
    project
}

fn phases() -> Project {
    let project = gated(
        PLAN_REVIEW,
        &["DISCOVERY", "PLANNING", "ANALYSIS", "PLAN_CHECKPOINT", "IMPLEMENTATION"],
    );
    for step in ["1", "2", "3"] {
        project.ok(&["step", "start", step]);
        project.ok(&["step", "done", step]);
    }
    project.ok(&["step", "start", "4"]);
    project
}

/// A refusal that asks a person: nothing but the question is written.
fn asks(project: &Project, args: &[&str]) -> Value {
    let ran = project.run(&[args, &["--json"]].concat());
    assert_eq!(ran.code, 1, "{args:?}: {}{}", ran.stdout, ran.stderr);
    let error = ran.json()["error"].clone();
    assert_eq!(error["code"], "review_open", "{error}");
    error
}

fn person(project: &Project, args: &[&str]) -> Ran {
    project.ok(&[&["--actor", "ada"], args].concat())
}

fn statuses(project: &Project) -> Vec<String> {
    let steps = project.json(&["step", "list"])["steps"].clone();
    let status = |step: &Value| step["status"].as_str().unwrap().to_owned();
    steps.as_array().unwrap().iter().map(status).collect()
}

#[test]
fn the_end_of_a_step_waits_and_approving_carries_it_out() {
    let project = phases();
    let asked =
        asks(&project, &["step", "done", "4", "--output", "plan=docs/plan.md", "--cost", "0.25"]);
    assert!(asked["message"].as_str().unwrap().contains("gate plan_review of step 4"), "{asked}");
    assert_eq!(statuses(&project)[3], "RUNNING");
    // It is asked once, and nothing passes until it is decided.
    let again = asks(&project, &["step", "done", "4"]);
    assert!(again["message"].as_str().unwrap().contains("waiting for review r1"), "{again}");
    assert_eq!(project.refused(1, &["step", "start", "5"])["error"]["code"], "dependency_open");
    let approved = person(&project, &["review", "approve", "r1"]).stdout;
    assert!(
        approved.starts_with("review r1 approved\nstep 4 COMPLETED: PLAN_CHECKPOINT"),
        "{approved}"
    );
    assert_eq!(statuses(&project)[3], "COMPLETED");
    // The options of the move are kept.
    let history = project.read("history.md");
    assert!(history.contains("docs/plan.md") && history.contains("$0.25"), "{history}");
    assert!(project.read("plan.md").contains("approved by ada — carried out"));
    project.ok(&["check"]);
    // All of it is one operation.
    project.ok(&["undo"]);
    assert_eq!(statuses(&project)[3], "RUNNING");
    assert_eq!(project.json(&["review", "list"])["reviews"].as_array().unwrap().len(), 1);
}

#[test]
fn a_rejection_is_routed_by_its_reason() {
    let project = phases();
    asks(&project, &["step", "done", "4"]);
    let printed = person(&project, &["review", "reject", "r1", "--why", "Scope too large"]).stdout;
    let first = printed.lines().next().unwrap();
    assert!(
        first.starts_with(
            "review r1 rejected: back to step 2 PLANNING (again: 2, 3, 4; no attempt counted)"
        ),
        "{printed}"
    );
    assert_eq!(statuses(&project), ["COMPLETED", "PENDING", "PENDING", "PENDING", "PENDING"]);
    for step in ["2", "3"] {
        assert!(project.json(&["step", "list"])["steps"][1]["failures"].is_null());
        let brief = project.ok(&["brief", "--for", step]).stdout;
        assert!(brief.contains("Scope too large"), "{step}: {brief}");
    }
    project.ok(&["check"]);
    // The second round needs its own approval, and another reason leads to another step.
    for step in ["2", "3"] {
        project.ok(&["step", "start", step]);
        project.ok(&["step", "done", step]);
    }
    project.ok(&["step", "start", "4"]);
    asks(&project, &["step", "done", "4"]);
    let printed = person(&project, &["review", "reject", "r2", "--why", "no mitigation"]).stdout;
    assert!(
        printed.contains("back to step 3 ANALYSIS (again: 3, 4; no attempt counted)"),
        "{printed}"
    );
    assert_eq!(statuses(&project)[1], "COMPLETED");
}

#[test]
fn a_person_can_choose_where_to_go_back_to() {
    let project = phases();
    asks(&project, &["step", "done", "4"]);
    let before = project.files();
    let refused = project.run(&["--actor", "ada", "review", "reject", "r1", "--to", "nowhere"]);
    assert_eq!((refused.code, project.files()), (1, before));
    let printed = person(&project, &["review", "reject", "r1", "--to", "discovery"]).stdout;
    assert!(printed.contains("back to step 1 DISCOVERY (again: 1, 2, 3, 4;"), "{printed}");
    let all = ["PENDING"; 5];
    assert_eq!(statuses(&project), all);
}

#[test]
fn a_rejection_without_a_way_back_pauses_the_plan_and_says_why() {
    let gates = "version: 1\ngates: [{name: look, step: One, to: COMPLETED}]\n";
    let project = gated(gates, &["One", "Two"]);
    project.ok(&["step", "start", "1"]);
    asks(&project, &["step", "done", "1"]);
    let printed = person(&project, &["review", "reject", "r1", "--why", "not like this"]).stdout;
    assert!(printed.contains("plan PAUSED: review r1 rejected: not like this"), "{printed}");
    let status = project.json(&["status"]);
    assert_eq!((&status["status"], &status["running"]), (&json!("PAUSED"), &json!(1)));
    assert!(project.ok(&["brief"]).stdout.contains("not like this"));
    project.ok(&["resume"]);
    // The rejected review opened nothing: it is asked again.
    asks(&project, &["step", "done", "1"]);
    // The same holds for a question that no gate asked.
    person(&project, &["review", "approve", "r2"]);
    project.ok(&["review", "open", "Is the budget fine?"]);
    person(&project, &["review", "reject", "r3", "--why", "too expensive"]);
    assert_eq!(project.refused(1, &["step", "start", "2"])["error"]["code"], "paused");
}

#[test]
fn one_approval_serves_one_move() {
    let gates = "version: 1\ngates: [{name: look, subject: step, to: RUNNING}]\n";
    let project = gated(gates, &["One"]);
    asks(&project, &["step", "start", "1"]);
    // The step is not started: that is left to whoever works on it.
    person(&project, &["review", "approve", "r1"]);
    assert_eq!(statuses(&project), ["PENDING"]);
    project.ok(&["step", "start", "1"]);
    assert!(project.read("plan.md").contains("— carried out"));
    project.ok(&["step", "reset", "1"]);
    let asked = asks(&project, &["step", "start", "1"]);
    assert!(asked["message"].as_str().unwrap().contains("must approve"), "{asked}");
    // A ticked box approves as well.
    project.edit("plan.md", "- [ ] r2", "- [x] r2");
    project.ok(&["step", "start", "1"]);
    project.ok(&["check"]);
}

#[test]
fn a_condition_is_judged_on_the_state_as_it_would_be() {
    let gates = "version: 1\ngates:\n  - {name: dear, subject: step, to: COMPLETED, when: 'cost > 80% \
                 of budget'}\n  - {name: flag, subject: step, to: RUNNING, when: 'variables.careful \
                 is true'}\n";
    let project = gated(gates, &["One", "Two"]);
    project.ok(&["constraint", "set", "max_cost_per_task", "$1.00"]);
    project.ok(&["step", "start", "1"]);
    // The step that crosses the limit is itself held back.
    asks(&project, &["step", "done", "1", "--cost", "0.90"]);
    person(&project, &["review", "approve", "r1"]);
    assert_eq!(statuses(&project)[0], "COMPLETED");
    project.ok(&["var", "set", "careful", "true"]);
    asks(&project, &["step", "start", "2"]);
    person(&project, &["review", "approve", "r2"]);
    project.ok(&["var", "set", "careful", "false"]);
    project.ok(&["step", "start", "2"]);
    // Control: without the crossing nobody is asked.
    let other = gated(gates, &["One"]);
    other.ok(&["constraint", "set", "max_cost_per_task", "$1.00"]);
    other.ok(&["step", "start", "1"]);
    other.ok(&["step", "done", "1", "--cost", "0.50"]);
}

#[test]
fn an_open_review_stops_moves_of_the_plan_but_not_stopping() {
    let project = gated("version: 1\nauto_complete: false\n", &["One"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    project.ok(&["review", "open", "Is it good?"]);
    let refused = project.refused(1, &["plan", "set", "status=COMPLETED_SUCCESS"]);
    assert_eq!(refused["error"]["code"], "review_open");
    project.ok(&["plan", "set", "status=PAUSED"]);
    person(&project, &["review", "approve", "r1"]);
    project.ok(&["plan", "set", "status=IN_PROGRESS"]);
    project.ok(&["plan", "set", "status=COMPLETED_SUCCESS"]);
}

#[test]
fn the_end_of_the_plan_waits_behind_its_gate() {
    let gates = "version: 1\ngates:\n  - {name: last_look, subject: plan, to: COMPLETED_SUCCESS, \
                 when: 'cost > $0.10', reject: [{reset: Two}]}\n";
    let project = gated(gates, &["One", "Two"]);
    for step in ["1", "2"] {
        project.ok(&["step", "start", step]);
        project.ok(&["step", "done", step, "--cost", "0.06"]);
    }
    let status = project.json(&["status"]);
    assert_eq!((&status["status"], &status["percent"]), (&json!("IN_PROGRESS"), &json!(100)));
    assert_eq!(status["open_reviews"][0]["id"], "r1");
    let printed = person(&project, &["review", "reject", "r1", "--why", "not yet"]).stdout;
    assert!(printed.contains("back to step 2 Two (again: 2;"), "{printed}");
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "done", "2"]);
    let printed = person(&project, &["review", "approve", "r2"]).stdout;
    assert!(printed.contains("plan: status = COMPLETED_SUCCESS"), "{printed}");
    assert_eq!(project.json(&["status"])["status"], "COMPLETED_SUCCESS");
    project.ok(&["check"]);
}

#[test]
fn resuming_asks_no_second_time() {
    let gates = "version: 1\ngates: [{name: go, subject: plan, to: IN_PROGRESS}]\n";
    let project = gated(gates, &["One"]);
    asks(&project, &["step", "start", "1"]);
    let printed = person(&project, &["review", "approve", "r1"]).stdout;
    assert!(printed.contains("plan: status = IN_PROGRESS"), "{printed}");
    project.ok(&["step", "start", "1"]);
    project.ok(&["pause", "--why", "lunch"]);
    project.ok(&["resume"]);
    assert_eq!(project.json(&["status"])["status"], "IN_PROGRESS");
}

#[test]
fn a_move_that_has_become_impossible_leaves_the_approval_standing() {
    let project = phases();
    asks(&project, &["step", "done", "4"]);
    project.ok(&["step", "reset", "4"]);
    let printed = person(&project, &["review", "approve", "r1"]).stdout;
    assert!(printed.contains("the move was not made"), "{printed}");
    assert_eq!(statuses(&project)[3], "PENDING");
    project.ok(&["step", "start", "4"]);
    project.ok(&["step", "done", "4"]);
    project.ok(&["check"]);
}

#[test]
fn two_gates_before_one_move_are_asked_one_after_the_other() {
    let gates = "version: 1\ngates:\n  - {name: first, step: One, to: COMPLETED}\n  - {name: second, \
                 step: One, to: COMPLETED}\n";
    let project = gated(gates, &["One"]);
    project.ok(&["step", "start", "1"]);
    asks(&project, &["step", "done", "1", "--note", "kept"]);
    let printed = person(&project, &["review", "approve", "r1"]).stdout;
    assert!(printed.contains("review r2 is open: gate second"), "{printed}");
    assert_eq!(statuses(&project), ["RUNNING"]);
    person(&project, &["review", "approve", "r2"]);
    assert_eq!(statuses(&project), ["COMPLETED"]);
    assert!(project.read("history.md").contains("kept"));
}

#[test]
fn phases_of_the_plan_are_paused_and_resumed_where_they_were() {
    let project = Project::with_lifecycle(false);
    project.begin(1);
    project.write(
        "workflow.yaml",
        "version: 1\nplan:\n  - {status: PLANNING, role: planning, next: [DISCOVERY]}\n  - {status: \
         DISCOVERY, role: active, next: [BUILDING, PAUSED]}\n  - {status: BUILDING, role: active, \
         next: [DONE, PAUSED]}\n  - {status: PAUSED, role: paused, next: [DISCOVERY, BUILDING]}\n  - \
         {status: DONE, role: succeeded, next: [BUILDING]}\n  - {status: DROPPED, role: failed, next: \
         []}\n",
    );
    project.ok(&["plan", "set", "status=DISCOVERY"]);
    project.ok(&["plan", "set", "status=BUILDING"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["pause", "--why", "lunch"]);
    assert!(project.read("plan.md").contains("- **paused_from**: BUILDING"));
    project.ok(&["resume"]);
    assert_eq!(project.json(&["status"])["status"], "BUILDING");
    assert!(!project.read("plan.md").contains("paused_from"));
    // Resuming again, as after a compaction, changes nothing.
    assert_eq!(project.changed_by(&["resume"]), Vec::<String>::new());
    let refused = project.refused(1, &["plan", "set", "status=DISCOVERY"]);
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("`DONE`, `PAUSED`"),
        "{refused}"
    );
}

#[test]
fn a_batch_that_meets_a_gate_is_not_made_in_part() {
    let project = phases();
    let batch = json!([
        { "op": "var.set", "path": "seen", "value": true },
        { "op": "step.done", "step": 4 },
    ]);
    let ran = project.run_with_input(&["apply", "-", "--json"], &batch.to_string());
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(!project.read("variables.json").contains("seen"));
    person(&project, &["review", "approve", "r1"]);
    assert_eq!(statuses(&project)[3], "RUNNING");
    project.ok_with_input(&["apply", "-"], &batch.to_string());
    assert_eq!(statuses(&project)[3], "COMPLETED");
}

#[test]
fn a_gate_about_a_step_that_is_not_there_is_found() {
    let project = Project::new();
    project.ok(&["step", "add", "Planning"]);
    let own = match project.is_renamed() {
        true => project.read("workflow.yaml"),
        false => "version: 1\ngates: []\n".to_owned(),
    };
    let gates = "gates: [{name: look, step: Plannign, to: COMPLETED}]";
    project.write("workflow.yaml", own.replace("gates: []", gates));
    let findings = project.json(&["check"])["findings"].clone();
    assert_eq!(findings[0]["code"], "no_such_step", "{findings}");
    assert_eq!(findings[0]["hint"], "did you mean `Planning`?");
}

#[test]
fn a_step_typed_by_hand_is_known_again_when_it_is_approved() {
    let gates = "version: 1\ngates: [{name: look, subject: step, to: RUNNING}]\n";
    let project = gated(gates, &["One"]);
    let plan = project.read("plan.md");
    let typed: String =
        plan.lines().filter(|line| !line.contains("**id**")).map(|l| format!("{l}\n")).collect();
    project.write("plan.md", typed);
    asks(&project, &["step", "start", "1"]);
    person(&project, &["review", "approve", "r1"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["check"]);
}

#[test]
fn a_condition_that_cannot_be_judged_asks_a_person() {
    let gates = "version: 1\ngates:\n  - {name: risky, subject: step, to: COMPLETED, when: \
                 'variables.risk > 3'}\n";
    let project = gated(gates, &["One", "Two"]);
    // An unknown value is not above three.
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    project.ok(&["step", "start", "2"]);
    for value in ["\"high\"", "[4]", "{\"level\": 4}", "true"] {
        project.ok(&["var", "set", "risk", value]);
        asks(&project, &["step", "done", "2"]);
        project.ok(&["undo"]);
    }
    // Control: a number below three is compared.
    project.ok(&["var", "set", "risk", "2"]);
    project.ok(&["step", "done", "2"]);
}

#[test]
fn a_plan_ends_when_the_last_question_about_it_is_answered() {
    let project = Project::with_steps(1);
    project.ok(&["step", "start", "1"]);
    project.ok(&["review", "open", "Is it good enough?"]);
    project.ok(&["step", "done", "1"]);
    assert_eq!(project.json(&["status"])["status"], "IN_PROGRESS", "somebody is still asked");
    let printed = person(&project, &["review", "approve", "r1"]).stdout;
    assert!(printed.contains("plan COMPLETED_SUCCESS"), "{printed}");
    assert_eq!(project.json(&["status"])["status"], "COMPLETED_SUCCESS");
    // Control: with something left to do the plan continues.
    let other = Project::with_steps(2);
    other.ok(&["step", "start", "1"]);
    other.ok(&["review", "open", "Is it good enough?"]);
    other.ok(&["step", "done", "1"]);
    person(&other, &["review", "approve", "r1"]);
    assert_eq!(other.json(&["status"])["status"], "IN_PROGRESS");
}

#[test]
fn a_refusal_that_opened_a_review_says_so_with_the_revision() {
    let gate = "version: 1\ngates: [{name: ok, subject: plan, to: IN_PROGRESS}]\n";
    let project = gated(gate, &["one", "two"]);
    let batch = project.root().join("batch.json");
    std::fs::write(&batch, r#"[{"op":"var.set","path":"a","value":1},{"op":"step.start"}]"#)
        .unwrap();
    let ways: [&[&str]; 3] = [
        &["step", "next", "--claim"],
        &["step", "start", "1"],
        &["apply", batch.to_str().unwrap()],
    ];
    for args in ways {
        let dry = project.run(&[args, &["--json", "--dry-run"]].concat()).json();
        assert_eq!(dry["revision"], Value::Null, "control: nothing was committed");
        let answer = project.run(&[args, &["--json"]].concat()).json();
        assert_eq!(answer["error"]["code"], "review_open", "{answer}");
        assert_eq!(answer["review"], "r1", "{answer}");
        assert_eq!(answer["revision"], project.json(&["status"])["revision"], "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("review r1 is open now"), "{message}");
        // What is still open is not opened again.
        let again = project.run(&[args, &["--json"]].concat()).json();
        assert_eq!(again["revision"], Value::Null, "{again}");
        person(&project, &["undo"]);
    }
}

#[test]
fn an_approval_makes_its_move_in_an_imported_state_however_long_ago_it_was_asked_for() {
    let project = phases();
    asks(&project, &["step", "done", "4", "--output", "plan=docs/plan.md"]);
    for n in 0..25 {
        project.ok(&["history", "add", &format!("Note {n}"), "about=the weather"]);
    }
    let mut copies = vec![project];
    for generation in 1..=2 {
        let document = copies[generation - 1].json(&["state"]);
        assert_eq!(document["recent_history"].as_array().unwrap().len(), 21, "{document}");
        let copy = Project::empty();
        copy.ok_with_input(&["import", "-"], &document.to_string());
        copies.push(copy);
    }
    let after = copies.iter().map(|project| {
        person(project, &["review", "approve", "r1"]);
        (statuses(project), project.json(&["state"])["results"].clone())
    });
    let after: Vec<_> = after.collect();
    assert!(after[0].1.to_string().contains("docs/plan.md"), "{after:?}");
    assert_eq!(after[0], after[1]);
    assert_eq!(after[0], after[2]);
}

#[test]
fn a_recovery_behind_a_gate_is_shown_and_asks_a_person_when_it_is_applied() {
    let project = phases();
    let before = project.files();
    let decide = ["recover", "--decide", "next_task"];
    assert_eq!(project.json(&decide)["action"], "next_task");
    assert_eq!(project.files(), before);
    asks(&project, &[&decide[..], &["--apply"]].concat());
    assert_ne!(project.files(), before);
}
