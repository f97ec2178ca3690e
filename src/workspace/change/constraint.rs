//! Setting modifiers and limits, adding and removing directives and adaptation rules.

use super::text_of;
use crate::domain::constraints::modifier::{NOT_SET, UNLIMITED, is_unlimited};
use crate::domain::{
    Bullet, ConstraintList, Constraints, ErrorCode, ModelError, Modifier, ModifierKind,
    SettingGroup, StateFile, ValueError,
};
use crate::rules::{Directive, Rule};
use crate::text::markdown::Edit;
use crate::text::snippet;
use crate::workspace::{Answer, Draft, Error, ErrorKind, adapt::facts_for};
use serde_json::Value;
use std::rc::Rc;

const FILE: StateFile = StateFile::Constraints;

/// Sets a modifier or a limit to an allowed value.
pub(super) fn set(
    draft: &mut Draft<'_>,
    name: &str,
    value: &Value,
    create: bool,
) -> Result<Answer, Error> {
    if value.is_null() {
        return unset(draft, name);
    }
    let text = text_of(value);
    let mut shown = text.clone();
    if let Some(modifier) = draft.workflow().modifier(name) {
        let read = modifier.read(&text).map_err(|refusal| refused(name, &text, &refusal))?;
        if read.is_missing() {
            modifier.unset_text().clone_into(&mut shown);
        }
    }
    let before = draft.constraints()?.setting(name)?.and_then(|setting| setting.value.clone());
    let value = if shown == text { value.clone() } else { Value::from(shown.as_str()) };
    write(draft, name, &value, create)?;
    draft.facts()?.touch(&format!("{FILE} {name}"));
    let from = before.clone().map(|before| format!(" (was {before})")).unwrap_or_default();
    Ok(Answer::new(format!("{name} = {shown}{from}"))
        .with("name", name)
        .with("value", value)
        .with("before", before))
}

/// Takes the value of a modifier or a limit away. One that the lifecycle does not know goes with
/// its line.
pub(super) fn unset(draft: &mut Draft<'_>, name: &str) -> Result<Answer, Error> {
    let constraints = draft.constraints()?;
    let known = draft.workflow().modifier(name).map(Modifier::unset_text);
    let setting = constraints.setting(name)?;
    let before = setting.and_then(|setting| setting.value.clone());
    let answer = |message: String| {
        let now = known.filter(|text| *text == UNLIMITED);
        Answer::new(message).with("name", name).with("value", now).with("before", before.clone())
    };
    let is_set = setting.is_some_and(|setting| setting.binding().is_some());
    match (setting, known) {
        (None, None) => return Err(unknown(draft, &constraints, name, false)),
        (_, Some(text)) if !is_set => return Ok(answer(format!("{name} is {text} already"))),
        (Some(setting), None) => {
            let document = &constraints.document;
            if setting.end < document.item(setting.item).value_span.end {
                return Err(ModelError::text_below(&format!("`{name}`")).into());
            }
            let mut edit = document.edit();
            edit.remove_item(setting.item);
            finish(draft, edit)?;
        }
        (_, Some(_)) => write(draft, name, &Value::Null, false)?,
    }
    draft.facts()?.touch(&format!("{FILE} {name}"));
    let was = before.clone().map(|before| format!(" (was {before})")).unwrap_or_default();
    Ok(answer(match known {
        Some(text) => format!("{name} is {text}{was}"),
        None => format!("{name} is removed{was}"),
    }))
}

/// Why a value was refused, and what to do about it.
fn refused(name: &str, text: &str, refusal: &ValueError) -> Error {
    let hint = match is_unlimited(text) {
        true => Some(format!("`statedir constraint unset {name}` removes its value")),
        false => refusal.how_to_allow(),
    };
    let (code, message) = (ErrorCode::BadValue, refusal.to_string());
    ErrorKind::Refused { code, message, hint }.into()
}

/// Writes one value in the style of its line, or adds a line for it. `null` takes it away.
pub(in super::super) fn write(
    draft: &mut Draft<'_>,
    name: &str,
    value: &Value,
    create: bool,
) -> Result<(), Error> {
    let constraints = draft.constraints()?;
    let modifier = draft.workflow().modifier(name);
    let unset = modifier.map_or(NOT_SET, Modifier::unset_text);
    let unlimited = value.as_str() == Some(UNLIMITED) && unset == UNLIMITED;
    let list =
        modifier.is_some_and(|modifier| modifier.kind() == ModifierKind::List) || value.is_array();
    let quoted = modifier.map_or(value.is_string(), is_quoted);
    let text = text_of(value);
    let raw = match value {
        Value::Null => Some(unset.to_owned()),
        _ if unlimited => Some(UNLIMITED.to_owned()),
        _ if list => Some(inline(value)),
        _ if quoted => Some(Value::from(text.as_str()).to_string()),
        _ => None,
    };
    let Some(setting) = constraints.setting(name)? else {
        let group = match modifier {
            Some(modifier) => modifier.group(),
            None if create => SettingGroup::Modifier,
            None => return Err(unknown(draft, &constraints, name, true)),
        };
        let name = modifier.map_or(name, Modifier::name).to_owned();
        let constraints = with_section(draft, group.into())?;
        let section = constraints.section(group.into())?;
        let mut edit = constraints.document.edit();
        match raw {
            Some(raw) => edit.insert_raw_field(section, None, &name, &raw),
            None => edit.insert_field(section, None, &name, &text),
        };
        return finish(draft, edit);
    };
    let mut edit = constraints.document.edit();
    // A line that has a value keeps its style, and so does one of somebody's own.
    let plain = modifier.is_some() && !text.contains(['"', '\\']);
    let restyle = list || value.is_null() || unlimited || plain && setting.binding().is_none();
    let raw = raw.filter(|_| restyle);
    edit.set_until(setting.item, Some(setting.end), &text, raw.as_deref());
    finish(draft, edit)
}

