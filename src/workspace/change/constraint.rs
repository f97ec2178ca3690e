//! Setting modifiers and limits, adding and removing directives.

use serde_json::Value;

use super::text_of;
use crate::{
    domain::{
        Bullet, Constraints, ErrorCode, ModelError, Modifier, ModifierGroup, ModifierKind,
        SettingGroup, StateFile,
    },
    text::markdown::{Edit, Edited},
    workspace::{Answer, Draft, Error, ErrorKind},
};

const FILE: StateFile = StateFile::Constraints;

/// Sets a modifier or a limit to an allowed value.
pub(super) fn set(
    draft: &mut Draft<'_>,
    name: &str,
    value: &Value,
    create: bool,
) -> Result<Answer, Error> {
    let constraints = draft.constraints()?;
    let text = text_of(value);
    if let Some(modifier) = draft.workflow().modifier(name) {
        modifier.read(&text).map_err(|refusal| ErrorKind::Refused {
            code: ErrorCode::BadValue,
            message: refusal.to_string(),
            hint: refusal.how_to_allow(),
        })?;
    }
    let before = constraints.setting(name)?.and_then(|setting| setting.value.clone());
    let mut edit = constraints.document.edit();
    write(draft, &constraints, &mut edit, name, value, create)?;
    let edited = edit.finish().map_err(|error| ModelError::edit(FILE, &error))?;
    put(draft, edited, name)?;
    let from = before.clone().map(|before| format!(" (was {before})")).unwrap_or_default();
    Ok(Answer::new(format!("{name} = {text}{from}"))
        .with("name", name)
        .with("value", value.clone())
        .with("before", before))
}

/// Writes one value in the style of its line, or adds a line for it.
pub(in super::super) fn write(
    draft: &Draft<'_>,
    constraints: &Constraints,
    edit: &mut Edit<'_>,
    name: &str,
    value: &Value,
    create: bool,
) -> Result<(), Error> {
    let modifier = draft.workflow().modifier(name);
    let list =
        modifier.is_some_and(|modifier| modifier.kind() == ModifierKind::List) || value.is_array();
    let text = text_of(value);
    match constraints.setting(name)? {
        Some(setting) if list => edit.set_raw(setting.item, &inline(value)),
        Some(setting) => edit.set_value(setting.item, &text),
        None => {
            let (group, quoted) = match modifier {
                Some(modifier) => (group_of(modifier), is_quoted(modifier)),
                None if create => (SettingGroup::Modifier, value.is_string()),
                None => return Err(unknown(draft, constraints, name)),
            };
            let section = constraints.settings_section(group)?;
            if list {
                edit.insert_raw_field(section, None, name, &inline(value))
            } else if quoted {
                edit.insert_raw_field(section, None, name, &Value::from(text).to_string())
            } else {
                edit.insert_field(section, None, name, &text)
            }
        }
    };
    Ok(())
}

/// Adds a directive, for good or for a number of steps.
pub(super) fn add_directive(
    draft: &mut Draft<'_>,
    text: &str,
    steps: Option<u32>,
) -> Result<Answer, Error> {
    let text = text.trim();
    if text.is_empty() || text.contains(['\n', '\r', '\0']) {
        return Err(Error::refused(ErrorCode::BadValue, "a directive is one line of text"));
    }
    let text = match steps {
        None => text.to_owned(),
        Some(0) => {
            return Err(Error::refused(
                ErrorCode::BadValue,
                "a directive must last for at least 1 step",
            ));
        }
        Some(1) => format!("For the next 1 step, {text}"),
        Some(count) => format!("For the next {count} steps, {text}"),
    };
    Error::refuse_placeholder(&text)?;
    let constraints = draft.constraints()?;
    if constraints.directives.iter().any(|directive| directive.text == text) {
        return Ok(Answer::new("this directive is already in force"));
    }
    let mut edit = constraints.document.edit();
    edit.append_item(constraints.directives_section()?, &text);
    let edited = edit.finish().map_err(|error| ModelError::edit(FILE, &error))?;
    put(draft, edited, "directive")?;
    let number = constraints.directives.len() + 1;
    Ok(Answer::new(format!("directive {number}: {text}")).with("number", number).with("text", text))
}

/// Removes a directive by number or text.
pub(super) fn remove_directive(draft: &mut Draft<'_>, which: &Value) -> Result<Answer, Error> {
    let constraints = draft.constraints()?;
    let directive = find(&constraints.directives, which, "directive")?;
    let mut edit = constraints.document.edit();
    edit.remove_item(directive.item);
    let edited = edit.finish().map_err(|error| ModelError::edit(FILE, &error))?;
    put(draft, edited, "directive")?;
    Ok(Answer::new(format!("directive removed: {}", directive.text))
        .with("text", directive.text.clone()))
}

/// The line that a number or a text means.
pub(super) fn find<'c>(
    bullets: &'c [Bullet],
    which: &Value,
    noun: &str,
) -> Result<&'c Bullet, Error> {
    let wanted = text_of(which);
    let number = wanted.trim().parse::<usize>().ok();
    let found = bullets.iter().find(|bullet| match number {
        Some(number) => bullet.number == number,
        None => bullet.text == wanted.trim(),
    });
    found.ok_or_else(|| {
        Error::refused_with(
            ErrorCode::NotFound,
            format!("there is no {noun} `{}`", wanted.trim()),
            format!("`statedir {noun} list` shows them with their numbers"),
        )
    })
}

fn put(draft: &mut Draft<'_>, edited: Edited, what: &str) -> Result<(), Error> {
    draft.put(FILE, edited);
    draft.facts()?.touch(&format!("{FILE} {what}"));
    Ok(())
}

fn group_of(modifier: &Modifier) -> SettingGroup {
    match modifier.group() {
        ModifierGroup::Resource => SettingGroup::Resource,
        ModifierGroup::Modifier => SettingGroup::Modifier,
    }
}

/// Whether the value is written between quotes, as the templates do it.
fn is_quoted(modifier: &Modifier) -> bool {
    matches!(modifier.kind(), ModifierKind::Ordered | ModifierKind::Enum | ModifierKind::Text)
}

/// A list as one line of JSON, `["a", "b"]`; a plain text becomes a list of one.
fn inline(value: &Value) -> String {
    let items = match value {
        Value::Array(items) => items.clone(),
        Value::String(text) => serde_json::from_str::<Vec<Value>>(text)
            .unwrap_or_else(|_| text.split(',').map(|word| Value::from(word.trim())).collect()),
        other => vec![other.clone()],
    };
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("[{}]", items.join(", "))
}

fn unknown(draft: &Draft<'_>, constraints: &Constraints, name: &str) -> Error {
    let known = draft.workflow().modifiers().iter().map(Modifier::name);
    let written = constraints.settings.iter().map(|setting| setting.name.as_str());
    let nearest = crate::domain::nearest(name, known.chain(written));
    let hint = match nearest {
        Some(nearest) => format!("did you mean `{nearest}`? `--create` adds a new one"),
        None => "`statedir constraint list` shows them; `--create` adds a new one".to_owned(),
    };
    Error::refused_with(ErrorCode::NotFound, format!("there is no constraint `{name}`"), hint)
}
