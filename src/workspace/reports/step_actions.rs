//! The commands that are possible for a step now.

use crate::{
    domain::{StepRole, Workflow},
    workspace::StepOverview,
};

/// A move of a step that the lifecycle allows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StepAction {
    /// The status it leads to.
    pub to: String,
    /// What a button says.
    pub label: String,
    /// The words of the command.
    pub words: Vec<String>,
}

/// The moves that a step can make now.
pub(crate) fn step_actions(workflow: &Workflow, step: &StepOverview) -> Vec<StepAction> {
    let is_legal = |to: &&str| workflow.check_step(&step.status, to).is_ok();
    let mut found = Vec::new();
    for to in workflow.step_statuses().filter(is_legal) {
        let Some(role) = workflow.step_role(to) else { continue };
        // A step with unfinished dependencies cannot be started.
        if role == StepRole::Active && !step.waits_for.is_empty() {
            continue;
        }
        let is_usual = workflow.step_with_role(role) == to;
        let known = match (role, step.role) {
            _ if !is_usual => None,
            (StepRole::Active, Some(StepRole::Open)) => Some(("Start", "start")),
            (StepRole::Active, Some(StepRole::Failed)) => Some(("Retry", "retry")),
            (StepRole::Done, _) => Some(("Done", "done")),
            (StepRole::Failed, _) => Some(("Fail", "fail")),
            (StepRole::Skipped, _) => Some(("Skip", "skip")),
            (StepRole::Open, _) => Some(("Reset", "reset")),
            _ => None,
        };
        let number = step.number.to_string();
        found.push(match known {
            Some((label, verb)) => StepAction {
                to: to.to_owned(),
                label: label.to_owned(),
                words: ["step", verb, &number].map(str::to_owned).to_vec(),
            },
            None => StepAction {
                to: to.to_owned(),
                label: to.to_owned(),
                words: ["step", "move", &number, to].map(str::to_owned).to_vec(),
            },
        });
    }
    found
}
