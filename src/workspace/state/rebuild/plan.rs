//! plan.md from identity, steps and reviews.

use serde_json::Value;

use super::{Placeholders, field, heading, not_read_back, parse, refused, title_line};
use crate::{
    domain::{
        Money, Plan, Review, StateFile, StepId, StepRef, StepRole, StepUpdate, Workflow,
        plan::{bookkeeping::Bookkeeping, dependencies},
    },
    text::markdown::{Document, Edit, SectionId, is_placeholder},
    workspace::{
        Error, Readiness,
        state::{
            StepState, Written,
            source::{DocumentPart, Supplied},
            step_state,
        },
    },
};

const FILE: StateFile = StateFile::Plan;

/// Puts metadata, steps and reviews of the document into the rendered template.
pub(in super::super) fn plan(
    document: &DocumentPart<'_>,
    template: String,
    workflow: &Workflow,
) -> Result<String, Error> {
    let text = metadata(document, Plan::read(parse(FILE, template)?))?;
    let mut wanted = Vec::new();
    for (at, part) in document.list("steps")?.iter().enumerate() {
        wanted.push(read_step(part, at, workflow)?);
    }
    name_by_id(&mut wanted);
    let mut steps = String::new();
    for step in &wanted {
        steps.push('\n');
        steps.push_str(&heading(3, format!("Step {}: {}", step.number, step.title).trim_end())?);
        steps.push_str(&body(step, &wanted)?);
    }
    let text = insert_steps(text, &steps)?;
    let mut text = complete(Plan::read(parse(FILE, text)?), &wanted, workflow)?;
    let reviews = read_reviews(document)?;
    if !reviews.is_empty() {
        text.push_str(&format!("\n{}", review_section(&reviews)?));
    }
    let plan = Plan::read(parse(FILE, text)?);
    let found: Vec<StepState> = plan.steps.iter().map(|step| step_state(step, false)).collect();
    if let Some(at) =
        (0..wanted.len().max(found.len())).find(|at| !is_same(wanted.get(*at), found.get(*at)))
    {
        return Err(not_read_back(FILE, &format!("`steps[{at}]`")));
    }
    let read_back = |(id, text, _): &(String, String, bool), review: &Review| {
        (id, text) == (&review.id, &review.text)
    };
    if reviews.len() != plan.reviews.len()
        || !reviews.iter().zip(&plan.reviews).all(|(wanted, found)| read_back(wanted, found))
    {
        return Err(not_read_back(FILE, "a review"));
    }
    current_step(&plan, workflow)
}

/// Sets the fields of the document, removes those that are null, and keeps the rest.
fn metadata(document: &DocumentPart<'_>, plan: Plan) -> Result<String, Error> {
    let Some(section) = plan.metadata_section() else {
        return Err(refused("the template of `plan.md` has no `Metadata` section".to_owned()));
    };
    let mut edit = plan.document.edit();
    for step in &plan.steps {
        plan.remove_step(&mut edit, step);
    }
    let (identity, timing) = (document.get("identity"), document.get("timing"));
    let of = |part: &Option<DocumentPart<'_>>, key: &str| match part {
        Some(part) => part.supplied(key),
        None => Ok(Supplied::Absent),
    };
    for (key, given) in [
        ("execution_id", of(&identity, "execution_id")?),
        ("goal", of(&identity, "goal")?),
        ("status", document.supplied("status")?),
        ("start_time", of(&timing, "start_time")?),
        ("completed_at", of(&timing, "completed_at")?),
        ("last_updated", of(&timing, "last_updated")?),
        ("mode", of(&identity, "mode")?),
    ] {
        // A derived copy, written only if the template has it.
        if key == "last_updated" && plan.metadata.last_updated.is_none() {
            continue;
        }
        match given {
            Supplied::Absent => {}
            Supplied::Text(text) => put(&plan.document, &mut edit, section, key, Some(&text)),
            Supplied::Nothing => put(&plan.document, &mut edit, section, key, None),
        }
    }
    if let Some(identity) = identity.filter(|part| part.get("other").is_some()) {
        let other = identity.written("other")?;
        for (key, _) in &plan.metadata.other {
            if !other.iter().any(|wanted| wanted.name == *key) {
                put(&plan.document, &mut edit, section, key, None);
            }
        }
        for written in &other {
            let text = written.text.as_deref().unwrap_or_default();
            match plan.document.field(section, &written.name) {
                Ok(Some(item)) => edit.set_value(item, text),
                _ => edit.insert_field(section, None, &written.name, text),
            };
        }
    }
    let edited = edit.finish().map_err(|error| refused(error.to_string()))?;
    Ok(edited.document.into_source())
}

