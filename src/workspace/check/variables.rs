//! Where variables.json and plan.md disagree.

use serde_json::Value;

use crate::{
    domain::{ErrorCode, Plan, Problem, StateFile, Variables},
    text::json::Path,
};

const FILE: StateFile = StateFile::Variables;

/// Compares the fields that both files have. Values that follow from the steps may lag behind: the
/// next command about a step updates them.
pub(super) fn check(plan: &Plan, variables: &Variables, found: &mut Vec<Problem>) {
    shapes(variables, found);
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
fn shapes(variables: &Variables, found: &mut Vec<Problem>) {
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
