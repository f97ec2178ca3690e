//! The commands, one file each.

pub(super) mod apply;
pub(super) mod archive;
pub(in crate::adapters) mod brief;
pub(in crate::adapters) mod check;
pub(in crate::adapters) mod checkpoint;
pub(super) mod commit;
pub(super) mod completions;
pub(in crate::adapters) mod constraint;
pub(in crate::adapters) mod context;
pub(in crate::adapters) mod diff;
pub(in crate::adapters) mod directive;
pub(super) mod event;
pub(super) mod gc;
pub(super) mod git;
pub(in crate::adapters) mod history;
pub(super) mod hook;
pub(super) mod import;
pub(in crate::adapters) mod init;
pub(super) mod man;
pub(super) mod mcp;
pub(super) mod memory;
pub(super) mod merge;
pub(super) mod merge_driver;
pub(super) mod metrics;
pub(in crate::adapters) mod op;
pub(in crate::adapters) mod pause;
pub(super) mod plan;
pub(in crate::adapters) mod recover;
mod recover_git;
mod recover_view;
pub(in crate::adapters) mod review;
pub(super) mod review_notes;
pub(in crate::adapters) mod rule;
pub(super) mod scan;
pub(super) mod schema;
pub(super) mod setup;
pub(in crate::adapters) mod show;
pub(in crate::adapters) mod state;
pub(in crate::adapters) mod status;
pub(in crate::adapters) mod step;
pub(super) mod step_args;
mod step_view;
pub(super) mod trust;
pub(super) mod turn;
pub(in crate::adapters) mod undo;
pub(in crate::adapters) mod var;
pub(super) mod watch;
pub(super) mod worktree;
mod worktree_finish;

use std::{path::PathBuf, sync::Arc};

use super::{
    CliResult, Failure,
    args::{Arguments, Command, Global},
    output::Output,
    way_back,
};
use crate::{
    adapters::{choose, git::GitControl},
    domain::StateFile,
    store::GivenUp,
    workspace::{Change, Environment, Options, Workspace},
};

/// What every command gets: the options and the place to print to.
pub(super) struct Session<'o> {
    pub(super) global: Global,
    pub(super) command: String,
    /// Who acts if no actor is named: the client of a server.
    pub(super) client: Option<String>,
    /// Whether nobody waits for the answer any more.
    pub(super) given_up: GivenUp,
    pub(super) output: &'o mut Output,
}

/// Runs the command that was parsed.
pub(super) fn run(parsed: Arguments, command: String, output: &mut Output) -> CliResult {
    let mut session = Session {
        global: parsed.global,
        command,
        client: None,
        given_up: GivenUp::default(),
        output,
    };
    let result = dispatch(parsed.command, &mut session);
    result.map_err(|failure| session.explain(failure))
}

/// Runs a command in a session.
pub(super) fn dispatch(command: Command, session: &mut Session<'_>) -> CliResult {
    match command {
        Command::Init(args) => init::run(session, args),
        Command::Status(args) => status::run(session, &args),
        Command::Brief(args) => brief::run(session, &args),
        Command::Show(args) => show::run(session, &args),
        Command::State(args) => state::run(session, &args),
        Command::Import(args) => import::run(session, &args),
        Command::Metrics(args) => metrics::run(session, &args),
        Command::Plan(args) => plan::run(session, &args),
        Command::Step(args) => step::run(session, args),
        Command::Context(args) => context::run(session, args),
        Command::Var(args) => var::run(session, args),
        Command::History(args) => history::run(session, args),
        Command::Turn(args) => turn::run(session, args),
        Command::Memory(args) => memory::run(session, &args),
        Command::Constraint(args) => constraint::run(session, args),
        Command::Directive(args) => directive::run(session, args),
        Command::Rule(args) => rule::run(session, args),
        Command::Event(args) => event::run(session, args),
        Command::Review(args) => review::run(session, args),
        Command::Pause(args) => pause::pause(session, args),
        Command::Resume(_) => pause::resume(session),
        Command::Apply(args) => apply::run(session, &args),
        Command::Check(args) => check::run(session, &args),
        Command::Recover(args) => recover::run(session, &args),
        Command::Scan(args) => scan::run(session, &args),
        Command::Checkpoint(args) => checkpoint::run(session, args),
        Command::Restore(args) => checkpoint::restore(session, args),
        Command::Undo(_) => undo::undo(session),
        Command::Redo(_) => undo::redo(session),
        Command::Op(args) => op::run(session, args),
        Command::Diff(args) => diff::run(session, &args),
        Command::Merge(args) => merge::run(session, &args),
        Command::MergeDriver(args) => merge_driver::run(session, &args),
        Command::Git(args) => git::run(session, args),
        Command::Commit(args) => commit::run(session, args),
        Command::Worktree(args) => worktree::run(session, args),
        Command::ReviewNotes(args) => review_notes::run(session, &args),
        Command::Trust(args) => trust::run(session, &args),
        Command::Gc(args) => gc::run(session, &args),
        Command::Archive(args) => archive::run(session, args),
        Command::Watch(args) => watch::run(session, &args),
        Command::Setup(args) => setup::run(session, args),
        Command::Hook(args) => hook::run(session, &args),
        Command::Mcp(args) => mcp::run(session, &args),
        Command::Schema(args) => schema::run(session, &args),
        Command::Completions(args) => completions::run(session, &args),
        Command::Man(args) => man::run(session, &args),
    }
}

