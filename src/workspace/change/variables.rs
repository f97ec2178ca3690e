//! Changes of variables.json.

use serde_json::{Value, json};

use crate::{
    domain::{ErrorCode, StateFile, variables},
    text::display::counted,
    text::json::{JsonEdit, JsonError, Path},
    workspace::{Answer, Draft, Error},
};

const FILE: StateFile = StateFile::Variables;

/// Sets a value, creating the objects on the way.
pub(super) fn set(draft: &mut Draft<'_>, path: &str, value: &Value) -> Result<Answer, Error> {
    let at = parse(path)?;
    if at == Path::root() && !value.is_object() {
        return Err(Error::refused(
            ErrorCode::BadValue,
            "`variables.json` as a whole must stay an object",
        ));
    }
    edit(draft, path, |edit| edit.set(&at, value))?;
    Ok(Answer::new(format!("{path} = {value}")).with("path", path).with("value", value.clone()))
}

/// Removes a value.
pub(super) fn unset(draft: &mut Draft<'_>, path: &str) -> Result<Answer, Error> {
    let at = parse(path)?;
    if at == Path::root() {
        return Err(Error::refused(
            ErrorCode::BadValue,
            "`variables.json` as a whole cannot be removed",
        ));
    }
    let mut removed = Value::Null;
    edit(draft, path, |edit| {
        removed = edit.remove(&at)?;
        Ok(())
    })?;
    Ok(Answer::new(format!("{path} removed")).with("path", path).with("removed", removed))
}

/// Appends to an array, creating it if it is not there.
pub(super) fn append(draft: &mut Draft<'_>, path: &str, value: &Value) -> Result<Answer, Error> {
    let at = parse(path)?;
    edit(draft, path, |edit| edit.append(&at, value))?;
    Ok(Answer::new(format!("{path} += {value}")).with("path", path).with("value", value.clone()))
}

/// Merges an object (RFC 7396).
pub(super) fn merge(draft: &mut Draft<'_>, patch: &Value) -> Result<Answer, Error> {
    let Some(keys) = patch.as_object() else {
        return Err(Error::refused(ErrorCode::BadValue, "a merge patch must be an object here"));
    };
    let names: Vec<&str> = keys.keys().map(String::as_str).collect();
    edit(draft, &names.join(", "), |edit| edit.merge_patch(patch))?;
    Ok(Answer::new(format!("merged {}", names.join(", "))).with("keys", json!(names)))
}

/// Applies a list of operations, all or none (RFC 6902).
pub(super) fn patch(draft: &mut Draft<'_>, patch: &Value) -> Result<Answer, Error> {
    let count = patch.as_array().map_or(0, Vec::len);
    edit(draft, "patch", |edit| edit.patch(patch))?;
    let variables = draft.variables()?;
    if variables.document.keys(&Path::root()).is_none() {
        return Err(Error::refused(
            ErrorCode::BadValue,
            "`variables.json` as a whole must stay an object",
        ));
    }
    let operations = counted(count, "operation", "operations");
    Ok(Answer::new(format!("applied {operations}")).with("operations", count))
}

fn edit(
    draft: &mut Draft<'_>,
    what: &str,
    work: impl FnOnce(&mut JsonEdit) -> Result<(), JsonError>,
) -> Result<(), Error> {
    let mut edit = draft.variables()?.document.edit();
    work(&mut edit).map_err(variables::refused)?;
    draft.put_variables(edit.finish());
    draft.facts()?.touch(&format!("{FILE} {what}"));
    Ok(())
}

fn parse(path: &str) -> Result<Path, Error> {
    Path::parse(path).map_err(|error| {
        Error::refused_with(
            ErrorCode::BadPath,
            error.to_string(),
            "a path is dotted (`a.b.0`) or a JSON pointer (`/a/b/0`)",
        )
    })
}
