//! A hook event as the client sends it. Unknown members are ignored, wrong ones are absent.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    client::HookClient,
    guard::{
        shell::{base_name, is_shell_program},
        tools::{decides_review, is_foreign, sets_constraint, strings},
    },
    lenient_json::{self, LenientObject},
    planning::{calls_subagent, is_planning},
};
use crate::{
    adapters::{directory::nearest, session_name},
    text::shell::shell_word,
    workspace::Usage,
};

/// The largest event that is read; of a larger one the beginning is.
pub(crate) const MAX_BYTES: u64 = 32 << 20;

/// One event.
#[derive(Clone, Debug)]
pub(crate) struct HookEvent {
    value: Value,
    client: HookClient,
}

impl HookEvent {
    /// Reads an event.
    ///
    /// # Errors
    /// Says why the bytes are not one JSON object, nor nearly one.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        match serde_json::from_slice(bytes) {
            Ok(value @ Value::Object(_)) => Ok(Self::new(value)),
            Ok(_) => Err("the event is not a JSON object".to_owned()),
            Err(error) => Self::parse_leniently(bytes)
                .ok_or_else(|| format!("the event is not JSON: {error}")),
        }
    }

    /// Reads an event that is not quite JSON. An incomplete one is only good for refusing an edit.
    fn parse_leniently(bytes: &[u8]) -> Option<Self> {
        let LenientObject { members, is_complete } = lenient_json::parse(bytes)?;
        let event = Self::new(Value::Object(members));
        (event.name() == "PreToolUse" || (is_complete && !event.name().is_empty())).then_some(event)
    }

    /// Reads the beginning of an event that is too large. An incomplete task list does not count.
    ///
    /// # Errors
    /// Says that what can be read of it is not enough.
    pub(crate) fn parse_beginning(bytes: &[u8]) -> Result<Self, String> {
        let event = lenient_json::parse(bytes).map(|read| Self::new(Value::Object(read.members)));
        let is_enough = |event: &Self| match event.name() {
            "" => false,
            "PostToolUse" => !is_planning(event.tool()),
            _ => true,
        };
        event.filter(is_enough).ok_or_else(|| "the event is too large".to_owned())
    }

    fn new(value: Value) -> Self {
        let client = HookClient::of(&value, |name| std::env::var_os(name).is_some());
        Self { value, client }
    }

    /// The client that sent it.
    pub(crate) fn client(&self) -> HookClient {
        self.client
    }

    /// `hook_event_name`, as Claude Code calls it.
    pub(crate) fn name(&self) -> &str {
        self.client.common_event(self.text("hook_event_name").unwrap_or_default())
    }

    /// The user's prompt.
    pub(crate) fn prompt(&self) -> Option<&str> {
        self.text("prompt").map(|text| self.client.prompt(text))
    }

    /// Whether the event comes from an agent that the client itself uses, for example to compact.
    pub(crate) fn is_of_internal_agent(&self) -> bool {
        self.text("agent_type").is_some_and(str::is_empty)
    }

    /// A member that is a string.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.value.get(key).and_then(Value::as_str)
    }

    /// `tool_name`.
    pub(crate) fn tool(&self) -> &str {
        self.text("tool_name").unwrap_or_default()
    }

    /// A string of `tool_input`.
    pub(crate) fn input(&self, key: &str) -> Option<&str> {
        self.tool_input()?.get(key)?.as_str()
    }

    /// A command of `tool_input`. An array of words becomes a command line; of `bash -lc TEXT` only the
    /// text counts.
    pub(super) fn command(&self, key: &str) -> Option<Cow<'_, str>> {
        let words = match self.tool_input()?.get(key)? {
            Value::String(text) => return Some(Cow::Borrowed(text)),
            Value::Array(words) => words.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?,
            _ => return None,
        };
        if let [program, flag, text] = words.as_slice()
            && is_shell_program(base_name(program))
            && flag.starts_with('-')
            && flag.ends_with('c')
        {
            return Some(Cow::Borrowed(text));
        }
        let words: Vec<Cow<'_, str>> = words.into_iter().map(shell_word).collect();
        Some(Cow::Owned(words.join(" ")))
    }

    /// `tool_input`.
    pub(super) fn tool_input(&self) -> Option<&Value> {
        self.value.get("tool_input")
    }

    /// What the tool answered.
    pub(super) fn response(&self) -> Option<&Value> {
        ["tool_response", "tool_result"].iter().find_map(|key| self.value.get(key))
    }

    /// What the agent said last before it stopped.
    pub(super) fn last_message(&self) -> Option<&str> {
        let keys = ["last_assistant_message", "prompt_response"];
        keys.iter().find_map(|key| self.text(key)).filter(|text| !text.trim().is_empty())
    }

    /// The file that a tool writes, as the tool names it.
    pub(crate) fn file(&self) -> Option<&str> {
        ["file_path", "notebook_path", "path"].iter().find_map(|key| self.input(key))
    }

    /// The strings of `tool_input` at any depth.
    pub(crate) fn input_strings(&self, most: usize) -> Vec<&str> {
        self.tool_input().map(|input| strings(input, most)).unwrap_or_default()
    }

    /// Whether the tool runs a shell command.
    pub(crate) fn is_shell(&self) -> bool {
        matches!(self.tool(), "Bash" | "bash" | "shell" | "run_shell_command")
    }

    /// Whether a hook already kept the agent from stopping.
    pub(crate) fn stop_hook_active(&self) -> bool {
        self.value.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false)
    }

    /// The agent's working directory, if the event has it as an absolute path.
    pub(crate) fn cwd(&self) -> Option<PathBuf> {
        self.text("cwd").map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The same, or the working directory of the hook.
    pub(super) fn cwd_or_current(&self) -> Option<PathBuf> {
        self.cwd().or_else(|| std::env::current_dir().ok())
    }

    /// The client's transcript of the conversation.
    pub(super) fn transcript(&self) -> Option<&Path> {
        self.text("transcript_path").map(Path::new)
    }

    /// The session's name as a word that can be an actor and a file name.
    pub(crate) fn session(&self) -> Option<String> {
        session_name(self.text("session_id")?)
    }

    /// Whether the event can concern the state at all; nothing is read for the others.
    pub(crate) fn is_of_interest(&self) -> bool {
        match self.name() {
            "PreToolUse" => {
                let tool = self.tool();
                let asks =
                    uses_web(tool) || matches!(tool, "Task" | "Agent") || calls_subagent(tool);
                let works = self.is_shell() || writes_file(tool) || asks || is_foreign(tool);
                works || decides_review(self) || sets_constraint(self)
            }
            "PostToolUse" => {
                let tool = self.tool();
                let is_known =
                    usage_of(tool).is_some() || is_planning(tool) || calls_subagent(tool);
                // Gemini CLI does not say when it compacts: any tool may be the first one after it.
                is_known || self.client == HookClient::Gemini
            }
            // Copilot CLI sends it for a subagent, too.
            "Stop" => !self.stop_hook_active() && self.text("parent_agent_id").is_none(),
            "SubagentStart" => !self.is_of_internal_agent(),
            "SessionStart" | "UserPromptSubmit" | "PreCompact" | "SessionEnd" => true,
            _ => false,
        }
    }

    /// The nearest state directory at or above the agent's working directory.
    pub(crate) fn state_directory(&self, project: Option<&Path>) -> Option<PathBuf> {
        let cwd = self.cwd_or_current();
        let places = cwd.iter().map(PathBuf::as_path).chain(project);
        // A hook ignores a state that is reached through a link.
        places.into_iter().find_map(|place| nearest(place)?.ok())
    }
}

