//! The merge queue: worktrees whose work is ready, in the order in which it began to wait.

use std::sync::Arc;

use serde::Serialize;

use super::worktree::{steps_of, worktree_workspace};
use crate::{
    adapters::{
        cli::{Failure, Session},
        git::{self, Worktree},
    },
    domain::{ErrorCode, Plan, Step, StepRole, Workflow},
    workspace::Workspace,
};

/// A worktree that can be merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Queued {
    /// Its branch.
    pub(super) branch: String,
    /// Its steps, by name.
    pub(super) steps: Vec<String>,
    /// Since when the first of them has been waiting.
    pub(super) since: Option<String>,
}

/// The plan and the lifecycle of a worktree.
pub(super) struct WorktreeState {
    pub(super) plan: Arc<Plan>,
    pub(super) workflow: Workflow,
}

impl WorktreeState {
    /// Those of a state; `None` where there is no state.
    pub(super) fn read(there: &Workspace) -> Result<Option<Self>, Failure> {
        let read = there.read().and_then(|snapshot| {
            let workflow = snapshot.workflow()?.into_owned();
            Ok(Self { plan: snapshot.plan()?, workflow })
        });
        match read.map_err(Failure::from) {
            Err(failure) if failure.code == ErrorCode::NoState => Ok(None),
            read => read.map(Some),
        }
    }

    /// The steps that are running on a branch, or are not ready to be merged, by name.
    pub(super) fn running(&self, branch: &str) -> Vec<String> {
        let is_running = |step: &&Step| match self.workflow.role_of(step) {
            Some(StepRole::Active) => true,
            Some(StepRole::Waiting) => !self.workflow.is_mergeable(step),
            _ => false,
        };
        steps_of(&self.plan, Some(branch)).filter(is_running).map(Step::name).collect()
    }
}

/// The worktrees that can be merged, the one that has been waiting longest first.
pub(super) fn queue(
    session: &Session<'_>,
    workspace: &Workspace,
    trees: &[Worktree],
) -> Result<Vec<Queued>, Failure> {
    let mut queued = Vec::new();
    for tree in trees.iter().filter(|tree| !tree.here && !tree.bare && !tree.missing) {
        let Some(branch) = &tree.branch else { continue };
        let there = worktree_workspace(session, &tree.state, workspace)?;
        match WorktreeState::read(&there) {
            Ok(state) => queued.extend(state.and_then(|state| queued_branch(&state, branch))),
            // A state that cannot be read right now may be the first in the queue; trying again may
            // show it.
            Err(failure) if failure.code.is_of_disk() => return Err(failure),
            Err(_) => {}
        }
    }
    // Times have one format, which sorts chronologically.
    queued.sort_by(|one, other| {
        let key = |queued: &Queued| (queued.since.is_none(), queued.since.clone());
        key(one).cmp(&key(other)).then_with(|| one.branch.cmp(&other.branch))
    });
    Ok(queued)
}

/// A branch that can be merged: it has steps, and all of them are ready.
fn queued_branch(state: &WorktreeState, branch: &str) -> Option<Queued> {
    let steps: Vec<&Step> = steps_of(&state.plan, Some(branch)).collect();
    let is_ready = |step: &&Step| state.workflow.is_mergeable(step);
    if steps.is_empty() || !steps.iter().all(is_ready) {
        return None;
    }
    Some(Queued {
        branch: branch.to_owned(),
        steps: steps.iter().map(|step| step.name()).collect(),
        since: steps.iter().filter_map(|step| waits_since(step).cloned()).min(),
    })
}

/// When a step that can be merged began to wait for that: when it was done, or got that status.
fn waits_since(step: &Step) -> Option<&String> {
    step.completed_at.as_ref().or(step.started_at.as_ref())
}

/// The branch that is merged next.
pub(super) fn next(session: &Session<'_>) -> Result<String, Failure> {
    let workspace = session.workspace()?;
    let trees = git::worktrees(workspace.directory())?;
    let first = queue(session, &workspace, &trees)?.into_iter().next();
    first.map(|queued| queued.branch).ok_or_else(|| {
        Failure::new(ErrorCode::NothingToDo, "no worktree waits to be merged")
            .hint("`statedir worktree list` shows what is worked on in each")
    })
}
