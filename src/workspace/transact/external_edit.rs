//! What follows from the plan follows it again after an edit made outside.
//!
//! Two branches that each add a step count to the same number, so that git sees one and the same
//! variables.json on both and asks nobody; the merged plan has both steps.

use crate::workspace::{Draft, Readiness};
use crate::{
    domain::StateFile,
    store::{Report, View},
};

/// Whether an edit that opening found changed the plan.
pub(in crate::workspace) fn is_plan_edited(view: &View) -> bool {
    is_edited(view, StateFile::Plan)
}

fn is_edited(view: &View, file: StateFile) -> bool {
    view.reports().iter().any(|report| match report {
        Report::External { files, .. } => files.iter().any(|name| name == file.name()),
        _ => false,
    })
}

/// Remembers which files were edited outside, so that the next entry of the history says it.
pub(in crate::workspace) fn remember(draft: &mut Draft<'_>) {
    let mut edited = Vec::new();
    for report in draft.view().reports() {
        if let Report::External { files, .. } = report {
            let is_state = |name: &&String| name.as_str() != StateFile::History.name();
            edited.extend(files.iter().filter(is_state).cloned());
        }
    }
    if !edited.is_empty()
        && let Ok(facts) = draft.facts()
    {
        facts.edited.extend(edited);
    }
}

/// How many lines of a plan are named that look like steps and are not read as such.
const MOST_NAMED: usize = 3;

/// Says what looks like a step or a field in a plan that was edited outside and is not read as one.
pub(in crate::workspace) fn tell_unread_steps(draft: &mut Draft<'_>) {
    if !is_plan_edited(draft.view()) {
        return;
    }
    let Ok(plan) = draft.plan() else { return };
    let unread = plan.unrecognised();
    for problem in unread.iter().take(MOST_NAMED) {
        let place = problem.place.map(|place| format!(":{place}")).unwrap_or_default();
        let hint = problem.hint.as_deref().unwrap_or_default();
        draft.notices.push(format!("{}{place}: {}; {hint}", StateFile::Plan, problem.message));
    }
    if unread.len() > MOST_NAMED {
        let left = unread.len() - MOST_NAMED;
        draft.notices.push(format!("{left} more like that: `statedir check`"));
    }
}

/// Brings the counters in the variables in line with a plan that was edited outside, as a part of
/// the change that finds the edit. A file that cannot be read is left alone.
pub(in crate::workspace) fn update_counters(draft: &mut Draft<'_>) {
    if !is_plan_edited(draft.view()) {
        return;
    }
    let (Ok(plan), Ok(variables)) = (draft.plan(), draft.variables()) else { return };
    let current = Readiness::new(&plan, draft.workflow()).counts().current_step;
    let counts = variables.step_data(current, plan.steps.len());
    let names = variables.metadata(&plan.metadata);
    let what = match (counts.is_empty(), names.is_empty()) {
        (true, true) => return,
        (false, true) => "`step_data`",
        (true, false) => "`execution_metadata`",
        (false, false) => "`step_data` and `execution_metadata`",
    };
    if let Ok(edited) = variables.put_all(&[counts, names].concat()) {
        draft.put_variables(edited);
        let verb = if what.contains(" and ") { "follow" } else { "follows" };
        draft.notices.push(format!("{what} in variables.json {verb} plan.md again"));
    }
}
