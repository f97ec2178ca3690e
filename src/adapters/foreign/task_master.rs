//! Task Master: `tasks.json` with tags, tasks and subtasks.

use std::path::Path;

use serde_json::Value;

use super::{ForeignPlan, ForeignStep, read_json, role_of, text_at, text_of};

pub(super) fn read(path: &Path) -> Result<ForeignPlan, String> {
    let document = read_json(path)?;
    let mut plan = ForeignPlan::default();
    if let Some(tasks) = document.get("tasks").and_then(Value::as_array) {
        take(&mut plan, tasks, "");
    } else if let Some(tags) = document.as_object() {
        let listed = |value: &Value| value.get("tasks").and_then(Value::as_array).cloned();
        let tags: Vec<_> =
            tags.iter().filter_map(|(tag, value)| Some((tag, listed(value)?))).collect();
        let is_alone = tags.len() == 1;
        for (tag, tasks) in &tags {
            take(&mut plan, tasks, if is_alone { "" } else { tag });
        }
    }
    let meta = document.get("metadata").or_else(|| document.get("meta"));
    let meta = meta.or_else(|| document.as_object()?.values().find_map(|tag| tag.get("metadata")));
    plan.title = meta.and_then(|meta| text_at(meta, "projectName")).unwrap_or_default();
    let goal = meta.and_then(|meta| text_at(meta, "description")).unwrap_or_default();
    // What the program writes by itself says nothing.
    let is_said = !(goal.starts_with("Tasks for ") && goal.ends_with(" context"));
    plan.goal = if is_said { goal } else { String::new() };
    Ok(plan)
}

fn take(plan: &mut ForeignPlan, tasks: &[Value], tag: &str) {
    for task in tasks {
        let Some(id) = task.get("id").and_then(text_of) else {
            plan.left_out.push("a task without an id".to_owned());
            continue;
        };
        let named = |id: &str| if tag.is_empty() { id.to_owned() } else { format!("{tag}-{id}") };
        let mut step = one(plan, task, named(&id));
        step.depends_on = waits(task, |wanted| named(&wanted));
        let mut inner = Vec::new();
        for subtask in task.get("subtasks").and_then(Value::as_array).into_iter().flatten() {
            let Some(sub) = subtask.get("id").and_then(text_of) else { continue };
            // The id of a subtask may be given whole.
            let whole = if sub.contains('.') { sub } else { format!("{id}.{sub}") };
            let mut found = one(plan, subtask, named(&whole));
            let prefixed = |wanted: String| match wanted.contains('.') {
                true => named(&wanted),
                false => named(&format!("{id}.{wanted}")),
            };
            found.depends_on = waits(subtask, prefixed);
            found.fields.push(("group".to_owned(), step.title.clone()));
            inner.push(found);
        }
        step.depends_on.extend(inner.iter().map(|step| step.id.clone()));
        plan.steps.extend(inner);
        plan.steps.push(step);
    }
}

/// Dependencies are numbers or texts.
fn waits(task: &Value, named: impl Fn(String) -> String) -> Vec<String> {
    let list = task.get("dependencies").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(text_of).map(named).collect()
}

fn one(plan: &mut ForeignPlan, task: &Value, id: String) -> ForeignStep {
    let status = text_at(task, "status").unwrap_or_default();
    let role = role_of(&status);
    if role.is_none() && !status.is_empty() {
        plan.left_out.push(format!("{id}: the status `{status}`, treated as open"));
    }
    let mut fields = Vec::new();
    if let Some(priority) = text_at(task, "priority") {
        fields.push(("priority".to_owned(), priority));
    }
    if !matches!(status.as_str(), "" | "pending" | "done") {
        fields.push(("status_there".to_owned(), status));
    }
    let text = ["description", "details"].iter().filter_map(|key| text_at(task, key));
    let mut text: Vec<String> = text.collect();
    text.extend(text_at(task, "testStrategy").map(|tests| format!("Test strategy: {tests}")));
    ForeignStep {
        title: text_at(task, "title").unwrap_or_else(|| id.clone()),
        role,
        text,
        fields,
        id,
        ..ForeignStep::default()
    }
}
