//! Writing an entry for people.

use super::{
    HEADING,
    byline::{self, take},
    family, is_line, quote,
    step::{self, ToWrite},
};
use crate::{
    history::{HistoryError, NewEntry},
    text::markdown::render_code_field,
};

/// The longest value that a heading has whole, in characters.
const WHOLE: usize = 100;
/// How much of a longer one it shows.
const SHOWN: usize = 80;

/// How much a heading says, from the most to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::history) enum Form {
    /// The title of a step, what it took, what went wrong.
    Full,
    /// The title alone.
    Titled,
    /// Nothing that could be misread.
    Bare,
}

impl Form {
    /// All of them, the most telling first.
    pub(in crate::history) const ALL: [Self; 3] = [Self::Full, Self::Titled, Self::Bare];
}

/// Writes the body of an entry; `None` if it cannot be written in this notation.
///
/// # Errors
/// For a field that cannot be written at all.
pub(in crate::history) fn write(
    entry: &NewEntry,
    form: Form,
) -> Result<Option<String>, HistoryError> {
    let mut left: Vec<(&str, &str)> =
        entry.fields.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let Some(lines) = lines(entry, form, &mut left) else { return Ok(None) };
    let [heading, byline] = lines;
    let mut body = format!("{HEADING}{heading}\n{byline}\n");
    if let Some(note) = take(&mut left, "notes", quote::fits) {
        crate::history::render::check_size(body.len() + note.len())?;
        body.push_str(&quote::write(&note));
    }
    for (key, value) in left {
        crate::history::render::check_size(body.len() + value.len())?;
        let field = render_code_field("\n", key, value);
        body.push_str(
            &field.map_err(|source| HistoryError::Field { key: key.to_owned(), source })?,
        );
    }
    Ok(Some(body))
}

/// An entry as it is shown in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntrySummary {
    /// What happened, in one line.
    pub heading: String,
    /// By whom and what else is short; empty if nothing is known.
    pub byline: String,
    /// What neither of them says.
    pub fields: Vec<(String, String)>,
}

/// Summarises an entry as this notation would, whatever notation it is written in.
pub(crate) fn summarise(title: &str, fields: &[(String, String)]) -> EntrySummary {
    // Any time will do: it is not part of the summary.
    let entry = NewEntry { title: title.to_owned(), time: "0".to_owned(), fields: fields.to_vec() };
    let all = || fields.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let mut left: Vec<(&str, &str)> = all();
    let lines = lines(&entry, Form::Full, &mut left);
    let [heading, byline] = lines.unwrap_or_else(|| {
        left = all();
        [title.to_owned(), String::new()]
    });
    let byline = byline.strip_prefix("*0").unwrap_or_default().replacen('*', "", 1);
    let byline = byline.trim_start_matches([' ', '·', '—']).to_owned();
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    EntrySummary { heading, byline, fields: left.into_iter().map(owned).collect() }
}

/// The heading and the byline; what they say is taken out of `left`.
fn lines<'a>(
    entry: &'a NewEntry,
    form: Form,
    left: &mut Vec<(&'a str, &'a str)>,
) -> Option<[String; 2]> {
    let mut given = left.clone();
    let step = ToWrite::take(&entry.title, &mut given);
    let heading = match &step {
        Some(step) => {
            *left = given;
            execution(step, form, left)
        }
        None => other(&entry.title, form, left)?,
    };
    if heading.ends_with('#') {
        return None;
    }
    let moved = step.as_ref().and_then(|step| step.moved);
    let byline = byline::write(&entry.time, moved, step.is_some(), left)?;
    Some([heading, byline])
}

/// The heading of anything but an execution.
fn other(title: &str, form: Form, left: &mut Vec<(&str, &str)>) -> Option<String> {
    let headline = family::take(title, left)?;
    let value = headline.filter(|_| form == Form::Full).and_then(|key| show(left, key));
    let rest = value.map(|value| format!(": {value}")).unwrap_or_default();
    Some(format!("{title}{rest}"))
}

fn execution(step: &ToWrite<'_>, form: Form, left: &mut Vec<(&str, &str)>) -> String {
    let mut heading = step.heading();
    if form == Form::Bare {
        return heading;
    }
    let title = take(left, "title", is_line);
    if let Some(title) = &title {
        heading.push_str(": ");
        heading.push_str(title);
    }
    // Behind text that is read from right to left, numbers would be shown on the wrong side of it.
    if form == Form::Titled || heading.chars().any(is_right_to_left) {
        return heading;
    }
    let time = take(left, "actual_time", step::is_time);
    let cost = take(left, "actual_cost", step::is_cost);
    let measured: Vec<_> = time.into_iter().chain(cost).collect();
    if !measured.is_empty() {
        heading.push_str(&format!(" ({})", measured.join(", ")));
        if let Some(error) = show(left, "errors") {
            heading.push_str(": ");
            heading.push_str(&error);
        }
    }
    heading
}

/// What a heading shows of a field. A value that is shown whole is taken out of `left`.
fn show(left: &mut Vec<(&str, &str)>, key: &str) -> Option<String> {
    let fits = |value: &str| is_line(value) && value.chars().count() <= WHOLE;
    if let Some(value) = take(left, key, fits) {
        return Some(value.into_owned());
    }
    let (_, value) = left.iter().find(|(name, _)| *name == key)?;
    let words = value.lines().map(str::trim).find(|line| !line.is_empty())?;
    let visible = words.chars().filter(|c| is_line(&c.to_string()) || *c == ' ');
    let mut shown: String = visible.take(SHOWN).collect();
    shown.truncate(shown.trim_end().len());
    shown.push('…');
    Some(shown)
}

/// Whether a character belongs to a script that is read from right to left.
fn is_right_to_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}
