use std::{
    io::Read as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{
    adapters::{
        Acting, choose,
        cli::{CliResult, Session},
        git,
        hooks::{self, Hook, HookEvent},
        identify,
        setup::project_of,
    },
    domain::StateFile,
    recovery::SIGN_EVERY_MS,
    store::{Process, StoreError},
    workspace::{Error, ErrorKind, InitOptions, Workspace},
};

/// Answer a hook event of an agent's client, given as JSON on standard input
///
/// For Claude Code, Codex, Copilot CLI, Gemini CLI and Qwen Code, each in its own format; `statedir
/// setup claude` (codex, gemini, qwen) registers it.
///
/// SessionStart puts the brief into the agent's context. UserPromptSubmit reports which rules have
/// changed since it last did; with --record-prompts it records what the user said as a turn, with
/// what looks like a secret masked. PreToolUse asks before a command or an MCP tool whose words
/// reach the state directory and that is not known to only read; it denies what plainly writes
/// history.md or .statedir/ or removes the state. That protects against accidents, not malice, even
/// if the event is not quite JSON. It asks, too, when a review is open and when a limit is reached:
/// once per limit and session, with the command that raises it (`statedir constraint set
/// max_file_operations 100`); every time, and also before a limit is changed, if the client reports
/// that it runs unattended. A rule can pause the plan for good. PostToolUse counts file operations and
/// web requests and checks a state file that was edited. What the agent plans with its own task tool
/// becomes steps: TaskCreate, TaskUpdate, TodoWrite, an accepted plan, Codex's update_plan,
/// Gemini's write_todos, opencode's todowrite, Qwen's todo_write, Copilot's table `todos`; with
/// --capture also where there is no state yet, with --no-capture not at all. PreCompact makes a
/// checkpoint. Stop mentions a step left RUNNING, once. SubagentStart gives a helper a short brief.
/// Deciding a review always needs confirmation. SessionEnd is recorded. Other events, tools and
/// members are ignored.
///
/// The state is the nearest workspace/state at or above the event's `cwd`; without one it is
/// silent. Without --actor or $STATEDIR_ACTOR the session's id is the actor. What is counted
/// becomes part of the next step's entry, or at once an event when a limit is crossed.
///
/// It fails open: whatever goes wrong is noted in .statedir/hook.log, and the exit code is 0.
/// --if-match is ignored: an event belongs to no revision.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir hook < event.json
  echo '{\"hook_event_name\":\"SessionStart\",\"source\":\"startup\",\"cwd\":\"'$PWD'\"}' | statedir hook
  statedir hook --max-tokens 1000 < event.json")]
pub(in crate::adapters) struct Args {
    /// The most tokens of the brief at the start of a session
    #[arg(long, value_name = "N", default_value_t = MAX_TOKENS)]
    max_tokens: usize,
    /// Record what the user says; `statedir setup claude --record-prompts` sets this up
    #[arg(long)]
    record_prompts: bool,
    /// Create a state from the agent's first task list if there is none
    #[arg(long)]
    capture: bool,
    /// Leave the agent's task lists alone
    #[arg(long, conflicts_with = "capture")]
    no_capture: bool,
}

/// What a brief may take if nothing else is said.
const MAX_TOKENS: usize = 2000;

/// How long a hook waits for another command.
const WAIT: Duration = Duration::from_millis(1500);
/// The same for the last event of a session: its client waits at most a second.
const LAST_WAIT: Duration = Duration::from_millis(600);

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let reply = answer(session, args);
    // The client reads it as it is, whether it asked for JSON or not.
    let reply = reply.or_else(|| session.output.is_json().then(|| serde_json::json!({})));
    if let Some(reply) = reply {
        session.output.stream(format!("{reply}\n").as_bytes());
    }
    Ok(0)
}

fn answer(session: &mut Session<'_>, args: &Args) -> Option<serde_json::Value> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(hooks::MAX_BYTES + 1).read_to_end(&mut bytes);
    let event = match read {
        Err(error) => Err(format!("the event cannot be read: {error}")),
        Ok(_) if bytes.len() as u64 > hooks::MAX_BYTES => HookEvent::parse_beginning(&bytes),
        Ok(_) => HookEvent::parse(&bytes),
    };
    let event = match event {
        Ok(event) if !event.is_of_interest() => return None,
        Ok(event) => event,
        Err(message) => {
            let dir = state_directory(session, None)?;
            log_failure(session, &dir, "?", &message);
            return None;
        }
    };
    let dir = match state_directory(session, Some(&event)) {
        Some(dir) => dir,
        None if args.capture && !session.global.dry_run => new_state(session, &event)?,
        None => return None,
    };
    report_bugs(dir.clone(), event.name().to_owned());
    match reply(session, args, &event, &dir) {
        Ok(reply) => reply.to_json(event.name(), event.client()),
        Err(message) => {
            log_failure(session, &dir, event.name(), &message);
            None
        }
    }
}

