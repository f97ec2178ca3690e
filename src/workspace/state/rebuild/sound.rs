//! Whether a plan that was built from a document makes sense.

use std::collections::HashMap;

use crate::domain::{Plan, StepId, StepRef, Workflow};

/// The first thing in the document from which no sound plan follows, with its place.
pub(in super::super) fn fault(plan: &Plan, workflow: &Workflow) -> Option<String> {
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
