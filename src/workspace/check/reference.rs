//! `{{references}}` that lead nowhere.

use crate::{
    engine::nearest,
    model::{Plan, Problem, StateFile, StepId, Variables, references},
    text::json::Path,
};

/// Looks at the inputs of steps, the only place where a reference means a variable.
pub(super) fn check(plan: &Plan, variables: &Variables, found: &mut Vec<Problem>) {
    let mut known = None;
    let document = &plan.document;
    for step in &plan.steps {
        let Ok(Some(list)) = document.field(step.section, "inputs") else { continue };
        for &item in &document.item(list).children {
            for reference in references(&document.value(item)) {
                let path = Path::parse(&reference.path).ok();
                let exists = path.is_some_and(|path| variables.document.get(&path).is_some());
                if exists || is_awaited(plan, &reference.path) {
                    continue;
                }
                let known = known.get_or_insert_with(|| all_paths(variables));
                let message = format!("`{{{{{}}}}}` is not in variables.json", reference.path);
                let hint = match nearest(&reference.path, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("`statedir var set {} VALUE`", reference.path),
                };
                let place = document.place(document.item(item).value_span.start);
                let problem = Problem::error("missing_reference", StateFile::Plan, message);
                found.push(problem.at(place).hint(hint));
            }
        }
    }
}

/// Whether a step that is still in the plan can give this output.
fn is_awaited(plan: &Plan, path: &str) -> bool {
    let step = path.strip_prefix("step_data.outputs.").and_then(|rest| rest.split('.').next());
    let step = step.and_then(StepId::parse).and_then(|id| plan.step_by_id(&id));
    step.is_some_and(|step| !matches!(step.status.as_deref(), Some("COMPLETED" | "SKIPPED")))
}

fn all_paths(variables: &Variables) -> Vec<String> {
    const MOST: usize = 5000;
    let mut paths = Vec::new();
    let mut open = vec![Path::root()];
    while let Some(path) = open.pop() {
        for key in variables.document.keys(&path).unwrap_or_default() {
            let child = path.join(key);
            paths.push(child.to_string());
            if paths.len() >= MOST {
                return paths;
            }
            open.push(child);
        }
    }
    paths
}
