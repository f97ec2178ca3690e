use serde_json::json;

use crate::{
    adapters::{
        cli::{CliResult, Session, pairs},
        git::{self, CommitOptions},
    },
    merge::Conflict,
    workspace::{Error, ErrorKind, Workspace},
};

/// Commit the state files to git, and nothing else
///
/// The message lists the operations since the last commit; its trailers name the revision of the
/// state and the heads of the history. Anything else that is staged stays staged and is not part of
/// the commit. Hooks run as usual. Having nothing to commit is not an error. A state with a file
/// that is missing or cannot be read is not committed (exit 4).
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir commit
  statedir commit -m \"Compared the first two databases\" --sign-off
  statedir commit --dry-run")]
pub(in crate::adapters) struct Args {
    /// The message; the trailers are added
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    /// Add a Signed-off-by line
    #[arg(short, long, visible_alias = "signoff")]
    sign_off: bool,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: Args) -> CliResult {
    let workspace = session.workspace()?;
    let mut options = options(&workspace)?;
    options.message = pairs::optional_text(args.message)?;
    options.sign_off = args.sign_off;
    options.dry_run = session.global.dry_run;
    let committed = git::commit(workspace.directory(), &options)?;
    session.output.value(|| {
        json!({ "commit": committed.commit, "files": committed.files,
            "message": committed.message, "dry_run": options.dry_run })
    });
    if !committed.git_output.is_empty() {
        session.output.note(&committed.git_output);
    }
    match &committed.commit {
        Some(hash) => {
            let title = committed.message.lines().next().unwrap_or_default();
            let short = hash.get(..12).unwrap_or(hash);
            session.output.line(format!("{short} {title}  ({})", committed.files.join(", ")));
        }
        None if committed.files.is_empty() => session.output.line("nothing to commit"),
        None => {
            session.output.line(format!("would commit {}", committed.files.join(", ")));
            session.output.raw(&committed.message);
        }
    }
    Ok(0)
}

/// What a commit of this state says of it; a state with conflicts or damage is not committed.
pub(super) fn options(workspace: &Workspace) -> Result<CommitOptions, Error> {
    let snapshot = workspace.read_written()?;
    let mut conflicts = snapshot.conflicts()?;
    if conflicts.is_empty() {
        // Where git cannot be asked, committing says why.
        let unmerged = git::unmerged_files(workspace.directory()).unwrap_or_default();
        conflicts.extend(unmerged.iter().map(|unmerged| Conflict::of_file(unmerged.file)));
    }
    if let Some(first) = conflicts.first() {
        let (count, first) = (conflicts.len(), Box::new(first.clone()));
        let under_way = git::under_way(workspace.directory());
        return Err(ErrorKind::Unmerged { count, first, under_way }.into());
    }
    snapshot.refuse_damaged()?;
    let heads = snapshot.facts()?.history.heads;
    Ok(CommitOptions {
        revision: snapshot.revision().as_str().to_owned(),
        heads: heads.iter().map(ToString::to_string).collect(),
        operations: workspace.operations(Some(500))?,
        ..CommitOptions::default()
    })
}