fn finish(draft: &mut Draft<'_>, edit: Edit<'_>) -> Result<(), Error> {
    let edited = edit.finish().map_err(|error| ModelError::edit(FILE, &error))?;
    draft.put(FILE, edited);
    Ok(())
}

/// The constraints with a section for the list, which is added where it is missing.
pub(in super::super) fn with_section(
    draft: &mut Draft<'_>,
    list: ConstraintList,
) -> Result<Rc<Constraints>, Error> {
    if let Some(edited) = draft.constraints()?.with_section(list)? {
        draft.put(FILE, edited);
    }
    draft.constraints()
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
    if steps.is_some() && Directive::lifetime(text).is_some() {
        return Err(Error::refused_with(
            ErrorCode::BadValue,
            "the text says already for how many steps the directive holds",
            "leave out one of the two numbers of steps",
        ));
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
    let constraints = with_section(draft, ConstraintList::Directives)?;
    if constraints.directives.iter().any(|directive| directive.text == text) {
        return Ok(Answer::new("this directive is already in force"));
    }
    append(draft, &constraints, ConstraintList::Directives, &text, "directive")?;
    let number = number_of(&draft.constraints()?.directives, &text);
    Ok(Answer::new(format!("directive {number}: {text}")).with("number", number).with("text", text))
}

/// Removes a directive by number or text.
pub(super) fn remove_directive(draft: &mut Draft<'_>, which: &Value) -> Result<Answer, Error> {
    let constraints = draft.constraints()?;
    remove_line(draft, &constraints, &constraints.directives, which, "directive")
}

/// Adds a line to a list.
fn append(
    draft: &mut Draft<'_>,
    constraints: &Constraints,
    list: ConstraintList,
    text: &str,
    noun: &str,
) -> Result<(), Error> {
    let mut edit = constraints.document.edit();
    edit.append_item(constraints.section(list)?, text);
    finish(draft, edit)?;
    draft.facts()?.touch(&format!("{FILE} {noun}"));
    Ok(())
}

/// Removes a line from a list, by number or text.
fn remove_line(
    draft: &mut Draft<'_>,
    constraints: &Constraints,
    bullets: &[Bullet],
    which: &Value,
    noun: &str,
) -> Result<Answer, Error> {
    let line = find(bullets, which, noun)?;
    let mut edit = constraints.document.edit();
    edit.remove_item(line.item);
    finish(draft, edit)?;
    draft.facts()?.touch(&format!("{FILE} {noun}"));
    Ok(Answer::new(format!("{noun} removed: {}", line.text)).with("text", line.text.clone()))
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

/// The number that a line has which was just added.
fn number_of(bullets: &[Bullet], text: &str) -> usize {
    bullets.iter().rev().find(|line| line.text == text).map_or(bullets.len(), |line| line.number)
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

/// There is no constraint of that name. Where one is to be set, it can be added.
fn unknown(draft: &Draft<'_>, constraints: &Constraints, name: &str, is_set: bool) -> Error {
    let known = draft.workflow().modifiers().iter().map(Modifier::name);
    let written = constraints.settings.iter().map(|setting| setting.name.as_str());
    let nearest = crate::domain::nearest(name, known.chain(written));
    let hint = match (nearest, is_set) {
        (Some(nearest), true) => format!("did you mean `{nearest}`? `--create` adds a new one"),
        (Some(nearest), false) => format!("did you mean `{nearest}`?"),
        (None, true) => {
            "`statedir constraint list` shows them; `--create` adds a new one".to_owned()
        }
        (None, false) => "`statedir constraint list` shows them".to_owned(),
    };
    Error::refused_with(ErrorCode::NotFound, format!("there is no constraint `{name}`"), hint)
}

/// Adds a rule that is understood.
pub(super) fn add_rule(draft: &mut Draft<'_>, text: &str) -> Result<Answer, Error> {
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
    append(draft, &constraints, ConstraintList::Rules, text, "rule")?;
    let number = number_of(&draft.constraints()?.rules, text);
    if facts_for(draft, &rule.condition).is_ok_and(|facts| rule.condition.holds(&facts)) {
        draft.notices.push(format!(
            "the condition of rule {number} is true already, so it fires only when it becomes true \
             again: `statedir rule explain {number}`"
        ));
    }
    Ok(Answer::new(format!("rule {number}: {text}\nmeans: {rule}"))
        .with("number", number)
        .with("text", text)
        .with("means", rule.to_string()))
}

/// Removes a rule by number or text.
pub(super) fn remove_rule(draft: &mut Draft<'_>, which: &Value) -> Result<Answer, Error> {
    let constraints = draft.constraints()?;
    remove_line(draft, &constraints, &constraints.rules, which, "rule")
}
