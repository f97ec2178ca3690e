//! The life of a ticket: nine phases, a rejection routed by its reason, a retry, a question to a
//! person, both approvals. By commands, through `apply`, and through the MCP server.

use serde_json::{Value, json};

use crate::{builder::Project, examples::run_example, mcp::client::Client};

const PLACE: &str = "docs/plan/tickets/7";

/// The actor and the change; `true` where a person has to be asked first.
fn life() -> Vec<(&'static str, Value, bool)> {
    let agent = |change: Value| ("agent", change, false);
    let asks = |step: &str| ("agent", json!({ "op": "step.done", "step": step }), true);
    let start = |step: &str| ("agent", json!({ "op": "step.start", "step": step }), false);
    let done = |step: &str, output: Value| {
        ("agent", json!({ "op": "step.done", "step": step, "output": output }), false)
    };
    let fail =
        |error: &str| agent(json!({ "op": "step.fail", "step": "IMPLEMENTATION", "error": error }));
    let retry =
        |note: &str| agent(json!({ "op": "step.retry", "step": "IMPLEMENTATION", "note": note }));
    let decide = |id: &str, approve: bool, why: &str| {
        ("ada", json!({ "op": "review.decide", "id": id, "approve": approve, "why": why }), false)
    };
    let to =
        |status: &str| agent(json!({ "op": "step.move", "step": "IMPLEMENTATION", "to": status }));
    vec![
        start("DISCOVERY"),
        done("DISCOVERY", json!({ "summary": "export a table" })),
        start("PLANNING"),
        done("PLANNING", json!({ "plan_file": "docs/plan/tickets/7-plan.md" })),
        start("ANALYSIS"),
        done("ANALYSIS", json!({})),
        start("PLAN_CHECKPOINT"),
        asks("PLAN_CHECKPOINT"),
        decide("r1", false, "the risk of the import is not covered"),
        start("ANALYSIS"),
        done("ANALYSIS", json!({})),
        start("PLAN_CHECKPOINT"),
        asks("PLAN_CHECKPOINT"),
        decide("r2", true, "good"),
        start("IMPLEMENTATION"),
        fail("the build timed out"),
        retry("build the library alone"),
        fail("expected 201 got 422"),
        decide("r3", true, "once more"),
        retry("min_length=1"),
        to("BLOCKED"),
        to("RUNNING"),
        done("IMPLEMENTATION", json!({ "commit": "abc1234" })),
        start("LOCAL_REVIEW"),
        done("LOCAL_REVIEW", json!({})),
        start("PR_CREATION"),
        done("PR_CREATION", json!({ "pr_url": "https://example.org/pull/12" })),
        start("PR_CHECKPOINT"),
        asks("PR_CHECKPOINT"),
        decide("r4", true, "ship it"),
        start("CODE_REVIEW"),
        done("CODE_REVIEW", json!({})),
    ]
}

fn ticket() -> Project {
    let project = Project::with_lifecycle(false);
    let goal = "Ticket 7: export as CSV";
    project.ok(&["init", "--template", "ticket", "--ticket", "#7", "--goal", goal]);
    project
}

fn on(project: &Project, args: &[&str]) -> Value {
    project.json(&[&["-C", PLACE], args].concat())
}

fn is_finished(project: &Project) {
    let status = on(project, &["status"]);
    assert_eq!((&status["status"], &status["completed"]), (&json!("COMPLETED_SUCCESS"), &json!(9)));
    let steps = on(project, &["step", "list"])["steps"].clone();
    let implementation = &steps[4];
    assert_eq!((&implementation["attempts"], &implementation["failures"]), (&json!(3), &json!(2)));
    assert!(steps[3]["failures"].is_null(), "a rejection is no failure: {steps}");
    on(project, &["history", "verify"]);
}

#[cfg(unix)]
#[test]
fn by_commands() {
    let project = Project::with_lifecycle(false);
    let printed = run_example(&project, "bash", "ticket.sh");
    let back = "review r1 rejected: back to step 2 PLANNING (again: 2, 3, 4; no attempt counted)";
    assert!(printed.contains(back), "{printed}");
    assert!(
        printed.contains("Scope too large") && printed.contains("build the library alone"),
        "{printed}"
    );
    is_finished(&project);
}

#[test]
fn through_apply() {
    let project = ticket();
    for (actor, change, asks) in life() {
        let args = ["-C", PLACE, "--actor", actor, "apply", "-", "--json"];
        let ran = project.run_with_input(&args, &json!([change]).to_string());
        assert_eq!(ran.code, i32::from(asks), "{change}: {}{}", ran.stdout, ran.stderr);
        project.ok(&["-C", PLACE, "check", "--strict"]);
    }
    is_finished(&project);
}

#[test]
fn through_the_server() {
    let project = ticket();
    let place = project.root().join(PLACE);
    let variables =
        |actor: &'static str| [("STATEDIR", place.to_str().unwrap()), ("STATEDIR_ACTOR", actor)];
    let mut agent = Client::with(&project, &variables("agent"));
    let mut ada = Client::with(&project, &variables("ada"));
    for client in [&mut agent, &mut ada] {
        client.greet("2025-06-18");
    }
    for (actor, change, asks) in life() {
        let client = if actor == "ada" { &mut ada } else { &mut agent };
        client.make_change(change, asks);
        project.ok(&["-C", PLACE, "check", "--strict"]);
    }
    is_finished(&project);
}
