use serde_json::Value;

use super::{super::pairs, CliResult, Failure, Session, init::templates};
use crate::workspace::ImportOptions;

/// Build the files from a document that `state` printed, as one operation
///
/// A document with missing parts will do; the template fills them in. The entries under
/// `recent_history` become entries of the history again, with new ids; what the document counts
/// besides them is carried over in an entry `Imported`. An existing state is refused unless
/// `--replace` is given; its history keeps all entries.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir state > state.json
  statedir -C elsewhere import state.json
  statedir state --format yaml | statedir -C elsewhere import --format yaml -
  statedir import state.json --replace")]
pub(in crate::adapters) struct Args {
    /// A file, or - for standard input
    file: String,
    /// The format of the document
    #[arg(long, value_enum, default_value = "json")]
    format: Format,
    /// Put it in the place of the state that is there; `undo` takes that back
    #[arg(long)]
    replace: bool,
    /// `default`, or a directory with templates of your own
    #[arg(long, value_name = "NAME|DIR")]
    template: Option<String>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Json,
    Yaml,
}

pub(super) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let document: Value = match args.format {
        Format::Json => pairs::json(&args.file)?,
        Format::Yaml => serde_yaml::from_str(&pairs::read(&args.file)?).map_err(|error| {
            Failure::refused("bad_yaml", format!("the document is not YAML: {error}"))
        })?,
    };
    let templates = templates(args.template.as_deref())?;
    let options = ImportOptions { replace: args.replace, templates };
    let outcome = session.new_workspace()?.import(&document, &options)?;
    session.output.outcome(&outcome, session.global.dry_run);
    Ok(0)
}
