//! What the command line understands.

use std::{ffi::OsStr, path::PathBuf, time::Duration};

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
    override_help = include_str!("help.txt"),
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
#[derive(Debug, Default, clap::Args)]
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
    /// How long to wait for another command to finish [default: 10s]
    #[arg(long, global = true, value_name = "TIME", value_parser = wait)]
    pub(super) wait: Option<Duration>,
}

impl Global {
    /// How long to wait. The parser does not know the default: it would read it at every start.
    pub(super) fn wait(&self) -> Duration {
        self.wait.unwrap_or(Duration::from_secs(10))
    }
}

fn wait(text: &str) -> Result<Duration, String> {
    let span: crate::workspace::Span = text.parse()?;
    Ok(Duration::from_millis(span.millis()))
}

/// The commands as an enum for the parser, and one by one by name: describing all of them takes
/// longer than most of them run.
macro_rules! commands {
    ($($(#[$option:meta])* $(if $feature:literal,)? $name:literal $(| $alias:literal)? => $variant:ident($args:ty),)*) => {
        #[derive(Clone, Debug, Subcommand)]
        #[command(defer = true)]
        pub(in crate::adapters) enum Command {
            $($(#[cfg(feature = $feature)])? $(#[$option])* #[command(name = $name $(, visible_alias = $alias)?)] $variant($args),)*
        }

        /// The command that a word names, not described yet, and what describes it.
        pub(super) fn named(word: &OsStr) -> Option<(clap::Command, Describe)> {
            $($(#[cfg(feature = $feature)])? {
                if word == $name $(|| word == $alias)? {
                    let command = clap::Command::new($name) $(.visible_alias($alias))?;
                    return Some((command, <$args as clap::Args>::augment_args));
                }
            })*
            None
        }
    };
}

/// What adds the arguments or verbs of a command to it.
pub(super) type Describe = fn(clap::Command) -> clap::Command;

commands! {
    "init" => Init(commands::init::Args),
    "adopt" => Adopt(commands::adopt::Args),
    "status" => Status(commands::status::Args),
    "brief" => Brief(commands::brief::Args),
    "show" => Show(commands::show::Args),
    "state" => State(commands::state::Args),
    "import" => Import(commands::init::ImportArgs),
    "metrics" => Metrics(commands::metrics::Args),
    "report" => Report(commands::report::Args),
    "plan" => Plan(commands::plan::Args),
    "step" => Step(commands::step::Args),
    "context" => Context(commands::context::Args),
    "var" | "variables" => Var(commands::var::Args),
    "history" => History(commands::history::Args),
    "turn" => Turn(commands::turn::Args),
    "memory" => Memory(commands::memory::Args),
    "constraint" | "constraints" => Constraint(commands::constraint::Args),
    "directive" => Directive(commands::directive::Args),
    "rule" => Rule(commands::rule::Args),
    "event" => Event(commands::event::Args),
    "review" => Review(commands::review::Args),
    "pause" => Pause(commands::plan::PauseArgs),
    "resume" => Resume(commands::plan::ResumeArgs),
    "apply" => Apply(commands::apply::Args),
    "check" => Check(commands::check::Args),
    "migrate" => Migrate(commands::migrate::Args),
    "recover" => Recover(commands::recover::Args),
    "scan" => Scan(commands::scan::Args),
    "checkpoint" => Checkpoint(commands::checkpoint::Args),
    "restore" => Restore(commands::checkpoint::RestoreArgs),
    "undo" => Undo(commands::undo::UndoArgs),
    "redo" => Redo(commands::undo::RedoArgs),
    "op" => Op(commands::op::Args),
    "diff" => Diff(commands::diff::Args),
    "merge" => Merge(commands::merge::Args),
    #[command(hide = true)]
    "merge-driver" => MergeDriver(commands::merge::DriverArgs),
    "git" => Git(commands::git::Args),
    "commit" => Commit(commands::commit::Args),
    "worktree" => Worktree(commands::worktree::Args),
    "review-notes" => ReviewNotes(commands::review_notes::Args),
    "trust" => Trust(commands::trust::Args),
    "gc" => Gc(commands::gc::Args),
    "archive" => Archive(commands::archive::Args),
    "watch" => Watch(commands::watch::Args),
    if "fleet", "fleet" => Fleet(commands::fleet::Args),
    "board" => Board(commands::board::Args),
    "web" => Web(commands::web::Args),
    "hook" => Hook(commands::hook::Args),
    "setup" => Setup(commands::setup::Args),
    "mcp" => Mcp(commands::mcp::Args),
    "schema" => Schema(commands::reference::SchemaArgs),
    "completions" => Completions(commands::reference::CompletionsArgs),
    "man" => Man(commands::reference::ManArgs),
}
