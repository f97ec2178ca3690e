//! Finishing a step: done, failed or skipped.

use serde_json::{Value, json};

use crate::{
    domain::{
        AtLimit, ErrorCode, OUTCOME_FIELD, Plan, Step, StepCost, StepId, StepOutcome, StepRef,
        StepRole as Role, format_duration,
    },
    recovery::failure::{ClassifiedError, ErrorClass, classify},
    text::shell::shell_word,
    workspace::{
        Answer, Draft, Error, Resolver,
        change::{
            Change, Span, StepResult,
            review::open_review,
            steps::{
                claim,
                gate::{self, Passage, Spent, attempts_allowed},
                moves::{StepMove, fresh_start, other_moves, way_back},
                progress::{Extra, PlanProgress, status_of},
                select, step_json, transition,
            },
            text_of,
        },
    },
};

/// The most characters of one value, and of the whole line, in the result line of plan.md.
const VALUE: usize = 60;
const LINE: usize = 120;

/// Ends a step in a role: done, failed or skipped; with a given status of that role if there is one.
pub(in crate::workspace::change) fn finish(
    draft: &mut Draft<'_>,
    result: &StepResult,
    to: Role,
    status: Option<&str>,
) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let step = select(draft, &plan, result.step.as_ref(), &[Role::Active], "is running")?;
    plan.refuse_copied(step)?;
    if !result.force {
        claim::refuse_others(draft, step)?;
    }
    let from = status_of(draft, step);
    if !draft.workflow().has_step_role(to) {
        let word = serde_json::to_value(to).unwrap_or_default();
        let word = word.as_str().unwrap_or_default();
        return Err(Error::refused_with(
            ErrorCode::UnknownStatus,
            format!("this lifecycle has no status for steps that are {word}"),
            other_moves(draft.workflow(), step, &from),
        ));
    }
    let status = status.unwrap_or_else(|| draft.workflow().step_towards(&from, to)).to_owned();
    transition(draft, step, &from, &status)?;
    if draft.workflow().step_role(&from) == Some(to) {
        return Err(ended_already(draft, step, &from, &status));
    }
    if to == Role::Done {
        refuse_without_outputs(draft, step, &from, result)?;
    }

    // A step that was not running used no time and no tool.
    let from_role = draft.workflow().step_role(&from);
    let ran = matches!(from_role, Some(Role::Active | Role::Waiting));
    let started = step.started_at().filter(|_| from_role == Some(Role::Active));
    let time = result.time.or_else(|| draft.env.since(started?).map(Span::measured));
    // The time alone is not worth a line under a ticked box.
    let shown_time = time.filter(|_| step.item.is_none());
    let line = result_line(result, to, shown_time).filter(|_| step.has_result_line());
    let now = draft.env.now();
    let failures = draft.workflow().failures_of(step).saturating_add(u32::from(to == Role::Failed));
    let allowed = attempts_allowed(draft.workflow(), &plan, step);
    let is_at_limit = to == Role::Failed && failures >= allowed;
    // At the limit of attempts the workflow may have another status.
    let status = match draft.workflow().at_limit() {
        AtLimit::Status(last) if is_at_limit => last.clone(),
        _ => status,
    };
    let is_gated = !draft.workflow().gates().is_empty();
    let mut progress = PlanProgress::new(draft, &plan)?;
    if to != Role::Failed {
        progress.keep_failures(step, Some(to));
    }
    let id = progress.set_status(step, &status);
    if to == Role::Failed && step.failures.is_some() {
        progress.step(step).set("failures", &failures.to_string());
    }
    if from_role == Some(Role::Waiting) {
        progress.step(step).clear("started_at");
    }
    match line {
        Some(line) => progress.step(step).set("result", &line),
        None => progress.step(step).clear("result"),
    }
    if from_role == Some(Role::Open) && to == Role::Done {
        // An open step that is completed at once was worked on.
        progress.leave_planning()?;
    }
    if !is_gated {
        progress.complete_plan()?;
    }
    let mut extras = Vec::new();
    if !result.output.is_empty() {
        let outputs = result.output.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        extras.push(Extra::Outputs(id.as_str(), outputs));
    }
    if let Some(cost) = result.cost {
        let id = id.as_str().to_owned();
        extras.push(Extra::Cost(StepCost { step: step.number, id, cost: cost.0, at: now }));
    }
    let mut plan_status = progress.finish(&extras)?;
    drop(extras);
    if is_gated {
        let spent = Spent {
            cost: result.cost.map(|cost| cost.0),
            time_ms: time.map(Span::millis),
            has_failed: to == Role::Failed,
        };
        let waiting = waiting(result, &id, (to, &status), time);
        gate::check(draft, &Passage { spent, ..Passage::of_step(&id, &status, Some(waiting)) })?;
        let plan = draft.plan()?;
        let mut progress = PlanProgress::new(draft, &plan)?;
        progress.spent = spent;
        progress.complete_plan()?;
        plan_status = progress.finish(&[])?;
    }

    let touched = draft.facts()?.touches.remove(id.as_str()).unwrap_or_default();
    let changes = state_changes(&plan, step, &from, &status, plan_status.as_deref(), &touched);
    let mut fields = entry(draft, &plan, (step, id.as_str(), ran, time), result, &status, changes)?;
    let usage = draft.tell_usage().into_iter().map(|(name, n)| (name.to_owned(), n.to_string()));
    fields.extend(usage);
    draft.log(format!("Step {} Execution", step.number), fields)?;

    let mut answer = Answer::new(format!("step {} {status}: {}", step.number, step.title))
        .with("step", step_json(step, &id, &status));
    if let Some(failure) = failure(result, &status, draft) {
        if failure.class != ErrorClass::Unknown {
            let remedy = match failure.backoff_ms(step.attempts + 1) {
                0 => failure.class.remedy().to_owned(),
                wait => format!(
                    "may pass by itself: wait {}, or {}",
                    format_duration(wait),
                    failure.class.remedy()
                ),
            };
            answer.message.push_str(&format!("\nkind: {}, {remedy}", failure.class));
        }
        answer = answer.with("failure", failure_json(&failure, step.attempts + 1));
    }
    if is_at_limit && *draft.workflow().at_limit() != AtLimit::Review {
        let fresh = fresh_start(draft.workflow(), step, &status);
        let fresh = fresh.map(|fresh| format!("; {fresh}")).unwrap_or_default();
        let no_more = format!("it has failed {failures} of {allowed} times and is not tried again");
        answer.message.push_str(&format!("\n{no_more}{fresh}"));
    } else if is_at_limit {
        let question = format!(
            "step {} ({id}) failed {failures} of {allowed} attempts: {}",
            step.number, step.title
        );
        let review = open_review(draft, &question, None)?;
        answer.message.push_str(&format!("\nreview {review} is open: {question}"));
        answer = answer.with("reviews_opened", json!([review]));
    }
    if let Some(plan_status) = plan_status {
        answer.message.push_str(&format!("\nplan {plan_status}"));
        answer = answer.with("plan_status", plan_status);
    }
    Ok(answer)
}

