//! What a change does about edits that were made outside statedir before it.

use crate::workspace::{Draft, Readiness};
use crate::{
    domain::StateFile,
    store::{Report, View},
};

/// How many lines of a plan are named that look like steps and are not read as such.
const MOST_NAMED: usize = 3;

/// Updates what is derived from an edited plan, warns of lines in it that are not understood, and
/// keeps the names of the edited files for the next entry of the history.
pub(in crate::workspace) fn follow_up(draft: &mut Draft<'_>) {
    let edited: Vec<String> = edited_files(draft.view()).cloned().collect();
    if edited.iter().any(|name| name == StateFile::Plan.name()) {
        update_counters(draft);
        warn_of_unread_steps(draft);
    }
    let edited = edited.into_iter().filter(|name| name != StateFile::History.name());
    let mut edited = edited.peekable();
    if edited.peek().is_some()
        && let Ok(facts) = draft.facts()
    {
        facts.edited.extend(edited);
    }
}

fn edited_files(view: &View) -> impl Iterator<Item = &String> {
    view.reports().iter().flat_map(|report| match report {
        Report::External { files, .. } => files.as_slice(),
        _ => &[],
    })
}

/// Names what looks like a step or a field in the plan and is not read as one.
fn warn_of_unread_steps(draft: &mut Draft<'_>) {
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

/// Brings what variables.json repeats of the plan in line with it. A file that cannot be read is left
/// alone.
///
/// Two branches that each add a step count to the same number, so git merges variables.json without a
/// conflict, but the merged plan has both steps.
fn update_counters(draft: &mut Draft<'_>) {
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
