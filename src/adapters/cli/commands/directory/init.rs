use std::path::Path;

use serde_json::{Value, json};

use crate::{
    adapters::cli::{CliResult, Failure, Session, pairs},
    domain::{ErrorCode, StateFile},
    store::Directory,
    workspace::{ImportOptions, InitOptions, Mode, TemplateSet},
};

/// Start a state: write plan.md, context.md, variables.json, history.md and constraints.md
///
/// Existing files are never overwritten; missing ones are added. The files of a fresh clone are taken
/// over as they are.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir init --goal \"Compare three vector databases\"
  statedir init --goal \"Try the migration\" --mode simulation
  statedir init --goal \"Ship 2.0\" --set priority=cost_efficiency --set max_cost_per_task=2.50
  statedir init --goal \"Ship 2.0\" --template ./our-templates

A template directory holds plan.md.hbs, context.md.hbs, variables.json.hbs, history.md.hbs,
constraints.md.hbs and workflow.yaml, or some of them; the built-in ones stand in for the rest.")]
pub(in crate::adapters) struct Args {
    /// What the execution should achieve
    #[arg(long, value_name = "TEXT")]
    pub(in crate::adapters) goal: Option<String>,
    /// A short name for the goal
    #[arg(long, value_name = "TITLE")]
    pub(in crate::adapters) title: Option<String>,
    /// Whether steps are carried out or only simulated
    #[arg(long, value_enum, default_value = "execution", ignore_case = true)]
    pub(in crate::adapters) mode: ModeArg,
    /// `default`, or a directory with templates of your own
    #[arg(long, value_name = "NAME|DIR")]
    pub(in crate::adapters) template: Option<String>,
    /// A modifier or limit, or what your templates use
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pairs::pair)]
    pub(in crate::adapters) set: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(in crate::adapters) enum ModeArg {
    Execution,
    Simulation,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: Args) -> CliResult {
    let options = InitOptions {
        goal: args.goal,
        title: args.title,
        mode: match args.mode {
            ModeArg::Execution => Mode::Execution,
            ModeArg::Simulation => Mode::Simulation,
        },
        templates: templates(args.template.as_deref())?,
        set: pairs::values(&args.set)?,
    };
    let workspace = session.new_workspace()?;
    let made = workspace.init(&options)?;
    let directory = workspace.directory().display().to_string();
    let outcome = &made.outcome;
    let files: Vec<&str> = outcome.changed.iter().map(|file| file.name()).collect();
    if session.output.is_json() {
        let mut answer = json!({ "directory": directory, "execution_id": made.execution_id,
            "revision": outcome.revision.as_str(), "changed": files, "adopted": made.adopted,
            "notices": outcome.notices });
        if session.global.dry_run {
            let diff: String = outcome.diff.iter().map(|file| file.unified()).collect();
            answer["dry_run"] = json!(true);
            answer["diff"] = json!(diff);
        }
        session.output.value(answer);
    } else if session.global.dry_run {
        session.output.diff(&outcome.diff);
    } else {
        let verb = if made.adopted { "adopted" } else { "initialised" };
        session.output.line(format!("{verb} {directory}  [{}]", outcome.revision));
        if !files.is_empty() && files.len() < StateFile::FIVE.len() {
            session.output.line(format!("added {}", files.join(", ")));
        }
    }
    Ok(0)
}

/// The largest file of a directory of templates that is read.
const MOST_TEMPLATE: u64 = 1 << 20;

pub(super) fn templates(template: Option<&str>) -> Result<TemplateSet, Failure> {
    let mut set = TemplateSet::default();
    let Some(name) = template.filter(|name| *name != "default") else { return Ok(set) };
    let dir = Path::new(name);
    if !dir.is_dir() {
        let message = format!("`{name}` is neither a built-in template nor a directory");
        return Err(
            Failure::new(ErrorCode::NotFound, message).hint("the built-in template is `default`")
        );
    }
    let fail = |error: std::io::Error| Failure::new(ErrorCode::UnreadableInput, error.to_string());
    // A link in it could bring any file of this machine into the state.
    let directory = Directory::open(dir).map_err(fail)?;
    let read = |name: &str| -> Result<Option<String>, Failure> {
        let Some(bytes) = directory.read(name, MOST_TEMPLATE).map_err(fail)? else {
            return Ok(None);
        };
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let path = dir.join(name);
            let message = format!("{} is not valid UTF-8 at byte {at}", path.display());
            Failure::new(ErrorCode::NotUtf8, message)
        })
    };
    for file in StateFile::FIVE {
        if let Some(text) = read(&format!("{}.hbs", file.name()))? {
            set.replace(file, text);
        }
    }
    set.workflow = read(StateFile::Workflow.name())?;
    if !set.is_custom() && set.workflow.is_none() {
        let message = format!("`{name}` holds no template such as plan.md.hbs");
        return Err(Failure::new(ErrorCode::NotFound, message));
    }
    Ok(set)
}

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
pub(in crate::adapters) struct ImportArgs {
    /// A file, or - for standard input
    file: String,
    /// The format of the document
    #[arg(long, value_enum, default_value = "json")]
    format: Format,
    /// Replace the existing state; `undo` reverts that
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

pub(in crate::adapters::cli) fn import(session: &mut Session<'_>, args: &ImportArgs) -> CliResult {
    let document: Value = match args.format {
        Format::Json => pairs::json(&args.file)?,
        Format::Yaml => serde_yaml::from_str(&pairs::read(&args.file)?).map_err(|error| {
            Failure::new(ErrorCode::BadYaml, format!("the document is not YAML: {error}"))
        })?,
    };
    let templates = templates(args.template.as_deref())?;
    let options = ImportOptions { replace: args.replace, templates };
    let outcome = session.new_workspace()?.import(&document, &options)?;
    session.output.outcome(&outcome, session.global.dry_run);
    Ok(0)
}
