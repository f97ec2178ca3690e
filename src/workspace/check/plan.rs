//! Checks of the plan and the constraints.

use super::super::Readiness;
use crate::domain::{
    Constraints, ErrorCode, Plan, PlanRole, Problem, StateFile, StepRole, Workflow, half_typed,
};
use crate::text::shell::shell_word;
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};

const FILE: StateFile = StateFile::Plan;

/// Statuses, numbers, ids, dependencies.
pub(super) fn check(plan: &Plan, workflow: &Workflow, found: &mut Vec<Problem>) {
    found.extend(plan.problems.iter().cloned());
    found.extend(plan.unrecognised());
    if let Some(hidden) = plan.document.hidden() {
        let problem = Problem::error(ErrorCode::HiddenText, FILE, hidden.to_string());
        found.push(problem.at(hidden.place).hint("close it"));
    }
    statuses(plan, workflow, found);
    duplicates(plan, found);
    let readiness = Readiness::new(plan, workflow);
    dependencies(plan, &readiness, found);
    gates(plan, workflow, found);
    done_too_early(plan, &readiness, found);
    let written = plan.metadata.status.as_deref();
    let role = written.and_then(|status| workflow.plan_role(status));
    let counts = readiness.counts();
    let open = counts.open + counts.running + counts.waiting;
    if role == Some(PlanRole::Succeeded) && open > 0 {
        let message = format!(
            "the plan is `{}`, but {open} of its steps are not finished",
            written.unwrap_or_default()
        );
        let problem = Problem::error(ErrorCode::StatusDisagrees, FILE, message);
        let active = workflow.plan_with_role(PlanRole::Active);
        let hint = format!("`statedir plan set status={active}`, or finish the steps");
        found.push(problem.at(plan.metadata_place("status")).hint(hint));
    }
    if let Some(from) = written.filter(|_| plan.is_left_active(workflow)) {
        let message = format!("the plan is `{from}`, but all of its steps are finished");
        let problem = Problem::warning(ErrorCode::StatusDisagrees, FILE, message);
        let place = plan.metadata_place("status");
        found.push(problem.at(place).hint("`statedir resume` completes it"));
    }
}

/// Gates that name a step that the plan does not have, and so never apply.
fn gates(plan: &Plan, workflow: &Workflow, found: &mut Vec<Problem>) {
    if plan.steps.is_empty() {
        return;
    }
    for gate in workflow.gates() {
        let named = gate.step.iter().chain(gate.reject.iter().map(|route| &route.reset));
        for name in named.filter(|name| plan.step_called(name).is_none()) {
            let message =
                format!("the gate `{}` names `{name}`, which is not a step of the plan", gate.name);
            let titles = plan.steps.iter().map(|step| step.title.as_str());
            let hint = match crate::domain::nearest(name, titles) {
                Some(title) => format!("did you mean `{title}`?"),
                None => "name a step by its title or its id: `statedir step list`".to_owned(),
            };
            let problem = Problem::warning(ErrorCode::NoSuchStep, StateFile::Workflow, message);
            found.push(problem.hint(hint));
        }
    }
}

fn statuses(plan: &Plan, workflow: &Workflow, found: &mut Vec<Problem>) {
    let plan_statuses = workflow.plan_statuses().collect::<Vec<_>>().join(", ");
    let step_statuses = workflow.step_statuses().collect::<Vec<_>>().join(", ");
    let problem = match plan.metadata.status.as_deref() {
        Some(status) if workflow.plan_status(status).is_none() => {
            let message =
                format!("the plan has the unknown status `{status}`, so it counts as not started");
            Some(Problem::warning(ErrorCode::UnknownStatus, FILE, message))
        }
        None if plan.metadata_section().is_some() => {
            let message = "the plan has no status, so it counts as not started";
            Some(Problem::warning(ErrorCode::NoStatus, FILE, message))
        }
        _ => None,
    };
    found.extend(problem.map(|problem| {
        problem.at(plan.metadata_place("status")).hint(format!("one of {plan_statuses}"))
    }));
    let builtin = Workflow::builtin();
    let has_own = !workflow.step_statuses().eq(builtin.step_statuses());
    for step in &plan.steps {
        let mut hint = format!("one of {step_statuses}");
        let problem = match step.status() {
            Some(status) if workflow.step_status(status).is_some() => continue,
            // A step typed by hand has no status yet.
            None if step.id.is_none() || step.heading.mark.is_some() => continue,
            Some(status) => {
                let message = format!(
                    "{} has the unknown status `{status}`, so it counts as not started",
                    step.name()
                );
                // It may be a status that was renamed.
                if has_own {
                    let alias = format!("`aliases: [{status}]` in {}", StateFile::Workflow);
                    hint.push_str(&format!("; or one of them gets {alias}"));
                }
                Problem::warning(ErrorCode::UnknownStatus, FILE, message)
            }
            None => {
                let message = format!("{} has no status, so it counts as not started", step.name());
                Problem::warning(ErrorCode::NoStatus, FILE, message)
            }
        };
        found.push(problem.at(plan.field_place(step, "status")).hint(hint));
    }
}

