use crate::{
    adapters::{
        cli::{CliResult, Failure, Session, report_bugs},
        mcp::{self, Settings},
    },
    domain::ErrorCode,
};

/// Serve agents over the Model Context Protocol on standard input and output
///
/// The tools take the same arguments as the commands and answer with the same documents as
/// `--json`; the five files and the merged state are resources; the prompts `start` and `resume`
/// begin and continue a task. Several clients, each with its own server, can work on one directory.
/// The server ends with its input.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
The entry of a client that starts its servers itself:
  {\"mcpServers\": {\"statedir\": {\"command\": \"statedir\", \"args\": [\"mcp\"]}}}

Protocol versions 2024-11-05 to 2025-11-25 (initialize) and 2026-07-28 (server/discover). Every tool
takes `if_match`, `dry_run` and `actor`; without an actor it is --actor, else $STATEDIR_ACTOR, else the
session that the client names in its environment, else the client's name and a word for the server. A call waits at most 5 seconds for the lock.

Examples:
  statedir mcp
  statedir -C project mcp --actor agent-b
  npx @modelcontextprotocol/inspector --cli statedir mcp --method tools/list")]
pub(in crate::adapters) struct Args {}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, _: &Args) -> CliResult {
    // Only protocol on stdout, also when something breaks.
    report_bugs(false);
    let (dir, actor) = (session.global.dir.clone(), session.global.actor.clone());
    mcp::serve(Settings { dir, actor })
        .map_err(|error| Failure::new(ErrorCode::Io, error.to_string()))?;
    Ok(0)
}
