//! Changes of the plan's metadata.

use serde_json::{Map, Value, json};

use super::text_of;
use crate::{
    domain::{ErrorCode, Plan, PlanRole, StateFile, StepRole, variables},
    text::json::Path,
    workspace::{
        Answer, Draft, Error, Readiness,
        change::{
            review::refuse_while_open,
            steps::{
                gate::{self, Passage},
                progress::{ended_at, plan_status},
            },
        },
    },
};

/// Sets fields, and their copies in variables.json.
pub(super) fn set(draft: &mut Draft<'_>, set: &Map<String, Value>) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let mut edit = plan.document.edit();
    let mut fields: Vec<(String, String)> = Vec::new();
    for (key, value) in set {
        let (written, value) = (key.trim(), text_of(value));
        // Letter case does not matter for known fields; other fields stay as written.
        let key = written.to_ascii_lowercase();
        if matches!(key.as_str(), "goal" | "title") {
            Error::refuse_placeholder(&value)?;
        }
        let value = match key.as_str() {
            "status" => status(draft, &plan, &value)?,
            "mode" => mode(&value)?,
            "execution_id" if plan.metadata.execution_id.is_none() => value,
            "current_step" | "last_updated" | "completed_at" | "execution_id" => {
                return Err(Error::refused_with(
                    ErrorCode::ManagedField,
                    format!("`{key}` of the plan cannot be set directly"),
                    "it follows from the steps and commands; `statedir check --fix` repairs it",
                ));
            }
            "title" => {
                plan.set_title(&mut edit, &value)?;
                continue;
            }
            "" => return Err(Error::refused(ErrorCode::BadValue, "a field needs a name")),
            "goal" if value.trim().is_empty() => {
                return Err(Error::refused(ErrorCode::BadValue, "the goal cannot be empty"));
            }
            key if key != "goal" => {
                fields.push((written.to_owned(), value));
                continue;
            }
            _ => value,
        };
        fields.push((key, value));
    }
    let rest = fields.iter().filter(|(key, _)| key != "status");
    let borrowed: Vec<(&str, &str)> =
        rest.map(|(key, value)| (key.as_str(), value.as_str())).collect();
    plan.set_metadata(&mut edit, &borrowed)?;
    let moved = fields.iter().find(|(key, _)| key == "status").map(|(_, status)| status);
    let moved = moved.filter(|status| plan.metadata.status.as_ref() != Some(*status));
    if let Some(to) = moved {
        plan.set_plan_status(&mut edit, to, ended_at(draft, to).as_deref())?;
    }
    plan.update_copies(&mut edit, &[("last_updated", &draft.env.now())])?;
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    if let Some(to) = moved {
        let waiting = Some(super::Change::PlanSet { set: set.clone() });
        gate::check(draft, &Passage { waiting, ..Passage::of_plan(to) })?;
    }
    repeat_in_variables(draft, &fields)?;
    let names: Vec<&String> = set.keys().collect();
    let text: Vec<String> = set.iter().map(|(k, v)| format!("{k} = {}", text_of(v))).collect();
    for name in names {
        draft.facts()?.touch(&format!("{} {name}", StateFile::Plan));
    }
    Ok(Answer::new(format!("plan: {}", text.join(", "))).with("set", json!(set)))
}

fn status(draft: &mut Draft<'_>, plan: &Plan, wanted: &str) -> Result<String, Error> {
    let workflow = draft.workflow();
    let Some(to) = workflow.plan_status(wanted) else {
        return Err(Error::refused_with(
            ErrorCode::UnknownStatus,
            format!("`{wanted}` is not a status of a plan"),
            format!("one of {}", workflow.plan_statuses().collect::<Vec<_>>().join(", ")),
        ));
    };
    let from = plan_status(draft, plan);
    if from != to {
        workflow.check_plan(&from, to).map_err(Error::plan_transition)?;
        // Stopping is always allowed.
        let stops = matches!(workflow.plan_role(to), Some(PlanRole::Paused | PlanRole::Failed));
        if !stops {
            refuse_while_open(plan)?;
        }
    }
    let to = to.to_owned();
    refuse_unfinished(draft, plan, &to)?;
    Ok(to)
}

/// A plan cannot have succeeded while there is something left to do.
fn refuse_unfinished(draft: &Draft<'_>, plan: &Plan, to: &str) -> Result<(), Error> {
    let workflow = draft.workflow();
    if workflow.plan_role(to) != Some(PlanRole::Succeeded) {
        return Ok(());
    }
    let readiness = Readiness::new(plan, workflow);
    let roles = plan.steps.iter().zip(readiness.roles());
    let is_open = |role: &Option<StepRole>| {
        matches!(role, Some(StepRole::Open | StepRole::Active | StepRole::Waiting))
    };
    let open = roles.filter(|(_, role)| is_open(role));
    let open: Vec<String> = open.map(|(step, _)| step.number.to_string()).collect();
    if open.is_empty() {
        return Ok(());
    }
    let shown = open.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
    let more = if open.len() > 10 { ", …" } else { "" };
    let steps = if open.len() == 1 { "step" } else { "steps" };
    let verb = if open.len() == 1 { "is" } else { "are" };
    Err(Error::refused_with(
        ErrorCode::UnfinishedSteps,
        format!("the plan cannot become {to}: {steps} {shown}{more} {verb} not finished"),
        format!("`statedir step show {}` shows the first of them", open[0]),
    ))
}

fn mode(wanted: &str) -> Result<String, Error> {
    let upper = wanted.trim().to_ascii_uppercase();
    if matches!(upper.as_str(), "EXECUTION" | "SIMULATION") {
        return Ok(upper);
    }
    Err(Error::refused_with(
        ErrorCode::BadValue,
        format!("`{wanted}` is not a mode"),
        "one of EXECUTION, SIMULATION",
    ))
}

fn repeat_in_variables(draft: &mut Draft<'_>, fields: &[(String, String)]) -> Result<(), Error> {
    let repeated: Vec<_> =
        fields.iter().filter(|(key, _)| matches!(key.as_str(), "goal" | "mode")).collect();
    if repeated.is_empty() {
        return Ok(());
    }
    let mut edit = draft.variables()?.document.edit();
    for (key, value) in repeated {
        let path = Path::root().join("execution_metadata").join(key);
        edit.set(&path, &json!(value)).map_err(variables::refused)?;
    }
    draft.put_variables(edit.finish());
    Ok(())
}