fn reply(
    session: &mut Session<'_>,
    args: &Args,
    event: &HookEvent,
    dir: &Path,
) -> Result<hooks::HookReply, String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
    session.event_session = event.text("session_id").map(str::to_owned);
    session.global.dir = Some(dir.to_owned());
    session.global.if_match = None;
    let last = event.name() == "SessionEnd";
    let wait = session.global.wait().min(if last { LAST_WAIT } else { WAIT });
    session.global.wait = Some(wait);
    session.command = format!("hook {}", event.name());
    let workspace = session.workspace().map_err(|failure| failure.message)?;
    // There is a state with a plan, so the search can stop.
    let has_plan = dir.join(StateFile::Plan.name()).is_file();
    let is_empty =
        || workspace.store().exists().is_ok_and(|found| found.files.is_empty() && !found.log);
    if !has_plan && is_empty() {
        return Ok(hooks::HookReply::Silent);
    }
    let began = Instant::now();
    // Who holds a step matters only to who stops or starts a subagent.
    let asks = matches!(event.name(), "Stop" | "SubagentStart");
    let shell_actor = asks.then(|| identify(&Acting::default()).actor);
    let names = [event.session(), variable("USER"), variable("LOGNAME"), shell_actor.clone()];
    let shell_names = ["STATEDIR_SESSION", "CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID"];
    let hook = Hook {
        event,
        workspace: &workspace,
        other_names: names.into_iter().flatten().filter(|_| asks).collect(),
        shell_actor,
        shell_has_session: shell_names.iter().any(|name| variable(name).is_some()),
        max_tokens: args.max_tokens,
        record_prompts: args.record_prompts,
        captures_tasks: !args.no_capture,
        env_file: variable("CLAUDE_ENV_FILE").map(PathBuf::from),
        dry_run: session.global.dry_run,
        deadline: began + wait,
    };
    let reply = hooks::answer(&hook).map_err(|error| described(&error, began.elapsed()));
    if !hook.dry_run {
        record_sign(&workspace, last);
        #[cfg(feature = "fleet")]
        if last || matches!(event.name(), "SessionStart" | "Stop") {
            crate::adapters::cli::commands::fleet::push_later(&workspace);
        }
    }
    reply
}

/// A state for the agent's first task list, in the project that it works in; none outside a
/// project.
fn new_state(session: &mut Session<'_>, event: &HookEvent) -> Option<PathBuf> {
    if !hooks::starts_task_list(event) {
        return None;
    }
    let variable = |name: &str| std::env::var_os(name).filter(|dir| !dir.is_empty());
    let named = variable("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let root = named.or_else(|| event.cwd().map(|cwd| project_of(&cwd)))?;
    let home = variable("HOME").map(PathBuf::from);
    if root.parent().is_none() || home.as_ref() == Some(&root) || !root.is_dir() {
        return None;
    }
    let dir = root.join("workspace/state");
    session.event_session = event.text("session_id").map(str::to_owned);
    session.command = format!("hook {}", event.name());
    let project = root.file_name().map(|name| name.to_string_lossy().into_owned());
    let goal = hooks::goal(event)
        .unwrap_or_else(|| format!("The agent's tasks in {}", project.unwrap_or_default()));
    let workspace = session.workspace_in(dir.clone(), None).ok()?;
    let made = workspace.init(&InitOptions { goal: Some(goal), ..InitOptions::default() });
    if made.is_ok() {
        let _ = git::write_attributes(&dir);
    }
    made.ok().map(|_| dir)
}

/// Records that the session is alive, or that it has ended. Failing loses only evidence.
fn record_sign(workspace: &Workspace, ended: bool) {
    let Some(session) = &workspace.environment().identity().session else { return };
    let mut sign = workspace.sign_of_life(ended);
    let known = workspace.store().sign(session).unwrap_or_default();
    let age = workspace.environment().since(&known.time);
    let is_young = age.is_some_and(|age| age < SIGN_EVERY_MS);
    if is_young && !ended && known.is_of_seen_client() {
        return;
    }
    // The server of the same session recorded the process that lives as long as it.
    sign.process = known.process.filter(|process| process.is_running() == Some(true));
    sign.client = Process::client();
    sign.is_confirmed = sign.client.is_some() && sign.client == known.client;
    let _ = workspace.store().record_sign(session, &sign);
}

/// The text for the log of hook failures, with the time of all waits: the error knows only the last
/// one.
fn described(error: &Error, passed: Duration) -> String {
    match error.kind() {
        ErrorKind::Store(StoreError::LockTimeout { waited, .. }) if passed > *waited + WAIT / 3 => {
            format!("{error} ({passed:.0?} in all)")
        }
        _ => error.to_string(),
    }
}

/// The directory that was named, or the nearest one at or above the agent's.
fn state_directory(session: &Session<'_>, event: Option<&HookEvent>) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|dir| !dir.is_empty());
    let named = session.global.dir.clone().or_else(|| variable("STATEDIR").map(PathBuf::from));
    if named.is_some() || event.is_none() {
        return choose(named.as_deref(), false).ok().filter(|dir| dir.is_dir());
    }
    let project = variable("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    event?.state_directory(project.as_deref())
}

fn log_failure(session: &Session<'_>, dir: &Path, event: &str, message: &str) {
    let now = session.environment().map(|env| env.now()).unwrap_or_default();
    hooks::log_failure(dir, &now, event, message);
}

/// A panic must not stop an agent: it is logged, and the exit code is 0.
fn report_bugs(dir: PathBuf, event: String) {
    std::panic::set_hook(Box::new(move |panic| {
        hooks::log_failure(&dir, "bug", &event, &panic.to_string());
        std::process::exit(0);
    }));
}
