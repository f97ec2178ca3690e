//! Finishing a worktree: merging or abandoning it.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::{
    commit,
    merge_queue::{self, WorktreeState},
    worktree::{print_dry_run, steps_of, worktree_workspace},
};
use crate::{
    adapters::{
        cli::{CliResult, Failure, Session},
        git::{self, Finished, Worktree},
    },
    domain::{ErrorCode, Step, StepRef, StepRole, Workflow},
    text::shell::shell_word,
    workspace::{Change, StepMove, StepShape, Workspace},
};

/// How a worktree is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FinishMode {
    /// Merged, if everything there is finished.
    Merge,
    /// Merged as it is.
    Force,
    /// Not merged; its branch stays.
    Abandon,
}

/// Merges all that wait, one after another; a conflict stops it.
pub(super) fn finish_all(session: &mut Session<'_>) -> CliResult {
    let mut merged = Vec::new();
    let mut name = merge_queue::next(session)?;
    loop {
        match merge(session, &name, FinishMode::Merge) {
            Ok(Some(done)) => {
                done.print(session);
                merged.push(done);
            }
            Ok(None) => return Ok(0),
            Err(mut failure) => {
                let before: Vec<&Finished> = merged.iter().map(|done| &done.finished).collect();
                let data = failure.data.get_or_insert_with(|| Box::new(json!({})));
                data["merged"] = json!(before);
                return Err(failure);
            }
        }
        match merge_queue::next(session) {
            Ok(next) => name = next,
            Err(failure) if failure.code == ErrorCode::NothingToDo => break,
            Err(failure) => return Err(failure),
        }
    }
    session.output.value(|| {
        let finished: Vec<&Finished> = merged.iter().map(|done| &done.finished).collect();
        json!({ "finished": finished })
    });
    Ok(0)
}

pub(super) fn finish(session: &mut Session<'_>, name: &str, mode: FinishMode) -> CliResult {
    let Some(done) = merge(session, name, mode)? else { return Ok(0) };
    session.output.value(|| json!({ "finished": done.finished, "running": done.running }));
    done.print(session);
    Ok(0)
}

/// A worktree that was merged.
struct Done {
    finished: Finished,
    path: PathBuf,
    /// The steps that were still running there, by name.
    running: Vec<String>,
    /// The steps that are completed now, by name.
    completed: Vec<String>,
}

impl Done {
    fn print(&self, session: &mut Session<'_>) {
        let branch = &self.finished.branch;
        session.output.line(format!("merged {branch} and removed {}", self.path.display()));
        for step in &self.completed {
            session.output.line(format!("{step} is completed"));
        }
        for step in &self.running {
            session.output.line(format!("{step} was not finished there: it is running here now"));
        }
    }
}

/// Merges a worktree; `None` if nothing was merged and the reason was printed.
fn merge(session: &mut Session<'_>, name: &str, mode: FinishMode) -> Result<Option<Done>, Failure> {
    let workspace = session.workspace()?;
    let dir = workspace.directory().to_owned();
    let tree = git::find_worktree(&dir, name)?;
    let there = worktree_workspace(session, &tree.state, &workspace)?;
    let state = read_worktree_state(&there, &tree, mode)?;
    let running = state.as_ref().map_or_else(Vec::new, |state| state.running(name));
    refuse_unfinished(&tree, name, &running, mode)?;
    git::check_finish(&dir, &tree)?;
    if session.global.dry_run {
        let verb = if mode == FinishMode::Abandon { "keep the branch" } else { "merge" };
        let message = format!("would {verb} `{name}` and remove `{}`", tree.path.display());
        print_dry_run(session, &message)?;
        return Ok(None);
    }
    if let Some(state) = state {
        if mode != FinishMode::Abandon {
            begin_merging(&there, &state, name)?;
        }
        git::commit(&tree.state, &commit::options(&there)?)?;
    }
    if mode == FinishMode::Abandon {
        abandon(session, &workspace, &tree, name)?;
        return Ok(None);
    }
    git::commit(&dir, &commit::options(&workspace)?)?;
    let finished = git::merge_worktree(&dir, name)?;
    if !finished.merged {
        let message = format!(
            "the merge of `{name}` has unresolved conflicts: {}",
            finished.unsettled.join(", ")
        );
        let mut failure = Failure::new(ErrorCode::Unmerged, message);
        failure.data = Some(Box::new(json!({ "finished": finished })));
        let again = format!("statedir worktree finish {name}");
        return Err(failure.hint(format!(
            "`statedir merge --list`, resolve them, `git commit`, then `{again}` again"
        )));
    }
    let completed = clean_up_steps(session, name, Some(&finished))?;
    git::remove_worktree(&dir, name)?;
    Ok(Some(Done { finished, path: tree.path, running, completed }))
}

/// The steps of a worktree; `None` if it has no state. A state that cannot be read is not merged:
/// the result of the work there would be missing. `--force` merges what is committed, unless trying
/// again may help.
fn read_worktree_state(
    there: &Workspace,
    tree: &Worktree,
    mode: FinishMode,
) -> Result<Option<WorktreeState>, Failure> {
    if tree.missing {
        return Ok(None);
    }
    match WorktreeState::read(there) {
        Ok(state) => Ok(state),
        Err(failure) if mode != FinishMode::Merge && !failure.code.is_of_disk() => Ok(None),
        Err(failure) => {
            let place = shell_word(&tree.state.to_string_lossy()).into_owned();
            let message = format!("the state in `{place}` cannot be read: {}", failure.message);
            let hint = format!("`statedir -C {place} check` says what is wrong");
            Err(Failure { message, ..failure }.hint(hint))
        }
    }
}

