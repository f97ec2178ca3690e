//! Steps: the current one in full, the others in a line each, and their outputs.

use serde_json::Value;

use super::{
    BriefItem, BriefPart, BriefSection, FocusStep, Material, OpenStep, Stage, StepOutputs,
    sections::one_line,
};
use crate::{domain::StateFile, history::Entry, text::markdown::is_placeholder};

/// How much of an error or a note is shown in a line.
const LINE: usize = 300;
/// How much of one value is shown.
const VALUE: usize = 160;

/// The name and title of the current step.
pub(super) fn title(focus: &FocusStep) -> String {
    let step = &focus.step;
    let mut line = format!("{}: {}", step.name(), step.title);
    if !focus.waits_for.is_empty() {
        line.push_str(&format!(" (waits for step {})", focus.waits_for.join(", ")));
    }
    line
}

/// Its inputs, expected outputs and other fields.
pub(super) fn details(focus: &FocusStep) -> Vec<String> {
    let step = &focus.step;
    let mut lines = Vec::new();
    for input in &focus.inputs {
        lines.push(match &input.value {
            Ok(value) => format!("input {} = {}", input.name, shortened(value, 2 * VALUE)),
            Err(why) => {
                let written = one_line(&input.written, LINE);
                format!("input {} = {written} (error: {})", input.name, one_line(why, LINE))
            }
        });
    }
    for (name, text) in &step.details().expected_outputs {
        lines.push(format!("gives {name}: {}", one_line(text, LINE)));
    }
    let said = |name: &str, value: &Option<String>| {
        let value = value.as_ref().filter(|value| !value.eq_ignore_ascii_case("none"))?;
        Some(format!("{name}: {}", one_line(value, LINE)))
    };
    let means =
        [said("component", &step.details().component), said("tool", &step.details().tool_mapping)];
    let means: Vec<String> = means.into_iter().flatten().collect();
    lines.extend((!means.is_empty()).then(|| means.join("; ")));
    lines.extend(said("side effects", &step.details().side_effects));
    for (name, text) in &step.details().other {
        lines.push(format!("{name}: {}", one_line(text, LINE)));
    }
    lines
}

/// The prose under it.
pub(super) fn prose(focus: &FocusStep, parts: &mut Vec<BriefPart>) {
    let section = BriefSection::WhatToDoNext;
    let mut part = BriefPart::new(section, StateFile::Plan, Stage::Step);
    if !focus.prose.is_empty() {
        part.items.push(BriefItem::new(&focus.prose).or(&one_line(&focus.prose, LINE)));
    }
    part.put(parts);
}

/// History entries about the current step and failed steps.
pub(super) fn entries(material: &Material, parts: &mut Vec<BriefPart>) {
    let entries = material.step_entries.iter().map(|(number, entry)| line(*number, entry));
    BriefPart::new(BriefSection::WhatFailed, StateFile::History, Stage::Step)
        .texts(entries)
        .put(parts);
}

/// An entry about a step: `step 7, attempt 2 failed: …`, `Step 2 Reset; note: …`.
fn line(number: u32, entry: &Entry) -> String {
    let mut line = match entry.field("attempt") {
        Some(attempt) => format!("step {number}, attempt {attempt}"),
        None => one_line(&entry.title, LINE),
    };
    let error = entry.error().or(entry.is_failure().then_some("no error was given"));
    if let Some(error) = error {
        line.push_str(&format!(" failed: {}", one_line(error, 2 * LINE)));
    }
    let note = entry.field("notes").or_else(|| entry.field("note"));
    if let Some(note) = note.filter(|note| !is_placeholder(note)) {
        line.push_str(&format!("; note: {}", one_line(note, LINE)));
    }
    line
}

/// The other steps, a line each, with their prose if there is room.
pub(super) fn open_steps(material: &Material, parts: &mut Vec<BriefPart>) {
    let mut part = BriefPart::new(BriefSection::OpenSteps, StateFile::Plan, Stage::OpenSteps);
    part.items.extend(material.open_steps.iter().map(open_step));
    part.more = material.more_open_steps;
    part.put(parts);
}

fn open_step(step: &OpenStep) -> BriefItem {
    let mut line = format!("{} {}", step.number, one_line(&step.title, LINE));
    if !step.state.is_empty() {
        line.push_str(&format!(" ({})", step.state.join("; ")));
    }
    if step.prose.is_empty() {
        return BriefItem::new(&line);
    }
    let prose: String = step.prose.lines().map(|line| format!("\n  {line}")).collect();
    BriefItem::new(&format!("{line}{prose}")).or(&line)
}

/// The outputs of earlier steps.
pub(super) fn results(material: &Material, parts: &mut Vec<BriefPart>) {
    let line = |result: &StepOutputs| {
        let outputs = &result.outputs;
        format!("step {}: {}", result.number, shortened(outputs, LINE))
    };
    BriefPart::new(BriefSection::EarlierResults, StateFile::Variables, Stage::Outputs)
        .texts(material.results.iter().map(line))
        .put(parts);
}

/// A value as JSON; a long one keeps its small members, and large members are replaced by their size.
fn shortened(value: &Value, limit: usize) -> String {
    let text = value.to_string();
    if text.chars().count() <= limit {
        return text;
    }
    match value {
        Value::Object(members) if limit > VALUE => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(_, member)| member.to_string().len() > VALUE);
            let members = sorted.iter().map(|(name, member)| {
                format!("{}: {}", Value::from(name.as_str()), shortened(member, VALUE))
            });
            one_line(&format!("{{{}}}", members.collect::<Vec<_>>().join(", ")), 2 * limit)
        }
        Value::Object(members) => format!("{{… {} members}}", members.len()),
        Value::Array(items) => format!("[… {} items]", items.len()),
        _ => one_line(&text, limit),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_large_value_keeps_its_small_members() {
        let large =
            json!({ "all": vec!["a link of some length"; 100], "best": "qdrant", "rows": 42 });
        assert_eq!(
            shortened(&large, LINE),
            r#"{"best": "qdrant", "rows": 42, "all": [… 100 items]}"#
        );
        assert_eq!(shortened(&json!({ "a": 1 }), LINE), r#"{"a":1}"#);
        assert!(shortened(&json!("x".repeat(1000)), LINE).chars().count() <= LINE);
    }
}
