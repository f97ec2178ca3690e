//! Hooks of an agent's client: one event in, at most one answer out.
//!
//! A hook fails open. Whatever goes wrong is noted in `.statedir/hook.log`, and the agent continues
//! as if there were no hook: a broken state must never stop the work that could repair it.

mod dialect;
mod event;
mod guard;
mod journal;
mod loose;
mod memory;
mod place;
mod planning;
mod prompt;
mod reply;
mod session;
mod shell;
mod stop;
mod tool;
mod tools;
mod transcript;

use std::{path::PathBuf, time::Instant};

pub(crate) use self::{
    dialect::Dialect,
    event::{HookEvent, MAX_BYTES},
    journal::note,
    memory::Memory,
    planning::{begins_list, goal},
    reply::Reply,
};
use crate::workspace::{Error, Workspace};

/// An event with all that is needed to answer it.
#[derive(Debug)]
pub(crate) struct Hook<'a> {
    /// What happened.
    pub event: &'a HookEvent,
    /// The state it concerns; it acts under the session's name.
    pub workspace: &'a Workspace,
    /// The names under which this session may have claimed steps without saying so.
    pub other_names: Vec<String>,
    /// The name under which a command of the agent acts that says none.
    pub shell_actor: Option<String>,
    /// Whether the client tells the session to every command that the agent runs.
    pub shell_has_session: bool,
    /// The most tokens that are put into the agent's context.
    pub max_tokens: usize,
    /// Whether what the user says is recorded.
    pub record_prompts: bool,
    /// Whether the agent's own planning tool becomes steps.
    pub captures: bool,
    /// A file of shell commands that the client runs before every command of the session.
    pub env_file: Option<PathBuf>,
    /// Whether nothing may be written.
    pub dry_run: bool,
    /// Until when the lock may be waited for, however often it is needed.
    pub until: Instant,
}

/// Answers an event.
///
/// # Errors
/// The state could not be read or written; the caller notes it and stays silent.
pub(crate) fn answer(hook: &Hook<'_>) -> Result<Reply, Error> {
    let reply = match hook.event.name() {
        "SessionStart" => session::start(hook),
        "UserPromptSubmit" => prompt::submitted(hook),
        "PreToolUse" => guard::before(hook),
        "PostToolUse" => tool::after(hook),
        "PreCompact" => session::compact(hook),
        "SubagentStart" => session::helper(hook),
        "Stop" => stop::stopping(hook),
        "SessionEnd" => session::end(hook),
        _ => Ok(Reply::Silent),
    };
    let reply = reply?;
    planning::note_helpers(hook, &reply);
    session::again(hook, reply)
}

impl Hook<'_> {
    /// The session's name, also where the client gives none.
    fn session(&self) -> String {
        self.event.session().unwrap_or_else(|| "unnamed".to_owned())
    }

    /// The state for another look at it: the time that was waited already is gone.
    fn again(&self) -> Workspace {
        self.workspace.with_wait(self.until.saturating_duration_since(Instant::now()))
    }

    fn memory(&self) -> Memory {
        match self.workspace.uses_private_directory() {
            true => Memory::load(self.workspace.directory(), &self.session()),
            false => Memory::default(),
        }
    }

    /// Whether anything is written down: not for a look ahead, and not in a directory that may
    /// have come with a clone.
    fn keeps_memory(&self) -> bool {
        !self.dry_run && self.workspace.uses_private_directory()
    }

    /// Writes the memory down; what is lost with it is only said twice.
    fn remember(&self, memory: &Memory) {
        let state = self.workspace.directory();
        if self.keeps_memory()
            && let Err(error) = memory.save(state, &self.session())
        {
            self.complain(&format!("the memory is not kept: {error}"));
        }
    }

    /// Notes something that does not keep the event from being answered.
    fn complain(&self, message: &str) {
        let now = self.workspace.environment().now();
        note(self.workspace.directory(), &now, self.event.name(), message);
    }
}

/// Judges text as a line for the shell, for the fuzzer.
#[cfg(fuzzing)]
pub(crate) fn fuzz_shell(text: &str) {
    let nowhere = std::path::Path::new("/nonexistent/workspace/state");
    let _ = shell::guard::only_looks(text);
    let _ = shell::guard::examine(&place::Guarded::new(nowhere), nowhere, text);
}
