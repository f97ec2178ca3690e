//! What a workflow must have to make sense.

use super::{MAX_NAME, WorkflowError, invalid};
use crate::{
    domain::{
        AtLimit, Gate, LifecycleSubject, Modifier, ModifierKind, PlanRole, StepRole, Workflow,
        lifecycle::Status,
        nearest::{nearest, same_name},
    },
    rules::Condition,
};

pub(super) fn validate(mut workflow: Workflow) -> Result<Workflow, WorkflowError> {
    use PlanRole as P;
    use StepRole as S;
    let plan_roles = [P::Planning, P::Active, P::Paused, P::Succeeded, P::Failed];
    // A list to tick off has no more than these.
    let step_roles = [S::Open, S::Active, S::Done];
    check_statuses(LifecycleSubject::Plan, &workflow.plan, &plan_roles)?;
    check_statuses(LifecycleSubject::Step, &workflow.step, &step_roles)?;
    if !(1..=100).contains(&workflow.retry_limit) {
        return invalid("`retry_limit` is between 1 and 100");
    }
    check_modifiers(&workflow.modifiers)?;
    if let Some(field) = &workflow.group {
        check_name(field, "the field of a group")?;
        workflow.group = Some(field.to_ascii_lowercase().replace('-', "_"));
    }
    for at in 0..workflow.merge_queue.len() {
        let queued = &workflow.merge_queue[at];
        let Some(status) = workflow.step_status(queued).map(str::to_owned) else {
            return invalid(format!(
                "`merge_queue` names `{queued}`, which is not a status of a step"
            ));
        };
        workflow.merge_queue[at] = status;
    }
    check_queue(&workflow)?;
    if let AtLimit::Status(wanted) = &workflow.at_limit {
        workflow.at_limit = AtLimit::Status(status_at_limit(&workflow, wanted)?);
    }
    for i in 0..workflow.gates.len() {
        let to = check_gate(&workflow, i)?;
        workflow.gates[i].to = to;
    }
    Ok(workflow)
}

fn check_statuses<R: Copy + PartialEq + std::fmt::Debug>(
    subject: LifecycleSubject,
    statuses: &[Status<R>],
    roles: &[R],
) -> Result<(), WorkflowError> {
    let names = || statuses.iter().map(|status| status.name.as_str());
    for role in roles {
        if !statuses.iter().any(|status| status.role == *role) {
            let role = format!("{role:?}").to_lowercase();
            return invalid(format!("no status of a {subject} has the role `{role}`"));
        }
    }
    if statuses.first().map(|status| status.role) != roles.first().copied() {
        let role = format!("{:?}", roles.first()).to_lowercase();
        let role = role.trim_start_matches("some(").trim_end_matches(')');
        return invalid(format!("the first status of a {subject} must have the role `{role}`"));
    }
    let mut seen: Vec<&str> = Vec::new();
    for name in names().chain(statuses.iter().flat_map(|s| s.aliases.iter().map(String::as_str))) {
        check_name(name, "a status")?;
        if seen.iter().any(|other| same_name(other, name)) {
            return invalid(format!("`{name}` names two statuses of a {subject}"));
        }
        seen.push(name);
    }
    for status in statuses {
        for next in &status.next {
            if !names().any(|name| name == next) {
                return invalid(format!(
                    "`{next}` follows `{}` but is not a status of a {subject}{}",
                    status.name,
                    suggestion(nearest(next, names()))
                ));
            }
        }
    }
    Ok(())
}

