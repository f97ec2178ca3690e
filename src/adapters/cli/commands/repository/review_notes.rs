use serde_json::json;

use crate::{
    adapters::{
        cli::{CliResult, Failure, Session},
        git,
    },
    diff::notes::review_notes,
    domain::{ErrorCode, StateFile},
    rules::workflow_or_builtin,
};

/// Summarise what happened to the state, for a pull request
///
/// Markdown: steps that moved, decisions, rules that fired, cost, open reviews. Text from the state
/// is shown as plain text.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir review-notes                 # what this branch has done, up to the working files
  statedir review-notes main..HEAD
  statedir review-notes v1 > notes.md")]
pub(in crate::adapters) struct Args {
    /// `A..B`, `A...B`, or `A` up to the working files; else since this branch began
    range: Option<String>,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let workspace = session.workspace()?;
    let range = git::range(workspace.directory(), args.range.as_deref())?;
    let after = match range.after {
        Some(revision) => revision.files,
        None => {
            let snapshot = workspace.read()?;
            let mut files = std::collections::BTreeMap::new();
            for file in StateFile::REWRITABLE {
                if let Some(bytes) = snapshot.view().bytes(file.name()) {
                    files.insert(file.name().to_owned(), bytes.to_vec());
                }
            }
            if let Ok(mut history) = snapshot.history() {
                let mut bytes = Vec::new();
                std::io::Read::read_to_end(&mut history, &mut bytes)
                    .map_err(|error| Failure::new(ErrorCode::Io, error.to_string()))?;
                files.insert(StateFile::History.name().to_owned(), bytes);
            }
            files
        }
    };
    let workflow = workflow_or_builtin(after.get(StateFile::Workflow.name()).map(Vec::as_slice));
    let names = (range.from.as_str(), range.to.as_str());
    let notes = review_notes(names, &range.before.files, &after, &workflow);
    session.output.value(|| json!({ "from": range.from, "to": range.to, "notes": notes }));
    session.output.raw(&notes);
    Ok(0)
}
