//! Printing steps.

use serde_json::{Value, json};

use super::args::select;
use crate::{
    adapters::cli::{CliResult, Failure, Session, output::outcome_json},
    domain::{Claim, ErrorCode, Plan, StateFile, Step, StepRole},
    workspace::{Change, Error, Resolver, Snapshot, StepOverview},
};

/// One step in full, its references looked up if wanted.
pub(super) fn show(session: &mut Session<'_>, step: Option<&str>, resolved: bool) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let plan = snapshot.plan()?;
    let overview = snapshot.overview()?;
    let wanted = match step {
        Some(step) => select(step)?,
        None => crate::domain::StepRef::Number(overview.counts.current_step),
    };
    let step = plan.step(&wanted).map_err(Error::from)?;
    let at = plan.steps.iter().position(|other| other.offset == step.offset);
    let holder = at.and_then(|at| overview.steps.get(at)?.holder.as_ref());
    let inputs = if resolved { Some(inputs(&snapshot, &plan, step)?) } else { None };
    session.output.value(|| {
        let mut shown = step_json(step);
        if let Some(overview) = at.and_then(|at| overview.steps.get(at)) {
            shown["status"] = json!(overview.status);
        }
        if let Some(holder) = holder {
            shown["claim"] = json!(holder);
        }
        if let Some(inputs) = &inputs {
            shown["inputs"] = json!(inputs);
        }
        json!({ "step": shown, "line": plan.place(step).line,
            "revision": snapshot.revision().as_str() })
    });
    let extent = plan.extent(step);
    session.output.verbatim(plan.document.source()[extent].trim_end());
    if let Some(holder) = holder {
        let take = holder.take.as_ref().map(|take| format!(" (`{take}`)")).unwrap_or_default();
        session.output.line(format!("\nheld by {}{take}", holder.phrase()));
    }
    for (at, (name, value)) in inputs.iter().flatten().enumerate() {
        if at == 0 {
            session.output.line("\nresolved inputs:");
        }
        session.output.line(format!("{name} = {value}"));
    }
    Ok(0)
}

/// The inputs with their references looked up.
fn inputs(
    snapshot: &Snapshot,
    plan: &Plan,
    step: &Step,
) -> Result<serde_json::Map<String, Value>, Error> {
    let variables = snapshot.variables()?;
    let workflow = snapshot.workflow()?;
    let overview = snapshot.overview()?;
    let resolver = Resolver::new(Some(plan), Some(&variables), &workflow)
        .with_totals(overview.spending.total_cost, overview.last_updated.as_deref());
    let resolved = |(name, text): &(String, String)| Ok((name.clone(), resolver.resolve(text)?));
    step.details().inputs.iter().map(resolved).collect()
}

/// Which steps are listed.
pub(super) struct Filter {
    pub(super) status: Option<String>,
    pub(super) claimed_by: Option<String>,
    pub(super) fields: Vec<(String, String)>,
}

