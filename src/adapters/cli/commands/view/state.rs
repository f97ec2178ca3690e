use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{
    adapters::cli::{CliResult, Failure, Session},
    domain::{ErrorCode, StepRef, StepRole, Workflow, checklist::Grammar},
    text::display::one_line,
    workspace::{StateDocument, state::StepState},
};

/// Print everything, merged into one document
///
/// A file that is missing or cannot be read leaves its part empty: the rest is printed, the
/// problem is listed under `problems`, and the exit code is 4. `import` builds the files again.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir state
  statedir state --format yaml
  statedir state --format md
  statedir state --format tasks.md > tasks.md
  statedir state --places --json
  statedir state | statedir -C elsewhere import -")]
pub(in crate::adapters) struct Args {
    /// How to print it
    #[arg(long, value_enum, default_value = "json")]
    pub(in crate::adapters) format: Format,
    /// Include the place of everything: file and line
    #[arg(long)]
    pub(in crate::adapters) places: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
pub(in crate::adapters) enum Format {
    Json,
    Yaml,
    Md,
    /// A checklist: a box for each step
    #[value(name = "tasks.md")]
    Tasks,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let state = snapshot.state(args.places);
    let damage = state.damage().map(Failure::damage);
    let is_json = session.output.is_json();
    if damage.is_none() && (is_json || args.format == Format::Json) {
        #[derive(serde::Serialize)]
        struct Answer<'s> {
            #[serde(skip_serializing_if = "Option::is_none")]
            ok: Option<bool>,
            #[serde(flatten)]
            state: &'s StateDocument,
        }
        let answer = Answer { ok: is_json.then_some(true), state: &state };
        if session.output.serialized(&answer, !is_json) {
            return Ok(0);
        }
    }
    let document = json!(state);
    match args.format {
        _ if is_json => {}
        Format::Json => session.output.verbatim(format!("{document:#}")),
        Format::Yaml => {
            let text = serde_yaml::to_string(&document);
            let text =
                text.map_err(|error| Failure::new(ErrorCode::BadValue, error.to_string()))?;
            session.output.raw(&text);
        }
        Format::Md => session.output.raw(&markdown(&document)),
        Format::Tasks => {
            let workflow = snapshot.workflow()?;
            session.output.raw(&tasks(&state, &workflow));
        }
    }
    session.end(damage, || document)
}

/// The steps as a checklist that other programs, and `adopt`, understand.
fn tasks(state: &StateDocument, workflow: &Workflow) -> String {
    let (line, grammar) = (one_line, Grammar::default());
    let goal = state.identity.goal.as_deref().unwrap_or(&state.identity.title);
    let mut text = format!("# Tasks: {}\n\n", line(goal));
    // Generated ids mean nothing to other programs.
    let name = |number: u32, id: Option<&str>| match id {
        Some(id) if !id.starts_with(|c: char| c.is_ascii_lowercase()) => id.to_owned(),
        _ => format!("T{number:03}"),
    };
    for step in &state.steps {
        let role = step.status.as_deref().and_then(|status| workflow.step_role(status));
        let mark = grammar.box_of(role.unwrap_or(StepRole::Open));
        let id = name(step.number, step.id.as_deref());
        let waits = step.depends_on.iter().filter_map(|wanted| {
            let is_meant = |other: &&StepState| match wanted {
                StepRef::Number(number) => other.number == *number,
                StepRef::Id(id) => other.id.as_deref() == Some(id.as_str()),
                StepRef::Label(label) => other.id.as_ref() == Some(label),
            };
            let other = state.steps.iter().find(is_meant)?;
            Some(name(other.number, other.id.as_deref()))
        });
        let waits = waits.collect::<Vec<_>>().join(", ");
        let waits = if waits.is_empty() { waits } else { format!(" (depends on {waits})") };
        let _ = writeln!(text, "- [{mark}] {id} {}{waits}", line(&step.title));
    }
    text
}

/// The document as nested lists, in the order of its keys.
fn markdown(document: &Value) -> String {
    let mut text = String::from("# State\n");
    let Some(members) = document.as_object() else { return text };
    for (key, value) in members {
        let _ = write!(text, "\n## {key}\n");
        list(&mut text, value, 0);
    }
    text
}

fn list(text: &mut String, value: &Value, depth: usize) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let _ = write!(text, "{indent}- **{key}**:");
                child(text, value, depth);
            }
        }
        Value::Array(items) => {
            for item in items {
                let _ = write!(text, "{indent}-");
                child(text, item, depth);
            }
        }
        scalar => {
            let _ = writeln!(text, "{indent}{}", inline(scalar));
        }
    }
}

fn child(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(members) if members.is_empty() => text.push_str(" {}\n"),
        Value::Array(items) if items.is_empty() => text.push_str(" []\n"),
        Value::Object(_) | Value::Array(_) => {
            text.push('\n');
            list(text, value, depth + 1);
        }
        scalar => {
            let _ = writeln!(text, " {}", inline(scalar));
        }
    }
}

/// Text of one line as it is, everything else as JSON, so that it cannot become structure.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && !text.contains(['\n', '\r']) => text.clone(),
        other => other.to_string(),
    }
}
