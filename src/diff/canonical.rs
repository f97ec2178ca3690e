//! One state file as a list of facts, a line each.

use serde_json::Value;

use super::history;
use crate::{
    domain::{
        Plan, StateFile,
        outline::{Outline, ThingId, with_rest},
    },
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
        StateFile::Context | StateFile::Constraints => {
            markdown().map(|document| section_facts(&Outline::read(file, &document)))
        }
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
    let outline = Outline::read(StateFile::Plan, &plan.document);
    let mut facts = vec![format!("title: {}", plan.title)];
    facts.extend(section_facts(&outline));
    for (id, step) in outline.all_steps() {
        let name = match &step.id {
            Some(id) => format!("step {id}"),
            None => format!("step {}", step.number),
        };
        if step.id.is_some() {
            facts.push(format!("{name} number: {}", step.number));
        }
        facts.push(format!("{name} title: {}", step.title));
        let thing = outline.get(id);
        if let Some(at) = thing.prefix.find('[').filter(|_| thing.boxed.is_some()) {
            facts.push(format!("{name} box: {}", thing.prefix[at..].trim_end()));
        }
        // The id is in the name already.
        let is_id = |thing: &ThingId| outline.field(id, "id") == Some(*thing);
        let body = outline.body(id).filter(|thing| !is_id(thing));
        facts.extend(body.map(|thing| fact(&outline, &name, thing)));
        for inner in (id + 1..outline.end(id)).filter(|inner| outline.is_section(*inner)) {
            let name = format!("{name} {}", outline.value(inner).0);
            facts.extend(outline.body(inner).map(|thing| fact(&outline, &name, thing)));
        }
    }
    facts
}

fn section_facts(outline: &Outline<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    for id in outline.plain_sections() {
        let name = outline.path(id).join(" / ");
        if id != Outline::ROOT {
            let title = if name.is_empty() { outline.value(id).0 } else { name.clone() };
            facts.push(format!("section: {title}"));
        }
        let body = outline.body(id).filter(|thing| !outline.is_in_box(*thing));
        facts.extend(body.map(|thing| fact(outline, &name, thing)));
    }
    facts
}

/// A field without a value is given by what is nested in it.
fn fact(outline: &Outline<'_>, name: &str, thing: ThingId) -> String {
    let (text, rest) = outline.value(thing);
    let value = with_rest(&text, &rest);
    let (field, under) = outline.field_path(thing);
    let line = match (field, under.as_str()) {
        (Some(field), _) if value.is_empty() => format!("{name} {field}:"),
        (Some(field), _) => format!("{name} {field}: {value}"),
        (None, "") => format!("{name} - {value}"),
        (None, under) => format!("{name} {under} - {value}"),
    };
    line.trim_start().to_owned()
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
