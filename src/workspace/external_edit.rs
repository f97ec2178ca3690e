//! What follows from the plan follows it again after an edit made outside.
//!
//! Two branches that each add a step count to the same number, so that git sees one and the same
//! variables.json on both and asks nobody; the merged plan has both steps.

use super::Draft;
use crate::{
    domain::StateFile,
    store::{Report, View},
};

/// Whether an edit that opening found changed the plan.
pub(super) fn is_plan_edited(view: &View) -> bool {
    is_edited(view, StateFile::Plan)
}

fn is_edited(view: &View, file: StateFile) -> bool {
    view.reports().iter().any(|report| match report {
        Report::External { files, .. } => files.iter().any(|name| name == file.name()),
        _ => false,
    })
}

/// Brings the counters in the variables in line with a plan that was edited outside, as a part of
/// the change that finds the edit. A file that cannot be read is left alone.
pub(super) fn update_counters(draft: &mut Draft<'_>) {
    if !is_plan_edited(draft.view()) {
        return;
    }
    let (Ok(plan), Ok(variables)) = (draft.plan(), draft.variables()) else { return };
    let current = plan.metadata.current_step.as_deref().and_then(|text| text.trim().parse().ok());
    let (Some(current), true) = (current, variables.current_step().is_some()) else { return };
    if variables.total_steps().is_none() {
        return;
    }
    let puts = variables.step_data(current, plan.steps.len());
    if puts.is_empty() {
        return;
    }
    if let Ok(edited) = variables.put_all(&puts) {
        draft.put_variables(edited);
        draft.notices.push("`step_data` in variables.json follows plan.md again".to_owned());
    }
}
