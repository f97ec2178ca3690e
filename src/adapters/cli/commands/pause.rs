use super::{CliResult, Session};
use crate::workspace::Change;

/// Stop on purpose; no step can be started until resume
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir pause --why \"waiting for the API key\"")]
pub(in super::super) struct PauseArgs {
    /// Why
    #[arg(long, value_name = "TEXT")]
    why: String,
}

/// Go on with a paused, failed or interrupted execution
///
/// Steps that were running under the same actor when the process died start over.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir resume")]
pub(in super::super) struct ResumeArgs {}

pub(super) fn pause(session: &mut Session<'_>, args: PauseArgs) -> CliResult {
    session.apply(&[Change::Pause { why: args.why }])
}

pub(super) fn resume(session: &mut Session<'_>) -> CliResult {
    session.apply(&[Change::Resume])
}
