//! Steps whose worktree or branch is gone.

use std::path::Path;

use super::super::{Snapshot, Workspace};
use crate::domain::{ErrorCode, Plan, Problem, StateFile, Step, StepRole};
use crate::text::shell::shell_word;

const FILE: StateFile = StateFile::Plan;

impl Workspace {
    /// Missing worktrees and branches of unfinished steps, except steps claimed on another machine.
    pub(super) fn worktree_problems(&self, snapshot: &Snapshot) -> Vec<Problem> {
        let (Ok(plan), Ok(workflow)) = (snapshot.plan(), snapshot.workflow()) else {
            return Vec::new();
        };
        let host = self.env.identity().claim().host;
        let is_here = |step: &Step| {
            step.claimed_by.as_ref().is_none_or(|claim| claim.may_be_on(host.as_deref()))
        };
        let is_under_way = |step: &Step| {
            let role = workflow.role_of(step);
            !matches!(role, Some(StepRole::Open | StepRole::Done | StepRole::Skipped) | None)
        };
        let steps = plan.steps.iter().filter(|step| is_under_way(step) && is_here(step));
        steps.filter_map(|step| self.worktree_problem(&plan, step)).collect()
    }

    fn worktree_problem(&self, plan: &Plan, step: &Step) -> Option<Problem> {
        let path = step.field("worktree").map(Path::new).filter(|path| path.is_absolute())?;
        let branch = step.field("branch");
        let start_over = format!("`statedir step reset {} --force` starts it over", step.number);
        if !matches!(self.store.what_is_at(path), Ok(None)) {
            let gone = branch.filter(|branch| {
                self.version_control().has_branch(self.directory(), branch) == Some(false)
            })?;
            let message =
                format!("{} is worked on in branch `{gone}`, which no longer exists", step.name());
            let problem = Problem::warning(ErrorCode::BranchGone, FILE, message);
            return Some(problem.at(plan.field_place(step, "branch")).hint(start_over));
        }
        let message =
            format!("{} is worked on in `{}`, which no longer exists", step.name(), path.display());
        let problem = Problem::warning(ErrorCode::WorktreeGone, FILE, message);
        let (control, dir) = (self.version_control(), self.directory());
        let hint = match branch {
            Some(branch) if control.has_worktree(dir, branch) == Some(true) => format!(
                "`statedir worktree finish {branch} --force` merges what was committed there, \
                 `--abandon` starts the step over"
            ),
            Some(branch) if control.has_branch(dir, branch) == Some(true) => {
                let path = path.to_string_lossy();
                let again = format!("`git worktree add {} {branch}`", shell_word(&path));
                format!("{again} restores it from its branch; {start_over}")
            }
            _ => start_over,
        };
        Some(problem.at(plan.field_place(step, "worktree")).hint(hint))
    }
}
