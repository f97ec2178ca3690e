//! `{{references}}` that lead nowhere.

use super::super::Resolver;
use crate::domain::{ErrorCode, Money, Plan, Problem, StateFile, Variables, Workflow, references};

/// Looks at the inputs of steps, the only place where a reference means a variable.
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