impl Session<'_> {
    /// The state directory that is meant.
    pub(super) fn workspace(&self) -> Result<Workspace, Failure> {
        self.workspace_at(false)
    }

    /// The state directory for a new state.
    pub(super) fn new_workspace(&self) -> Result<Workspace, Failure> {
        self.workspace_at(true)
    }

    /// The same directory without an expected revision, to look at what a change has made.
    pub(super) fn workspace_as_it_is(&self) -> Result<Workspace, Failure> {
        self.workspace_with(false, None)
    }

    fn workspace_at(&self, new: bool) -> Result<Workspace, Failure> {
        self.workspace_with(new, self.global.if_match.clone())
    }

    fn workspace_with(&self, new: bool, if_match: Option<String>) -> Result<Workspace, Failure> {
        let dir = choose(self.named_dir().as_deref(), new)?;
        self.workspace_in(dir, if_match)
    }

    /// The directory that the user named, if any.
    fn named_dir(&self) -> Option<PathBuf> {
        let variable =
            std::env::var_os("STATEDIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
        self.global.dir.clone().or(variable)
    }

    fn workspace_in(&self, dir: PathBuf, if_match: Option<String>) -> Result<Workspace, Failure> {
        let options = Options {
            if_match,
            dry_run: self.global.dry_run,
            wait: self.global.wait,
            given_up: self.given_up.clone(),
            command: self.command.clone(),
            progress: super::progress::reading,
            version_control: Arc::new(GitControl),
        };
        Ok(Workspace::new(dir, self.environment()?, options))
    }

    /// The same failure with the way out that there is: the log may not know a missing file.
    pub(super) fn explain(&self, failure: Failure) -> Failure {
        if failure.code != "file_missing" {
            return failure;
        }
        let file = failure.location.as_ref().and_then(|place| place["file"].as_str());
        let Some(file) = file.and_then(StateFile::from_name) else { return failure };
        let workspace = self.workspace_as_it_is().ok();
        match workspace.and_then(|workspace| way_back::of_file(&workspace, file)) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }

    /// Makes changes as one operation and prints the answer.
    pub(super) fn apply(&mut self, changes: &[Change]) -> CliResult {
        let outcome = self.workspace()?.apply(changes)?;
        self.output.outcome(&outcome, self.global.dry_run);
        Ok(0)
    }

    fn environment(&self) -> Result<Environment, Failure> {
        let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
        let actor = self
            .global
            .actor
            .clone()
            .or_else(|| self.client.clone())
            .or_else(|| variable("STATEDIR_ACTOR"))
            .or_else(|| variable("USER"))
            .or_else(|| variable("LOGNAME"))
            .unwrap_or_else(|| "unknown".to_owned());
        if actor.trim().is_empty() || actor.contains(|c: char| c.is_control()) {
            return Err(Failure::usage("the actor's name must be one line"));
        }
        let (now, seed) = (variable("STATEDIR_NOW"), variable("STATEDIR_SEED"));
        if now.is_none() && seed.is_none() {
            return Ok(Environment::real(actor));
        }
        let now = match now {
            Some(text) => text.parse().map_err(|_| {
                Failure::usage(format!(
                    "STATEDIR_NOW is `{text}`, not a time such as 2026-01-31T12:00:00Z"
                ))
            })?,
            None => jiff::Timestamp::now(),
        };
        let seed = match seed {
            Some(text) => text.parse().map_err(|_| {
                Failure::usage(format!("STATEDIR_SEED is `{text}`, not a whole number"))
            })?,
            None => Environment::real("").random(),
        };
        Ok(Environment::fixed(now, actor, seed))
    }
}