/// Tools that write a file, by the names that clients give them.
pub(super) fn writes_file(tool: &str) -> bool {
    const CLAUDE: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];
    const OTHERS: [&str; 6] =
        ["apply_patch", "create", "edit", "replace", "str_replace_editor", "write_file"];
    CLAUDE.contains(&tool) || OTHERS.contains(&tool)
}

/// Tools that access the web.
pub(super) fn uses_web(tool: &str) -> bool {
    matches!(tool, "WebFetch" | "WebSearch" | "web_fetch" | "google_web_search")
}

/// What a call of a tool counts as.
pub(super) fn usage_of(tool: &str) -> Option<Usage> {
    if writes_file(tool) {
        Some(Usage::FileOperation)
    } else {
        uses_web(tool).then_some(Usage::WebRequest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(json: &str) -> HookEvent {
        HookEvent::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn a_session_is_named_by_a_short_safe_word() {
        let named =
            |id: &str| event(&serde_json::json!({ "session_id": id }).to_string()).session();
        assert_eq!(named("3f2a9c1e-77aa-4c1d-9b1f-001122334455").as_deref(), Some("3f2a9c1e"));
        assert_eq!(named("abc123").as_deref(), Some("abc123"));
        assert_eq!(named("../../etc/passwd").as_deref(), Some("etcpasswd"));
        assert_eq!(named("--actor"), Some("actor".to_owned()));
        assert_eq!(named("\u{1b}[31m/").as_deref(), Some("31m"));
        assert_eq!(named("///"), None);
    }

    #[test]
    fn members_of_a_wrong_type_are_absent() {
        let event = event(
            r#"{"hook_event_name":7,"tool_input":"x","cwd":"relative","stop_hook_active":"yes"}"#,
        );
        assert_eq!((event.name(), event.file(), event.cwd()), ("", None, None));
        assert!(!event.stop_hook_active() && !event.is_of_interest());
        assert!(HookEvent::parse(b"[1]").is_err() && HookEvent::parse(b"{").is_err());
    }

    #[test]
    fn half_a_character_does_not_hide_an_event() {
        let event = event(
            r#"{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"content":"\ud83d cut"}}"#,
        );
        assert!(event.is_of_interest());
        assert_eq!(event.input("content"), Some("\u{fffd} cut"));
        assert!(HookEvent::parse(br#"{"a":"\ud83d","#).is_err());
    }

    #[test]
    fn looking_is_not_work() {
        for tool in ["Read", "Glob", "Grep", "TodoWrite", "mcp__statedir__step", ""] {
            let event =
                event(&format!("{{\"hook_event_name\":\"PreToolUse\",\"tool_name\":{tool:?}}}"));
            assert!(!event.is_of_interest(), "{tool}");
        }
    }
}
