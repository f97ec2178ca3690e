use serde_json::{Value, json};

use crate::{
    adapters::cli::{CliResult, Session, pairs},
    domain::StateFile,
    workspace::{CheckpointDetails, CheckpointLine, CheckpointRequest, RestoreOptions},
};

/// Save the state under a name, and go back to it
///
/// A checkpoint costs the size of what changed since the last one, never that of the history. It is
/// kept until it is deleted, whatever `gc` drops; automatic ones, made before a restore or an
/// import or because a rule asks for one, expire with `gc --older-than`. Each holds the history's
/// newest entries, so `history verify` notices if the end is cut off.
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir checkpoint create before-refactoring -m \"all tests pass\"
  statedir checkpoint list
  statedir checkpoint show before-refactoring
  statedir checkpoint restore before-refactoring
  statedir checkpoint restore @-3 --only variables
  statedir checkpoint delete before-refactoring

A name is accepted wherever an operation is: `statedir diff before-refactoring`."
)]
pub(in crate::adapters) enum Verb {
    /// Save the state as it is now
    #[command(after_help = "\
Examples:
  statedir checkpoint create
  statedir checkpoint create before-refactoring -m \"all tests pass\"")]
    Create {
        /// Letters, digits, - _ and .; cp-1, cp-2 and so on if absent
        name: Option<String>,
        /// A description
        #[arg(short, long, value_name = "TEXT")]
        message: Option<String>,
    },
    /// List checkpoints, newest first
    #[command(after_help = "Examples:\n  statedir checkpoint list --limit 5")]
    List {
        /// The most to list; 0 for all
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// Show a checkpoint: its files, and where the execution stood
    #[command(after_help = "Examples:\n  statedir checkpoint show before-refactoring --json")]
    Show {
        /// The name
        name: String,
    },
    /// Restore a checkpoint or an operation; `undo` reverts that
    Restore(RestoreArgs),
    /// Delete a checkpoint (`undo` restores it)
    #[command(after_help = "Examples:\n  statedir checkpoint delete before-refactoring")]
    Delete {
        /// The name
        name: String,
    },
}

/// Restore a checkpoint or an operation; `undo` reverts that
///
/// plan.md, context.md, variables.json, constraints.md and workflow.yaml get the exact bytes they
/// had; one that did not exist is removed. history.md is never shortened: an entry says what was
/// done. The state as it is now is kept as an automatic checkpoint first. This also works with
/// damaged files.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir restore before-refactoring
  statedir restore before-refactoring --rewind
  statedir restore 8f3a2c91b0d4 --only plan --only variables
  statedir restore cp-1 --dry-run")]
pub(in crate::adapters) struct RestoreArgs {
    /// The name of a checkpoint, an operation's id, or @-2 for two operations ago
    #[arg(value_name = "NAME|OP")]
    target: String,
    /// Only this file, such as plan; may be repeated
    #[arg(long, value_name = "FILE", value_delimiter = ',', value_parser = file)]
    only: Vec<StateFile>,
    /// Put steps that were not finished then, and those after them, back to pending
    ///
    /// If the plan is not among the files, the steps finished since then are reopened.
    #[arg(long)]
    rewind: bool,
}

fn file(text: &str) -> Result<StateFile, String> {
    StateFile::from_name(text).ok_or_else(|| {
        "the files are plan, context, variables, constraints and workflow".to_owned()
    })
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    match verb {
        Verb::Create { name, message } => {
            let message = pairs::optional_text(message)?;
            let request = CheckpointRequest { name, message, automatic: None };
            let outcome = session.workspace()?.checkpoint(&request)?;
            session.changed(&outcome)
        }
        Verb::List { limit } => list(session, limit),
        Verb::Show { name } => show(session, &name),
        Verb::Restore(args) => restore(session, args),
        Verb::Delete { name } => {
            let outcome = session.workspace()?.delete_checkpoint(&name)?;
            session.changed(&outcome)
        }
    }
}

pub(in crate::adapters::cli) fn restore(session: &mut Session<'_>, args: RestoreArgs) -> CliResult {
    let options = RestoreOptions { only: args.only, rewind: args.rewind };
    let outcome = session.workspace()?.restore(&args.target, &options)?;
    session.changed(&outcome)
}

