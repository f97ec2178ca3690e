use serde_json::json;

use crate::{
    adapters::cli::{CliResult, Failure, Session, output::progress::Progress, pairs},
    domain::ErrorCode,
    history::{self, Entry, ProblemKind},
    text::display::counted,
    workspace::{Change, Error},
};

/// Add to, read and verify the append-only history
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir history add \"Asked the user\" question=\"Which region?\" answer=EU
  statedir history list --limit 5
  statedir history search timeout
  statedir history verify"
)]
pub(in crate::adapters) enum Verb {
    /// Add an entry
    #[command(
        after_help = "Examples:\n  statedir history add \"Asked the user\" question=\"Which region?\" answer=EU"
    )]
    Add {
        /// What happened, in one line
        title: String,
        /// A field of the entry and its value
        #[arg(value_name = "KEY=VALUE", value_parser = pairs::pair)]
        fields: Vec<(String, String)>,
    },
    /// Show the newest entries, newest last
    #[command(
        after_help = "Examples:\n  statedir history list\n  statedir history list --limit 100 --json"
    )]
    List {
        /// The most to list
        #[arg(long, default_value_t = 10)]
        limit: usize,
    },
    /// Find entries that contain a text
    #[command(after_help = "Examples:\n  statedir history search timeout --limit 5")]
    Search {
        /// What to look for; a–z match in either case
        text: String,
        /// The most to list
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// Prove that no entry was changed, removed or reordered (exit 4 if one was)
    #[command(
        after_help = "Examples:\n  statedir history verify\n  statedir history verify --json"
    )]
    Verify,
    /// Accept an earlier version that git went back to
    ///
    /// After `git checkout`, `git revert` or `git reset` entries may be gone. This adds an entry
    /// that names them, so that they are no longer reported as missing; `statedir check --fix`
    /// restores them, and the changes made with them, instead.
    #[command(
        after_help = "Examples:\n  statedir history accept\n  statedir history accept --why \"wrong direction\""
    )]
    Accept {
        /// Why the earlier version is right
        #[arg(long, value_name = "TEXT")]
        why: Option<String>,
    },
    /// Print training data, one JSON object for each executed step
    ///
    /// A line has the conversation before the step (`conversation_trace`), `tool_calls`,
    /// `state_transitions` and `performance_metrics`. One that was undone has `undone` and no success;
    /// a conversation that no step has ended yet is in a line without a step. Simulated entries are
    /// left out, and what looks like a secret is masked.
    #[command(after_help = "Examples:\n  statedir history export --format jsonl > training.jsonl")]
    Export {
        /// The format
        #[arg(long, value_enum, default_value = "jsonl")]
        format: ExportFormat,
    },
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(in crate::adapters) enum ExportFormat {
    Jsonl,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    match verb {
        Verb::Add { title, fields } => {
            let title = pairs::text(title)?;
            session.apply(&[Change::HistoryAdd { title, fields: pairs::texts(&fields)? }])
        }
        Verb::List { limit } => list(session, limit),
        Verb::Search { text, limit } => search(session, &text, limit),
        Verb::Verify => verify(session),
        Verb::Accept { why } => {
            let outcome = session.workspace()?.accept_history(why.as_deref())?;
            session.changed(&outcome)
        }
        Verb::Export { format: ExportFormat::Jsonl } => export(session),
    }
}

fn list(session: &mut Session<'_>, limit: usize) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let entries = snapshot.last_entries(limit)?;
    session.output.value(|| {
        json!({ "entries": entries, "limit": limit,
            "revision": snapshot.revision().as_str() })
    });
    if entries.is_empty() && limit > 0 {
        session.output.line("no entries");
    }
    print(session, &entries);
    if entries.len() == limit {
        session.output.line(format!("(the newest {limit}; more with --limit)"));
    }
    Ok(0)
}

fn search(session: &mut Session<'_>, text: &str, limit: usize) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let found = history::search(snapshot.history()?, text, limit).map_err(Error::from)?;
    session.output.value(|| json!({ "entries": found.entries, "total": found.total }));
    if found.total == 0 {
        session.output.line("no entries");
    }
    print(session, &found.entries);
    if found.total > found.entries.len() as u64 {
        session.output.line(format!(
            "({} of {}; more with --limit)",
            found.entries.len(),
            found.total
        ));
    }
    Ok(0)
}

/// Written as it is read, so that a long history needs little memory.
fn export(session: &mut Session<'_>) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let json = session.output.is_json();
    let output = &mut session.output;
    // Whatever can fail early fails before anything is written.
    drop(snapshot.history()?);
    if json {
        output.stream(b"{\"ok\":true,\"records\":[");
    }
    let mut count = 0u64;
    snapshot.training_data(|record| {
        let (before, after) = match (json, count) {
            (false, _) => ("", "\n"),
            (true, 0) => ("", ""),
            (true, _) => (",", ""),
        };
        count += 1;
        output.stream(format!("{before}{}{after}", json!(record)).as_bytes());
    })?;
    if json {
        output.stream(b"]}\n");
    }
    Ok(0)
}

fn print(session: &mut Session<'_>, entries: &[Entry]) {
    for entry in entries {
        let time = entry.time.as_deref().unwrap_or("?");
        let summary = entry.summary();
        let mark = match (entry.id, entry.verified) {
            (None, _) => "  [unsigned]",
            (Some(_), false) => "  [changed since it was signed]",
            (Some(_), true) => "",
        };
        session.output.line(format!("{time}  {}{mark}", summary.heading));
        if !summary.byline.is_empty() {
            session.output.line(format!("    {}", summary.byline));
        }
        for (key, value) in &summary.fields {
            let value = value.replace('\n', "\n      ");
            session.output.line(format!("    {key}: {value}"));
        }
    }
}

fn verify(session: &mut Session<'_>) -> CliResult {
    let workspace = session.workspace()?;
    let mut progress = Progress::new("verifying");
    let verified = workspace.verify_history(&mut |bytes| progress.at(bytes));
    drop(progress);
    let verified = verified?;
    if verified.is_intact() {
        session.output.value(|| json!(verified));
        let entries = counted(verified.entries as usize, "entry", "entries");
        let by_hand = match verified.unsigned {
            0 => String::new(),
            count => format!(", and {count} written by hand without a checksum"),
        };
        session.output.line(format!("the history is intact: {entries}{by_hand}"));
        for back in &verified.went_back {
            session.output.note(&format!(
                "{} lost with {}: `statedir history accept` accepts the loss, \
                 `statedir check --fix` restores what is missing",
                counted(back.entries.len(), "entry", "entries"),
                back.by
            ));
        }
        return Ok(0);
    }
    for problem in &verified.problems {
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        session.output.line(format!("history.md{line}: {}", problem.message));
    }
    let problems = counted(verified.problems.len(), "problem", "problems");
    let is_gone = |problem: &history::HistoryProblem| {
        use ProblemKind::{CutTail, Missing, Removed};
        matches!(problem.kind, CutTail | Missing { .. } | Removed)
    };
    let hint = if verified.problems.iter().any(is_gone) {
        "`statedir check --fix` restores what the log or git still has; `statedir op log` shows \
         edits made outside statedir"
    } else {
        "`statedir check` says where to get the text back; `statedir op log` shows edits made outside statedir"
    };
    let failure = Failure::new(ErrorCode::HistoryBroken, format!("history.md has {problems}"));
    session.end(Some(failure.hint(hint)), || json!({ "verification": verified }))
}
