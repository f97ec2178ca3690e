//! Context-aware behaviours: what applies to a kind of task, and is reverted when the kind changes.

use serde_json::{Map, Value, json};

use super::super::{Answer, Change, Draft, Error, change as changes};
use super::effects;
use crate::{
    domain::{Behaviour, variables},
    rules::{Action, RuleOutcome, apply, is_meant_as_rule, opens_condition},
    text::{display::one_line, json::Path},
};

/// Where the values from before a behaviour are kept, so that it can be reverted.
const KEPT: &str = "adaptation";

/// Applies the behaviours of a new task type, and reverts those of the one before. A field that is
/// set to what it is changes nothing; an event says that another task of that kind begins.
pub(super) fn apply_for_task(
    draft: &mut Draft<'_>,
    change: &Change,
    before: Option<&str>,
    answer: &mut Answer,
) -> Result<(), Error> {
    let task = match change {
        Change::PlanSet { set } => set
            .get("task_type")
            .map(changes::text_of)
            .filter(|task| !before.is_some_and(|before| is_for(before, task))),
        Change::Event { kind, fields } => changes::task_type(kind, fields),
        _ => None,
    };
    let Some(task) = task else { return Ok(()) };
    let mut notes = take_back(draft)?;
    let constraints = draft.constraints()?;
    let found = constraints.behaviours.iter().find(|known| is_for(&known.task_type, &task));
    if let Some(behaviour) = found {
        let place = constraints.place(behaviour.item);
        let actions = match Action::parse_all(&behaviour.text, draft.workflow()) {
            Err(_) if !is_meant_as_rule(&behaviour.text, draft.workflow()) => {
                vec![prose(behaviour)]
            }
            Err(error) => {
                draft.notices.push(format!(
                    "constraints.md:{place}: the behaviour for {} is not understood: {error}",
                    behaviour.task_type
                ));
                Vec::new()
            }
            Ok(actions) => actions,
        };
        let mut facts = super::facts(draft, &constraints, &[])?;
        let outcome = apply(&actions, &mut facts, draft.workflow());
        carry_out(draft, (behaviour, &task), &outcome, &mut notes, answer)?;
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

/// Prose is passed on word for word. A condition in it is not understood, so the name comes first:
/// a directive that begins with a condition is a rule.
fn prose(behaviour: &Behaviour) -> Action {
    let text = one_line(&behaviour.text);
    let text = match opens_condition(&text) {
        true => format!("{}: {text}", behaviour.task_type),
        false => text,
    };
    Action::Advice { text, steps: None }
}

/// Does what a behaviour asks for, and notes what can be taken back.
fn carry_out(
    draft: &mut Draft<'_>,
    (behaviour, task): (&Behaviour, &str),
    outcome: &RuleOutcome,
    notes: &mut Vec<String>,
    answer: &mut Answer,
) -> Result<(), Error> {
    let name = &behaviour.task_type;
    let mut before = Map::new();
    for change in &outcome.changes {
        let values = json!({ "was": change.before.to_plain(), "set": change.after.to_plain() });
        before.insert(change.modifier.clone(), values);
        let (from, to) = (super::shown(&change.before), super::shown(&change.after));
        notes.push(format!("{name}: {} {from} → {to}", change.modifier));
    }
    effects::set(draft, &outcome.changes)?;
    let added = effects::add_directives(draft, &outcome.directives)?;
    notes.extend(added.iter().map(|text| format!("{name}: directive: {text}")));
    let why = format!("{name} applies");
    for request in &outcome.reviews {
        effects::ask_once(draft, request, &why, answer)?;
    }
    if let Some(pause) = &outcome.pause
        && effects::pause_plan(draft, pause.text.as_deref().unwrap_or(&why))?
    {
        notes.push(format!("{name}: plan paused"));
    }
    for checkpoint in &outcome.checkpoints {
        let saved = changes::create_automatic(draft, checkpoint.text.as_deref(), &why)?;
        changes::merge_checkpoint(answer, saved);
        notes.push(format!("{name}: checkpoint"));
    }
    keep(draft, task, before, &added)
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
    if variables.get(KEPT).is_none() {
        return Ok(Vec::new());
    }
    let kept = |name: &str| variables.get(&format!("{KEPT}.{name}")).unwrap_or_default();
    let constraints = draft.constraints()?;
    let mut notes = Vec::new();
    let mut back = Vec::new();
    for (name, values) in kept("behaviour").as_object().into_iter().flatten() {
        let (was, set) = (values["was"].as_str(), values["set"].as_str());
        let (Some(was), Some(set)) = (was, set) else { continue };
        if constraints.value(name) == Some(set) {
            back.push((name.clone(), was.to_owned()));
            let was = if was.is_empty() { "not set" } else { was };
            notes.push(format!("{name} returns to {was}"));
        }
    }
    effects::write(draft, &back)?;
    let added = kept("directives");
    let added: Vec<&str> =
        added.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let removed = effects::remove_directives(draft, &added)?;
    notes.extend(removed.iter().map(|text| format!("directive removed: {text}")));
    let mut edit = variables.document.edit();
    edit.remove(&Path::root().join(KEPT)).map_err(variables::refused)?;
    draft.put_variables(edit.finish());
    Ok(notes)
}

fn keep(
    draft: &mut Draft<'_>,
    task: &str,
    before: Map<String, Value>,
    directives: &[String],
) -> Result<(), Error> {
    if before.is_empty() && directives.is_empty() {
        return Ok(());
    }
    let variables = draft.variables()?;
    let mut edit = variables.document.edit();
    let mut value = json!({ "task_type": task, "behaviour": before });
    if !directives.is_empty() {
        value["directives"] = json!(directives);
    }
    edit.set(&Path::root().join(KEPT), &value).map_err(variables::refused)?;
    draft.put_variables(edit.finish());
    Ok(())
}