fn list(session: &mut Session<'_>, limit: usize) -> CliResult {
    let workspace = session.workspace()?;
    workspace.require_log()?;
    let all = workspace.checkpoints()?;
    let total = all.checkpoints.len();
    let limit = if limit == 0 { total } else { limit };
    let shown = all.checkpoints.iter().rev().take(limit);
    session.output.value(|| {
        let lines: Vec<CheckpointLine> = shown.clone().map(CheckpointLine::of).collect();
        json!({ "checkpoints": lines, "total": total,
            "more": total > limit, "damaged": all.damaged, "revision": all.revision })
    });
    for name in &all.damaged {
        session.output.note(&format!("checkpoint `{name}` is damaged"));
    }
    if total == 0 {
        session.output.advice("no checkpoints; `statedir checkpoint create` creates one");
    }
    for checkpoint in shown {
        let what = match (&checkpoint.message, &checkpoint.automatic) {
            (Some(message), _) => message.lines().next().unwrap_or_default().to_owned(),
            (None, Some(reason)) => format!("(automatic: {reason})"),
            (None, None) => String::new(),
        };
        let (name, time, actor) = (&checkpoint.name, &checkpoint.time, &checkpoint.actor);
        let line = format!("{name:<20} {time}  {}  {actor:<12} {what}", checkpoint.revision);
        session.output.line(line.trim_end());
    }
    if total > limit {
        session.output.line(format!("(the newest {limit} of {total}; more with --limit)"));
    }
    Ok(0)
}

fn show(session: &mut Session<'_>, name: &str) -> CliResult {
    let details = session.workspace()?.checkpoint_details(name)?;
    session.output.value(|| details_json(&details));
    let CheckpointDetails { checkpoint, overview, unreadable } = &details;
    let mut lines = vec![
        ("checkpoint", checkpoint.name.to_string()),
        ("taken", format!("{} by {}", checkpoint.time, checkpoint.actor)),
        ("revision", checkpoint.revision.to_string()),
    ];
    lines.extend(checkpoint.automatic.clone().map(|reason| ("automatic", reason)));
    lines.extend(checkpoint.message.clone().map(|message| ("message", message)));
    for (file, image) in &checkpoint.files {
        let gone = if unreadable.contains(file) { "  (its image is gone or damaged)" } else { "" };
        lines.push(("file", format!("{file}  {} bytes{gone}", image.len)));
    }
    lines.push(("history", format!("history.md  {} bytes", checkpoint.appended_len)));
    if let Some(overview) = overview {
        let (status, counts) = (&overview.status, &overview.counts);
        let (finished, total) = (counts.finished(), counts.total);
        lines.push(("progress", format!("{status}, {finished} of {total} steps finished")));
    }
    for (key, value) in lines {
        session.output.line(format!("{key:<10} {value}"));
    }
    for step in overview.iter().flat_map(|overview| overview.steps.iter()) {
        session.output.line(format!("  {:>3}  {:<10} {}", step.number, step.status, step.title));
    }
    if overview.is_none() {
        session.output.line("the plan in it cannot be read");
    }
    Ok(0)
}

fn details_json(details: &CheckpointDetails) -> Value {
    let checkpoint = &details.checkpoint;
    let mut answer = json!({ "checkpoint": CheckpointLine::of(checkpoint) });
    let files: serde_json::Map<String, Value> = checkpoint
        .files
        .iter()
        .map(|(name, image)| {
            let intact = !details.unreadable.contains(name);
            let hash = image.hash.to_string();
            (name.clone(), json!({ "bytes": image.len, "hash": hash, "intact": intact }))
        })
        .collect();
    answer["files"] = Value::Object(files);
    answer["history_heads"] = json!(checkpoint.marks);
    let overview = details.overview.as_ref();
    answer["steps"] = overview.map_or_else(|| json!([]), |overview| json!(overview.steps));
    answer["status"] = json!(overview.map(|overview| &overview.status));
    answer["progress"] = json!(overview.map(|overview| overview.counts));
    answer
}
