//! `{{references}}` to variables that do not exist.

use super::{super::Resolver, Files};
use crate::domain::{
    ErrorCode, Money, Plan, Problem, Severity, StateFile, Variables, Workflow, references,
};

/// Checks the inputs of steps, where references are resolved.
pub(super) fn check(
    plan: &Plan,
    variables: &Variables,
    workflow: &Workflow,
    found: &mut Vec<Problem>,
) {
    // Totals come from the history; their values do not matter here.
    let resolver = Resolver::new(Some(plan), Some(variables), workflow)
        .with_totals(Money::default(), Some(""));
    let document = &plan.document;
    for step in &plan.steps {
        let Ok(Some(list)) = plan.step_field(step, "inputs") else { continue };
        for &item in &document.item(list).children {
            for reference in references(&document.value(item)) {
                let path = &reference.path;
                if resolver.get(path).is_some() || resolver.is_awaited(path) {
                    continue;
                }
                let place = document.place(document.item(item).value_span.start);
                let problem = missing(&resolver, StateFile::Plan, path);
                found.push(Problem { severity: Severity::Error, ..problem.at(place) });
            }
        }
    }
}

/// Checks the text of context.md and constraints.md outside code blocks. Nothing is resolved there,
/// but readers rely on it.
pub(super) fn check_text(
    files: &Files,
    plan: &Plan,
    variables: &Variables,
    workflow: &Workflow,
    found: &mut Vec<Problem>,
) {
    let context = files.context.as_ref().map(|read| (StateFile::Context, &read.document));
    let constraints = files.constraints.as_ref();
    let constraints = constraints.map(|read| (StateFile::Constraints, &read.document));
    let resolver = Resolver::new(Some(plan), Some(variables), workflow)
        .with_totals(Money::default(), Some(""));
    for (file, document) in context.into_iter().chain(constraints) {
        let mut code = None;
        for reference in references(document.source()) {
            let path = &reference.path;
            if resolver.get(path).is_some() || resolver.is_awaited(path) {
                continue;
            }
            let code = code.get_or_insert_with(|| document.code());
            if code.iter().any(|code| code.contains(&reference.span.start)) {
                continue;
            }
            let place = document.place(reference.span.start);
            found.push(missing(&resolver, file, path).at(place));
        }
    }
}

fn missing(resolver: &Resolver<'_>, file: StateFile, path: &str) -> Problem {
    let message = format!("`{{{{{path}}}}}` is not in variables.json");
    let hint = match resolver.nearest(path) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("set `{path}`: `statedir var set --help` shows how"),
    };
    Problem::warning(ErrorCode::MissingReference, file, message).hint(hint)
}
