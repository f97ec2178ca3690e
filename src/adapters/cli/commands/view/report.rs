use std::path::PathBuf;

use serde_json::json;

use crate::{
    adapters::{
        cli::{CliResult, Failure, Session},
        page::report,
        replace::{real, replace},
    },
    domain::{ErrorCode, StateFile},
    workspace::{Dashboard, Extent},
};

/// How much of the log and the history is on the page.
const EXTENT: Extent = Extent { entries: 500, bytes: 4 << 20, operations: 100, graph: true };

/// Write the whole state as one page to read in a browser
///
/// Board, graph, timeline, context, history, operations and numbers, in one file without scripts
/// that needs nothing else: to attach to a pull request or to keep with a build. Text from the
/// state is shown as text, never as markup.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir report --output report.html
  statedir report > report.html")]
pub(in crate::adapters) struct Args {
    /// The file to write; standard output if absent
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let workspace = session.workspace()?;
    let dashboard = Dashboard::read(&workspace, EXTENT)?;
    let damage = dashboard.state.damage().map(Failure::damage);
    let page = report(&dashboard);
    let Some(path) = &args.output else {
        session.output.raw(&page);
        return session.end(damage, || json!({ "html": page }));
    };
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if StateFile::from_name(name).is_some() {
        let message = format!("`{}` has the name of a state file", path.display());
        return Err(Failure::new(ErrorCode::BadValue, message)
            .hint("choose another name, such as report.html"));
    }
    if !session.global.dry_run {
        let written = real(path).and_then(|path| replace(&path, page.as_bytes()));
        written.map_err(|error| Failure::new(ErrorCode::Io, format!("cannot write {error}")))?;
    }
    let would = if session.global.dry_run { "would write" } else { "wrote" };
    session.output.line(format!("{would} {} ({} bytes)", path.display(), page.len()));
    // If a file could not be read, the rest is on the page, and the command fails.
    session.end(damage, || json!({ "output": path, "bytes": page.len() }))
}
