//! Where variables.json and plan.md disagree, and `{{references}}` to variables that do not exist.

use serde_json::Value;

use super::{super::Resolver, ParsedFiles};
use crate::{
    domain::{
        ErrorCode, Money, Plan, Problem, Severity, StateFile, Variables, Workflow, references,
    },
    text::json::Path,
};

const FILE: StateFile = StateFile::Variables;

/// Compares the fields that both files have. Values that follow from the steps may lag behind: the
/// next command about a step updates them.
pub(super) fn check(plan: &Plan, variables: &Variables, found: &mut Vec<Problem>) {
    check_types(variables, found);
    let metadata = &plan.metadata;
    for (key, in_plan) in [
        ("execution_id", &metadata.execution_id),
        ("goal", &metadata.goal),
        ("mode", &metadata.mode),
    ] {
        let path = Path::root().join("execution_metadata").join(key);
        let (Some(value), Some(in_plan)) = (variables.document.get(&path), in_plan) else {
            continue;
        };
        if value.as_str() == Some(in_plan) {
            continue;
        }
        let message = format!("`{path}` is {value}, but plan.md says `{in_plan}`");
        // It is a copy for readers: the next change follows the plan again.
        let mut problem = Problem::warning(ErrorCode::VariablesDisagree, FILE, message)
            .hint("`statedir check --fix` adopts what plan.md says")
            .fixable();
        problem.place = variables.document.place(&path);
        found.push(problem);
    }
}

/// Values that commands write into must have the expected type, or every step is refused.
fn check_types(variables: &Variables, found: &mut Vec<Problem>) {
    const OBJECT: (&str, fn(&Value) -> bool) = ("an object, such as {}", Value::is_object);
    const ARRAY: (&str, fn(&Value) -> bool) = ("an array, such as []", Value::is_array);
    const NUMBER: (&str, fn(&Value) -> bool) = ("a number, such as 0.0", Value::is_number);
    for (path, (wanted, is_wanted)) in [
        ("execution_metadata", OBJECT),
        ("step_data", OBJECT),
        ("step_data.outputs", OBJECT),
        ("cost_tracking", OBJECT),
        ("cost_tracking.step_costs", ARRAY),
        ("cost_tracking.total_cost", NUMBER),
    ] {
        let Some(value) = variables.get(path).filter(|value| !is_wanted(value)) else { continue };
        let path = path.split('.').fold(Path::root(), |path, key| path.join(key));
        let value: String = value.to_string().chars().take(40).collect();
        let message = format!("`{path}` is {value}; commands expect {wanted}");
        let mut problem = Problem::error(ErrorCode::WrongKind, FILE, message)
            .hint("correct it; `statedir var set --help` shows how");
        problem.place = variables.document.place(&path);
        found.push(problem);
    }
}

/// Checks references in the inputs of steps, where they are resolved, and in the text of context.md and
/// constraints.md outside code blocks, where readers rely on them.
pub(super) fn check_references(
    files: &ParsedFiles,
    plan: &Plan,
    variables: &Variables,
    workflow: &Workflow,
    found: &mut Vec<Problem>,
) {
    // Totals come from the history; their values do not matter here.
    let resolver = Resolver::new(Some(plan), Some(variables), workflow)
        .with_totals(Money::default(), Some(""));
    let is_missing = |path: &str| resolver.get(path).is_none() && !resolver.is_awaited(path);
    let document = &plan.document;
    for step in &plan.steps {
        let Ok(Some(list)) = plan.step_field(step, "inputs") else { continue };
        for &item in &document.item(list).children {
            let references = references(&document.value(item));
            for reference in references.iter().filter(|reference| is_missing(&reference.path)) {
                let place = document.place(document.item(item).value_span.start);
                let problem = missing_reference(&resolver, StateFile::Plan, &reference.path);
                found.push(Problem { severity: Severity::Error, ..problem.at(place) });
            }
        }
    }
    let context = files.context.as_ref().map(|context| (StateFile::Context, &context.document));
    let constraints = files.constraints.as_ref();
    let constraints = constraints.map(|read| (StateFile::Constraints, &read.document));
    for (file, document) in context.into_iter().chain(constraints) {
        let mut code = None;
        for reference in references(document.source()) {
            if !is_missing(&reference.path) {
                continue;
            }
            let code = code.get_or_insert_with(|| document.code());
            if code.iter().any(|code| code.contains(&reference.span.start)) {
                continue;
            }
            let place = document.place(reference.span.start);
            found.push(missing_reference(&resolver, file, &reference.path).at(place));
        }
    }
}

fn missing_reference(resolver: &Resolver<'_>, file: StateFile, path: &str) -> Problem {
    let message = format!("`{{{{{path}}}}}` is not in variables.json");
    let hint = match resolver.nearest(path) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("set `{path}`: `statedir var set --help` shows how"),
    };
    Problem::warning(ErrorCode::MissingReference, file, message).hint(hint)
}