fn put(
    document: &Document,
    edit: &mut Edit<'_>,
    section: SectionId,
    key: &str,
    text: Option<&str>,
) {
    let item = document.field(section, key).ok().flatten();
    let quoted = |text: &str| Value::from(text).to_string();
    match (item, text) {
        (Some(item), Some(text)) if is_placeholder(text) => edit.set_raw(item, &quoted(text)),
        (Some(item), Some(text)) => edit.set_value(item, text),
        (Some(item), None) => edit.remove_item(item),
        (None, Some(text)) if is_placeholder(text) => {
            edit.insert_raw_field(section, None, key, &quoted(text))
        }
        (None, Some(text)) => edit.insert_field(section, None, key, text),
        (None, None) => return,
    };
}

fn read_step(part: &DocumentPart<'_>, at: usize, workflow: &Workflow) -> Result<StepState, Error> {
    let number = match part.get("number") {
        Some(_) => part.count("number")?,
        None => u32::try_from(at + 1).unwrap_or(u32::MAX),
    };
    let id = part.text("id")?;
    if id.as_deref().is_some_and(|id| StepId::parse(id).is_none()) {
        return Err(part.get("id").as_ref().unwrap_or(part).should_be("the id of a step"));
    }
    let status = match part.supplied("status")? {
        Supplied::Absent => Some(workflow.step_with_role(StepRole::Open).to_owned()),
        Supplied::Nothing => None,
        Supplied::Text(status) => Some(status),
    };
    let mut depends_on = Vec::new();
    for wanted in part.list("depends_on")? {
        depends_on.push(StepRef::parse(&wanted.as_text()?)?);
    }
    let amount = part.get("estimated_cost_amount").and_then(|part| Money::from_json(part.value()));
    let cost = part.text("estimated_cost")?.or_else(|| amount.map(|amount| amount.to_string()));
    let seconds = part.text("estimated_time_seconds")?.map(|seconds| format!("{seconds}s"));
    let time = part.text("estimated_time")?.or(seconds);
    let read = crate::domain::parse_duration_ms;
    Ok(StepState {
        number,
        id,
        title: title_line(part.text("title")?.unwrap_or_default().trim()),
        status,
        component: part.text("component")?,
        tool_mapping: part.text("tool_mapping")?,
        inputs: part.written("inputs")?,
        expected_outputs: part.written("expected_outputs")?,
        estimated_cost_amount: cost.as_deref().and_then(Money::parse),
        estimated_cost: cost,
        estimated_time_seconds: time.as_deref().and_then(read).map(|ms| ms as f64 / 1000.0),
        estimated_time: time,
        side_effects: part.text("side_effects")?,
        depends_on,
        attempts: part.count("attempts")?,
        failures: part.optional_count("failures")?,
        claimed_by: part.text("claimed_by")?,
        started_at: part.text("started_at")?,
        completed_at: part.text("completed_at")?,
        result: part.text("result")?,
        description: part.text("description")?.filter(|text| !text.trim().is_empty()),
        other: part.written("other")?,
        ready: false,
        place: None,
    })
}

/// Whether a step reads back; the white space around its description does not matter.
fn is_same(wanted: Option<&StepState>, found: Option<&StepState>) -> bool {
    let words = |text: &Option<String>| -> Vec<String> {
        text.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
    };
    let (Some(wanted), Some(found)) = (wanted, found) else { return false };
    let plain = |step: &StepState| StepState { description: None, ..step.clone() };
    plain(wanted) == plain(found) && words(&wanted.description) == words(&found.description)
}

/// Adds what can be written only after the steps: their marks and descriptions.
fn complete(plan: Plan, wanted: &[StepState], workflow: &Workflow) -> Result<String, Error> {
    let mut edit = plan.document.edit();
    if plan.steps.len() != wanted.len() {
        return Ok(plan.document.into_source());
    }
    for (step, wanted) in plan.steps.iter().zip(wanted) {
        let mut update = StepUpdate::default();
        update.set_title(&wanted.title);
        update.set_role(workflow.role_of_status(wanted.status.as_deref()));
        plan.update_step(&mut edit, step, &update)?;
        if let Some(description) = &wanted.description {
            edit.append_text(step.section, description);
        }
    }
    Ok(Plan::finish(edit)?.document.into_source())
}