fn duplicates(plan: &Plan, found: &mut Vec<Problem>) {
    let mut numbers = HashSet::new();
    let mut ids: HashMap<&str, u32> = HashMap::new();
    for step in &plan.steps {
        if !numbers.insert(step.number) {
            let message = format!("there is more than one step {}", step.number);
            let problem = Problem::error(ErrorCode::DuplicateStep, FILE, message).fixable();
            let hint = "`statedir check --fix` gives the later one a number of its own";
            found.push(problem.at(plan.place(step)).hint(hint));
        }
        let Some(id) = &step.id else { continue };
        if let Some(first) = ids.insert(id.as_str(), step.number) {
            let message = format!("step {} has the same id as step {first}: `{id}`", step.number);
            let problem = Problem::error(ErrorCode::DuplicateId, FILE, message).fixable();
            let hint = "`statedir check --fix` gives the copy a new id";
            found.push(problem.at(plan.field_place(step, "id")).hint(hint));
        }
    }
}

fn dependencies(plan: &Plan, readiness: &Readiness<&Plan>, found: &mut Vec<Problem>) {
    for step in &plan.steps {
        for wanted in &step.depends_on {
            if readiness.position(wanted).is_none() {
                let message =
                    format!("{} depends on step `{wanted}`, which does not exist", step.name());
                let problem = Problem::error(ErrorCode::MissingDependency, FILE, message);
                let others = step
                    .depends_on
                    .iter()
                    .filter(|other| *other != wanted && readiness.position(other).is_some());
                let others: Vec<String> = others.map(ToString::to_string).collect();
                let hint = format!(
                    "`statedir step set {} --depends-on {}` keeps the other dependencies",
                    step.number,
                    shell_word(&others.join(","))
                );
                found.push(problem.at(plan.field_place(step, "depends_on")).hint(hint));
            }
        }
    }
    if let Some(cycle) = readiness.cycle() {
        let mut names: Vec<String> = cycle.iter().map(|step| step.number.to_string()).collect();
        names.push(names[0].clone());
        let message = format!("these steps depend on each other: {}", names.join(" → "));
        let problem = Problem::error(ErrorCode::DependencyCycle, FILE, message);
        let place = plan.field_place(cycle[0], "depends_on");
        found.push(problem.at(place).hint("remove one of the dependencies"));
    }
}

/// Steps that are done although they depend on an unfinished one.
fn done_too_early(plan: &Plan, readiness: &Readiness<&Plan>, found: &mut Vec<Problem>) {
    let done = plan.steps.iter().zip(readiness.roles());
    for (step, _) in done.filter(|(_, role)| **role == Some(StepRole::Done)) {
        let unmet = readiness.unmet(step);
        let Some(first) = unmet.iter().find(|wanted| readiness.position(wanted).is_some()) else {
            continue;
        };
        let message = format!(
            "{} is `{}`, but it depends on step {}, which is not finished",
            step.name(),
            step.status().unwrap_or_default(),
            readiness.name(first)
        );
        let problem = Problem::warning(ErrorCode::OutOfDate, FILE, message);
        let hint = format!(
            "finish that step, too, or reopen this one: `statedir step reset {}`",
            step.number
        );
        found.push(problem.at(plan.field_place(step, "status")).hint(hint));
    }
}

/// Modifiers and limits with values that are not allowed.
pub(super) fn check_settings(
    constraints: &Constraints,
    workflow: &Workflow,
    found: &mut Vec<Problem>,
) {
    if let Some(hidden) = constraints.document.hidden() {
        let message = hidden.to_string();
        let problem = Problem::error(ErrorCode::HiddenText, StateFile::Constraints, message);
        found.push(problem.at(hidden.place).hint("close it"));
    }
    let document = &constraints.document;
    for section in document.sections() {
        found.extend(half_typed(document, document.items(section), StateFile::Constraints));
    }
    for (at, setting) in constraints.settings.iter().enumerate() {
        let place = constraints.place(setting.item);
        if constraints.settings[..at].iter().any(|other| other.name == setting.name) {
            let message = format!("`{}` appears more than once", setting.name);
            let problem =
                Problem::error(ErrorCode::DuplicateField, StateFile::Constraints, message);
            found.push(problem.at(place).hint("keep one of them"));
        }
        let (Some(value), Some(modifier)) = (&setting.value, workflow.modifier(&setting.name))
        else {
            continue;
        };
        if let Err(error) = modifier.read(value) {
            let message = error.to_string();
            let problem = Problem::error(ErrorCode::BadValue, StateFile::Constraints, message);
            let hint = "correct it; `statedir constraint set --help` shows how";
            found.push(problem.at(place).hint(hint));
        }
    }
}

/// Fields of steps that hold a time.
const TIMES: [&str; 4] = ["started_at", "completed_at", "merged_at", "waiting_since"];

/// Invalid times, and missing fields of the metadata.
pub(super) fn check_metadata(plan: &Plan, found: &mut Vec<Problem>) {
    let metadata = &plan.metadata;
    for (key, value) in [
        ("start_time", metadata.start_time.as_deref()),
        ("last_updated", metadata.last_updated.as_deref()),
        ("completed_at", metadata.completed_at.as_deref()),
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
                let is_in_line = !matches!(plan.step_field(step, key), Ok(Some(_)));
                let place = plan.field_place(step, if is_in_line { "id" } else { key });
                found.push(problem.at(place));
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
