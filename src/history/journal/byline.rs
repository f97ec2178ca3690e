//! The line below the heading: when, by whom, and what else is short.

use std::borrow::Cow;

use super::{DASH, is_line};

const SEPARATOR: &str = " · ";
const LONGEST: usize = 80;
const LONGEST_NOTE: usize = 400;

/// The word before a value on the line, and the field that it is, in the order of the line.
const WORDS: [(&str, &str); 20] = [
    ("attempt", "attempt"),
    ("kind", "kind"),
    ("event", "event"),
    ("seen", "values"),
    ("component", "component_used"),
    ("tool", "tool_used"),
    ("took", "actual_time"),
    ("cost", "actual_cost"),
    ("class", "error_class"),
    ("files", "file_operations"),
    ("requests", "web_requests"),
    ("changed", "state_changes"),
    ("edited", "edited_outside"),
    ("decided", "decided_by"),
    ("saved", "saved_as"),
    ("operation", "operation"),
    ("revision", "revision"),
    ("streak", "consecutive_failures"),
    ("mode", "mode"),
    ("id", "step"),
];

/// Reads the line: the time, the note, and the other values into `values`.
pub(super) fn parse<'a>(
    line: &'a str,
    values: &mut Vec<(&'static str, &'a str)>,
) -> Option<(Cow<'a, str>, Option<&'a str>)> {
    let (byline, rest) = line.strip_prefix('*')?.split_once('*')?;
    if !byline.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let note = match rest.trim_end() {
        "" => None,
        rest => Some(rest.strip_prefix(DASH)?),
    };
    let mut parts = byline.split(SEPARATOR);
    let time = parts.next()?;
    let mut actor = None;
    for part in parts {
        match known(part) {
            Some(value) => values.push(value),
            None if part.contains(super::step::ARROW) => values.push((super::step::MOVE, part)),
            None => actor = actor.or(Some(part)),
        }
    }
    values.extend(actor.map(|actor| ("actor", actor)));
    Some((time_of(time), note))
}

/// The fields that the line can hold.
#[cfg(test)]
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    WORDS.iter().map(|(_, key)| *key)
}

/// Writes the line from the time and the values that it takes out of `fields`.
///
/// `is_step` says that `state_changes` has another place.
pub(super) fn write(
    time: &str,
    moved: Option<&str>,
    is_step: bool,
    fields: &mut Vec<(&str, &str)>,
) -> Option<String> {
    let first = time.starts_with(|c: char| c.is_ascii_digit());
    let mut parts = vec![shown_time(time).filter(|_| first)?];
    parts.extend(take(fields, "actor", |actor| is_byline(actor) && known(actor).is_none()));
    parts.extend(moved.map(Cow::Borrowed));
    for (word, key) in WORDS {
        if is_step && key == "state_changes" {
            continue;
        }
        let value = take(fields, key, is_byline);
        parts.extend(value.map(|value| Cow::Owned(format!("{word} {value}"))));
    }
    let mut line = format!("*{}*", parts.join(SEPARATOR));
    let fits = |note: &str| is_line(note) && note.len() <= LONGEST_NOTE;
    if let Some(note) = take(fields, "notes", fits) {
        line.push_str(DASH);
        line.push_str(&note);
    }
    Some(line)
}

/// Takes the first field of this key out, if its value fits.
pub(super) fn take<'a>(
    fields: &mut Vec<(&str, &'a str)>,
    key: &str,
    fits: impl Fn(&str) -> bool,
) -> Option<Cow<'a, str>> {
    let at = fields.iter().position(|(name, value)| *name == key && fits(value))?;
    Some(Cow::Borrowed(fields.remove(at).1))
}

/// Whether a value can stand on the line.
pub(super) fn is_byline(value: &str) -> bool {
    let is_markup = |c: char| matches!(c, '*' | '`' | '<' | '[' | '\\' | '·');
    is_line(value) && value.len() <= LONGEST && !value.contains(is_markup)
}

fn known(part: &str) -> Option<(&'static str, &str)> {
    let (word, value) = part.split_once(' ')?;
    let (_, key) = WORDS.iter().find(|(name, _)| *name == word)?;
    Some((key, value))
}

/// `2026-11-16T08:00:00Z` as people write it.
fn shown_time(time: &str) -> Option<Cow<'_, str>> {
    let shown = time.strip_suffix('Z').and_then(|time| time.split_once('T'));
    match shown.filter(|(date, clock)| date.len() == 10 && clock.len() == 8) {
        Some((date, clock)) => Some(Cow::Owned(format!("{date} {clock} UTC"))),
        None => is_byline(time).then_some(Cow::Borrowed(time)),
    }
}

fn time_of(shown: &str) -> Cow<'_, str> {
    let parts = shown.strip_suffix(" UTC").and_then(|time| time.split_once(' '));
    match parts.filter(|(date, clock)| date.len() == 10 && clock.len() == 8) {
        Some((date, clock)) => Cow::Owned(format!("{date}T{clock}Z")),
        None => Cow::Borrowed(shown),
    }
}
