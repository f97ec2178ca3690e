use serde_json::json;

use crate::{
    adapters::cli::{CliResult, Session},
    workspace::UndoOutcome,
};

/// Revert the last operation; repeat for the one before
///
/// Edits made outside statedir are operations too. history.md is never shortened: an entry says
/// what was undone.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir undo\n  statedir undo --if-match 8f3a2c91b0d4")]
pub(in crate::adapters) struct UndoArgs {}

/// Redo the operation that was undone last
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir redo")]
pub(in crate::adapters) struct RedoArgs {}

pub(in crate::adapters::cli) fn undo(session: &mut Session<'_>) -> CliResult {
    let stepped = session.workspace()?.undo()?;
    print(session, "undone", &stepped)
}

pub(in crate::adapters::cli) fn redo(session: &mut Session<'_>) -> CliResult {
    let stepped = session.workspace()?.redo()?;
    print(session, "redone", &stepped)
}

fn print(session: &mut Session<'_>, verb: &str, stepped: &UndoOutcome) -> CliResult {
    let UndoOutcome { operation, outcome } = stepped;
    let changed: Vec<&str> = outcome.changed.iter().map(|file| file.name()).collect();
    session.output.value(|| {
        json!({ verb: operation, "revision": outcome.revision.as_str(), "changed": changed,
            "notices": outcome.notices, "dry_run": session.global.dry_run,
            "diff": outcome.diff.iter().map(|file| file.unified()).collect::<String>() })
    });
    if session.global.dry_run {
        session.output.diff(&outcome.diff);
    }
    for notice in &outcome.notices {
        session.output.note(notice);
    }
    let would = if session.global.dry_run { "would be " } else { "" };
    let what = if operation.command.is_empty() { &operation.kind } else { &operation.command };
    // Of an adopted state, the files that are there.
    let changed = match session.workspace()?.layout() {
        Some(layout) => {
            let is_other = |name: &&str| *name != layout.added.history.as_str();
            operation.files.iter().map(String::as_str).filter(is_other).collect()
        }
        None => changed,
    };
    let changed = match changed.as_slice() {
        [] => "no file".to_owned(),
        files => files.join(", "),
    };
    session.output.line(format!(
        "{would}{verb}: {what} ({}; {changed})  [{}]",
        operation.id, outcome.revision
    ));
    Ok(0)
}
