//! What the command line understands.

use std::{path::PathBuf, time::Duration};

use clap::{Parser, Subcommand};

use super::commands;

/// Keeps an AI agent's execution state as a directory of plain files.
///
/// Every change is one operation: all or nothing, logged, undoable, and it touches only the bytes
/// it is about.
#[derive(Debug, Parser)]
#[command(
    name = "statedir",
    version,
    max_term_width = 100,
    propagate_version = true,
    after_help = "\
Examples:
  statedir init --goal \"Compare three vector databases\"
  statedir step add \"Collect benchmarks\" --tool WebFetch
  statedir step next --claim
  statedir step done --output best=qdrant --cost 0.02
  statedir status

Exit codes: 0 done, 1 refused, 2 usage, 3 conflict (safe to retry), 4 the state is damaged
(`statedir check`), 255 a bug in statedir."
)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Options of every command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options for every command")]
pub(super) struct Global {
    /// The state directory; else $STATEDIR, else the nearest workspace/state above
    #[arg(short = 'C', long = "dir", global = true, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,
    /// Answer with exactly one JSON document
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Print what would change, write nothing
    #[arg(long, global = true)]
    pub(super) dry_run: bool,
    /// Refuse (exit 3) unless the state is at this revision
    #[arg(long, global = true, value_name = "REV")]
    pub(super) if_match: Option<String>,
    /// Who acts; else $STATEDIR_ACTOR, else the user's name
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) actor: Option<String>,
    /// How long to wait for another command to finish
    #[arg(long, global = true, value_name = "TIME", default_value = "10s", value_parser = wait)]
    pub(super) wait: Duration,
}

fn wait(text: &str) -> Result<Duration, String> {
    let span: crate::workspace::Span = text.parse()?;
    Ok(Duration::from_millis(span.millis()))
}

#[derive(Clone, Debug, Subcommand)]
#[command(defer = true)]
pub(in crate::adapters) enum Command {
    Init(commands::init::Args),
    Status(commands::status::Args),
    Brief(commands::brief::Args),
    Show(commands::show::Args),
    State(commands::state::Args),
    Import(commands::init::ImportArgs),
    Metrics(commands::metrics::Args),
    Plan(commands::plan::Args),
    Step(commands::step::Args),
    Context(commands::context::Args),
    #[command(visible_alias = "variables")]
    Var(commands::var::Args),
    History(commands::history::Args),
    Turn(commands::turn::Args),
    Memory(commands::memory::Args),
    #[command(visible_alias = "constraints")]
    Constraint(commands::constraint::Args),
    Directive(commands::directive::Args),
    Rule(commands::rule::Args),
    Event(commands::event::Args),
    Review(commands::review::Args),
    Pause(commands::plan::PauseArgs),
    Resume(commands::plan::ResumeArgs),
    Apply(commands::apply::Args),
    Check(commands::check::Args),
    Recover(commands::recover::Args),
    Scan(commands::scan::Args),
    Checkpoint(commands::checkpoint::Args),
    Restore(commands::checkpoint::RestoreArgs),
    Undo(commands::undo::UndoArgs),
    Redo(commands::undo::RedoArgs),
    Op(commands::op::Args),
    Diff(commands::diff::Args),
    Merge(commands::merge::Args),
    #[command(hide = true)]
    MergeDriver(commands::merge::DriverArgs),
    Git(commands::git::Args),
    Commit(commands::commit::Args),
    Worktree(commands::worktree::Args),
    ReviewNotes(commands::review_notes::Args),
    Trust(commands::trust::Args),
    Gc(commands::gc::Args),
    Archive(commands::archive::Args),
    Watch(commands::watch::Args),
    Hook(commands::hook::Args),
    Setup(commands::setup::Args),
    Mcp(commands::mcp::Args),
    Schema(commands::reference::SchemaArgs),
    Completions(commands::reference::CompletionsArgs),
    Man(commands::reference::ManArgs),
}
