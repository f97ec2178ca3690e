use serde_json::Value;

use crate::{
    adapters::cli::{CliResult, Failure, Session, commands::steps::args::select},
    brief::{Budget, Format},
    workspace::{BriefRequest, Briefed},
};

/// Print what an agent needs to continue, within a budget
///
/// Goal, where we are, what to do next, open reviews, earlier attempts, rules in force, answers,
/// open steps, decisions, key findings, recent turns, notes. Defaults are left out. The goal, the
/// next move and open reviews come first at any budget; what did not fit is named with the command
/// that shows it. Lines that begin with `>` are data from the file named above them.
///
/// Tokens are estimated on the high side: no common tokenizer counts more.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
If a file is missing or cannot be read, the rest is printed and the exit code is 4.

Examples:
  statedir brief
  statedir brief --max-tokens 1000
  statedir brief --for 3                  what the step needs, and what failed before
  statedir brief --since @-5 --format json")]
pub(in crate::adapters) struct Args {
    /// The most tokens to print
    #[arg(long, value_name = "N", default_value_t = Budget::default().max_tokens)]
    max_tokens: usize,
    /// The most bytes to print
    #[arg(long, value_name = "N")]
    max_bytes: Option<usize>,
    /// The output format; `--json` prints json with `ok`
    #[arg(long, value_enum, default_value = "md")]
    format: BriefFormat,
    /// Show what changed after this revision: an operation's id, or @-2
    #[arg(long, value_name = "REV")]
    since: Option<String>,
    /// Show what one step needs: resolved inputs, results of earlier steps, rules in force
    #[arg(long = "for", value_name = "STEP")]
    step: Option<String>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(in crate::adapters) enum BriefFormat {
    Md,
    Json,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let json = session.output.is_json() || matches!(args.format, BriefFormat::Json);
    let request = BriefRequest {
        budget: Budget { max_tokens: args.max_tokens, max_bytes: args.max_bytes },
        format: if json { Format::Json } else { Format::Md },
        since: args.since.clone(),
        step: args.step.as_deref().map(select).transpose()?,
        is_background: false,
        directory: session.output.dir.clone(),
    };
    let briefed = session.workspace()?.brief(&request)?;
    session.output.raw(&briefed.brief.text);
    if let Some(need) = briefed.brief.essentials_need.filter(|_| briefed.brief.text.is_empty()) {
        session.output.note(&format!(
            "nothing fits into that few tokens: `statedir brief --max-tokens {need}`"
        ));
    }
    session.end(damage(&briefed), || briefed.brief.to_json())
}

/// What to report when a file could not be read.
pub(in crate::adapters::cli) fn damage(briefed: &Briefed) -> Option<Failure> {
    let first = briefed.damaged.first()?;
    let more = match briefed.damaged.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    let mut failure = Failure::damage(first).hint("`statedir check` lists every problem");
    failure.message.push_str(&more);
    Some(failure)
}

/// The brief of `resume`: text for people, an object for machines.
pub(in crate::adapters::cli) fn after_resume(
    session: &Session<'_>,
) -> Result<(Briefed, Value), Failure> {
    let json = session.output.is_json();
    let format = if json { Format::Json } else { Format::Md };
    let directory = session.output.dir.clone();
    let request = BriefRequest { format, directory, ..BriefRequest::default() };
    let briefed = session.workspace_as_it_is()?.brief(&request)?;
    let document = briefed.brief.to_json();
    Ok((briefed, document))
}
