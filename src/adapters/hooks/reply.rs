//! What a hook answers, in the form that each event takes.

use serde_json::{Value, json};

use super::client::HookClient;
use crate::text::display::{one_line, shorten};

/// An answer; most events get none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum HookReply {
    /// Nothing to say.
    #[default]
    Silent,
    /// Text for the agent, for events that take some.
    Context(String),
    /// The tool must not be used like this.
    Deny(String),
    /// A person is asked before the tool is used.
    Ask(String),
    /// The agent continues with this reason; for a tool that ran, it says what is wrong.
    Block {
        /// The message to the agent.
        reason: String,
        /// More text, for events that take some.
        context: Option<String>,
    },
}

impl HookReply {
    /// The JSON for the event of that name, as its client understands it; none when there is
    /// nothing to say or the event takes no such answer.
    pub(crate) fn to_json(&self, event: &str, client: HookClient) -> Option<Value> {
        let takes_context =
            matches!(event, "SessionStart" | "UserPromptSubmit" | "PostToolUse" | "SubagentStart")
                || (event, client) == ("PreToolUse", HookClient::Copilot);
        let own_name = client.own_event(event);
        let context = |text: &str| {
            let specific = json!({ "hookEventName": own_name, "additionalContext": text });
            match client {
                HookClient::Copilot => {
                    json!({ "additionalContext": text, "hookSpecificOutput": specific })
                }
                _ => json!({ "hookSpecificOutput": specific }),
            }
        };
        match self {
            Self::Silent => None,
            Self::Context(text) => takes_context.then(|| context(text)),
            Self::Deny(reason) => {
                (event == "PreToolUse").then(|| decision(own_name, "deny", reason, client))
            }
            Self::Ask(reason) => {
                (event == "PreToolUse").then(|| decision(own_name, "ask", reason, client))
            }
            Self::Block { reason, context: more } => match (event, client) {
                // A tool that ran cannot be blocked there: the agent is told instead.
                ("PostToolUse", HookClient::Gemini) => {
                    let more = more.as_deref().unwrap_or_default();
                    Some(context(&format!("{reason}{more}")))
                }
                ("Stop" | "PostToolUse", _) => {
                    let word = if client == HookClient::Gemini { "deny" } else { "block" };
                    let mut answer = json!({ "decision": word, "reason": reason });
                    if let Some(more) = more.as_deref().filter(|_| takes_context) {
                        answer["hookSpecificOutput"] = context(more)["hookSpecificOutput"].take();
                    }
                    Some(answer)
                }
                _ => None,
            },
        }
    }
}

/// Whether a tool may be used. A client that cannot ask gets a refusal.
fn decision(event: &str, word: &str, reason: &str, client: HookClient) -> Value {
    match client {
        HookClient::Claude | HookClient::Copilot | HookClient::Qwen => {
            json!({ "hookSpecificOutput": {
            "hookEventName": event, "permissionDecision": word, "permissionDecisionReason": reason,
        } })
        }
        HookClient::Codex => json!({ "hookSpecificOutput": {
            "hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": reason,
        } }),
        HookClient::Gemini => json!({ "decision": "deny", "reason": reason }),
    }
}

/// Text from the state as quoted lines, so that it cannot pass for an instruction.
pub(super) fn quoted(text: &str) -> String {
    let breaks = |c: char| (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}');
    let clean = |c: char| if breaks(c) { ' ' } else { c };
    let line = |line: &str| format!("> {}\n", line.chars().map(clean).collect::<String>());
    text.lines().map(line).collect()
}

/// Text from the state on one line of at most `most` characters.
pub(super) fn short_line(text: &str, most: usize) -> String {
    let line: String = one_line(text).chars().filter(|c| !c.is_control()).collect();
    shorten(&line, most).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_gets_only_what_it_takes() {
        let claude = HookClient::Claude;
        let context = HookReply::Context("x".into());
        let json = context.to_json("SessionStart", claude).unwrap();
        assert_eq!(json["hookSpecificOutput"]["hookEventName"], "SessionStart");
        assert_eq!(json["hookSpecificOutput"]["additionalContext"], "x");
        for event in ["PreCompact", "SessionEnd", "Stop", "PreToolUse", "Unknown"] {
            assert_eq!(context.to_json(event, claude), None, "{event}");
        }
        let deny = HookReply::Deny("no".into());
        assert_eq!(
            deny.to_json("PreToolUse", claude).unwrap()["hookSpecificOutput"]["permissionDecision"],
            "deny"
        );
        assert_eq!(deny.to_json("PostToolUse", claude), None);
        let block = HookReply::Block { reason: "r".into(), context: Some("c".into()) };
        assert_eq!(
            block.to_json("Stop", claude).unwrap(),
            json!({ "decision": "block", "reason": "r" })
        );
        assert!(block.to_json("PostToolUse", claude).unwrap()["hookSpecificOutput"].is_object());
    }

    #[test]
    fn every_client_gets_what_it_understands() {
        let ask = HookReply::Ask("why".into());
        let codex = ask.to_json("PreToolUse", HookClient::Codex).unwrap();
        assert_eq!(codex["hookSpecificOutput"]["permissionDecision"], "deny");
        let gemini = ask.to_json("PreToolUse", HookClient::Gemini).unwrap();
        assert_eq!(gemini, json!({ "decision": "deny", "reason": "why" }));
        let brief = HookReply::Context("brief".into());
        let copilot = brief.to_json("SessionStart", HookClient::Copilot).unwrap();
        assert_eq!(copilot["additionalContext"], "brief");
        assert!(brief.to_json("PreToolUse", HookClient::Copilot).is_some());
        let told = brief.to_json("UserPromptSubmit", HookClient::Gemini).unwrap();
        assert_eq!(told["hookSpecificOutput"]["hookEventName"], "BeforeAgent");
        let block = HookReply::Block { reason: "r".into(), context: None };
        assert_eq!(block.to_json("Stop", HookClient::Gemini).unwrap()["decision"], "deny");
        assert_eq!(block.to_json("SubagentStop", HookClient::Claude), None);
    }

    #[test]
    fn every_line_of_quoted_text_is_marked() {
        assert_eq!(quoted("a\n# b\r\n\u{1b}[1m"), "> a\n> # b\n>  [1m\n");
        assert_eq!(short_line("a\nb  c", 3), "a b…");
    }
}
