//! Clients send nearly the same events: how each names them, and what each understands as an answer.

use serde_json::Value;

/// A client, as far as its hooks differ from those of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum HookClient {
    /// Claude Code, whose names are used everywhere here.
    #[default]
    Claude,
    /// Ignores `ask`.
    Codex,
    /// Copilot CLI, which reads context only at the top of an answer.
    Copilot,
    /// Gemini CLI, with events, tools and answers of its own.
    Gemini,
    /// Qwen Code: Claude Code's events, but it drops the answer to the start of a session.
    Qwen,
}

/// Gemini's events that have another name here.
const GEMINI_EVENTS: [(&str, &str); 5] = [
    ("BeforeAgent", "UserPromptSubmit"),
    ("BeforeTool", "PreToolUse"),
    ("AfterTool", "PostToolUse"),
    ("AfterAgent", "Stop"),
    ("PreCompress", "PreCompact"),
];

impl HookClient {
    /// The client that sent an event; `variable` looks up the environment.
    pub(crate) fn of(event: &Value, variable: impl Fn(&str) -> bool) -> Self {
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = text("hook_event_name");
        if GEMINI_EVENTS.iter().any(|(theirs, _)| *theirs == name) || variable("GEMINI_SESSION_ID")
        {
            Self::Gemini
        } else if variable("QWEN_PROJECT_DIR") || text("transcript_path").contains("/.qwen/") {
            Self::Qwen
        } else if variable("COPILOT_CLI") {
            Self::Copilot
        } else if event.get("turn_id").is_some() || text("transcript_path").contains("/.codex/") {
            Self::Codex
        } else {
            Self::Claude
        }
    }

    /// An event's name, as Claude Code has it.
    pub(super) fn common_event(self, name: &str) -> &str {
        let known = GEMINI_EVENTS.iter().find(|(theirs, _)| *theirs == name);
        known.map_or(name, |(_, ours)| ours)
    }

    /// The client's own name of an event.
    pub(super) fn own_event(self, name: &str) -> &str {
        let known = GEMINI_EVENTS.iter().find(|(_, ours)| *ours == name);
        match known.filter(|_| self == Self::Gemini) {
            Some((theirs, _)) => theirs,
            None => name,
        }
    }

    /// What the user said, without the context that the client put before it.
    pub(super) fn prompt(self, text: &str) -> &str {
        const END: &str = "</hook_context>";
        let said = text.trim_start();
        match said.starts_with("<hook_context>").then(|| said.rfind(END)).flatten() {
            Some(at) => said[at + END.len()..].trim_start(),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_client_is_known_by_its_event() {
        let of = |event: Value, set: &str| HookClient::of(&event, |name| name == set);
        let named = |name: &str| json!({ "hook_event_name": name });
        assert_eq!(of(named("PreToolUse"), ""), HookClient::Claude);
        assert_eq!(of(named("BeforeTool"), ""), HookClient::Gemini);
        assert_eq!(of(named("SessionStart"), "GEMINI_SESSION_ID"), HookClient::Gemini);
        assert_eq!(of(named("SessionStart"), "COPILOT_CLI"), HookClient::Copilot);
        assert_eq!(of(json!({ "turn_id": "1" }), ""), HookClient::Codex);
        let path = json!({ "transcript_path": "/home/ada/.codex/sessions/x.jsonl" });
        assert_eq!(of(path, ""), HookClient::Codex);
        assert_eq!(of(named("Stop"), "QWEN_PROJECT_DIR"), HookClient::Qwen);
        let path = json!({ "transcript_path": "/home/ada/.qwen/projects/x.jsonl" });
        assert_eq!(of(path, ""), HookClient::Qwen);
    }

    #[test]
    fn events_have_one_name_here_and_their_own_there() {
        for (theirs, ours) in GEMINI_EVENTS {
            assert_eq!(HookClient::Gemini.common_event(theirs), ours);
            assert_eq!(HookClient::Gemini.own_event(ours), theirs);
            assert_eq!(HookClient::Claude.own_event(ours), ours);
        }
        assert_eq!(HookClient::Claude.common_event("Stop"), "Stop");
    }

    #[test]
    fn context_before_a_prompt_is_not_what_the_user_said() {
        let sent = "<hook_context>a brief</hook_context>\n\nGo on";
        assert_eq!(HookClient::Gemini.prompt(sent), "Go on");
        assert_eq!(HookClient::Claude.prompt(" Go on"), " Go on");
    }
}
