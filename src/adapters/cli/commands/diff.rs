use serde_json::json;

use super::{CliResult, Session};
use crate::workspace::DiffSide;

/// Compare two operations, or one with the files as they are
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A side is a checkpoint's name, an operation's id, @ for the newest operation, @-2 for two before it, or `working`.
Without arguments: what was edited outside since the newest operation.

Examples:
  statedir diff
  statedir diff @-3
  statedir diff 8f3a2c91b0d4 @")]
pub(in super::super) struct Args {
    /// From here; the newest operation if absent
    from: Option<String>,
    /// To here; the files as they are if absent
    to: Option<String>,
}

pub(super) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let from = args.from.as_deref().map_or(DiffSide::Back(0), DiffSide::parse);
    let to = args.to.as_deref().map_or(DiffSide::Working, DiffSide::parse);
    let diff = session.workspace()?.diff(&from, &to)?;
    if session.output.is_json() {
        let files: Vec<_> = diff
            .files
            .iter()
            .map(|file| json!({ "file": file.file.name(), "diff": file.unified() }))
            .collect();
        session.output.value(json!({ "from": diff.from, "to": diff.to, "files": files,
            "history_grew": diff.history_grew }));
        return Ok(0);
    }
    if diff.files.is_empty() && diff.history_grew == 0 {
        session.output.line(format!("no difference between {} and {}", diff.from, diff.to));
        return Ok(0);
    }
    session.output.diff(&diff.files);
    if diff.history_grew > 0 {
        session.output.line(format!("history.md grew by {} bytes", diff.history_grew));
    }
    Ok(0)
}
