//! Fields of a step given as `KEY=VALUE`, sorted into known and other ones.

use serde_json::{Map, Value};

use crate::{
    domain::{ErrorCode, StepRef},
    text::shell::{code_span, command_line},
    workspace::{
        Error,
        change::{Cost, Span, StepShape, text_of},
    },
};

/// Fields that only other commands change, each with the reason.
const MANAGED: [(&str, &str); 7] = [
    ("id", "it never changes; `--id` of `step add` gives one to a new step"),
    ("status", "`statedir step --help` lists the commands that change it"),
    ("attempts", "each start of the step counts"),
    ("failures", "each failure of the step counts"),
    ("claimed_by", "whoever starts the step or takes it over holds it"),
    ("started_at", "it is the time when the step was started"),
    ("completed_at", "it is the time when the step was completed"),
];

/// The shape with the known fields of `set` moved to their places, so that only other fields are left
/// there.
pub(in crate::workspace::change) fn sorted(shape: &StepShape) -> Result<StepShape, Error> {
    let mut sorted = StepShape { set: Map::new(), ..shape.clone() };
    for (key, value) in &shape.set {
        let name = key.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        let text = text_of(value);
        refuse_managed(key, &name, shape.step.as_ref().map(|step| (step, text.as_str())))?;
        match name.as_str() {
            "title" => once(key, &mut sorted.title, text)?,
            "component" => once(key, &mut sorted.component, text)?,
            "tool" | "tool_mapping" => once(key, &mut sorted.tool, text)?,
            "effects" | "side_effects" => once(key, &mut sorted.effects, text)?,
            "cost" | "estimated_cost" => once(key, &mut sorted.cost, quantity::<Cost>(&text)?)?,
            "time" | "estimated_time" => once(key, &mut sorted.time, quantity::<Span>(&text)?)?,
            "depends_on" => once(key, &mut sorted.depends_on, steps(value)?)?,
            "description" if !value.is_null() => once(key, &mut sorted.description, text)?,
            "inputs" => return Err(is_list(key, "input")),
            "expected_outputs" => return Err(is_list(key, "output")),
            _ => drop(sorted.set.insert(key.clone(), value.clone())),
        }
    }
    Ok(sorted)
}

fn once<T>(key: &str, slot: &mut Option<T>, value: T) -> Result<(), Error> {
    if slot.replace(value).is_some() {
        return Err(Error::refused(ErrorCode::BadValue, format!("`{key}` is given twice")));
    }
    Ok(())
}

fn quantity<T: std::str::FromStr<Err = String>>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|message: String| Error::refused(ErrorCode::BadValue, message))
}

fn steps(value: &Value) -> Result<Vec<StepRef>, Error> {
    let listed = match value {
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(","),
        other => text_of(other),
    };
    Ok(StepRef::parse_list(&listed)?)
}

fn is_list(key: &str, option: &str) -> Error {
    Error::refused_with(
        ErrorCode::BadValue,
        format!("`{key}` of a step is a list of its own"),
        format!("`--{option}` sets one of it: `statedir step set --help` shows how"),
    )
}

fn refuse_managed(key: &str, name: &str, set: Option<(&StepRef, &str)>) -> Result<(), Error> {
    let Some((_, why)) = MANAGED.iter().find(|(managed, _)| name == *managed) else {
        return Ok(());
    };
    let hint = match set {
        Some((step, status)) if name == "status" && !status.trim().is_empty() => {
            let step = step.to_string();
            let line = command_line(["step", "move", step.as_str(), status.trim()]);
            format!("{} moves the step there", code_span(&line))
        }
        _ => (*why).to_owned(),
    };
    let message = format!("`{key}` of a step cannot be set directly");
    Err(Error::refused_with(ErrorCode::ManagedField, message, hint))
}
