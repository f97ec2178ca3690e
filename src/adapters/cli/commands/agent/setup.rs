use std::path::PathBuf;

use clap::ValueEnum as _;
use serde_json::json;

use super::setup_check;

use crate::{
    adapters::{
        cli::{CliResult, Failure, Session},
        setup::{Client, FileAction, FilePlan, HookOptions, Scope, Setup, SetupError, project_of},
    },
    domain::ErrorCode,
};

/// Set up an agent's client to use statedir: hooks, MCP server, instructions, skill
///
/// claude: hooks and permissions in .claude/settings.json, the MCP server in .mcp.json, a block in
/// CLAUDE.md (or AGENTS.md, if CLAUDE.md imports it), a skill in .claude/skills. codex:
/// .codex/config.toml, .codex/hooks.json, AGENTS.md. gemini: .gemini/settings.json, GEMINI.md.
/// cursor: .cursor/mcp.json, AGENTS.md. opencode: opencode.json, .opencode/plugins, AGENTS.md. qwen:
/// .qwen/settings.json, QWEN.md. vscode: .vscode/mcp.json, AGENTS.md. generic: AGENTS.md. The skill
/// for codex, gemini, opencode and others goes to .agents/skills.
///
/// An unattended agent may run statedir without confirmation; deciding a review always needs one.
/// Hooks are silent where statedir is not installed. What an agent plans with its client's own task
/// tool becomes steps of the state; with --capture the first list creates a state if there is none,
/// with --no-capture lists are left alone. Setting up again keeps that choice.
///
/// --check reports for each client what is in place and what is missing, and runs one hook event
/// and one MCP request in a temporary directory: exit code 0 if all is well, else 1.
///
/// Existing content keeps its bytes: settings are edited in place, text is added between markers.
/// Setting up again updates it. --remove removes what was added; instructions that several clients
/// share are kept until the last of them is removed. What was changed by hand is reported, and
/// neither replaced nor removed unless --force is given. A file that cannot be understood is
/// refused, and then nothing is written; a link is followed, so that settings kept elsewhere stay
/// there.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir setup claude
  statedir setup claude --dry-run
  statedir setup claude --record-prompts
  statedir setup claude --capture
  statedir setup --check
  statedir setup codex --user
  statedir setup generic --print
  statedir setup claude --remove
  statedir setup claude --force")]
pub(in crate::adapters) struct Args {
    /// Which client; with --check all of them if none is named
    #[arg(value_enum, required_unless_present = "check")]
    client: Option<Client>,
    /// For everybody who works on this project (the default)
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// For you, in all projects
    #[arg(long)]
    user: bool,
    /// Print what would be written where, and write nothing
    #[arg(long, conflicts_with = "remove")]
    print: bool,
    /// Remove what was added
    #[arg(long)]
    remove: bool,
    /// Report what is in place and what is missing, and prove it with one harmless event
    #[arg(long, conflicts_with_all = ["print", "remove", "force", "record_prompts", "capture", "no_capture"])]
    check: bool,
    /// Discard changes made by hand
    #[arg(long, conflicts_with = "print")]
    force: bool,
    /// Record what the user says as turns in history.md, with what looks like a secret masked
    #[arg(long, conflicts_with = "remove")]
    record_prompts: bool,
    /// Create a state from an agent's first task list if there is none
    #[arg(long, conflicts_with = "remove")]
    capture: bool,
    /// Leave the task lists of agents alone
    #[arg(long, conflicts_with_all = ["capture", "remove"])]
    no_capture: bool,
    /// The program as the client should call it
    #[arg(long, value_name = "PATH", default_value = "statedir")]
    program: String,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: Args) -> CliResult {
    let scope = if args.user { Scope::User } else { Scope::Project };
    let program = args.program.trim().to_owned();
    if program.is_empty() || program.contains(|c: char| c.is_control()) {
        return Err(Failure::usage("the program must be one line"));
    }
    let root = match scope {
        Scope::User => home()?,
        Scope::Project => project(session)?,
    };
    let capture = match (args.capture, args.no_capture) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    let hooks = HookOptions { record_prompts: args.record_prompts, capture };
    let setup = |client: Client| Setup {
        client,
        scope,
        root: root.clone(),
        program: program.clone(),
        force: args.force,
        hooks,
    };
    if args.check {
        let named = args.client.is_some();
        let clients: Vec<Client> = match args.client {
            Some(client) => vec![client],
            None => Client::value_variants().to_vec(),
        };
        let setups: Vec<Setup> = clients.into_iter().map(setup).collect();
        return setup_check::run(session, &setups, named);
    }
    let Some(client) = args.client else { return Err(Failure::usage("name a client")) };
    let setup = setup(client);
    if args.print {
        return print(session, &setup);
    }
    let plans = setup.plan(args.remove)?;
    if !session.global.dry_run {
        setup.carry_out(&plans)?;
    }
    report(session, &setup, &plans, args.remove);
    Ok(0)
}