fn body(step: &StepState, all: &[StepState]) -> Result<String, Error> {
    let mut body = String::new();
    put_field(&mut body, "component", step.component.as_deref())?;
    put_field(&mut body, "tool_mapping", step.tool_mapping.as_deref())?;
    put_field(&mut body, "status", step.status.as_deref())?;
    let failures = step.failures.map(|failures| failures.to_string());
    put_field(&mut body, "failures", failures.as_deref())?;
    for (key, list) in [("inputs", &step.inputs), ("expected_outputs", &step.expected_outputs)] {
        if !list.is_empty() {
            body.push_str(&format!("- **{key}**:\n"));
            body.push_str(&fields(2, list)?);
        }
    }
    put_field(&mut body, "estimated_cost", step.estimated_cost.as_deref())?;
    put_field(&mut body, "estimated_time", step.estimated_time.as_deref())?;
    put_field(&mut body, "side_effects", step.side_effects.as_deref())?;
    put_field(&mut body, "depends_on", Some(&depends_on(step, all)))?;
    body.push_str(&fields(0, &step.other)?);
    put_field(&mut body, "result", step.result.as_deref())?;
    let line = Bookkeeping {
        id: step.id.clone().unwrap_or_default(),
        attempts: step.attempts,
        claimed_by: step.claimed_by.clone(),
        started_at: step.started_at.clone(),
        completed_at: step.completed_at.clone(),
        remarks: Vec::new(),
    };
    if step.id.is_some() {
        put_field(&mut body, "id", Some(&line.write()))?;
    } else {
        let attempts = (step.attempts > 0).then(|| step.attempts.to_string());
        put_field(&mut body, "attempts", attempts.as_deref())?;
        put_field(&mut body, "claimed_by", step.claimed_by.as_deref())?;
        put_field(&mut body, "started_at", step.started_at.as_deref())?;
        put_field(&mut body, "completed_at", step.completed_at.as_deref())?;
    }
    Ok(body)
}

fn put_field(body: &mut String, key: &str, text: Option<&str>) -> Result<(), Error> {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        body.push_str(&field(0, key, text, Placeholders::Matter)?);
    }
    Ok(())
}

/// A dependency such as `2.1` means the step with that id, if there is one.
fn name_by_id(steps: &mut [StepState]) {
    let ids: Vec<String> = steps.iter().filter_map(|step| step.id.clone()).collect();
    for wanted in steps.iter_mut().flat_map(|step| &mut step.depends_on) {
        if let StepRef::Label(label) = wanted
            && ids.contains(label)
            && let Some(id) = StepId::parse(label)
        {
            *wanted = StepRef::Id(id);
        }
    }
}

/// Its list of dependencies; ids are written as number and title.
fn depends_on(step: &StepState, all: &[StepState]) -> String {
    let one = |wanted: &StepRef| {
        let of_id = |other: &&StepState| match wanted {
            StepRef::Id(id) => other.id.as_deref() == Some(id.as_str()),
            StepRef::Label(label) => other.id.as_ref() == Some(label),
            StepRef::Number(_) => false,
        };
        let mut found = all.iter().filter(of_id);
        match (found.next(), found.next()) {
            (Some(step), None) if !step.title.is_empty() => {
                dependencies::write([(step.number, step.title.as_str())])
            }
            _ => wanted.to_string(),
        }
    };
    step.depends_on.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn fields(indent: usize, list: &[Written]) -> Result<String, Error> {
    let line = |written: &Written| {
        let text = written.text.as_deref().unwrap_or_default();
        field(indent, &written.name, text, Placeholders::Matter)
    };
    list.iter().map(line).collect()
}

fn insert_steps(text: String, steps: &str) -> Result<String, Error> {
    if steps.is_empty() {
        return Ok(text);
    }
    let plan = Plan::read(parse(FILE, text)?);
    let at = plan.steps_section().map(|id| plan.document.section(id).extent.end);
    let source = plan.document.into_source();
    let (before, after) = match at {
        Some(at) => source.split_at(at),
        None => (source.as_str(), ""),
    };
    let head = if at.is_none() { "\n\n## Steps" } else { "" };
    let gap = if after.is_empty() { "" } else { "\n" };
    Ok(format!("{}{head}\n{steps}{gap}{after}", before.trim_end()))
}

/// Id, text and whether the box is ticked.
fn read_reviews(document: &DocumentPart<'_>) -> Result<Vec<(String, String, bool)>, Error> {
    let key = if document.get("reviews").is_some() { "reviews" } else { "open_reviews" };
    let mut reviews = Vec::new();
    for part in document.list(key)? {
        let id = part.text("id")?.unwrap_or_else(|| format!("r{}", reviews.len() + 1));
        let decided = part.text("decision")?.is_some_and(|decision| decision != "open");
        reviews.push((id, part.needed_text("text")?, decided));
    }
    Ok(reviews)
}

fn review_section(reviews: &[(String, String, bool)]) -> Result<String, Error> {
    let mut document = parse(FILE, "## Reviews\n".to_owned())?;
    for (id, text, ticked) in reviews {
        let section = document.sections().last().unwrap_or_else(|| document.root());
        let mut edit = document.edit();
        edit.append_checkbox(section, *ticked, &format!("{id}: {text}"));
        document = edit.finish().map_err(|error| refused(error.to_string()))?.document;
    }
    Ok(document.into_source())
}

/// Updates the number of the current step, which follows from the steps.
fn current_step(plan: &Plan, workflow: &Workflow) -> Result<String, Error> {
    let current = Readiness::new(plan, workflow).counts().current_step.to_string();
    let mut edit = plan.document.edit();
    plan.update_copies(&mut edit, &[("current_step", current.as_str())])?;
    Ok(Plan::finish(edit)?.document.into_source())
}
