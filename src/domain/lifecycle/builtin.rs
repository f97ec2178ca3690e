//! The default workflow as Rust data.
//!
//! Reading the YAML costs a good part of a millisecond, which every command would pay. A test
//! proves that this is what `templates/default/workflow.yaml` says.

use crate::domain::{
    AtLimit, Modifier, ModifierKind, PlanRole, SettingGroup, StepRole, Workflow, lifecycle::Status,
};

pub(in crate::domain) fn workflow() -> Workflow {
    Workflow {
        plan: plan(),
        step: step(),
        retry_limit: 3,
        at_limit: AtLimit::Review,
        require_outputs: false,
        stale_after_ms: 3_600_000,
        self_review: false,
        auto_complete: true,
        checkboxes: false,
        group: None,
        merge_queue: Vec::new(),
        gates: Vec::new(),
        modifiers: modifiers(),
    }
}

fn plan() -> Vec<Status<PlanRole>> {
    vec![
        status(
            "PLANNING",
            PlanRole::Planning,
            &["IN_PROGRESS", "PAUSED", "COMPLETED_FAILURE"],
            &["PENDING", "APPROVED", "DRAFT"],
        ),
        status(
            "IN_PROGRESS",
            PlanRole::Active,
            &["PAUSED", "COMPLETED_SUCCESS", "COMPLETED_FAILURE"],
            &["RESUMED", "EXECUTING", "RUNNING", "ACTIVE"],
        ),
        status(
            "PAUSED",
            PlanRole::Paused,
            &["IN_PROGRESS", "PLANNING", "COMPLETED_FAILURE"],
            &["ON_HOLD"],
        ),
        status(
            "COMPLETED_SUCCESS",
            PlanRole::Succeeded,
            &["IN_PROGRESS"],
            &["COMPLETED", "SUCCESS", "SUCCEEDED", "DONE"],
        ),
        status(
            "COMPLETED_FAILURE",
            PlanRole::Failed,
            &["IN_PROGRESS"],
            &["FAILED", "FAILURE", "CANCELLED", "CANCELED"],
        ),
    ]
}

fn step() -> Vec<Status<StepRole>> {
    vec![
        status(
            "PENDING",
            StepRole::Open,
            &["RUNNING", "SKIPPED"],
            &["TODO", "OPEN", "NOT_STARTED"],
        ),
        status(
            "RUNNING",
            StepRole::Active,
            &["COMPLETED", "FAILED", "SKIPPED", "PENDING"],
            &["IN_PROGRESS", "EXECUTING", "ACTIVE", "STARTED"],
        ),
        status(
            "COMPLETED",
            StepRole::Done,
            &["PENDING"],
            &["DONE", "COMPLETE", "SUCCESS", "SUCCEEDED"],
        ),
        status(
            "FAILED",
            StepRole::Failed,
            &["RUNNING", "PENDING", "SKIPPED"],
            &["FAILURE", "ERROR"],
        ),
        status("SKIPPED", StepRole::Skipped, &["PENDING"], &["CANCELLED", "CANCELED"]),
    ]
}

fn modifiers() -> Vec<Modifier> {
    use ModifierKind::{Duration, Enum, List, Money, Number, Ordered};
    use SettingGroup::{Modifier as Behaviour, Resource};
    let sentiments = ["frustrated", "impatient", "neutral", "pleased"];
    let priorities = ["speed_and_clarity", "comprehensiveness", "cost_efficiency", "quality"];
    let personas = ["concise_assistant", "detailed_analyst", "proactive_collaborator"];
    let levels = ["low", "medium", "high"];
    let tolerances = ["strict", "moderate", "flexible"];
    vec![
        modifier("user_sentiment", Ordered, Behaviour, &sentiments, None),
        modifier("priority", Enum, Behaviour, &priorities, Some("quality")),
        modifier("max_cost_per_task", Money, Behaviour, &[], None),
        modifier("human_review_trigger_level", Ordered, Behaviour, &levels, Some("medium")),
        modifier("active_persona", Enum, Behaviour, &personas, None),
        modifier("error_tolerance", Ordered, Behaviour, &tolerances, Some("moderate")),
        modifier("max_execution_time", Duration, Resource, &[], None),
        modifier("max_file_operations", Number, Resource, &[], None),
        modifier("max_web_requests", Number, Resource, &[], None),
        modifier("preferred_tools", List, Resource, &[], None),
    ]
}

fn status<R>(name: &str, role: R, next: &[&str], aliases: &[&str]) -> Status<R> {
    Status { name: name.to_owned(), role, next: owned(next), aliases: owned(aliases) }
}

fn modifier(
    name: &str,
    kind: ModifierKind,
    group: SettingGroup,
    values: &[&str],
    default: Option<&str>,
) -> Modifier {
    Modifier {
        name: name.to_owned(),
        kind,
        group,
        values: owned(values),
        default: default.map(str::to_owned),
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
