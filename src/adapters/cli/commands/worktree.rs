use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::{CliResult, Failure, Session, commit};
use crate::{
    adapters::git,
    model::StateFile,
    workspace::{Change, Environment, Options, Selected, StepShape, Workspace},
};

/// Work on steps in git worktrees of their own
///
/// Every worktree has its own state files and its own operation log. `add` starts the step here,
/// notes the branch and the place on it, commits the state files, and makes the worktree from that
/// commit: whoever looks here sees the step as claimed, and whoever works there can go on at once.
/// `finish` commits the state there, merges the branch into the one checked out here, by meaning,
/// and takes worktree and branch away. What cannot be merged is left for a person, with nothing lost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir worktree add benchmarks --step 3
  statedir worktree list
  statedir worktree finish benchmarks")]
pub(in super::super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Make a worktree on a new branch
    #[command(
        after_help = "Examples:\n  statedir worktree add benchmarks --step 3 --path ../bench"
    )]
    Add {
        /// The name of the new branch
        name: String,
        /// The step to start and to claim
        #[arg(long, value_name = "STEP")]
        step: Option<Selected>,
        /// Where to put it; else beside the repository
        #[arg(long, value_name = "DIR")]
        path: Option<PathBuf>,
    },
    /// List worktrees and the steps worked on there
    #[command(after_help = "Examples:\n  statedir worktree list --json")]
    List,
    /// Merge a worktree back and take it away
    #[command(after_help = "Examples:\n  statedir worktree finish benchmarks")]
    Finish {
        /// The name of the branch
        name: String,
    },
}

pub(super) fn run(session: &mut Session<'_>, args: Args) -> CliResult {
    match args.verb {
        Verb::Add { name, step, path } => add(session, &name, step, path),
        Verb::List => list(session),
        Verb::Finish { name } => finish(session, &name),
    }
}

fn add(
    session: &mut Session<'_>,
    name: &str,
    step: Option<Selected>,
    path: Option<PathBuf>,
) -> CliResult {
    let workspace = session.workspace()?;
    let dir = workspace.directory().to_owned();
    let path = match path {
        Some(path) => path,
        None => git::default_worktree_path(&dir, name)?,
    };
    let path = std::path::absolute(&path)
        .map_err(|error| Failure::refused("io", format!("{}: {error}", path.display())))?;
    if session.global.dry_run {
        let message = format!("would make `{}` on branch `{name}`", path.display());
        return rehearsed(session, &message);
    }
    git::check_worktree(&dir, name, &path)?;
    if let Some(step) = &step {
        let mut set = Map::new();
        set.insert("branch".to_owned(), Value::from(name));
        set.insert("worktree".to_owned(), Value::from(path.to_string_lossy().into_owned()));
        let shape = StepShape { step: Some(step.clone()), set, ..StepShape::default() };
        workspace.apply(&[
            Change::StepStart { step: Some(step.clone()) },
            Change::StepSet(Box::new(shape)),
        ])?;
    }
    let here = session.workspace_as_it_is()?;
    git::commit(&dir, &commit::options(&here)?)?;
    let tree = git::add_worktree(&dir, name, &path)?;
    // Its log begins now, so that its first command finds everything in order.
    if tree.state.join(StateFile::Plan.name()).exists() {
        at(session, &tree.state, &here)?.init(&crate::workspace::InitOptions::default())?;
    }
    if session.output.is_json() {
        session.output.value(json!({ "worktree": tree }));
    } else {
        session.output.line(format!("{} on branch {name}", tree.path.display()));
    }
    Ok(0)
}

fn rehearsed(session: &mut Session<'_>, message: &str) -> CliResult {
    if session.output.is_json() {
        session.output.value(json!({ "message": message, "dry_run": true }));
    } else {
        session.output.line(message);
    }
    Ok(0)
}

