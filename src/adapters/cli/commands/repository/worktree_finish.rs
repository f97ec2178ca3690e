//! A worktree comes to its end: merged, or given up.

use serde_json::{Map, Value, json};

use super::{
    commit,
    worktree::{at, rehearsed, steps_of},
};
use crate::{
    adapters::{
        cli::{CliResult, Failure, Session},
        git::{self, Worktree},
    },
    domain::{ErrorCode, Step, StepRef, StepRole},
    workspace::{Change, StepShape, Workspace},
};

/// How a worktree is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Merged, if everything there is finished.
    Merge,
    /// Merged as it is.
    Force,
    /// Not merged; its branch stays.
    Abandon,
}

pub(super) fn finish(session: &mut Session<'_>, name: &str, how: How) -> CliResult {
    let workspace = session.workspace()?;
    let dir = workspace.directory().to_owned();
    let tree = git::find_worktree(&dir, name)?;
    let there = at(session, &tree.state, &workspace)?;
    let running = running(&there, name);
    refuse_unfinished(&tree, name, &running, how)?;
    git::check_finish(&dir, &tree)?;
    if session.global.dry_run {
        let verb = if how == How::Abandon { "keep the branch" } else { "merge" };
        let message = format!("would {verb} `{name}` and remove `{}`", tree.path.display());
        return rehearsed(session, &message);
    }
    if !tree.missing && there.read().is_ok() {
        git::commit(&tree.state, &commit::options(&there)?)?;
    }
    if how == How::Abandon {
        return abandon(session, &workspace, &tree, name);
    }
    git::commit(&dir, &commit::options(&workspace)?)?;
    let finished = git::finish_worktree(&dir, name)?;
    if !finished.merged {
        let message = format!(
            "the merge of `{name}` has unresolved conflicts: {}",
            finished.unsettled.join(", ")
        );
        let mut failure = Failure::new(ErrorCode::Unmerged, message);
        failure.data = Some(Box::new(json!({ "finished": finished })));
        return Err(failure.hint(
            "`statedir merge --list`, resolve them, `git commit`, then the same command again",
        ));
    }
    note(session, name, "merged and removed")?;
    if session.output.is_json() {
        session.output.value(json!({ "finished": finished, "running": running }));
    } else {
        session.output.line(format!("merged {name} and removed {}", tree.path.display()));
        for step in &running {
            session.output.line(format!("{step} was not finished there: it is running here now"));
        }
    }
    Ok(0)
}

/// The steps that are running in a worktree, by name.
fn running(there: &Workspace, name: &str) -> Vec<String> {
    let Ok(snapshot) = there.read() else { return Vec::new() };
    let (Ok(plan), Ok(workflow)) = (snapshot.plan(), snapshot.workflow()) else {
        return Vec::new();
    };
    let is_running = |step: &&Step| {
        let role = step.status.as_deref().and_then(|status| workflow.step_role(status));
        role == Some(StepRole::Active)
    };
    steps_of(&plan, Some(name)).filter(is_running).map(Step::name).collect()
}

fn refuse_unfinished(
    tree: &Worktree,
    name: &str,
    running: &[String],
    how: How,
) -> Result<(), Failure> {
    if how != How::Merge {
        return Ok(());
    }
    let path = tree.path.display();
    if tree.missing {
        let message = format!(
            "the directory of `{name}`, `{path}`, is missing; what was committed is on its branch"
        );
        return Err(Failure::new(ErrorCode::WorktreeGone, message).hint(format!(
            "`statedir worktree finish {name} --force` merges its branch, `--abandon` keeps it \
             unmerged; `git worktree prune` and `git worktree add {path} {name}` bring it back"
        )));
    }
    if running.is_empty() {
        return Ok(());
    }
    let verb = if running.len() == 1 { "is" } else { "are" };
    let message = format!("{} {verb} still running in `{path}`", running.join(", "));
    let mut failure = Failure::new(ErrorCode::StillRunning, message);
    failure.data = Some(Box::new(json!({ "running": running })));
    Err(failure.hint(
        "`statedir step done` or `step fail` there first; `--force` merges it as it is, \
         `--abandon` abandons it",
    ))
}

/// Takes a worktree away and opens its steps again; whatever was done is on its branch.
fn abandon(
    session: &mut Session<'_>,
    workspace: &Workspace,
    tree: &Worktree,
    name: &str,
) -> CliResult {
    git::abandon_worktree(workspace.directory(), tree)?;
    let opened = running(workspace, name);
    note(session, name, "abandoned")?;
    if session.output.is_json() {
        let path = &tree.path;
        session
            .output
            .value(json!({ "abandoned": { "branch": name, "path": path, "opened": opened } }));
    } else {
        session.output.line(format!(
            "abandoned {}; the work done there is on branch {name}",
            tree.path.display()
        ));
        for step in &opened {
            session.output.line(format!("{step} is open again"));
        }
    }
    Ok(0)
}

/// The place of a worktree that is gone is no use on its steps; the branch stays as a record.
fn note(session: &Session<'_>, name: &str, what: &str) -> Result<(), Failure> {
    let workspace = session.workspace_as_it_is()?;
    let snapshot = workspace.read()?;
    let (plan, workflow) = (snapshot.plan()?, snapshot.workflow()?);
    let mut changes = Vec::new();
    for step in steps_of(&plan, Some(name)) {
        let selected = StepRef::Number(step.number);
        let role = step.status.as_deref().and_then(|status| workflow.step_role(status));
        if what == "abandoned" && role == Some(StepRole::Active) {
            let note = Some(format!("the worktree on branch `{name}` was abandoned"));
            changes.push(Change::StepReset { step: Some(selected.clone()), note, force: true });
        }
        if step.other.iter().any(|(key, _)| key == "worktree") {
            let mut set = Map::new();
            set.insert("worktree".to_owned(), Value::from(what));
            let shape = StepShape { step: Some(selected), set, ..StepShape::default() };
            changes.push(Change::StepSet(Box::new(shape)));
        }
    }
    // Without any, what follows from the merged plan may still have to be taken over.
    let outcome = workspace.apply(&changes)?;
    if outcome.committed {
        git::commit(workspace.directory(), &commit::options(&session.workspace_as_it_is()?)?)?;
    }
    Ok(())
}
