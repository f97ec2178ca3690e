//! Reading what a program answered.

use serde_json::Value;

use crate::recovery::RecoveryAction;

/// The longest reasoning that is kept.
const MOST_REASONING: usize = 2_000;

/// An answer that is understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EvaluatorAnswer {
    pub(super) action: RecoveryAction,
    pub(super) reasoning: String,
}

/// Takes the one JSON object of the output; what stands around it does not matter, and the same
/// answer may stand there again.
pub(super) fn read(output: &[u8]) -> Result<EvaluatorAnswer, String> {
    let text = std::str::from_utf8(output).map_err(|_| "its answer is not text".to_owned())?;
    if text.trim().is_empty() {
        return Err("it answered nothing".to_owned());
    }
    let mut objects = objects(text);
    let object = objects.pop().ok_or("its answer contains no JSON object")?;
    if objects.iter().any(|other| *other != object) {
        return Err("its answer contains several JSON objects that differ".to_owned());
    }
    let Some(action) = object.get("action").and_then(Value::as_str) else {
        return Err("its answer has no `action`".to_owned());
    };
    let known = RecoveryAction::parse(action).ok_or_else(|| {
        let shown: String = action.chars().take(60).collect();
        let all: Vec<&str> = RecoveryAction::ALL.iter().map(|action| action.word()).collect();
        format!("`{shown}` is not an action; known: {}", all.join(", "))
    })?;
    let reasoning = match object.get("reasoning") {
        Some(Value::String(text)) if !text.trim().is_empty() => {
            text.trim().chars().take(MOST_REASONING).collect()
        }
        None | Some(Value::Null | Value::String(_)) => "no reasoning was given".to_owned(),
        Some(_) => return Err("its `reasoning` is not a text".to_owned()),
    };
    Ok(EvaluatorAnswer { action: known, reasoning })
}

fn objects(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|offset| at + offset) {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        at = match values.next() {
            Some(Ok(value)) => {
                found.push(value);
                start + values.byte_offset()
            }
            _ => start + 1,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_object_counts_whatever_stands_around_it() {
        let answer = |text: &str| read(text.as_bytes());
        let wanted = EvaluatorAnswer {
            action: RecoveryAction::SkipTask,
            reasoning: "ok {not this}".to_owned(),
        };
        for text in [
            r#"{"action":"skip_task","reasoning":"ok {not this}"}"#,
            "thinking {about} it\n```json\n{\"action\": \"skip_task\", \"reasoning\": \"ok {not this}\"}\n```\nbye",
            r#"so: {"action":"Skip-Task","reasoning":" ok {not this} ","more":[1]}"#,
            "{\"action\":\"skip_task\",\"reasoning\":\"ok {not this}\"}\n{\"reasoning\":\"ok {not this}\",\"action\":\"skip_task\"}",
        ] {
            assert_eq!(answer(text).as_ref(), Ok(&wanted), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_a_reason() {
        for (text, why) in [
            ("", "nothing"),
            ("{\"action\":\"restart\"} {\"action\":\"skip_task\"}", "differ"),
            ("skip_task", "no JSON object"),
            ("{\"action\":", "no JSON object"),
            ("{\"decision\":\"skip_task\"}", "no `action`"),
            ("{\"action\":5}", "no `action`"),
            ("{\"action\":\"rm -rf\"}", "is not an action"),
            ("{\"action\":\"restart\",\"reasoning\":[]}", "not a text"),
        ] {
            let refusal = read(text.as_bytes()).unwrap_err();
            assert!(refusal.contains(why), "{text}: {refusal}");
        }
        assert!(read(b"\xff\xfe").is_err());
        assert!(read("{".repeat(60_000).as_bytes()).is_err());
    }
}
