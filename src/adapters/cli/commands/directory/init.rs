use std::path::Path;

use serde_json::{Value, json};

use crate::{
    adapters::{
        cli::{CliResult, Failure, Session, pairs, templates},
        foreign::{self, Source},
        git,
    },
    domain::{ErrorCode, StateFile, Ticket},
    text::shell::shell_word,
    workspace::{ImportOptions, InitOptions, Mode},
};

/// Start a state: write plan.md, context.md, variables.json, history.md and constraints.md
///
/// Existing files are never overwritten; missing ones are added. The files of a fresh clone are
/// adopted as they are.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir init --goal \"Compare three vector databases\"
  statedir init --goal \"Try the migration\" --mode simulation
  statedir init --goal \"Ship 2.0\" --set priority=cost_efficiency --set max_cost_per_task=2.50
  statedir init --goal \"Ship 2.0\" --template classic
  statedir init --goal \"Ship 2.0\" --template ./our-templates
  statedir init --template ticket --ticket '#7' --title \"Export as CSV\"
  statedir init --list-templates

A template directory holds plan.md.hbs, context.md.hbs, variables.json.hbs, history.md.hbs,
constraints.md.hbs and workflow.yaml, or some of them; the built-in ones supply the rest.
Directories below $XDG_CONFIG_HOME/statedir/templates (~/.config/statedir/templates) are found by
their name.")]
pub(in crate::adapters) struct Args {
    /// What the execution should achieve
    #[arg(long, value_name = "TEXT")]
    goal: Option<String>,
    /// A short name for the goal
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
    /// Whether steps are carried out or only simulated
    #[arg(long, value_enum, default_value = "execution", ignore_case = true)]
    mode: ModeArg,
    /// A template by name, such as `classic` or `execute`, or a directory with your own
    #[arg(long, value_name = "NAME|DIR")]
    template: Option<String>,
    /// The ticket it is about: #7, PROJ-123 or its URL; the state is kept below docs/plan/tickets
    #[arg(long, value_name = "TICKET")]
    ticket: Option<String>,
    /// List the templates that can be used by name, and write nothing
    #[arg(long, conflicts_with_all = ["goal", "title", "template", "set", "ticket"])]
    list_templates: bool,
    /// A modifier or limit, or a value that your templates use
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pairs::pair)]
    set: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(in crate::adapters) enum ModeArg {
    Execution,
    Simulation,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: Args) -> CliResult {
    if args.list_templates {
        return list_templates(session);
    }
    let ticket = args.ticket.as_deref().map(read_ticket).transpose()?;
    let goal = pairs::optional_text(args.goal)?;
    let about = args.title.clone().or_else(|| goal.clone());
    let ticket = ticket.map(|ticket| ticket.titled(about.as_deref().unwrap_or_default()));
    let proposed =
        |ticket: &Ticket| about.clone().unwrap_or_else(|| format!("Resolve ticket {}", ticket.id));
    let goal = goal.or_else(|| ticket.as_ref().map(proposed));
    let template = args.template.as_deref().or_else(|| ticket.as_ref().map(|_| "ticket"));
    let options = InitOptions {
        goal,
        title: args.title,
        mode: match args.mode {
            ModeArg::Execution => Mode::Execution,
            ModeArg::Simulation => Mode::Simulation,
        },
        templates: templates::find(template)?,
        set: pairs::values(&args.set)?,
        ticket,
    };
    let workspace = match &options.ticket {
        Some(ticket) => session.ticket_workspace(ticket.name())?,
        None => session.new_workspace()?,
    };
    let made = workspace.init(&options)?;
    let directory = workspace.directory().display().to_string();
    if !made.adopted && !session.global.dry_run {
        git::write_attributes(workspace.directory())?;
    }
    let outcome = &made.outcome;
    let files: Vec<&str> = outcome.changed.iter().map(|file| file.name()).collect();
    session.output.value(|| {
        let mut answer = json!({ "directory": directory, "execution_id": made.execution_id,
            "revision": outcome.revision.as_str(), "changed": files, "adopted": made.adopted,
            "notices": outcome.notices });
        if let Some(ticket) = &options.ticket {
            answer["ticket"] = json!(ticket);
        }
        if session.global.dry_run {
            let diff: String = outcome.diff.iter().map(|file| file.unified()).collect();
            answer["dry_run"] = json!(true);
            answer["diff"] = json!(diff);
        }
        answer
    });
    if session.global.dry_run {
        session.output.diff(&outcome.diff);
        return Ok(0);
    }
    for notice in &outcome.notices {
        session.output.note(notice);
    }
    let verb = if made.adopted { "adopted" } else { "initialised" };
    session.output.line(format!("{verb} {directory}  [{}]", outcome.revision));
    if !files.is_empty() && files.len() < StateFile::FIVE.len() {
        session.output.line(format!("added {}", files.join(", ")));
    }
    if let Some(ticket) = &options.ticket {
        let (id, branch) = (&ticket.id, &ticket.branch);
        session.output.line(format!("ticket {id} on {}; branch: {branch}", ticket.platform));
        let dir = shell_word(&directory);
        session.output.line(format!("`statedir -C {dir} status` shows its phases"));
    }
    Ok(0)
}

