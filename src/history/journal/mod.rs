//! How an entry is written so that people like to read it.
//!
//! ```text
//! ### ✗ Step 4: Write a compatibility shim (15m, $0.02): mypy: 12 errors
//! *2026-11-16 08:00:00 UTC · ada · attempt 2 · tool Bash · id k3f9* — the stubs are too old
//! - **real_outputs**: {"errors":12}
//! ```
//!
//! The heading says what happened, the line below it when, by whom and what else is short; a note
//! follows behind a dash. Everything else is a field. An entry means the same as if each of its
//! values stood in a field of its own: [`Journal::parse`] gives them all, and an entry is written
//! in this notation only if it reads back exactly (see `render`). Where a value would be misread,
//! as a title that ends in `(15m)`, it becomes a field; the last resort is the plain notation, a
//! heading `### title - time` with nothing but fields below, which older versions wrote.
//!
//! A heading may also show the beginning of a value that is too long for it. Then the value itself
//! is among the fields, and the field counts.

mod byline;
mod family;
mod quote;
mod step;
mod write;

use std::borrow::Cow;

use super::read::fields::{Field, fields};
pub(super) use write::{EntrySummary, summarise};
pub(super) use write::{Form, write};

const HEADING: &str = "### ";
/// Between the byline and a note.
const DASH: &str = " — ";

/// The order in which an entry has its fields, wherever they are written. Those that are never
/// anything but a field of the body follow, in the order in which they are given.
const ORDER: [&str; 37] = [
    "kind",
    "step",
    "title",
    "status",
    "outcome",
    "attempt",
    "review",
    "decision",
    "decided_by",
    "question",
    "reason",
    "rule",
    "event",
    "values",
    "name",
    "checkpoint",
    "command",
    "operation",
    "revision",
    "saved_as",
    "intent",
    "actor",
    "component_used",
    "tool_used",
    "real_inputs",
    "real_outputs",
    "actual_cost",
    "actual_time",
    "errors",
    "error_class",
    "state_changes",
    "notes",
    "mode",
    "file_operations",
    "web_requests",
    "consecutive_failures",
    "edited_outside",
];

/// An entry in this notation, taken apart.
pub(super) struct Journal<'a> {
    subject: HeadingSubject<'a>,
    time: Cow<'a, str>,
    /// The value at the end of the heading, or the beginning of it.
    headline: Option<(&'static str, &'a str)>,
    /// Other values of the heading and of the byline.
    values: Vec<(&'static str, &'a str)>,
    /// A note of several lines.
    quoted: Option<String>,
    /// The fields below.
    body: &'a str,
}

/// What a heading is about.
enum HeadingSubject<'a> {
    Step(step::Execution<'a>),
    /// Anything else, by its title.
    Other(&'a str),
}

impl<'a> Journal<'a> {
    /// Takes a body apart; `None` if it is not in this notation.
    pub(super) fn parse(body: &'a str) -> Option<Self> {
        let (first, rest) = body.split_once('\n')?;
        let (second, body) = rest.split_once('\n').unwrap_or((rest, ""));
        let heading = first.strip_prefix(HEADING)?;
        let mut values = Vec::new();
        let (time, note) = byline::parse(second, &mut values)?;
        let (subject, headline) = match step::Execution::parse(heading, &mut values) {
            Some((step, headline)) => (HeadingSubject::Step(step), headline),
            None => {
                let (title, headline) = family::parse(heading, &mut values);
                (HeadingSubject::Other(title), headline)
            }
        };
        values.extend(note.map(|note| ("notes", note)));
        let (quoted, body) = quote::parse(body);
        Some(Self { subject, time, headline, values, quoted, body })
    }

    /// The title of the entry, as it is in the plain notation.
    pub(super) fn title(&self) -> Cow<'a, str> {
        match &self.subject {
            HeadingSubject::Step(step) => Cow::Owned(step.entry_title()),
            HeadingSubject::Other(title) => Cow::Borrowed(title),
        }
    }

    /// The beginning of the title, which says what kind of entry it is.
    pub(super) fn kind_title(&self) -> &'a str {
        match &self.subject {
            HeadingSubject::Step(step) => step.name,
            HeadingSubject::Other(title) => title,
        }
    }

    /// The time of the entry.
    pub(super) fn time(&self) -> &str {
        &self.time
    }

    /// The fields that are written as they are, without those that follow from others.
    pub(super) fn raw_fields(&self) -> impl Iterator<Item = Field<'a>> {
        let values = self.values.iter().map(|(key, value)| Field::literal(key, value));
        values.chain(fields(self.body)).collect::<Vec<_>>().into_iter()
    }

    /// All fields of the entry, in their order.
    pub(super) fn fields(&self) -> Vec<(String, String)> {
        let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let mut all: Vec<(String, String)> = self.values.iter().copied().map(owned).collect();
        all.extend(self.quoted.iter().map(|note| ("notes".to_owned(), note.clone())));
        let below = fields(self.body);
        let below: Vec<(String, String)> =
            below.map(|field| (field.key.to_owned(), field.value().into_owned())).collect();
        let is_quoted = |key: &str| key == "notes" && self.quoted.is_some();
        let is_below = |key: &str| is_quoted(key) || below.iter().any(|(name, _)| name == key);
        all.extend(self.headline.filter(|(key, _)| !is_below(key)).map(owned));
        all.extend(below);
        if let HeadingSubject::Step(step) = &self.subject {
            step.complete(&mut all);
        }
        sort(&mut all);
        all
    }
}

/// Puts fields into the order that an entry of this notation has them in.
pub(super) fn sort(fields: &mut [(String, String)]) {
    let rank = |key: &str| ORDER.iter().position(|name| *name == key).unwrap_or(ORDER.len());
    fields.sort_by_cached_key(|(key, _)| rank(key));
}

/// Whether a field has its place in the order.
#[cfg(test)]
pub(super) fn has_rank(key: &str) -> bool {
    ORDER.contains(&key)
}

/// The keys of all fields that can be written elsewhere than in a field.
#[cfg(test)]
pub(super) fn places() -> impl Iterator<Item = &'static str> {
    let of_steps = ["title", "status", "outcome", "errors", "state_changes", "notes", "actor"];
    of_steps.into_iter().chain(byline::keys()).chain(family::keys())
}

/// Whether a value can stand in a line of text: it is one line, without blanks around it.
fn is_line(value: &str) -> bool {
    let is_odd = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    !value.is_empty() && value.trim() == value && !value.contains(is_odd)
}
