use super::*;

#[test]
fn every_status_of_the_source_documents_has_a_meaning() {
    let flow = Workflow::builtin();
    for (text, status) in [
        ("FAILED", "COMPLETED_FAILURE"),
        ("RESUMED", "IN_PROGRESS"),
        ("in progress", "IN_PROGRESS"),
        ("In-Progress", "IN_PROGRESS"),
        ("completed_success", "COMPLETED_SUCCESS"),
        ("pending", "PLANNING"),
        ("approved", "PLANNING"),
        ("executing", "IN_PROGRESS"),
        ("completed", "COMPLETED_SUCCESS"),
        ("cancelled", "COMPLETED_FAILURE"),
    ] {
        assert_eq!(flow.plan_status(text), Some(status), "{text}");
    }
    assert_eq!(flow.step_status("done"), Some("COMPLETED"));
    for decorated in ["`COMPLETED`", "**Done**", "✅ Complete", "completed ✔️", "_done_"] {
        assert_eq!(flow.step_status(decorated), Some("COMPLETED"), "{decorated}");
    }
    for unclear in ["done?", "done (except the tests)", "not done", "✅", "``", "🟡 soon"] {
        assert_eq!(flow.step_status(unclear), None, "{unclear}");
    }
    assert_eq!(flow.step_status("in_progress"), Some("RUNNING"));
    assert_eq!(flow.step_status("whatever"), None);
}

#[test]
fn a_step_goes_only_where_the_lifecycle_leads() {
    let flow = Workflow::builtin();
    let allowed = [
        ("PENDING", "RUNNING"),
        ("PENDING", "SKIPPED"),
        ("RUNNING", "COMPLETED"),
        ("RUNNING", "FAILED"),
        ("RUNNING", "SKIPPED"),
        ("RUNNING", "PENDING"),
        ("FAILED", "RUNNING"),
        ("FAILED", "PENDING"),
        ("FAILED", "SKIPPED"),
        ("COMPLETED", "PENDING"),
        ("SKIPPED", "PENDING"),
    ];
    for from in flow.step_statuses() {
        for to in flow.step_statuses() {
            assert_eq!(flow.check_step(from, to).is_ok(), allowed.contains(&(from, to)));
        }
    }
}

#[test]
fn a_refusal_names_the_ways_that_are_open() {
    let refusal = Workflow::builtin().check_step("pending", "done").unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "a step cannot go from `PENDING` to `COMPLETED`; allowed: `RUNNING`, `SKIPPED`"
    );
    let refusal = Workflow::builtin().check_plan("PLANNING", "COMPLETED_SUCCESS").unwrap_err();
    assert_eq!(refusal.allowed, ["IN_PROGRESS", "PAUSED", "COMPLETED_FAILURE"]);
    let refusal = Workflow::builtin().check_plan("ODD", "PAUSED").unwrap_err();
    assert!(refusal.to_string().starts_with("`ODD` is not a status of a plan; known: `PLAN"));
}

#[test]
fn roles_lead_to_statuses_and_back() {
    let flow = Workflow::builtin();
    for role in [StepRole::Open, StepRole::Active, StepRole::Done, StepRole::Failed] {
        assert_eq!(flow.step_role(flow.step_with_role(role)), Some(role));
    }
    assert_eq!(flow.plan_with_role(PlanRole::Succeeded), "COMPLETED_SUCCESS");
    assert_eq!(flow.plan_role("resumed"), Some(PlanRole::Active));
    assert_eq!(flow.retry_limit(), 3);
}