fn read_ticket(text: &str) -> Result<Ticket, Failure> {
    Ticket::parse(text).ok_or_else(|| {
        Failure::new(ErrorCode::BadValue, format!("`{text}` is not a ticket"))
            .hint("such as '#7', PROJ-123 or https://github.com/ada/engine/issues/7")
    })
}

fn list_templates(session: &mut Session<'_>) -> CliResult {
    let known = templates::list()?;
    session.output.value(|| json!({ "templates": known }));
    let width = known.iter().map(|template| template.name.len()).max().unwrap_or(0);
    for template in &known {
        let about = match (&template.summary, &template.directory) {
            (Some(summary), _) => (*summary).to_owned(),
            (None, directory) => {
                directory.as_ref().map_or_else(String::new, |dir| dir.display().to_string())
            }
        };
        session.output.line(format!("{:<width$}  {about}", template.name));
    }
    Ok(0)
}

/// Build the files from a document that `state` printed, as one operation
///
/// Parts may be missing: the template supplies them. The entries under `recent_history` become
/// entries of the history again, with new ids; the counts of all other entries are carried over in
/// an entry `Imported`. An existing state is refused unless `--replace` is given; its history keeps
/// all entries.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir state > state.json
  statedir -C elsewhere import state.json
  statedir state --format yaml | statedir -C elsewhere import -
  statedir import state.json --replace
  statedir import --from task-master . --dry-run
  statedir import --from beads .beads/issues.jsonl")]
pub(in crate::adapters) struct ImportArgs {
    /// A file, or - for standard input; with `--from`, that program's file or the project it is in
    file: String,
    /// Copy the plan of another program instead; reports what was not copied
    #[arg(long, value_enum, value_name = "PROGRAM")]
    from: Option<Source>,
    /// The format of the document; else that of its name or its first character
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Replace the existing state; `undo` reverts that
    #[arg(long)]
    replace: bool,
    /// `default`, `classic`, `simple`, another name of `--list-templates`, or a directory of your own
    #[arg(long, value_name = "NAME|DIR")]
    template: Option<String>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Json,
    Yaml,
}

impl Format {
    /// The format that the name of a file says, or else its text.
    fn of(file: &str, text: &str) -> Self {
        let ending = Path::new(file).extension().and_then(|ending| ending.to_str());
        match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("json") => Self::Json,
            Some("yaml" | "yml") => Self::Yaml,
            _ if has_yaml_key(text) => Self::Yaml,
            _ => Self::Json,
        }
    }
}

/// Whether a text begins with a key as YAML writes it.
fn has_yaml_key(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#') && *line != "---");
    first.is_some_and(|line| {
        line.starts_with(char::is_alphabetic) && (line.contains(": ") || line.ends_with(':'))
    })
}

pub(in crate::adapters::cli) fn import(session: &mut Session<'_>, args: &ImportArgs) -> CliResult {
    let converted = match args.from {
        Some(source) => {
            let read = foreign::convert(source, Path::new(&args.file));
            Some(read.map_err(|message| Failure::new(ErrorCode::UnreadableInput, message))?)
        }
        None => None,
    };
    let left_out = converted.as_ref().map(|found| found.left_out.clone()).unwrap_or_default();
    let document: Value = match converted {
        Some(converted) => converted.document,
        None => {
            let text = pairs::read(&args.file)?;
            match args.format.unwrap_or_else(|| Format::of(&args.file, &text)) {
                Format::Json => pairs::parse_json(&args.file, &text)?,
                Format::Yaml => serde_yaml::from_str(&text).map_err(|error| {
                    Failure::new(ErrorCode::BadYaml, format!("the document is not YAML: {error}"))
                })?,
            }
        }
    };
    let templates = templates::find(args.template.as_deref())?;
    let options = ImportOptions { replace: args.replace, templates };
    let mut outcome = session.new_workspace()?.import(&document, &options)?;
    outcome.notices.extend(left_out.iter().map(|what| format!("not copied: {what}")));
    session.changed(&outcome)
}
