use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{
    commit, merge_queue,
    worktree_finish::{FinishMode, finish, finish_all},
};
use crate::{
    adapters::{
        cli::{CliResult, Failure, Session},
        git,
    },
    domain::{ErrorCode, Plan, StateFile, Step, StepRef, StepRole},
    workspace::{Change, Environment, Options, StepShape, Workspace},
};

/// The way out where a worktree cannot be put.
const ELSEWHERE: &str = "`--path` puts it elsewhere";

/// Work on steps in separate git worktrees
///
/// Every worktree has its own state files and its own operation log. `add` starts the step here,
/// records the branch and the path in it, commits the state files, and creates the worktree from
/// that commit: here the step shows as claimed, and there the work can begin at once. `finish`
/// commits the state there, merges the branch into the one checked out here, by meaning, and
/// removes the worktree and the branch. What cannot be merged is left to a person; nothing is lost.
///
/// A worktree with a running step cannot be finished, so that nobody merges half-done work by
/// accident: run `step done` or `step fail` there first, or merge it as it is with `finish
/// --force`. `finish --abandon` merges nothing: the worktree is removed, its branch is kept, and
/// its running step is reopened here.
///
/// `list` is also the merge queue: worktrees whose step is done, or waits to be merged, are
/// numbered in the order in which they began to wait. `finish --next` merges the first of them,
/// `--all` all of them in turn; the step is then completed, with `merged_at`, `merge_commit` and
/// `commits`.
///
/// Inside a worktree, `step done`, `step fail` and the like mean the step that is worked on there
/// when several are running and none is named.
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir worktree add benchmarks --step 3
  statedir worktree list
  statedir worktree finish benchmarks
  statedir worktree finish --next"
)]
pub(in crate::adapters) enum Verb {
    /// Create a worktree on a new branch
    #[command(
        after_help = "Examples:\n  statedir worktree add benchmarks --step 3 --path ../bench"
    )]
    Add {
        /// The name of the new branch
        name: String,
        /// The step to start and to claim
        #[arg(long, value_name = "STEP")]
        step: Option<StepRef>,
        /// Where to put it; else beside the repository
        #[arg(long, value_name = "DIR")]
        path: Option<PathBuf>,
    },
    /// List worktrees and the steps worked on there, in the order in which they are merged
    #[command(after_help = "Examples:\n  statedir worktree list --json")]
    List,
    /// Merge a worktree back and remove it
    ///
    /// Refused while a step is running there, while it has uncommitted changes, and while another
    /// merge is in progress here. If its directory was removed by hand, `--force` merges what was
    /// committed on its branch.
    #[command(
        after_help = "Examples:\n  statedir worktree finish benchmarks\n  statedir worktree finish --next\n  statedir worktree finish benchmarks --abandon"
    )]
    Finish {
        /// The name of the branch
        #[arg(required_unless_present_any = ["next", "all"])]
        name: Option<String>,
        /// The one that has been waiting longest
        #[arg(long, conflicts_with_all = ["name", "all", "abandon", "force"])]
        next: bool,
        /// All that are waiting, in turn, up to the first conflict
        #[arg(long, conflicts_with_all = ["name", "abandon", "force"])]
        all: bool,
        /// Merge even if a step is still running there, or the directory is missing
        #[arg(long, conflicts_with = "abandon")]
        force: bool,
        /// Merge nothing: keep the branch, remove the worktree, reopen its step
        #[arg(long)]
        abandon: bool,
    },
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    match verb {
        Verb::Add { name, step, path } => add(session, &name, step, path),
        Verb::List => list(session),
        Verb::Finish { all: true, .. } => finish_all(session),
        Verb::Finish { name, force, abandon, .. } => {
            let mode = match (force, abandon) {
                (_, true) => FinishMode::Abandon,
                (true, _) => FinishMode::Force,
                _ => FinishMode::Merge,
            };
            let name = name.map_or_else(|| merge_queue::next(session), Ok)?;
            finish(session, &name, mode)
        }
    }
}

