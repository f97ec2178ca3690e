//! One turn of the conversation.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sections::one_line;
use crate::{domain::Sentiment, history::Entry};

/// How many of the last turns are kept whole.
pub(crate) const WORKING_TURNS: usize = 2;
/// How many of the last turns are kept with shortened responses.
pub(crate) const SHORT_TURNS: usize = 10;
/// How many of the last turns are kept as intents, outcomes and issues.
pub(crate) const MEDIUM_TURNS: usize = 50;
/// How much of a response the short-term memory keeps, in characters.
const SHORT_RESPONSE: usize = 200;

/// What was said and the result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turn {
    /// Its number; given when it is recorded.
    #[serde(skip_deserializing)]
    pub turn: Option<u64>,
    /// When; given when it is recorded.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The conversation it belongs to, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// What the user said.
    pub user_message: String,
    /// What the assistant answered.
    #[serde(alias = "assistant_response")]
    pub response: String,
    /// What the user wanted, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// Steps or tasks that were worked on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
    /// Relevant files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Key decisions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// Lessons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<String>,
    /// The user's feedback, such as `positive`; if absent, it is recognised from the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// Tokens read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

impl Turn {
    /// Reads a turn out of its entry.
    pub(crate) fn read(entry: &Entry) -> Self {
        let text = |key: &str| entry.field(key).map(str::to_owned);
        let list = |keys: [&str; 2]| {
            let found = keys.iter().find_map(|key| entry.field(key));
            found.map(read_list).unwrap_or_default()
        };
        let number = |key: &str| entry.field(key)?.trim().parse().ok();
        let title = entry.title.split_whitespace().nth(1);
        Self {
            turn: title.and_then(|word| word.trim_end_matches(':').parse().ok()),
            time: entry.time.clone(),
            conversation: text("conversation"),
            user_message: text("user_message").unwrap_or_default(),
            response: text("response").unwrap_or_default(),
            intent: text("intent"),
            outcome: text("outcome"),
            errors: list(["errors", "error"]),
            tasks: list(["tasks", "task"]),
            files: list(["files", "file"]),
            decisions: list(["decisions", "decision"]),
            lessons: list(["lessons", "lesson"]),
            feedback: text("feedback"),
            input_tokens: number("input_tokens"),
            output_tokens: number("output_tokens"),
        }
    }

    /// The fields of its entry; lists are written as JSON.
    pub(crate) fn to_fields(&self) -> Vec<(String, String)> {
        let mut fields = vec![("kind".to_owned(), "turn".to_owned())];
        let mut put = |key: &str, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                fields.push((key.to_owned(), value));
            }
        };
        let list =
            |list: &[String]| (!list.is_empty()).then(|| Value::from(list.to_vec()).to_string());
        put("conversation", self.conversation.clone());
        put("user_message", Some(self.user_message.clone()));
        put("response", Some(self.response.clone()));
        put("intent", self.intent.clone());
        put("outcome", self.outcome.clone());
        put("errors", list(&self.errors));
        put("tasks", list(&self.tasks));
        put("files", list(&self.files));
        put("decisions", list(&self.decisions));
        put("lessons", list(&self.lessons));
        put("feedback", self.sentiment());
        put("input_tokens", self.input_tokens.map(|count| count.to_string()));
        put("output_tokens", self.output_tokens.map(|count| count.to_string()));
        fields
    }

    /// The user's feedback: as given, or as recognised from the message.
    pub(crate) fn sentiment(&self) -> Option<String> {
        let given = self.feedback.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let recognised = || Sentiment::recognise(&self.user_message).map(Sentiment::word);
        given.or_else(recognised).map(str::to_owned)
    }

    /// The turn as text for people, with its time.
    pub(crate) fn to_text(&self) -> String {
        let number = self.turn.map(|turn| format!(" {turn}")).unwrap_or_default();
        let time = self.time.as_ref().map(|time| format!(" ({time})")).unwrap_or_default();
        let mut lines = vec![format!("Turn{number}{time}")];
        lines.extend(self.lines(&self.response));
        lines.join("\n")
    }

    /// What was said and the result; with `short`, the response in at most 200 characters.
    pub(crate) fn said(&self, short: bool) -> String {
        let response = if short { self.short_response() } else { self.response.clone() };
        self.numbered(&self.lines(&response))
    }

    /// The essence of an older turn: the result, or else the question.
    pub(crate) fn gist(&self) -> String {
        let mut lines = Vec::new();
        for (name, list) in [("decisions", &self.decisions), ("lessons", &self.lessons)] {
            lines.extend((!list.is_empty()).then(|| format!("{name}: {}", list.join("; "))));
        }
        lines.extend(self.outcome.as_ref().map(|outcome| format!("outcome: {outcome}")));
        if lines.is_empty() {
            lines.push(format!("user: {}", one_line(&self.user_message, SHORT_RESPONSE)));
        }
        self.numbered(&lines)
    }

    fn numbered(&self, lines: &[String]) -> String {
        match self.turn {
            Some(turn) => format!("turn {turn}, {}", lines.join("\n")),
            None => lines.join("\n"),
        }
    }

    fn lines(&self, response: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let said = [("user", self.user_message.as_str()), ("assistant", response)];
        for (who, text) in said.into_iter().filter(|(_, text)| !text.is_empty()) {
            lines.push(format!("{who}: {text}"));
        }
        let named = [("intent", &self.intent), ("outcome", &self.outcome)];
        for (name, value) in named {
            lines.extend(value.as_ref().map(|value| format!("{name}: {value}")));
        }
        let lists = [
            ("errors", &self.errors),
            ("tasks", &self.tasks),
            ("files", &self.files),
            ("decisions", &self.decisions),
            ("lessons", &self.lessons),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            lines.push(format!("{name}: {}", list.join("; ")));
        }
        lines
    }

    /// The response in at most 200 characters.
    pub(crate) fn short_response(&self) -> String {
        if self.response.chars().count() <= SHORT_RESPONSE {
            return self.response.clone();
        }
        one_line(&self.response, SHORT_RESPONSE)
    }
}

/// A list as JSON, as bullets or as one item.
fn read_list(text: &str) -> Vec<String> {
    if let Ok(list) = serde_json::from_str::<Vec<String>>(text) {
        return list;
    }
    let items = text.lines().map(|line| line.trim_start_matches(['-', '*', ' ']).trim());
    let items = items.filter(|item| !item.is_empty() && !item.eq_ignore_ascii_case("none"));
    items.map(str::to_owned).collect()
}