/// To end in the same way once more would count twice, so it takes a move to the other status.
fn ended_already(draft: &Draft<'_>, step: &Step, from: &str, to: &str) -> Error {
    let back = way_back(draft.workflow(), step, from);
    Error::refused_with(
        ErrorCode::IllegalTransition,
        format!("{} is {from} already", step.name()),
        format!("{back}; `statedir step move {} {to}` sets the other status", step.number),
    )
}

/// The change that is made when the gate's review is approved.
fn waiting(
    result: &StepResult,
    id: &StepId,
    (role, status): (Role, &str),
    time: Option<Span>,
) -> Change {
    let step = StepRef::Id(id.clone());
    let result = StepResult { step: Some(step.clone()), time, force: true, ..result.clone() };
    match role {
        Role::Done => Change::StepDone(Box::new(result)),
        _ => Change::StepMove(Box::new(StepMove::with_result(step, status, result))),
    }
}

/// Refuses to complete a step without its expected outputs if the workflow requires them. Outputs
/// from before it began to wait count.
fn refuse_without_outputs(
    draft: &Draft<'_>,
    step: &Step,
    from: &str,
    result: &StepResult,
) -> Result<(), Error> {
    let workflow = draft.workflow();
    if !workflow.requires_outputs() {
        return Ok(());
    }
    let waited = workflow.step_role(from) == Some(Role::Waiting);
    let stored = |id: &StepId| draft.variables().ok()?.get(&format!("step_data.outputs.{id}"));
    let stored = step.id.as_ref().filter(|_| waited).and_then(stored);
    let is_given = |name: &str| {
        result.output.contains_key(name)
            || stored.as_ref().is_some_and(|stored| stored.get(name).is_some())
    };
    let missing = step.details().expected_outputs.iter().map(|(name, _)| name.as_str());
    let missing: Vec<&str> = missing.filter(|name| !is_given(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let option = |name: &&str| format!("--output {}='what it gave'", shell_word(name));
    let options: Vec<String> = missing.iter().map(option).collect();
    let command = format!("step done {} {}", step.number, options.join(" "));
    Err(Error::refused_with(
        ErrorCode::OutputMissing,
        format!("{} lacks the expected outputs {}", step.name(), missing.join(", ")),
        format!("`statedir {command}`"),
    ))
}

/// What kind of error it was, if the step failed.
fn failure(result: &StepResult, status: &str, draft: &Draft<'_>) -> Option<ClassifiedError> {
    let failed = draft.workflow().step_role(status) == Some(Role::Failed);
    failed.then(|| classify(result.error.as_deref().unwrap_or_default()))
}

fn failure_json(failure: &ClassifiedError, attempt: u32) -> Value {
    let mut value = json!(failure);
    value["backoff_ms"] = json!(failure.backoff_ms(attempt));
    value
}

fn state_changes(
    plan: &Plan,
    step: &Step,
    from: &str,
    to: &str,
    plan_status: Option<&str>,
    touched: &[String],
) -> String {
    let mut changes = vec![format!("step {} {from} → {to}", step.number)];
    if let Some(status) = plan_status {
        let before = plan.metadata.status.as_deref().unwrap_or("?");
        changes.push(format!("plan {before} → {status}"));
    }
    changes.extend(touched.iter().cloned());
    changes.join("; ")
}

fn entry(
    draft: &Draft<'_>,
    plan: &Plan,
    (step, id, ran, time): (&Step, &str, bool, Option<Span>),
    result: &StepResult,
    status: &str,
    state_changes: String,
) -> Result<Vec<(String, String)>, Error> {
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut put = |key: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            fields.push((key.to_owned(), value));
        }
    };
    let tool = result.tool.clone().or_else(|| step.details().tool_mapping.clone().filter(|_| ran));
    put("step", Some(id.to_owned()));
    put("title", Some(step.title.clone()));
    put("status", Some(status.to_owned()));
    let role = draft.workflow().step_role(status);
    let outcome = role.and_then(|role| StepOutcome::to_write(status, role));
    put(OUTCOME_FIELD, outcome.map(str::to_owned));
    // A step that is completed without being started has had one attempt.
    let attempt = match role {
        Some(Role::Done) => step.attempts.max(1),
        _ => step.attempts,
    };
    let was_tried = attempt > 0 && (ran || role == Some(Role::Done));
    put("attempt", was_tried.then(|| attempt.to_string()));
    put("actor", Some(draft.actor().to_owned()));
    put("component_used", step.details().component.clone());
    put("tool_used", tool);
    put("real_inputs", (!step.details().inputs.is_empty()).then(|| inputs(draft, plan, step)));
    let outputs = Value::Object(result.output.clone());
    put("real_outputs", (!result.output.is_empty()).then(|| outputs.to_string()));
    put("actual_cost", result.cost.map(|cost| cost.0.to_string()));
    put("actual_time", time.map(|time| time.to_string()));
    put("errors", result.error.clone());
    put("error_class", failure(result, status, draft).map(|found| found.class.word().to_owned()));
    put("state_changes", Some(state_changes));
    put("notes", result.note.clone());
    let simulation = plan.metadata.mode.as_deref().filter(|m| m.eq_ignore_ascii_case("SIMULATION"));
    put("mode", simulation.map(|_| "SIMULATION".to_owned()));
    Ok(fields)
}