fn add(
    session: &mut Session<'_>,
    name: &str,
    step: Option<StepRef>,
    path: Option<PathBuf>,
) -> CliResult {
    let workspace = session.workspace()?;
    let dir = workspace.directory().to_owned();
    let path = match path {
        Some(path) => path,
        None => git::default_worktree_path(&dir, name)?,
    };
    let path = std::path::absolute(&path)
        .map_err(|error| Failure::new(ErrorCode::Io, format!("{}: {error}", path.display())))?;
    git::refuse_committed_link(&dir, &path)?;
    let path = git::real_path(&path);
    let begun = match &step {
        Some(step) => is_already_started(&workspace, step, name, &path)?,
        None => false,
    };
    // An interrupted `add` is completed, without cleaning up first.
    let left = git::left_by_add(&dir, name, &path)?;
    if !begun || left == git::Left::Nothing {
        git::check_worktree(&dir, name, &path)?;
    }
    if session.global.dry_run {
        if let Some(step) = step.as_ref().filter(|_| !begun) {
            workspace.apply(&claim(step, name, &path))?;
        }
        let message = format!("would create `{}` on branch `{name}`", path.display());
        return print_dry_run(session, &message);
    }
    // Git accepts an empty directory; one that cannot be created is reported before anything is changed.
    fs_err::create_dir_all(&path)
        .map_err(|error| Failure::new(ErrorCode::Io, error.to_string()).hint(ELSEWHERE))?;
    git::ignore_worktrees(&dir, &path)?;
    let to_claim = step.as_ref().filter(|_| !begun);
    let tree = match claim_and_make(session, &workspace, name, to_claim, &path) {
        Ok(tree) => tree,
        Err(failure) => {
            // Only if it is empty, as it was made.
            let _ = std::fs::remove_dir(&path);
            return Err(failure);
        }
    };
    session.output.value(|| json!({ "worktree": tree }));
    session.output.line(format!("{} on branch {name}", tree.path.display()));
    Ok(0)
}

/// Whether a step was already started for that branch and path by the caller.
fn is_already_started(
    workspace: &Workspace,
    step: &StepRef,
    name: &str,
    path: &Path,
) -> Result<bool, Failure> {
    let snapshot = workspace.read()?;
    let (plan, workflow) = (snapshot.plan()?, snapshot.workflow()?);
    let step = plan.step(step).map_err(crate::workspace::Error::from)?;
    let me = workspace.environment().identity().claim();
    let is_own = step.claimed_by.as_ref().is_some_and(|claim| claim.is_held_by(&me));
    Ok(workflow.role_of(step) == Some(StepRole::Active)
        && is_own
        && step.field("branch") == Some(name)
        && step.field("worktree").map(Path::new) == Some(path))
}

/// Starts a step and notes on it where it is worked on.
fn claim(step: &StepRef, name: &str, path: &Path) -> [Change; 2] {
    let mut set = Map::new();
    set.insert("branch".to_owned(), Value::from(name));
    set.insert("worktree".to_owned(), Value::from(path.to_string_lossy().into_owned()));
    let shape = StepShape { step: Some(step.clone()), set, ..StepShape::default() };
    [Change::StepStart { step: Some(step.clone()) }, Change::StepSet(Box::new(shape))]
}

fn claim_and_make(
    session: &Session<'_>,
    workspace: &Workspace,
    name: &str,
    step: Option<&StepRef>,
    path: &Path,
) -> Result<git::Worktree, Failure> {
    let dir = workspace.directory();
    if let Some(step) = step {
        workspace.apply(&claim(step, name, path))?;
    }
    let here = session.workspace_as_it_is()?;
    let made = commit::options(&here).map_err(Failure::from).and_then(|options| {
        git::commit(dir, &options)?;
        Ok(git::add_worktree(dir, name, path)?)
    });
    let tree = made.map_err(|failure| match step {
        // A step that is claimed for a missing worktree would stay claimed for ever.
        Some(_) => match here.undo() {
            Ok(_) => {
                // The claim may be committed already. If a hook refuses this commit, the files
                // still record the release.
                if let Ok(options) = commit::options(&here) {
                    let _ = git::commit(dir, &options);
                }
                failure
            }
            Err(error) => {
                let message = format!("{}; the step is still claimed: {error}", failure.message);
                Failure { message, ..failure }
            }
        },
        None => failure,
    })?;
    // Its log starts now, so that its first command has nothing to report.
    if tree.state.join(StateFile::Plan.name()).exists() {
        worktree_workspace(session, &tree.state, &here)?
            .init(&crate::workspace::InitOptions::default())?;
    }
    Ok(tree)
}