fn refuse_unfinished(
    tree: &Worktree,
    name: &str,
    running: &[String],
    mode: FinishMode,
) -> Result<(), Failure> {
    if mode != FinishMode::Merge {
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

/// Removes a worktree and reopens its steps; the work done is on its branch.
fn abandon(
    session: &mut Session<'_>,
    workspace: &Workspace,
    tree: &Worktree,
    name: &str,
) -> CliResult {
    let opened = WorktreeState::read(workspace)?.map_or_else(Vec::new, |here| here.running(name));
    // If the lifecycle does not allow reopening a step, the worktree stays as well.
    clean_up_steps(session, name, None)?;
    git::abandon_worktree(workspace.directory(), tree)?;
    session.output.value(|| {
        let path = &tree.path;
        json!({ "abandoned": { "branch": name, "path": path, "opened": opened } })
    });
    session.output.line(format!(
        "abandoned {}; the work done there is on branch {name}",
        tree.path.display()
    ));
    for step in &opened {
        session.output.line(format!("{step} is open again"));
    }
    Ok(0)
}

/// A step that waits is `merging` while it is merged, so that a conflict or a crash leaves a
/// visible trace.
fn begin_merging(there: &Workspace, state: &WorktreeState, name: &str) -> Result<(), Failure> {
    let workflow = &state.workflow;
    let mut changes = Vec::new();
    for step in steps_of(&state.plan, Some(name)).filter(|step| workflow.is_mergeable(step)) {
        changes.extend(moves(workflow, step, false));
    }
    if !changes.is_empty() {
        there.apply(&changes)?;
    }
    Ok(())
}

/// The moves by which a step that waits gets to the last status of the merge queue, or to its end.
fn moves(workflow: &Workflow, step: &Step, to_end: bool) -> Vec<Change> {
    if workflow.role_of(step) != Some(StepRole::Waiting) {
        return Vec::new();
    }
    let mut to: Vec<&str> = workflow.merge_moves(step).iter().map(String::as_str).collect();
    if to_end {
        let last = to.last().copied().or(step.status()).unwrap_or_default();
        to.push(workflow.step_towards(last, StepRole::Done));
    }
    let change = |to: &str| {
        Change::StepMove(Box::new(StepMove {
            force: true,
            ..StepMove::new(StepRef::Number(step.number), to)
        }))
    };
    to.into_iter().map(change).collect()
}

/// Cleans up the steps of a branch that is gone: its name and path are removed from them, a merge
/// is recorded in the history, and the steps are completed, or reopened if the branch was
/// abandoned. Returns the names of completed steps.
fn clean_up_steps(
    session: &Session<'_>,
    name: &str,
    merged: Option<&Finished>,
) -> Result<Vec<String>, Failure> {
    let workspace = session.workspace_as_it_is()?;
    let snapshot = workspace.read()?;
    let (plan, workflow) = (snapshot.plan()?, snapshot.workflow()?);
    let (mut changes, mut completed) = (Vec::new(), Vec::new());
    for step in steps_of(&plan, Some(name)) {
        let selected = StepRef::Number(step.number);
        let role = workflow.role_of(step);
        if merged.is_none()
            && !role.is_some_and(|role| role.is_finished() || role == StepRole::Open)
        {
            let note = Some(format!("the worktree on branch `{name}` was abandoned"));
            changes.push(Change::StepReset {
                step: Some(selected.clone()),
                note,
                force: true,
                fresh: false,
                dependents: false,
            });
        }
        let mut set = Map::new();
        set.insert("worktree".to_owned(), Value::Null);
        set.insert("branch".to_owned(), Value::Null);
        if let Some(finished) = merged.filter(|_| workflow.is_mergeable(step)) {
            let to_end = moves(&workflow, step, true);
            if !to_end.is_empty() {
                completed.push(step.name());
            }
            changes.extend(to_end);
            let merge = finished.merge_commit.clone().unwrap_or_default();
            let commits = finished.commits.join(", ");
            set.insert("merged_at".to_owned(), Value::from(workspace.environment().now()));
            for (key, value) in [("merge_commit", &merge), ("commits", &commits)] {
                if !value.is_empty() {
                    set.insert(key.to_owned(), Value::from(value.as_str()));
                }
            }
            changes.push(entry(step, name, &merge, &commits));
        }
        let shape = StepShape { step: Some(selected), set, ..StepShape::default() };
        changes.push(Change::StepSet(Box::new(shape)));
    }
    if completed.is_empty() && merged.is_some() && plan.is_left_active(&workflow) {
        changes.push(Change::Resume);
    }
    // Without any, values derived from the merged plan may still have to be updated.
    let outcome = workspace.apply(&changes)?;
    if outcome.committed {
        git::commit(workspace.directory(), &commit::options(&session.workspace_as_it_is()?)?)?;
    }
    Ok(completed)
}

/// The entry that records a merge.
fn entry(step: &Step, branch: &str, merge: &str, commits: &str) -> Change {
    let id = step.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
    let mut fields = Map::new();
    for (key, value) in [
        ("kind", "note".to_owned()),
        ("step", format!("{}{id}", step.number)),
        ("branch", branch.to_owned()),
        ("merge_commit", merge.to_owned()),
        ("commits", commits.to_owned()),
    ] {
        if !value.is_empty() {
            fields.insert(key.to_owned(), Value::from(value));
        }
    }
    Change::HistoryAdd { title: format!("Step {} Merged", step.number), fields }
}
