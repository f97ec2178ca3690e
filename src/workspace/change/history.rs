//! Adding notes to the history.

use serde_json::{Map, Value};

use super::text_of;
use crate::{
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
