use serde_json::json;

use crate::{
    adapters::cli::{CliResult, Failure, Session},
    domain::ErrorCode,
    store::{Operation, Revision},
};

/// Look at the operation log
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "Examples:\n  statedir op log\n  statedir op log --limit 100 --json\n  statedir op show 8f3a2c91b0d4"
)]
pub(in crate::adapters) enum Verb {
    /// List operations, newest first
    #[command(visible_alias = "list", after_help = "Examples:\n  statedir op log --limit 5")]
    Log {
        /// The most to list
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// Show one operation with what it changed
    #[command(after_help = "Examples:\n  statedir op show 8f3a2c91b0d4")]
    Show {
        /// The id, or the beginning of it; the newest operation if absent
        id: Option<String>,
    },
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    session.workspace()?.require_log()?;
    match verb {
        Verb::Log { limit } => log(session, limit),
        Verb::Show { id } => show(session, id.as_deref()),
    }
}

fn log(session: &mut Session<'_>, limit: usize) -> CliResult {
    let mut operations = session.workspace()?.operations(Some(limit.saturating_add(1)))?;
    let more = operations.len() > limit;
    operations.truncate(limit);
    session.output.value(|| json!({ "operations": operations, "more": more }));
    if operations.is_empty() && !more {
        session.output.line("no operations yet");
    }
    for operation in &operations {
        let what =
            if operation.command.is_empty() { &operation.message } else { &operation.command };
        session.output.line(format!(
            "{}  {}  {:<14} {:<12} {}  ({})",
            operation.id,
            operation.time,
            operation.kind,
            operation.actor,
            what.lines().next().unwrap_or_default(),
            operation.files.join(", ")
        ));
    }
    if more {
        session.output.line(format!("(the newest {limit}; more with --limit)"));
    }
    Ok(0)
}

fn show(session: &mut Session<'_>, id: Option<&str>) -> CliResult {
    let workspace = session.workspace()?;
    let id = match id {
        Some(id) => id.to_owned(),
        None => match workspace.operations(Some(1))?.first() {
            Some(newest) => newest.id.as_str().to_owned(),
            None => {
                return Err(Failure::new(ErrorCode::NotFound, "there are no operations yet"));
            }
        },
    };
    let operation = workspace.operation_named(&id)?;
    session.output.value(|| operation_json(&operation));
    let fields = [
        ("operation", operation.id.as_str()),
        ("parent", operation.parent.as_str()),
        ("time", &operation.time),
        ("actor", &operation.actor),
        ("kind", &operation.kind),
        ("command", &operation.command),
        ("message", &operation.message),
        ("undoes", operation.undoes.as_ref().map_or("", Revision::as_str)),
        ("redoes", operation.redoes.as_ref().map_or("", Revision::as_str)),
    ];
    for (key, value) in fields {
        if !value.is_empty() {
            session.output.line(format!("{key:<10} {value}"));
        }
    }
    for note in &operation.notes {
        session.output.line(format!("note       {note}"));
    }
    for file in &operation.files {
        session.output.line(format!("\n{}", file.name));
        for splice in &file.splices {
            session.output.line(format!("@@ byte {} @@", splice.offset));
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            for line in text(&splice.old).lines() {
                session.output.verbatim(format!("-{line}"));
            }
            for line in text(&splice.new).lines() {
                session.output.verbatim(format!("+{line}"));
            }
        }
    }
    if let Some(appended) = &operation.appended {
        session.output.line(format!("\nhistory.md (from byte {})", appended.offset));
        let bytes = appended.bytes.as_deref().unwrap_or_default();
        for line in String::from_utf8_lossy(bytes).lines() {
            session.output.verbatim(format!("+{line}"));
        }
    }
    Ok(0)
}

fn operation_json(operation: &Operation) -> serde_json::Value {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let files: Vec<_> = operation
        .files
        .iter()
        .map(|file| {
            let splices: Vec<_> = file
                .splices
                .iter()
                .map(|s| json!({ "offset": s.offset, "old": text(&s.old), "new": text(&s.new) }))
                .collect();
            json!({ "name": file.name, "before": file.before.map(|hash| hash.to_string()),
                "after": file.after.map(|hash| hash.to_string()), "splices": splices })
        })
        .collect();
    let appended = operation.appended.as_ref().map(|appended| {
        json!({ "offset": appended.offset, "length": appended.len,
            "text": appended.bytes.as_deref().map(text) })
    });
    json!({ "operation": { "id": operation.id.as_str(), "parent": operation.parent.as_str(),
        "seq": operation.seq, "time": operation.time, "actor": operation.actor,
        "kind": operation.kind, "command": operation.command, "message": operation.message,
        "undoes": operation.undoes, "redoes": operation.redoes, "files": files,
        "appended": appended, "notes": operation.notes } })
}
