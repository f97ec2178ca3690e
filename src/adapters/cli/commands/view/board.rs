use std::path::PathBuf;

use crate::adapters::cli::{CliResult, Failure, Session};

/// Show a state in the terminal, live, and run commands on it
///
/// Steps with their details, a board by status or group, the graph, attempts over time, the history
/// with its proof, operations and what each changed, rules and why they fired, reviews. Changes by
/// commands, agents and editors appear by themselves. Keys run the commands of the command line
/// under your name; each is shown as it is run, and refused if the state has changed meanwhile. `?`
/// lists the keys, `q` quits.
///
/// Colours follow NO_COLOR; the locale says whether more than ASCII can be shown. `e` opens plan.md
/// in $VISUAL or $EDITOR.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir board
  statedir board ~/projects
  statedir board --read-only --ascii")]
pub(in crate::adapters) struct Args {
    /// Begin with all states below this directory; else the state that other commands would use
    #[arg(value_name = "DIR")]
    root: Option<PathBuf>,
    /// Show, and change nothing
    #[arg(long)]
    read_only: bool,
    /// Draw with ASCII characters alone
    #[arg(long)]
    ascii: bool,
}

/// What does the same without a terminal.
const HINT: &str = "`statedir status` and `statedir step list` print the same as text";

#[cfg(not(feature = "board"))]
pub(in crate::adapters::cli) fn run(_: &mut Session<'_>, _: &Args) -> CliResult {
    let failure = Failure::usage("this statedir was built without the board");
    Err(failure.hint(format!("{HINT}; the feature `board` builds it")))
}

#[cfg(feature = "board")]
pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    use std::io::IsTerminal as _;

    use crate::{
        adapters::{
            board::{self, Charset, Options},
            cli::{in_process::Caller, output::terminal::wants_colour},
        },
        domain::ErrorCode,
    };

    let is_dumb = std::env::var("TERM").is_ok_and(|name| name == "dumb");
    let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if session.output.is_json() || is_dumb || !has_terminal {
        let message = match session.output.is_json() {
            true => "the board is for a person at a terminal, not for --json",
            false => "the board needs a terminal",
        };
        return Err(Failure::usage(message).hint(HINT));
    }
    // The actor's name is checked before anything is done under it.
    session.environment()?;
    let (dir, root) = match &args.root {
        Some(root) if root.is_dir() => {
            // Commands that are shown can be pasted anywhere.
            (None, Some(std::fs::canonicalize(root).unwrap_or_else(|_| root.clone())))
        }
        Some(root) => {
            let message = format!("there is no directory `{}`", root.display());
            return Err(Failure::new(ErrorCode::NotFound, message));
        }
        None => {
            let workspace = session.workspace_as_it_is()?;
            workspace.read()?;
            (Some(workspace.directory().to_owned()), None)
        }
    };
    let charset = match args.ascii {
        true => Charset::Ascii,
        false => Charset::of_locale(|name| std::env::var(name).ok()),
    };
    let options = Options {
        names_directory: root.is_some() || session.global.dir.is_some(),
        dir,
        root,
        charset,
        has_colour: wants_colour(true),
        is_read_only: args.read_only,
        is_dry_run: session.global.dry_run,
    };
    let mut caller = Caller::of_person(session.global.actor.clone(), "board");
    caller.dry_run = session.global.dry_run;
    board::run(options, caller)
        .map_err(|error| Failure::new(ErrorCode::Io, format!("the board failed: {error}")))?;
    Ok(0)
}