fn print(session: &mut Session<'_>, setup: &Setup) -> CliResult {
    let pieces = setup.pieces()?;
    session.output.value(|| {
        let files: Vec<_> =
            pieces.iter().map(|(path, text)| json!({ "path": path, "text": text })).collect();
        json!({ "files": files })
    });
    for (path, text) in pieces {
        session.output.line(format!("=== {}", path.display()));
        session.output.verbatim(text);
    }
    Ok(0)
}

fn report(session: &mut Session<'_>, setup: &Setup, plans: &[FilePlan], remove: bool) {
    let advice = if remove { None } else { setup.advice() };
    let word = |plan: &FilePlan| match plan.action() {
        FileAction::Create => "created",
        FileAction::Change => "changed",
        FileAction::Remove => "removed",
        FileAction::Keep => "unchanged",
    };
    let dry_run = session.global.dry_run;
    session.output.value(|| {
        let files: Vec<_> = plans
            .iter()
            .map(|plan| {
                let mut file =
                    json!({ "path": plan.path, "what": plan.what, "action": word(plan) });
                if let Some(note) = &plan.note {
                    file["note"] = json!(note);
                }
                if dry_run {
                    file["diff"] = json!(plan.diff());
                }
                file
            })
            .collect();
        json!({ "files": files, "dry_run": dry_run, "advice": advice })
    });
    for plan in plans {
        if dry_run && plan.action() != FileAction::Keep {
            session.output.raw(&plan.diff());
            if let Some(note) = &plan.note {
                session.output.line(format!("{}: {note}", plan.path.display()));
            }
        } else if plan.before.is_some() || plan.after.is_some() {
            let note = plan.note.as_ref().map_or(String::new(), |note| format!(": {note}"));
            session.output.line(format!(
                "{:<9} {} ({}){note}",
                word(plan),
                plan.path.display(),
                plan.what
            ));
        }
    }
    if let Some(advice) = advice {
        session.output.line(advice);
    }
}

fn home() -> Result<PathBuf, Failure> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    home.filter(|home| home.is_absolute()).ok_or_else(|| {
        Failure::new(ErrorCode::NoHome, "$HOME is not set, so your settings cannot be found")
    })
}

/// The project: of the directory that was named, or of the working directory.
fn project(session: &Session<'_>) -> Result<PathBuf, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::new(ErrorCode::Io, format!("the working directory: {error}")))?;
    match &session.global.dir {
        Some(dir) => {
            let dir = here.join(dir);
            if !dir.is_dir() {
                let message = format!("there is no directory `{}`", dir.display());
                return Err(Failure::new(ErrorCode::NotFound, message));
            }
            let state = dir.ends_with("workspace/state");
            Ok(if state { dir.ancestors().nth(2).unwrap_or(&dir).to_owned() } else { dir })
        }
        None => Ok(project_of(&here)),
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        let (code, hint) = match &error {
            SetupError::NotUnderstood { .. } => (
                ErrorCode::BadSettings,
                Some("nothing was written; fix the file, or add by hand what `--print` shows"),
            ),
            SetupError::NotRegular { .. } => {
                (ErrorCode::NotRegular, Some("nothing was written; `--print` shows what would be"))
            }
            SetupError::Outside { .. } => (
                ErrorCode::Outside,
                Some(
                    "nothing was written; replace the link with a file, or add by hand what `--print` shows",
                ),
            ),
            SetupError::NoPlace { .. } => (ErrorCode::NoPlace, Some("omit `--user`")),
            SetupError::Io(_) => (ErrorCode::Io, None),
        };
        let failure = Self::new(code, error.to_string());
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
