//! Adding and removing adaptation rules.

use serde_json::Value;

use super::constraint::{find, with_section};
use crate::{
    domain::{ConstraintList, ErrorCode, ModelError, StateFile},
    rules::Rule,
    text::snippet,
    workspace::{Answer, Draft, Error, ErrorKind},
};

const FILE: StateFile = StateFile::Constraints;

/// Adds a rule that is understood.
pub(super) fn add(draft: &mut Draft<'_>, text: &str) -> Result<Answer, Error> {
    let text = text.trim();
    if text.is_empty() || text.contains(['\n', '\r', '\0']) {
        return Err(Error::refused(ErrorCode::BadValue, "a rule is one line of text"));
    }
    let rule = Rule::parse_with(text, draft.workflow()).map_err(|error| {
        let hint = error.nearest.as_ref().map(|near| format!("nearest: {near}"));
        ErrorKind::Refused {
            code: ErrorCode::RuleNotUnderstood,
            message: format!("{error}\n{}", snippet(text, error.span.start)),
            hint: hint.or_else(|| Some("`statedir rule --help` describes the language".to_owned())),
        }
    })?;
    let constraints = with_section(draft, ConstraintList::Rules)?;
    let mut edit = constraints.document.edit();
    edit.append_item(constraints.section(ConstraintList::Rules)?, text);
    let edited = edit.finish().map_err(|error| ModelError::edit(FILE, &error))?;
    draft.put(FILE, edited);
    draft.facts()?.touch(&format!("{FILE} rule"));
    let number = constraints.rules.len() + 1;
    Ok(Answer::new(format!("rule {number}: {text}\nmeans: {rule}"))
        .with("number", number)
        .with("text", text)
        .with("means", rule.to_string()))
}

/// Removes a rule by number or text.
pub(super) fn remove(draft: &mut Draft<'_>, which: &Value) -> Result<Answer, Error> {
    let constraints = draft.constraints()?;
    let rule = find(&constraints.rules, which, "rule")?;
    let mut edit = constraints.document.edit();
    edit.remove_item(rule.item);
    let edited = edit.finish().map_err(|error| ModelError::edit(FILE, &error))?;
    draft.put(FILE, edited);
    draft.facts()?.touch(&format!("{FILE} rule"));
    Ok(Answer::new(format!("rule removed: {}", rule.text)).with("text", rule.text.clone()))
}
