//! Placeholders of a template that were never filled in.

use serde_json::Value;

use super::ParsedFiles;
use crate::{
    domain::{ErrorCode, Problem, StateFile},
    text::{
        json::Path,
        markdown::{Document, ItemId, is_placeholder},
    },
};

/// The parts of variables.json that a template fills.
const TEMPLATED: [&str; 2] = ["execution_metadata", "file_paths"];

/// Checks headings, fields, lines that are only a placeholder, and JSON strings.
pub(super) fn check(files: &ParsedFiles, found: &mut Vec<Problem>) {
    if let Some(plan) = &files.plan {
        // A question in brackets is not a placeholder.
        let questions: Vec<ItemId> = plan.reviews.iter().map(|review| review.item).collect();
        check_markdown(StateFile::Plan, &plan.document, &questions, found);
    }
    if let Some(context) = &files.context {
        check_markdown(StateFile::Context, &context.document, &[], found);
    }
    if let Some(constraints) = &files.constraints {
        check_markdown(StateFile::Constraints, &constraints.document, &[], found);
    }
    if let Some(variables) = &files.variables {
        visit_strings(&variables.document.to_value(), &Path::root(), &mut |path, text| {
            // Elsewhere a text in brackets is a value.
            let templated =
                path.segments().first().is_some_and(|key| TEMPLATED.contains(&key.as_str()));
            if templated && is_placeholder(text) {
                let message = format!("`{path}` is still the placeholder `{text}`");
                let mut problem =
                    Problem::error(ErrorCode::Placeholder, StateFile::Variables, message)
                        .hint(format!("set `{path}`: `statedir var set --help` shows how"));
                problem.place = variables.document.place(path);
                found.push(problem);
            }
        });
    }
}

fn check_markdown(
    file: StateFile,
    document: &Document,
    free_texts: &[ItemId],
    found: &mut Vec<Problem>,
) {
    let mut push = |offset: usize, text: &str| {
        let message = format!("`{text}` is a placeholder of a template");
        let problem = Problem::error(ErrorCode::Placeholder, file, message);
        found.push(problem.at(document.place(offset)).hint("fill it in or remove it"));
    };
    let code = document.code();
    let in_code = |offset: usize| code.iter().any(|range| range.contains(&offset));
    for id in document.sections() {
        let section = document.section(id);
        let title = section.title.rsplit(':').next().unwrap_or_default().trim();
        if section.level > 0 && is_placeholder(title) {
            push(section.heading.start, title);
        }
        let mut offset = section.body.start;
        for line in document.body_text(id).split_inclusive('\n') {
            let text = line.trim();
            if text.starts_with('[') && is_placeholder(text) && !in_code(offset) {
                push(offset, text);
            }
            offset += line.len();
        }
        let mut open = document.items(id).to_vec();
        while let Some(item) = open.pop() {
            let raw = document.raw_value(item);
            let is_field = document.item(item).key.is_some() && !free_texts.contains(&item);
            if is_field && is_placeholder(raw) {
                push(document.item(item).value_span.start, raw);
            }
            open.extend(document.item(item).children.iter().copied());
        }
    }
}

fn visit_strings(value: &Value, path: &Path, visit: &mut dyn FnMut(&Path, &str)) {
    match value {
        Value::String(text) => visit(path, text),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                visit_strings(item, &path.join(at.to_string()), visit);
            }
        }
        Value::Object(members) => {
            for (key, item) in members {
                visit_strings(item, &path.join(key), visit);
            }
        }
        _ => {}
    }
}
