//! What the command line understands.

use std::{path::PathBuf, time::Duration};

use clap::Parser;

use super::commands::Command;

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
    #[arg(long, global = true, value_name = "TIME", value_parser = duration)]
    pub(super) wait: Option<Duration>,
}

impl Global {
    /// How long to wait. The parser does not know the default: it would read it at every start.
    pub(super) fn wait(&self) -> Duration {
        self.wait.unwrap_or(Duration::from_secs(10))
    }
}

/// A length of time, such as 30s.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let span: crate::workspace::Span = text.parse()?;
    Ok(Duration::from_millis(span.millis()))
}

// The arguments of a command that has verbs. No doc comment: it would become the command's help.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::adapters) struct Verbs<V: clap::Subcommand> {
    #[command(subcommand)]
    pub(in crate::adapters) verb: V,
}
