//! One step in full: what it is, what it gets, what it should give.

use super::Focus;

/// The step as lines, references looked up.
pub(super) fn lines(focus: &Focus) -> Vec<String> {
    let step = &focus.step;
    let mut lines = vec![format!("{}: {}", step.name(), step.title)];
    let mut status = format!("status: {}", step.status.as_deref().unwrap_or("none"));
    if step.attempts > 0 {
        status.push_str(&format!(", attempt {}", step.attempts));
    }
    if let Some(actor) = &step.claimed_by {
        status.push_str(&format!(", by {actor}"));
    }
    if let Some(time) = &step.started_at {
        status.push_str(&format!(" since {time}"));
    }
    lines.push(status);
    let named = [
        ("component", &step.component),
        ("tool", &step.tool_mapping),
        ("estimated cost", &step.estimated_cost),
        ("estimated time", &step.estimated_time),
        ("side effects", &step.side_effects),
    ];
    for (name, value) in named {
        lines.extend(value.as_ref().map(|value| format!("{name}: {value}")));
    }
    for input in &focus.inputs {
        lines.push(match &input.value {
            Ok(value) => format!("input {} = {value}", input.name),
            Err(why) => format!("input {} = {} (error: {why})", input.name, input.written),
        });
    }
    for (name, text) in &step.expected_outputs {
        lines.push(format!("gives {name}: {text}"));
    }
    for (name, text) in &step.other {
        lines.push(format!("{name}: {text}"));
    }
    for before in &focus.dependencies {
        lines.push(format!("after step {} {}: {}", before.name, before.status, before.title));
    }
    if !focus.waits_for.is_empty() {
        lines.push(format!("waits for step {}", focus.waits_for.join(", ")));
    }
    lines
}

/// What the steps before it gave.
pub(super) fn outputs(focus: &Focus) -> Vec<String> {
    let gave = focus
        .dependencies
        .iter()
        .filter_map(|before| Some(format!("step {}: {}", before.name, before.outputs.as_ref()?)));
    gave.collect()
}