fn list(session: &mut Session<'_>) -> CliResult {
    let workspace = session.workspace()?;
    let trees = git::worktrees(workspace.directory())?;
    let mut listed = Vec::new();
    for tree in &trees {
        let there = at(session, &tree.state, &workspace)?;
        let plan = there.read().and_then(|snapshot| snapshot.plan());
        let on_it = |step: &&crate::model::Step| {
            let is_branch = |(key, value): &(String, String)| {
                key == "branch" && Some(value) == tree.branch.as_ref()
            };
            step.other.iter().any(is_branch)
        };
        let steps: Vec<String> = match &plan {
            Ok(plan) => plan
                .steps
                .iter()
                .filter(on_it)
                .map(|step| format!("{}: {}", step.name(), step.status.as_deref().unwrap_or("?")))
                .collect(),
            Err(_) => Vec::new(),
        };
        listed.push(json!({ "path": tree.path, "branch": tree.branch, "commit": tree.commit,
            "here": tree.here, "has_state": plan.is_ok(), "steps": steps }));
        if !session.output.is_json() {
            let here = if tree.here { "*" } else { " " };
            let branch = tree.branch.as_deref().unwrap_or("(no branch)");
            let steps =
                if steps.is_empty() { String::new() } else { format!("  {}", steps.join(", ")) };
            session.output.line(format!("{here} {branch:<20} {}{steps}", tree.path.display()));
        }
    }
    if session.output.is_json() {
        session.output.value(json!({ "worktrees": listed }));
    }
    Ok(0)
}

fn finish(session: &mut Session<'_>, name: &str) -> CliResult {
    let workspace = session.workspace()?;
    let dir = workspace.directory().to_owned();
    let tree = git::find_worktree(&dir, name)?;
    if session.global.dry_run {
        let message = format!("would merge `{name}` and remove `{}`", tree.path.display());
        return rehearsed(session, &message);
    }
    let there = at(session, &tree.state, &workspace)?;
    if there.read().is_ok() {
        git::commit(&tree.state, &commit::options(&there)?)?;
    }
    git::commit(&dir, &commit::options(&workspace)?)?;
    let finished = git::finish_worktree(&dir, name)?;
    if !finished.merged {
        let message =
            format!("the merge of `{name}` is not settled: {}", finished.unsettled.join(", "));
        let mut failure = Failure::new("unmerged", message, 4);
        failure.data = Some(Box::new(json!({ "finished": finished })));
        return Err(failure.hint(
            "`statedir merge --list`, settle, `git commit`, then `statedir worktree finish` again",
        ));
    }
    forget(session, name)?;
    if session.output.is_json() {
        session.output.value(json!({ "finished": finished }));
    } else {
        session.output.line(format!("merged {name}; {} is gone", tree.path.display()));
    }
    Ok(0)
}

/// The place of a worktree that is gone is no use on its steps; the branch stays as a record.
fn forget(session: &Session<'_>, name: &str) -> Result<(), Failure> {
    let workspace = session.workspace_as_it_is()?;
    let plan = workspace.read()?.plan()?;
    let is_on = |step: &&crate::model::Step| {
        let has = |key: &str| step.other.iter().find(|(found, _)| found == key).map(|(_, v)| v);
        has("branch").is_some_and(|branch| branch == name) && has("worktree").is_some()
    };
    let mut changes = Vec::new();
    for step in plan.steps.iter().filter(is_on) {
        let mut set = Map::new();
        set.insert("worktree".to_owned(), Value::from("merged and removed"));
        let selected = Selected(crate::model::StepRef::Number(step.number));
        let shape = StepShape { step: Some(selected), set, ..StepShape::default() };
        changes.push(Change::StepSet(Box::new(shape)));
    }
    if !changes.is_empty() {
        workspace.apply(&changes)?;
        git::commit(workspace.directory(), &commit::options(&session.workspace_as_it_is()?)?)?;
    }
    Ok(())
}

/// The state of another worktree.
fn at(
    session: &Session<'_>,
    dir: &std::path::Path,
    like: &Workspace,
) -> Result<Workspace, Failure> {
    let options = Options {
        wait: session.global.wait,
        command: session.command.clone(),
        ..Options::default()
    };
    let env = Environment::real(like.environment().actor().to_owned());
    Ok(Workspace::new(dir.to_owned(), env, options))
}
