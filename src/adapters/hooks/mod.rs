//! Hooks of an agent's client: one event in, at most one answer out.
//!
//! A hook fails open. Whatever goes wrong is logged in `.statedir/hook.log`, and the agent continues
//! as if there were no hook: a broken state must never stop the work that could repair it.

mod after_tool;
mod client;
mod event;
mod gemini_transcript;
mod guard;
mod hook_log;
mod lenient_json;
mod planning;
mod prompt;
mod reply;
mod session;
mod session_memory;
mod stop;

use std::{path::PathBuf, time::Instant};

use self::{client::HookClient, session_memory::SessionMemory};
pub(crate) use self::{
    event::{HookEvent, MAX_BYTES},
    hook_log::log_failure,
    planning::{goal, starts_task_list},
    reply::HookReply,
};
use crate::workspace::{Error, Workspace};

/// An event with all that is needed to answer it.
#[derive(Debug)]
pub(crate) struct Hook<'a> {
    /// What happened.
    pub event: &'a HookEvent,
    /// The state; changes are made in the session's name.
    pub workspace: &'a Workspace,
    /// Other names under which this session may have claimed steps.
    pub other_names: Vec<String>,
    /// The actor of the agent's commands that name none.
    pub shell_actor: Option<String>,
    /// Whether the client passes the session to every command that the agent runs.
    pub shell_has_session: bool,
    /// The most tokens that are put into the agent's context.
    pub max_tokens: usize,
    /// Whether prompts are recorded in the history.
    pub record_prompts: bool,
    /// Whether the agent's own task list becomes steps.
    pub captures_tasks: bool,
    /// A file of shell commands that the client runs before every command of the session.
    pub env_file: Option<PathBuf>,
    /// Whether nothing may be written.
    pub dry_run: bool,
    /// When to stop waiting for the lock, however often it is needed.
    pub deadline: Instant,
}

/// Answers an event.
///
/// # Errors
/// The state could not be read or written; the caller logs it and stays silent.
pub(crate) fn answer(hook: &Hook<'_>) -> Result<HookReply, Error> {
    let reply = match hook.event.name() {
        "SessionStart" => session::start(hook),
        "UserPromptSubmit" => prompt::submitted(hook),
        "PreToolUse" => guard::before_tool(hook),
        "PostToolUse" => after_tool::after_tool(hook),
        "PreCompact" => session::before_compaction(hook),
        "SubagentStart" => session::start_subagent(hook),
        "Stop" => stop::stopping(hook),
        "SessionEnd" => session::end(hook),
        _ => Ok(HookReply::Silent),
    };
    let reply = reply?;
    planning::count_subagents(hook, &reply);
    session::brief_if_forgotten(hook, reply)
}

impl Hook<'_> {
    /// The session's name, also where the client gives none.
    fn session(&self) -> String {
        self.event.session().unwrap_or_else(|| "unnamed".to_owned())
    }

    /// The workspace with the rest of the time that may be waited.
    fn with_remaining_wait(&self) -> Workspace {
        self.workspace.with_wait(self.deadline.saturating_duration_since(Instant::now()))
    }

    fn memory(&self) -> SessionMemory {
        match self.workspace.uses_private_directory() {
            true => SessionMemory::load(self.workspace.directory(), &self.session()),
            false => SessionMemory::default(),
        }
    }

    /// Whether memory is saved: not in a dry run, and not in a directory that may have come with a
    /// clone.
    fn keeps_memory(&self) -> bool {
        !self.dry_run && self.workspace.uses_private_directory()
    }

    /// Saves the memory. If that fails, something may be said twice.
    fn save_memory(&self, memory: &SessionMemory) {
        let state = self.workspace.directory();
        if self.keeps_memory()
            && let Err(error) = memory.save(state, &self.session())
        {
            self.log_failure(&format!("the memory is not kept: {error}"));
        }
    }

    /// Logs a failure that does not keep the event from being answered.
    fn log_failure(&self, message: &str) {
        let now = self.workspace.environment().now();
        log_failure(self.workspace.directory(), &now, self.event.name(), message);
    }
}

/// Examines text as a shell command, for the fuzzer.
#[cfg(fuzzing)]
pub(crate) fn fuzz_shell(text: &str) {
    let nowhere = std::path::Path::new("/nonexistent/workspace/state");
    let _ = guard::shell::is_read_only(text);
    let _ = guard::shell::examine(&guard::GuardedState::new(nowhere), nowhere, text);
}
