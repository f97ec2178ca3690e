//! What plan.md says about when and what it is: times that are times, a goal, a name.

use jiff::Timestamp;

use crate::domain::{ErrorCode, Plan, Problem, StateFile};

const FILE: StateFile = StateFile::Plan;
/// Fields of steps that hold a time.
const TIMES: [&str; 4] = ["started_at", "completed_at", "merged_at", "waiting_since"];

/// Times that cannot be read, and what is missing to tell executions apart.
pub(super) fn check(plan: &Plan, found: &mut Vec<Problem>) {
    let metadata = &plan.metadata;
    let completed = metadata.other.iter().find(|(key, _)| key == "completed_at");
    for (key, value) in [
        ("start_time", metadata.start_time.as_deref()),
        ("last_updated", metadata.last_updated.as_deref()),
        ("completed_at", completed.map(|(_, value)| value.as_str())),
    ] {
        if let Some(text) = value.filter(|text| !is_time(text)) {
            let problem = bad_time(&format!("`{key}`"), text);
            found.push(problem.at(plan.metadata_place(key)));
        }
    }
    for step in &plan.steps {
        for key in TIMES {
            if let Some(text) = step.field(key).filter(|text| !is_time(text)) {
                let problem = bad_time(&format!("`{key}` of {}", step.name()), text);
                let key = if key == "started_at" { "id" } else { key };
                found.push(problem.at(plan.field_place(step, key)));
            }
        }
    }
    if plan.metadata_section().is_none() {
        return;
    }
    for (key, is_there, command) in [
        ("goal", metadata.goal.is_some(), "statedir plan set goal=\"What is to be reached\""),
        ("execution_id", metadata.execution_id.is_some(), "statedir plan set execution_id=exec_1"),
    ] {
        if !is_there {
            let message = format!("the plan has no `{key}`");
            let problem = Problem::warning(ErrorCode::MissingField, FILE, message);
            found.push(problem.at(plan.metadata_place(key)).hint(format!("`{command}`")));
        }
    }
}

fn is_time(text: &str) -> bool {
    text.trim().parse::<Timestamp>().is_ok()
}

fn bad_time(what: &str, text: &str) -> Problem {
    let shown: String = text.chars().take(40).collect();
    let message = format!("{what} is not a time: `{shown}`");
    Problem::warning(ErrorCode::BadTime, FILE, message)
        .hint("write it as 2026-01-15T09:00:00Z, so that ages and durations can be computed")
}
