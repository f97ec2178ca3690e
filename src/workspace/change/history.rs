//! Adding notes and turns of the conversation to the history.

use serde_json::{Map, Value};

use super::text_of;
use crate::{
    brief::Turn,
    domain::ErrorCode,
    workspace::{Answer, Draft, Error},
};

/// Adds an entry.
pub(super) fn add(
    draft: &mut Draft<'_>,
    title: &str,
    fields: &Map<String, Value>,
) -> Result<Answer, Error> {
    let title = title.trim();
    if title.is_empty() || title.contains(['\n', '\r', '\0']) {
        return Err(Error::refused(ErrorCode::BadValue, "an entry needs a title of one line"));
    }
    let mut fields: Vec<(String, String)> =
        fields.iter().map(|(key, value)| (key.clone(), text_of(value))).collect();
    if !fields.iter().any(|(key, _)| key == "actor") {
        fields.push(("actor".to_owned(), draft.env.actor().to_owned()));
    }
    let id = draft.log(title, fields)?;
    Ok(Answer::new(format!("history: {title}")).with("entry", id.to_string()))
}

/// Adds the turn to the history, numbered.
pub(super) fn add_turn(draft: &mut Draft<'_>, turn: &Turn) -> Result<Answer, Error> {
    if turn.user_message.trim().is_empty() && turn.response.trim().is_empty() {
        return Err(Error::refused_with(
            ErrorCode::BadValue,
            "a turn needs the user's message or the answer",
            "`statedir turn add --help` shows its options",
        ));
    }
    let number = draft.facts()?.history.counts.turns + 1;
    let mut fields = turn.to_fields();
    fields.push(("actor".to_owned(), draft.env.actor().to_owned()));
    let mode = draft.plan().ok().and_then(|plan| plan.metadata.mode.clone());
    if mode.is_some_and(|mode| mode.eq_ignore_ascii_case("SIMULATION")) {
        fields.push(("mode".to_owned(), "SIMULATION".to_owned()));
    }
    let id = draft.log(format!("Turn {number}"), fields)?;
    Ok(Answer::new(format!("turn {number} recorded"))
        .with("turn", number)
        .with("entry", id.to_string()))
}
