//! Builds the text of the files from a document, and proves it by reading it again.

mod constraints;
mod context;
mod plan;

use std::collections::HashMap;

use serde_json::Value;

pub(super) use self::{constraints::constraints, context::context, plan::plan};
use crate::{
    domain::{ErrorCode, Plan, StateFile, StepId, StepRef, Workflow},
    text::display,
    text::markdown::{
        Document, EditError, is_placeholder, render_field, render_item, render_raw_field,
    },
    workspace::Error,
};

/// Whether a text that looks like a placeholder must be quoted so that it is not read as one.
#[derive(Clone, Copy, PartialEq)]
enum Placeholders {
    Matter,
    AreText,
}

/// A field that reads back as the text; a name that cannot be written is simplified.
fn field(
    indent: usize,
    name: &str,
    text: &str,
    placeholders: Placeholders,
) -> Result<String, Error> {
    let bold = indent == 0;
    let quoted = placeholders == Placeholders::Matter && is_placeholder(text);
    let write = |name: &str| match quoted {
        true => render_raw_field("\n", indent, bold, name, &Value::from(text).to_string()),
        false => render_field("\n", indent, bold, name, text),
    };
    let written = match (name, write(name)) {
        ("", _) => render_item("\n", indent, text),
        (_, Err(EditError::BadKey { .. })) => write(&plain(name)),
        (_, written) => written,
    };
    written.map_err(|error| refused(format!("`{name}` cannot be written: {error}")))
}

/// The name without characters that could be markdown.
pub(super) fn plain(name: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-' | ' ') { c } else { '_' };
    let name: String = name.trim().chars().map(keep).collect();
    if name.is_empty() { "field".to_owned() } else { name }
}

/// A heading with its line end.
fn heading(level: u8, title: &str) -> Result<String, Error> {
    let title = title_line(title);
    let document = Document::empty();
    let mut edit = document.edit();
    edit.insert_section(document.root(), None, level.clamp(1, 6), &title, "");
    let edited = edit.finish().map_err(|error| refused(error.to_string()))?;
    Ok(format!("{}\n", edited.document.source().trim_matches('\n')))
}

/// A title as it is, or on one line if it has several.
pub(super) fn title_line(title: &str) -> String {
    if title.contains(['\n', '\r', '\0']) { one_line(title) } else { title.to_owned() }
}

fn one_line(text: &str) -> String {
    display::one_line(&text.replace('\0', " "))
}

fn parse(file: StateFile, text: String) -> Result<Document, Error> {
    Document::parse(text).map_err(|error| refused(format!("`{file}` cannot be built: {error}")))
}

fn not_read_back(file: StateFile, what: &str) -> Error {
    refused(format!("{what} of the document cannot be written to `{file}` so that it reads back"))
}

fn refused(message: String) -> Error {
    Error::refused_with(ErrorCode::BadDocument, message, super::import::HINT)
}

/// The first thing in the document from which no sound plan follows, with its place.
pub(super) fn fault(plan: &Plan, workflow: &Workflow) -> Option<String> {
    let status = plan.metadata.status.as_deref();
    if let Some(status) = status.filter(|status| workflow.plan_status(status).is_none()) {
        return Some(format!("`status` of the document is `{status}`, which no plan can have"));
    }
    let (mut numbers, mut ids) = (HashMap::new(), HashMap::new());
    for (at, step) in plan.steps.iter().enumerate() {
        if step.title().trim().is_empty() {
            return Some(format!("`steps[{at}]` of the document has no `title`"));
        }
        let status = step.status.as_deref();
        if let Some(status) = status.filter(|status| workflow.step_status(status).is_none()) {
            return Some(format!(
                "`steps[{at}].status` of the document is `{status}`, which no step can have"
            ));
        }
        if let Some(first) = numbers.insert(step.number, at) {
            return Some(format!(
                "`steps[{at}]` of the document has the number of `steps[{first}]`"
            ));
        }
        if let Some(first) = step.id.as_ref().and_then(|id| ids.insert(id, at)) {
            return Some(format!("`steps[{at}]` of the document has the id of `steps[{first}]`"));
        }
    }
    let is_there = |wanted: &StepRef| match wanted {
        StepRef::Number(number) if numbers.contains_key(number) => true,
        StepRef::Id(id) if ids.contains_key::<StepId>(id) => true,
        wanted => plan.steps.iter().any(|step| step.is(wanted)),
    };
    plan.steps.iter().enumerate().find_map(|(at, step)| {
        let wanted = step.depends_on.iter().find(|wanted| !is_there(wanted))?;
        Some(format!(
            "`steps[{at}].depends_on` of the document names `{wanted}`, which is not there"
        ))
    })
}
