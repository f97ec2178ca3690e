use clap_complete::Shell;

use super::{super::parse, CliResult, Session};

/// Print a completion script for a shell
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  statedir completions bash > ~/.local/share/bash-completion/completions/statedir\n  statedir completions zsh > _statedir"
)]
pub(in crate::adapters) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut parse::described_with_help(), "statedir", &mut script);
    let script = String::from_utf8_lossy(&script);
    if session.output.is_json() {
        session.output.value(serde_json::json!({ "script": script }));
    } else {
        session.output.raw(&script);
    }
    Ok(0)
}