pub(super) fn print_dry_run(session: &mut Session<'_>, message: &str) -> CliResult {
    session.output.value(|| json!({ "message": message, "dry_run": true }));
    session.output.line(message);
    Ok(0)
}

fn list(session: &mut Session<'_>) -> CliResult {
    let workspace = session.workspace()?;
    let mut trees = git::worktrees(workspace.directory())?;
    let queue = merge_queue::queue(session, &workspace, &trees)?;
    let turn = |tree: &git::Worktree| {
        let branch = tree.branch.as_deref()?;
        queue.iter().position(|queued| queued.branch == branch)
    };
    // The main one first, then the queue, then those that are worked on.
    let main = trees.first().map(|tree| tree.path.clone());
    trees.sort_by_key(|tree| (Some(&tree.path) != main.as_ref(), turn(tree).unwrap_or(usize::MAX)));
    let mut listed = Vec::new();
    for tree in &trees {
        let turn = turn(tree).filter(|_| !tree.here);
        let there = worktree_workspace(session, &tree.state, &workspace)?;
        let plan = there.read().and_then(|snapshot| snapshot.plan());
        let steps: Vec<String> = match &plan {
            Ok(plan) => steps_of(plan, tree.branch.as_deref())
                .map(|step| format!("{}: {}", step.name(), step.status().unwrap_or("?")))
                .collect(),
            Err(_) => Vec::new(),
        };
        listed.push(json!({ "path": tree.path, "branch": tree.branch, "commit": tree.commit,
            "here": tree.here, "bare": tree.bare, "missing": tree.missing, "locked": tree.locked,
            "has_state": plan.is_ok(), "steps": steps, "queue": turn.map(|turn| turn + 1),
            "waiting_since": turn.and_then(|turn| queue.get(turn)?.since.clone()) }));
        let here = if tree.here { "*" } else { " " };
        let none = if tree.bare { "(bare)" } else { "(no branch)" };
        let branch = tree.branch.as_deref().unwrap_or(none);
        let mut line = format!("{here} {branch:<20} {}", tree.path.display());
        if tree.locked {
            line.push_str("  (locked)");
        }
        if !steps.is_empty() {
            line.push_str(&format!("  {}", steps.join(", ")));
        }
        if let Some(turn) = turn {
            line.push_str(&format!("  (merge {})", turn + 1));
        }
        session.output.line(line);
        if tree.missing && !tree.bare {
            session.output.advice(format!(
                "    its directory is missing: `statedir worktree finish {branch}` says what can be done"
            ));
        }
    }
    session.output.value(|| json!({ "worktrees": listed }));
    if !queue.is_empty() {
        session.output.advice("`statedir worktree finish --next` merges the first");
    }
    Ok(0)
}

/// The steps that are worked on in the worktree of a branch.
pub(super) fn steps_of<'p>(
    plan: &'p Plan,
    branch: Option<&'p str>,
) -> impl Iterator<Item = &'p Step> {
    plan.steps.iter().filter(move |step| branch.is_some() && step.field("branch") == branch)
}

/// The state of another worktree.
pub(super) fn worktree_workspace(
    session: &Session<'_>,
    dir: &Path,
    like: &Workspace,
) -> Result<Workspace, Failure> {
    let options = Options {
        wait: session.global.wait(),
        command: session.command.clone(),
        ..Options::new(git::GitControl)
    };
    let env = Environment::real(like.environment().actor().to_owned());
    Ok(Workspace::new(dir.to_owned(), env, options))
}
