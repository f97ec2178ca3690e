//! What a hook answers, in the shape that each event takes.

use serde_json::{Value, json};

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
    /// The agent goes on with this reason; for a tool that ran, it is told what is wrong.
    Block {
        /// What the agent is told.
        reason: String,
        /// More text, for events that take some.
        context: Option<String>,
    },
}

impl Reply {
    /// The JSON for the event of that name; none when there is nothing to say or the event takes
    /// no such answer.
    pub(crate) fn to_json(&self, event: &str) -> Option<Value> {
        let takes_context = matches!(event, "SessionStart" | "UserPromptSubmit" | "PostToolUse");
        let specific =
            |context: &str| json!({ "hookEventName": event, "additionalContext": context });
        let decision = |word: &str, reason: &str| {
            json!({ "hookSpecificOutput": { "hookEventName": event, "permissionDecision": word,
                "permissionDecisionReason": reason } })
        };
        match self {
            Self::Silent => None,
            Self::Context(text) => {
                takes_context.then(|| json!({ "hookSpecificOutput": specific(text) }))
            }
            Self::Deny(reason) => (event == "PreToolUse").then(|| decision("deny", reason)),
            Self::Ask(reason) => (event == "PreToolUse").then(|| decision("ask", reason)),
            Self::Block { reason, context } => {
                if !matches!(event, "Stop" | "SubagentStop" | "PostToolUse") {
                    return None;
                }
                let mut answer = json!({ "decision": "block", "reason": reason });
                if let Some(context) = context.as_deref().filter(|_| takes_context) {
                    answer["hookSpecificOutput"] = specific(context);
                }
                Some(answer)
            }
        }
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
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|c| !c.is_control()).collect();
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_gets_only_what_it_takes() {
        let context = Reply::Context("x".into());
        let json = context.to_json("SessionStart").unwrap();
        assert_eq!(json["hookSpecificOutput"]["hookEventName"], "SessionStart");
        assert_eq!(json["hookSpecificOutput"]["additionalContext"], "x");
        for event in ["PreCompact", "SessionEnd", "Stop", "PreToolUse", "Unknown"] {
            assert_eq!(context.to_json(event), None, "{event}");
        }
        let deny = Reply::Deny("no".into());
        assert_eq!(
            deny.to_json("PreToolUse").unwrap()["hookSpecificOutput"]["permissionDecision"],
            "deny"
        );
        assert_eq!(deny.to_json("PostToolUse"), None);
        let block = Reply::Block { reason: "r".into(), context: Some("c".into()) };
        assert_eq!(block.to_json("Stop").unwrap(), json!({ "decision": "block", "reason": "r" }));
        assert!(block.to_json("PostToolUse").unwrap()["hookSpecificOutput"].is_object());
    }

    #[test]
    fn every_line_of_quoted_text_is_marked() {
        assert_eq!(quoted("a\n# b\r\n\u{1b}[1m"), "> a\n> # b\n>  [1m\n");
        assert_eq!(short("a\nb  c", 3), "a b…");
    }
}
