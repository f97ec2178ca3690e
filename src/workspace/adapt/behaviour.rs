//! Context-aware behaviours: what applies to a kind of task, and is reverted when the kind changes.

use serde_json::{Map, Value, json};

use super::super::{Answer, Change, Draft, Error, change as changes};
use super::effects;
use crate::{
    domain::variables,
    rules::{Action, apply, is_meant_as_rule},
    text::json::Path,
};

/// Where the values from before a behaviour are kept, so that it can be reverted.
const KEPT: &str = "adaptation";

/// Applies the behaviours of a new task type, and reverts those of the old one.
pub(super) fn apply_for_task(
    draft: &mut Draft<'_>,
    change: &Change,
    answer: &mut Answer,
) -> Result<(), Error> {
    let task = match change {
        Change::PlanSet { set } => set.get("task_type").map(changes::text_of),
        Change::Event { kind, fields } => changes::task_type(kind, fields),
        _ => None,
    };
    let Some(task) = task else { return Ok(()) };
    let mut notes = take_back(draft)?;
    let constraints = draft.constraints()?;
    let found = constraints.behaviours.iter().find(|known| is_for(&known.task_type, &task));
    if let Some(behaviour) = found {
        let place = constraints.place(behaviour.item);
        match Action::parse_all(&behaviour.text, draft.workflow()) {
            // Prose is passed on verbatim.
            Err(_) if !is_meant_as_rule(&behaviour.text, draft.workflow()) => {}
            Err(error) => draft.notices.push(format!(
                "constraints.md:{place}: the behaviour for {} is not understood: {error}",
                behaviour.task_type
            )),
            Ok(actions) => {
                let mut facts = super::facts(draft, &constraints, &[])?;
                let outcome = apply(&actions, &mut facts, draft.workflow());
                let mut before = Map::new();
                for change in &outcome.changes {
                    before.insert(
                        change.modifier.clone(),
                        json!({ "was": change.before.to_plain(), "set": change.after.to_plain() }),
                    );
                    let (from, to) = (super::shown(&change.before), super::shown(&change.after));
                    notes.push(format!(
                        "{}: {} {from} → {to}",
                        behaviour.task_type, change.modifier
                    ));
                }
                effects::set(draft, &outcome.changes)?;
                let why = format!("{} applies", behaviour.task_type);
                for request in &outcome.reviews {
                    effects::ask_once(draft, request, &why, answer)?;
                }
                keep(draft, &task, before)?;
            }
        }
    }
    if !notes.is_empty() {
        let fields = vec![
            ("kind".to_owned(), "adaptation".to_owned()),
            ("event".to_owned(), format!("task_type = {task}")),
            ("state_changes".to_owned(), notes.join("; ")),
        ];
        draft.log("Adaptation", fields)?;
        for note in &notes {
            answer.message.push('\n');
            answer.message.push_str(note);
        }
        answer.data.insert("behaviours".to_owned(), json!(notes));
    }
    Ok(())
}

fn is_for(key: &str, task: &str) -> bool {
    let plain = |text: &str| {
        let text = text.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        text.trim_end_matches("_tasks").trim_end_matches("_task").to_owned()
    };
    plain(key) == plain(task)
}

/// Restores what the last behaviour changed, unless it was changed since.
fn take_back(draft: &mut Draft<'_>) -> Result<Vec<String>, Error> {
    let variables = draft.variables()?;
    let Some(Value::Object(kept)) = variables.get(&format!("{KEPT}.behaviour")) else {
        return Ok(Vec::new());
    };
    let constraints = draft.constraints()?;
    let mut notes = Vec::new();
    let mut back = Vec::new();
    for (name, values) in &kept {
        let (was, set) = (values["was"].as_str(), values["set"].as_str());
        let (Some(was), Some(set)) = (was, set) else { continue };
        if constraints.value(name) == Some(set) {
            back.push((name.clone(), was.to_owned()));
            let was = if was.is_empty() { "not set" } else { was };
            notes.push(format!("{name} returns to {was}"));
        }
    }
    effects::write(draft, &back)?;
    let mut edit = variables.document.edit();
    let path = Path::root().join(KEPT);
    edit.remove(&path).map_err(variables::refused)?;
    draft.put_variables(edit.finish());
    Ok(notes)
}

fn keep(draft: &mut Draft<'_>, task: &str, before: Map<String, Value>) -> Result<(), Error> {
    if before.is_empty() {
        return Ok(());
    }
    let variables = draft.variables()?;
    let mut edit = variables.document.edit();
    let value = json!({ "task_type": task, "behaviour": before });
    edit.set(&Path::root().join(KEPT), &value).map_err(variables::refused)?;
    draft.put_variables(edit.finish());
    Ok(())
}
