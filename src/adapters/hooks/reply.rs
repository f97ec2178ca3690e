//! What a hook answers, in the shape that each event takes.

use serde_json::{Value, json};

use super::Dialect;
use crate::text::display::{one_line, shorten};

/// An answer; most events get none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reply {
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

impl Reply {
    /// The JSON for the event of that name, as its client understands it; none when there is
    /// nothing to say or the event takes no such answer.
    pub(crate) fn to_json(&self, event: &str, dialect: Dialect) -> Option<Value> {
        let takes_context =
            matches!(event, "SessionStart" | "UserPromptSubmit" | "PostToolUse" | "SubagentStart")
                || (event, dialect) == ("PreToolUse", Dialect::Copilot);
        let own_name = dialect.own_event(event);
        let context = |text: &str| {
            let specific = json!({ "hookEventName": own_name, "additionalContext": text });
            match dialect {
                Dialect::Copilot => {
                    json!({ "additionalContext": text, "hookSpecificOutput": specific })
                }
                _ => json!({ "hookSpecificOutput": specific }),
            }
        };
        match self {
            Self::Silent => None,
            Self::Context(text) => takes_context.then(|| context(text)),
            Self::Deny(reason) => {
                (event == "PreToolUse").then(|| decision(own_name, "deny", reason, dialect))
            }
            Self::Ask(reason) => {
                (event == "PreToolUse").then(|| decision(own_name, "ask", reason, dialect))
            }
            Self::Block { reason, context: more } => match (event, dialect) {
                // There a tool that ran cannot be blocked: the agent is told.
                ("PostToolUse", Dialect::Gemini) => {
                    let more = more.as_deref().unwrap_or_default();
                    Some(context(&format!("{reason}{more}")))
                }
                ("Stop" | "PostToolUse", _) => {
                    let word = if dialect == Dialect::Gemini { "deny" } else { "block" };
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
fn decision(event: &str, word: &str, reason: &str, dialect: Dialect) -> Value {
    match dialect {
        Dialect::Claude | Dialect::Copilot | Dialect::Qwen => json!({ "hookSpecificOutput": {
            "hookEventName": event, "permissionDecision": word, "permissionDecisionReason": reason,
        } }),
        Dialect::Codex => json!({ "hookSpecificOutput": {
            "hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": reason,
        } }),
        Dialect::Gemini => json!({ "decision": "deny", "reason": reason }),
    }
}

/// Text from the state as quoted lines, so that it cannot pass for an instruction.
pub(super) fn quoted(text: &str) -> String {
    // Whatever could pass for the end of a line is a blank.
    let breaks = |c: char| (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}');
    let clean = |c: char| if breaks(c) { ' ' } else { c };
    let line = |line: &str| format!("> {}\n", line.chars().map(clean).collect::<String>());
    text.lines().map(line).collect()
}

/// Text from the state in one line of at most so many characters.
pub(super) fn short(text: &str, most: usize) -> String {
    let line: String = one_line(text).chars().filter(|c| !c.is_control()).collect();
    shorten(&line, most).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_gets_only_what_it_takes() {
        let claude = Dialect::Claude;
        let context = Reply::Context("x".into());
        let json = context.to_json("SessionStart", claude).unwrap();
        assert_eq!(json["hookSpecificOutput"]["hookEventName"], "SessionStart");
        assert_eq!(json["hookSpecificOutput"]["additionalContext"], "x");
        for event in ["PreCompact", "SessionEnd", "Stop", "PreToolUse", "Unknown"] {
            assert_eq!(context.to_json(event, claude), None, "{event}");
        }
        let deny = Reply::Deny("no".into());
        assert_eq!(
            deny.to_json("PreToolUse", claude).unwrap()["hookSpecificOutput"]["permissionDecision"],
            "deny"
        );
        assert_eq!(deny.to_json("PostToolUse", claude), None);
        let block = Reply::Block { reason: "r".into(), context: Some("c".into()) };
        assert_eq!(
            block.to_json("Stop", claude).unwrap(),
            json!({ "decision": "block", "reason": "r" })
        );
        assert!(block.to_json("PostToolUse", claude).unwrap()["hookSpecificOutput"].is_object());
    }

    #[test]
    fn every_client_gets_what_it_understands() {
        let ask = Reply::Ask("why".into());
        let codex = ask.to_json("PreToolUse", Dialect::Codex).unwrap();
        assert_eq!(codex["hookSpecificOutput"]["permissionDecision"], "deny");
        let gemini = ask.to_json("PreToolUse", Dialect::Gemini).unwrap();
        assert_eq!(gemini, json!({ "decision": "deny", "reason": "why" }));
        let brief = Reply::Context("brief".into());
        let copilot = brief.to_json("SessionStart", Dialect::Copilot).unwrap();
        assert_eq!(copilot["additionalContext"], "brief");
        assert!(brief.to_json("PreToolUse", Dialect::Copilot).is_some());
        let told = brief.to_json("UserPromptSubmit", Dialect::Gemini).unwrap();
        assert_eq!(told["hookSpecificOutput"]["hookEventName"], "BeforeAgent");
        let block = Reply::Block { reason: "r".into(), context: None };
        assert_eq!(block.to_json("Stop", Dialect::Gemini).unwrap()["decision"], "deny");
        assert_eq!(block.to_json("SubagentStop", Dialect::Claude), None);
    }

    #[test]
    fn every_line_of_quoted_text_is_marked() {
        assert_eq!(quoted("a\n# b\r\n\u{1b}[1m"), "> a\n> # b\n>  [1m\n");
        assert_eq!(short("a\nb  c", 3), "a b…");
    }
}