/// All steps, a line each.
pub(super) fn list(session: &mut Session<'_>, filter: &Filter, limit: usize) -> CliResult {
    let workspace = session.workspace()?;
    let snapshot = workspace.read()?;
    let steps = snapshot.overview()?.steps;
    // Their places: only what is printed is worked out.
    let mut lines: Vec<usize> = (0..steps.len()).collect();
    if !filter.fields.is_empty() {
        let plan = snapshot.plan()?;
        let has = |step: &Step, (name, value): &(String, String)| {
            step.field(name).is_some_and(|field| field.trim() == value.trim())
        };
        lines.retain(|at| filter.fields.iter().all(|field| has(&plan.steps[*at], field)));
    }
    let mut held = Vec::new();
    if let Some(name) = &filter.claimed_by {
        let running = lines.iter().map(|at| &steps[*at]).filter(|line| line.is_running());
        let by = running.filter_map(|line| Some((line.number, line.holder.as_ref()?.who())));
        held = by.map(|(step, who)| format!("step {step} by {who}")).collect();
        let is_by = |claim: &Claim| {
            claim.is_by(name) || claim.session_name() == *name || claim.to_string() == *name
        };
        lines.retain(|at| steps[*at].claimed_by.as_ref().is_some_and(is_by));
    }
    // How long ago a running step was claimed.
    let age = |step: &StepOverview| {
        Some(step).filter(|step| step.is_running())?.age_ms(workspace.environment())
    };
    if let Some(status) = &filter.status {
        let workflow = snapshot.workflow()?;
        let Some(known) = workflow.step_status(status) else {
            let all: Vec<&str> = workflow.step_statuses().collect();
            let message = format!("`{status}` is not a status of a step");
            return Err(Failure::new(ErrorCode::UnknownStatus, message)
                .hint(format!("one of {}", all.join(", "))));
        };
        lines.retain(|at| steps[*at].status == known);
    }
    let left_out = lines.len().saturating_sub(limit);
    let lines: Vec<&StepOverview> = lines.iter().take(limit).map(|at| &steps[*at]).collect();
    session.output.value(|| {
        let with_age = |step: &StepOverview| {
            let mut value = json!(step);
            if let Some(age) = age(step) {
                value["claim_age_ms"] = json!(age);
            }
            value
        };
        let steps: Vec<Value> = lines.iter().copied().map(with_age).collect();
        json!({ "steps": steps, "left_out": left_out,
            "revision": snapshot.revision().as_str() })
    });
    let width = lines.iter().filter_map(|step| step.id.as_ref()).map(String::len).max();
    let width = width.unwrap_or_default().max(5);
    for step in &lines {
        let id = step.id.as_deref().unwrap_or("-");
        let mut notes = Vec::new();
        if let Some(holder) = &step.holder {
            notes.push(holder.remark());
            notes.extend(holder.take.as_ref().filter(|_| holder.stale).cloned());
        }
        if !step.waits_for.is_empty() && step.role == Some(StepRole::Open) {
            notes.push(format!("waits for {}", step.waits_for.join(", ")));
        }
        notes.extend(step.held_by.as_ref().map(|group| format!("after {group}")));
        let notes =
            if notes.is_empty() { String::new() } else { format!("  ({})", notes.join("; ")) };
        session.output.line(format!(
            "{} {:>3}  {:<width$} {:<10} {}{notes}",
            mark(step.role),
            step.number,
            id,
            step.status,
            step.title
        ));
    }
    if lines.is_empty() && left_out == 0 {
        session.output.line(match (&filter.claimed_by, held.is_empty()) {
            (None, _) => "no steps".to_owned(),
            (Some(name), true) => format!("no step is claimed by {name}, nor by anybody else"),
            (Some(name), false) => format!("no step is claimed by {name}; {}", held.join(", ")),
        });
    }
    if steps.is_empty()
        && let Some(hidden) = snapshot.plan().ok().and_then(|plan| plan.document.hidden())
    {
        session.output.note(&format!("{}: {hidden}", StateFile::Plan));
    }
    if left_out > 0 {
        session
            .output
            .line(format!("{left_out} more: statedir step list --limit {}", limit + left_out));
    }
    Ok(0)
}

/// Starts a step, or takes it over, and prints what is needed to begin: what it is about, its inputs
/// looked up, what it should give, and what went wrong before.
pub(super) fn begin(session: &mut Session<'_>, change: Change) -> CliResult {
    let (outcome, needed) = session.workspace()?.begin_step(change)?;
    session.output.outcome(&outcome, session.global.dry_run);
    session.output.value(|| {
        let mut answer = outcome_json(&outcome, session.global.dry_run);
        if let (Value::Object(needed), Some(members)) = (json!(needed), answer.as_object_mut()) {
            members.extend(needed);
        }
        answer
    });
    for line in needed.description.iter().flat_map(|text| text.lines()) {
        session.output.line(format!("  {line}").trim_end());
    }
    for (name, value) in &needed.inputs {
        session.output.line(format!("  input {name} = {value}"));
    }
    for (name, text) in &needed.expected_outputs {
        let text = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
        session.output.line(format!("  expects {name}: {text}"));
    }
    for error in &needed.earlier_errors {
        session.output.line(format!("  failed before: {}", error.replace('\n', " ")));
    }
    for holder in &needed.left_running {
        let (number, take) = (holder.step, holder.take.as_deref().unwrap_or_default());
        let phrase = holder.phrase();
        session.output.note(&format!("step {number} was left running by {phrase}: `{take}`"));
    }
    Ok(0)
}

/// The next step that can be started.
pub(super) fn next(session: &mut Session<'_>) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let overview = snapshot.overview()?;
    let step = snapshot.next_step(&overview)?;
    let next = overview.next_move();
    session.output.value(|| {
        json!({ "step": step_json(&step), "next_move": next,
            "revision": snapshot.revision().as_str() })
    });
    let id = step.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
    session.output.line(format!("step {}{id}: {}", step.number, step.title));
    session.output.advice(next.text);
    Ok(0)
}

/// A sign for a status that needs no colour.
pub(in crate::adapters::cli) fn mark(role: Option<StepRole>) -> char {
    match role {
        Some(StepRole::Done) => '+',
        Some(StepRole::Active) => '>',
        Some(StepRole::Waiting) => '~',
        Some(StepRole::Failed) => '!',
        Some(StepRole::Skipped) => '-',
        Some(StepRole::Open) | None => ' ',
    }
}

fn step_json(step: &Step) -> Value {
    let object = |pairs: &[(String, String)]| -> serde_json::Map<String, Value> {
        pairs.iter().map(|(key, value)| (key.clone(), json!(value))).collect()
    };
    let mut value = json!(step);
    value["inputs"] = json!(object(&step.details().inputs));
    value["expected_outputs"] = json!(object(&step.details().expected_outputs));
    value["other"] = json!(object(&step.details().other));
    value
}