/// The parameters with their references resolved as far as possible.
fn inputs(draft: &Draft<'_>, plan: &Plan, step: &Step) -> String {
    let variables = draft.variables().ok();
    let resolver = Resolver::new(Some(plan), variables.as_deref(), draft.workflow());
    let inputs =
        step.details().inputs.iter().map(|(key, text)| (key.clone(), resolver.lenient(text)));
    Value::Object(inputs.collect()).to_string()
}

/// The result of a step in one line for plan.md: `best=qdrant (40s, $0.02)`.
fn result_line(result: &StepResult, role: Role, time: Option<Span>) -> Option<String> {
    let outputs: Vec<String> = result
        .output
        .iter()
        .map(|(key, value)| format!("{key}={}", first_line(&text_of(value), VALUE)))
        .collect();
    let note = result.note.as_deref().filter(|note| !note.trim().is_empty());
    let said = match (role, &result.error) {
        (Role::Failed, Some(error)) => first_line(error, LINE),
        _ if !outputs.is_empty() => first_line(&outputs.join(", "), LINE),
        _ => first_line(note.unwrap_or_default(), LINE),
    };
    let time = time.filter(|time| time.millis() > 0).map(|time| time.to_string());
    let spent: Vec<String> =
        time.into_iter().chain(result.cost.map(|cost| cost.0.to_string())).collect();
    let spent = spent.join(", ");
    match (said.is_empty(), spent.is_empty()) {
        (true, true) => None,
        (true, false) => Some(spent),
        (false, true) => Some(said),
        (false, false) => Some(format!("{said} ({spent})")),
    }
}

/// The first line that is not blank, cut at `width`.
fn first_line(text: &str, width: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let is_whole = line.chars().count() <= width && text.trim() == line;
    match is_whole {
        true => line.to_owned(),
        false => format!("{} …", line.chars().take(width).collect::<String>().trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{domain::Money, workspace::change::Cost};

    #[test]
    fn a_result_is_one_line() {
        let mut result = StepResult { time: Some(Span(40_000)), ..StepResult::default() };
        result.cost = Some(Cost(Money(20_000)));
        assert_eq!(result_line(&result, Role::Done, result.time).unwrap(), "40s, $0.02");
        result.output.insert("best".to_owned(), json!("qdrant"));
        result.output.insert("rows".to_owned(), json!([1, 2]));
        let line = result_line(&result, Role::Done, result.time).unwrap();
        assert_eq!(line, "best=qdrant, rows=[1,2] (40s, $0.02)");
        result.error = Some("mypy: 12 errors\nin a.py".to_owned());
        let line = result_line(&result, Role::Failed, None).unwrap();
        assert_eq!(line, "mypy: 12 errors … ($0.02)");
        assert_eq!(result_line(&StepResult::default(), Role::Done, Some(Span(0))), None);
    }
}
