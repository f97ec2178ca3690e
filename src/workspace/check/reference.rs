//! `{{references}}` that lead nowhere.

use super::{super::Resolver, Files};
use crate::domain::{ErrorCode, Money, Plan, Problem, StateFile, Variables, Workflow, references};

/// Looks at the inputs of steps, where a reference is looked up.
pub(super) fn check(
    plan: &Plan,
    variables: &Variables,
    workflow: &Workflow,
    found: &mut Vec<Problem>,
) {
    // The history knows totals; which ones does not matter here.
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
                let message = format!("`{{{{{path}}}}}` is not in variables.json");
                let hint = match resolver.nearest(path) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("set `{path}`: `statedir var set --help` shows how"),
                };
                let place = document.place(document.item(item).value_span.start);
                let problem = Problem::error(ErrorCode::MissingReference, StateFile::Plan, message);
                found.push(problem.at(place).hint(hint));
            }
        }
    }
}

/// Looks at the text of context.md and constraints.md, code apart: nothing is looked up there, but
/// whoever reads it will want to.
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
            let message = format!("`{{{{{path}}}}}` is not in variables.json");
            let hint = match resolver.nearest(path) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("set `{path}`: `statedir var set --help` shows how"),
            };
            let problem = Problem::warning(ErrorCode::MissingReference, file, message);
            found.push(problem.at(document.place(reference.span.start)).hint(hint));
        }
    }
}
