use crate::{
    adapters::cli::{CliResult, Session},
    workspace::Change,
};

/// Rewrite the layout of an older version into the current one; `undo` reverts it
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Older files are read and edited in their own layout, and only this command rewrites them.

Examples:
  statedir migrate --dry-run
  statedir migrate")]
pub(in crate::adapters) struct Args {}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>) -> CliResult {
    session.apply(&[Change::Migrate])
}