/// A step goes through the queue by moves that are allowed, and is done behind it.
fn check_queue(workflow: &Workflow) -> Result<(), WorkflowError> {
    let queue = &workflow.merge_queue;
    for (at, status) in queue.iter().enumerate() {
        if workflow.step_role(status) != Some(StepRole::Waiting) {
            return invalid(format!(
                "`merge_queue` names `{status}`, which does not have the role `waiting`"
            ));
        }
        let moves = workflow.step_moves(status);
        let is_done = |next: &String| workflow.step_role(next) == Some(StepRole::Done);
        match queue.get(at + 1) {
            Some(next) if !moves.contains(next) => {
                return invalid(format!("`merge_queue`: `{next}` does not follow `{status}`"));
            }
            None if !moves.iter().any(is_done) => {
                return invalid(format!(
                    "`merge_queue`: no status with the role `done` follows `{status}`"
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_modifiers(modifiers: &[Modifier]) -> Result<(), WorkflowError> {
    for (i, modifier) in modifiers.iter().enumerate() {
        let name = modifier.name();
        check_ascii(name, "a modifier")?;
        if modifiers[..i].iter().any(|other| same_name(other.name(), name)) {
            return invalid(format!("the modifier `{name}` appears twice"));
        }
        if crate::domain::facts::is_builtin(name) {
            return invalid(format!("`{name}` is a fact; a modifier needs another name"));
        }
        let scaled = matches!(modifier.kind(), ModifierKind::Ordered | ModifierKind::Enum);
        if scaled == modifier.values().is_empty() {
            let word = if scaled { "needs" } else { "has no" };
            return invalid(format!("the modifier `{name}` {word} `values`"));
        }
        for (j, value) in modifier.values().iter().enumerate() {
            check_ascii(value, "a value")?;
            if modifier.values()[..j].iter().any(|other| same_name(other, value)) {
                return invalid(format!("`{name}` has the value `{value}` twice"));
            }
        }
        if let Some(default) = modifier.default() {
            modifier.read(default).map_err(|error| WorkflowError::Invalid(error.to_string()))?;
        }
    }
    Ok(())
}

fn check_gate(workflow: &Workflow, i: usize) -> Result<String, WorkflowError> {
    let gate = &workflow.gates[i];
    check_name(&gate.name, "a gate")?;
    if workflow.gates[..i].iter().any(|other| same_name(&other.name, &gate.name)) {
        return invalid(format!("the gate `{}` appears twice", gate.name));
    }
    let to = match gate.subject {
        LifecycleSubject::Plan => workflow.plan_status(&gate.to),
        LifecycleSubject::Step => workflow.step_status(&gate.to),
    };
    let Some(to) = to else {
        let Gate { name, subject, to, .. } = gate;
        return invalid(format!(
            "the gate `{name}` leads to `{to}`, which is not a status of a {subject}"
        ));
    };
    let conditions = gate.reject.iter().filter_map(|route| route.when.as_ref());
    let parse = |when: &String| {
        Condition::parse(when, workflow)
            .map_err(|error| WorkflowError::Invalid(format!("the gate `{}`: {error}", gate.name)))
    };
    for when in conditions {
        parse(when)?;
    }
    if let Some(when) = &gate.when {
        let mut asks_why = false;
        parse(when)?.visit_facts(&mut |fact| asks_why |= fact == "reason");
        if asks_why {
            return invalid(format!(
                "the gate `{}`: `reason` is why it was rejected, which `reject` can ask for",
                gate.name
            ));
        }
    }
    // What follows a `reject` that always applies is never reached.
    let last = gate.reject.len().saturating_sub(1);
    if let Some(at) = gate.reject.iter().take(last).position(|route| route.when.is_none()) {
        let Gate { name, reject, .. } = gate;
        return invalid(format!(
            "the gate `{name}`: the way back to `{}` always applies; put it last",
            reject[at].reset
        ));
    }
    let known = [&gate.step].into_iter().flatten().chain(gate.reject.iter().map(|r| &r.reset));
    if known.into_iter().any(|step| step.trim().is_empty()) {
        return invalid(format!("the gate `{}` names a step without a name", gate.name));
    }
    Ok(to.to_owned())
}

/// The status that a step gets when it has failed as often as it may: one that means that it
/// failed, and that a step that fails can get.
fn status_at_limit(workflow: &Workflow, wanted: &str) -> Result<String, WorkflowError> {
    let Some(status) = workflow.step_status(wanted) else {
        return invalid(format!(
            "`at_limit` is `{wanted}`, which is neither `review` nor a status of a step"
        ));
    };
    if workflow.step_role(status) != Some(StepRole::Failed) {
        return invalid(format!("`at_limit` is `{status}`, which does not have the role `failed`"));
    }
    let failed = workflow.step_with_role(StepRole::Failed);
    let follows = |from: &Status<StepRole>| {
        let is_source = from.name == failed || from.role == StepRole::Active;
        is_source && from.next.iter().any(|next| next == status)
    };
    if failed != status && !workflow.step.iter().any(follows) {
        return invalid(format!("`at_limit` is `{status}`, which no status leads to"));
    }
    Ok(status.to_owned())
}

fn check_name(name: &str, what: &str) -> Result<(), WorkflowError> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let starts = name.starts_with(char::is_alphabetic);
    if starts && name.chars().count() <= MAX_NAME && name.chars().all(fits) {
        return Ok(());
    }
    cannot_name(name, what, "letters")
}

/// Words of the rule language.
fn check_ascii(name: &str, what: &str) -> Result<(), WorkflowError> {
    check_name(name, what)?;
    if name.is_ascii() { Ok(()) } else { cannot_name(name, what, "letters from a to z") }
}

fn cannot_name<T>(name: &str, what: &str, letters: &str) -> Result<T, WorkflowError> {
    let shown: String = name.chars().take(MAX_NAME).collect();
    invalid(format!(
        "`{shown}` cannot name {what}: use {letters}, digits, `_` and `-`, a letter first, \
         {MAX_NAME} at most"
    ))
}

fn suggestion(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
