use serde_json::{Value, json};

use crate::{
    adapters::{
        SideError,
        cli::{CliResult, Failure, Session, output::Colour},
        side,
    },
    diff::{self, Verb},
    domain::ErrorCode,
    workspace::{Comparison, DiffSide},
};

/// Compare operations, git revisions and the files as they are, by meaning
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
A side is a checkpoint's name, an operation's id or the beginning of it, @ for the newest operation,
@-2 for two before it, `working` for the files as they are, or a git revision such as HEAD, main~2,
v1.0 or a commit. They are tried in this order; `git:REV` always means git.

Without arguments: what was edited outside since the newest operation, or since HEAD where there is
no log. With one: from there to the files as they are.

Each line is one change: steps by their id, however they were moved or renumbered; modifiers,
directives and rules; sections of the context; variables by path; entries of the history. A file
whose bytes differ is always named, if only with `wording or layout only`.

Examples:
  statedir diff
  statedir diff @-
  statedir diff @-3 @ --text
  statedir diff 8f3a2c91b0d4 @ --json
  statedir diff HEAD~1 HEAD
  statedir diff git:main working --word-diff")]
pub(in crate::adapters) struct Args {
    /// The older side; the newest operation if absent
    from: Option<String>,
    /// The newer side; the files as they are if absent
    to: Option<String>,
    /// Show the text instead: a unified diff
    #[arg(long)]
    text: bool,
    /// Show the text with the words that differ marked
    #[arg(long)]
    word_diff: bool,
    /// The most lines to show; 0 for all
    #[arg(long, default_value_t = 100)]
    limit: usize,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let workspace = session.workspace()?;
    let named = |word: &Option<String>, absent: DiffSide| match word {
        Some(word) => side(&workspace, word),
        None => Ok(absent),
    };
    // A missing state is reported before a bad revision.
    workspace.read()?;
    let is_logged = args.from.is_some() || !workspace.operations(Some(1))?.is_empty();
    let from = match is_logged {
        true => named(&args.from, DiffSide::Back(0))?,
        // As in a clone, or where the log is closed to this user.
        false => match side(&workspace, "git:HEAD") {
            Ok(head) => head,
            Err(SideError::Git(error)) if !error.is_about_nothing_there() => {
                return Err(error.into());
            }
            Err(_) => {
                let nothing = "there is neither a log nor a commit to compare the files with";
                return Err(Failure::new(ErrorCode::NotFound, nothing)
                    .hint("`statedir status` shows where the execution stands"));
            }
        },
    };
    let to = named(&args.to, DiffSide::Working)?;
    let found = workspace.compare(&from, &to)?;
    session.output.value(|| answer(&found));
    if found.changes.is_empty() {
        let newest = args.from.is_none() && args.to.is_none();
        let more = newest && workspace.operations(Some(2))?.len() > 1;
        let line = match (newest, more) {
            (true, true) => format!(
                "no changes since {}; `statedir diff @-` shows the last operation",
                found.text.from
            ),
            (true, false) => format!("no changes since {}", found.text.from),
            _ => format!("no difference between {} and {}", found.text.from, found.text.to),
        };
        session.output.advice(line);
        return Ok(0);
    }
    if args.text || args.word_diff {
        text(session, &found, args.word_diff);
    } else {
        meaning(session, &found, args.limit);
    }
    Ok(0)
}

fn answer(found: &Comparison) -> Value {
    let files = found.text.files.iter().chain(&found.history);
    let files: Vec<Value> =
        files.map(|file| json!({ "file": file.file.name(), "diff": file.unified() })).collect();
    json!({ "from": found.text.from, "to": found.text.to, "changes": found.changes,
        "summary": diff::summary(&found.changes), "files": files,
        "history_grew": found.text.history_grew })
}

fn meaning(session: &mut Session<'_>, found: &Comparison, limit: usize) {
    let lines = diff::lines(&found.changes);
    let most = if limit == 0 { lines.len() } else { limit };
    for line in lines.iter().take(most) {
        let colour = match line.verb {
            Verb::Added => Colour::Green,
            Verb::Removed => Colour::Red,
            Verb::Changed => Colour::None,
        };
        session.output.painted(colour, &line.text);
    }
    let left = lines.len().saturating_sub(most);
    if left > 0 {
        session.output.line(format!("({left} more; all with --limit 0)"));
    }
}

fn text(session: &mut Session<'_>, found: &Comparison, words: bool) {
    let mut files = found.text.files.clone();
    files.extend(found.history.clone());
    session.output.text_diff(&files, words);
    // What a text diff cannot show: an empty file that appeared or vanished, bytes that are not text.
    let shown = |name| files.iter().any(|file| file.file == name && !file.unified().is_empty());
    let other: Vec<_> =
        found.changes.iter().filter(|change| !shown(change.file)).cloned().collect();
    for line in diff::summary(&other) {
        session.output.line(line);
    }
}
