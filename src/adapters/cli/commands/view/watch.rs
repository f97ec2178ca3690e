use serde_json::json;

use crate::{
    adapters::{
        cli::{CliResult, Failure, Session},
        watch::{LogWatch, Wake, WatchError},
    },
    domain::ErrorCode,
    store::{OperationSummary, Revision},
    workspace::Workspace,
};

/// Print operations as they happen, one line each
///
/// It is notified by the file system and costs nothing while it waits. With --json each
/// line is one JSON object with id, parent, seq, time, actor, kind, command, message and files.
/// An edit made outside statedir is listed once a command has recorded it.
///
/// It begins with what happens from now on, or after --since; it waits for a state that does not
/// exist yet. It ends when its output is closed, or after --limit operations.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir watch
  statedir watch --json --since 8f3a2c91b0d4
  statedir watch --json --limit 1 | jq .kind")]
pub(in crate::adapters) struct Args {
    /// Begin with the operations after this one: an id, @-3, or 000000000000 for all
    #[arg(long, value_name = "REV")]
    since: Option<String>,
    /// End after this many operations
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let workspace = session.workspace().or_else(|_| session.new_workspace())?;
    let mut last = match &args.since {
        Some(revision) => start(&workspace, revision)?,
        None => workspace.operations_after(None)?.pop().map(|newest| newest.id),
    };
    let mut watch = LogWatch::new(workspace.directory()).map_err(failed)?;
    watch.wake_when_unread();
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut complaint = String::new();
    while left > 0 {
        watch.arm().map_err(failed)?;
        // What cannot be read now, because the log was lost or is being replaced, is tried again
        // at the next change.
        let operations = workspace.operations_after(last.as_ref()).unwrap_or_else(|error| {
            let text = error.to_string();
            if text != complaint {
                session.output.note(&text);
                complaint = text;
            }
            Vec::new()
        });
        for operation in operations {
            if !print(session, &operation) {
                return Ok(0);
            }
            last = Some(operation.id);
            left -= 1;
            if left == 0 {
                return Ok(0);
            }
        }
        if watch.wait() == Wake::Unread {
            break;
        }
    }
    Ok(0)
}

/// The operation to begin after.
fn start(workspace: &Workspace, revision: &str) -> Result<Option<Revision>, Failure> {
    if Revision::parse(revision).is_none_or(|known| known.is_root()) {
        return Ok(None);
    }
    Ok(Some(workspace.operation_named(revision)?.id))
}

fn print(session: &mut Session<'_>, operation: &OperationSummary) -> bool {
    let line = if session.output.is_json() {
        json!(operation).to_string()
    } else {
        let OperationSummary { id, time, kind, actor, files, message, .. } = operation;
        let message = message.lines().next().unwrap_or_default();
        format!("{id}  {time}  {kind:<14} {actor:<12} {message}  ({})", files.join(", "))
    };
    session.output.stream(format!("{line}\n").as_bytes())
}

fn failed(error: WatchError) -> Failure {
    Failure::new(ErrorCode::CannotWatch, error.to_string())
}
