//! `{{references}}` that lead nowhere.

use super::Files;
use crate::{
    engine::nearest,
    model::{Plan, Problem, StateFile, StepId, Variables, references},
    text::json::Path,
};

/// Looks at everything a person or an agent wrote, but not into code.
pub(super) fn check(files: &Files, variables: &Variables, found: &mut Vec<Problem>) {
    let documents = [
        (StateFile::Plan, files.plan.as_ref().map(|plan| &plan.document)),
        (StateFile::Context, files.context.as_ref().map(|context| &context.document)),
        (StateFile::Constraints, files.constraints.as_ref().map(|c| &c.document)),
    ];
    let known = all_paths(variables);
    for (file, document) in documents {
        let Some(document) = document else { continue };
        let code = document.code();
        for reference in references(document.source()) {
            let path = Path::parse(&reference.path).ok();
            let exists = path.is_some_and(|path| variables.document.get(&path).is_some());
            let awaited = files.plan.as_ref().is_some_and(|plan| is_awaited(plan, &reference.path));
            if exists || awaited || code.iter().any(|range| range.contains(&reference.span.start)) {
                continue;
            }
            let message = format!("`{{{{{}}}}}` is not in variables.json", reference.path);
            let hint = match nearest(&reference.path, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("`statedir var set {} VALUE`", reference.path),
            };
            let place = document.place(reference.span.start);
            found.push(Problem::error("missing_reference", file, message).at(place).hint(hint));
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
