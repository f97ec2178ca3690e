//! One state file as a list of facts, a line each.

use serde_json::Value;

use super::{
    constraints, context, history, plan,
    sections::{Side, path},
    unit::{Reading, Unit, units, with_rest},
};
use crate::{
    domain::{Constraints, Plan, StateFile},
    text::{
        json::{JsonDocument, Path},
        markdown::Document,
    },
};

/// A stable view of a state file for comparing line by line, as `git diff` does with a textconv:
/// one fact on each line, steps by their id, layout left out. A file that is not understood is
/// given as its text. The same bytes always give the same view.
pub(crate) fn canonical(file: StateFile, bytes: &[u8]) -> String {
    let text = || String::from_utf8_lossy(bytes).into_owned();
    let markdown = || Document::from_bytes(bytes.to_vec()).ok();
    let facts = match file {
        StateFile::Plan => markdown().map(|document| plan_facts(&Plan::read(document))),
        StateFile::Context => markdown().map(|document| section_facts(&context::side(&document))),
        StateFile::Constraints => markdown().map(|document| {
            let constraints = Constraints::read(document);
            section_facts(&constraints::side(&constraints))
        }),
        StateFile::Variables => {
            let document = JsonDocument::from_bytes(bytes.to_vec()).ok();
            document.map(|document| {
                let mut facts = Vec::new();
                leaves(&document.to_value(), &Path::root(), &mut facts);
                facts
            })
        }
        StateFile::History => Some(history_facts(bytes)),
        StateFile::Workflow | StateFile::Log => None,
    };
    let Some(facts) = facts else { return text() };
    facts.into_iter().map(|fact| one_line(&fact) + "\n").collect()
}

fn plan_facts(plan: &Plan) -> Vec<String> {
    let mut facts = vec![format!("title: {}", plan.title)];
    facts.extend(section_facts(&plan::side(plan)));
    for step in &plan.steps {
        let name = match &step.id {
            Some(id) => format!("step {id}"),
            None => format!("step {}", step.number),
        };
        if step.id.is_some() {
            facts.push(format!("{name} number: {}", step.number));
        }
        facts.push(format!("{name} title: {}", step.title));
        let mut stack = vec![step.section];
        while let Some(id) = stack.pop() {
            let section = plan.document.section(id);
            let inner = match id == step.section {
                true => name.clone(),
                false => format!("{name} {}", section.title.trim()),
            };
            for unit in units(&plan.document, id, Reading::Fields) {
                // The id is in the name already.
                if id != step.section || unit.key.as_deref() != Some("id") {
                    facts.extend(fact(&inner, &unit));
                }
            }
            stack.extend(section.children.iter().rev());
        }
    }
    facts
}

fn section_facts(side: &Side<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    for id in &side.sections {
        let section = side.document.section(*id);
        let name = path(side.document, *id).join(" / ");
        if section.level > 0 {
            facts
                .push(format!("section: {}", if name.is_empty() { &section.title } else { &name }));
        }
        for unit in units(side.document, *id, Reading::Fields) {
            facts.extend(fact(&name, &unit));
        }
    }
    facts
}

/// A field without a value is told by what is nested in it.
fn fact(name: &str, unit: &Unit<'_>) -> Option<String> {
    let said = with_rest(&unit.text, &unit.rest);
    match (&unit.key, unit.under.as_str()) {
        (Some(key), _) if said.is_empty() => Some(format!("{name} {key}:")),
        (Some(key), _) => Some(format!("{name} {key}: {said}")),
        (None, "") => Some(format!("{name} - {said}")),
        (None, under) => Some(format!("{name} {under} - {said}")),
    }
    .map(|line| line.trim_start().to_owned())
}

fn leaves(value: &Value, path: &Path, facts: &mut Vec<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, value) in members {
                leaves(value, &path.join(key), facts);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, value) in items.iter().enumerate() {
                leaves(value, &path.join(at.to_string()), facts);
            }
        }
        leaf => facts.push(format!("{path}: {leaf}")),
    }
}

fn history_facts(bytes: &[u8]) -> Vec<String> {
    let mut facts = Vec::new();
    for entry in history::entries(bytes) {
        let time = entry.time.map(|time| format!(" - {time}")).unwrap_or_default();
        let id = entry.id.map(|id| format!(" ({id})")).unwrap_or_default();
        facts.push(format!("entry {}{time}{id}", entry.title));
        facts.extend(entry.fields.iter().map(|(key, value)| format!("  {key}: {value}")));
    }
    facts
}

fn one_line(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\r', "\\r").replace('\n', "\\n")
}
