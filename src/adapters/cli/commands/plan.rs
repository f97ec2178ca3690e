use super::{super::pairs, CliResult, Session};
use crate::workspace::Change;

/// Change the plan's metadata
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir plan set status=PAUSED
  statedir plan set goal=\"Compare four vector databases\" owner=ada")]
pub(in crate::adapters) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Clone, Debug, clap::Subcommand)]
#[command(defer = true)]
enum Verb {
    /// Set one or several fields: title, goal, status, mode, or your own
    #[command(after_help = "\
Examples:
  statedir plan set status=PAUSED
  statedir plan set goal=\"Compare four vector databases\" owner=ada")]
    Set {
        /// KEY=VALUE
        #[arg(required = true, value_name = "KEY=VALUE", value_parser = pairs::pair)]
        set: Vec<(String, String)>,
    },
}

pub(super) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let Verb::Set { set } = &args.verb;
    session.apply(&[Change::PlanSet { set: pairs::texts(set) }])
}
