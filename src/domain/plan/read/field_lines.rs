//! Fields on a line of their own: `**Goal:** x` below the title, `Status: done` below a step.
//!
//! They are read where no list item says the same, and changed where they are.

use std::ops::Range;

use crate::domain::plan::metadata_section;
use crate::{
    domain::{ModelError, Plan, Step, Workflow},
    text::markdown::{Document, Edit, SectionId},
};

/// What can stand on a line of its own for the plan.
const METADATA: [&str; 3] = ["goal", "status", "mode"];

/// A field on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldLine {
    pub(crate) key: &'static str,
    /// Where its value is.
    pub(crate) value: Range<usize>,
}

/// Whether the goal or the status of the plan is in the section on a line of its own.
pub(crate) fn has_metadata(document: &Document, section: SectionId) -> bool {
    let is_sign = |found: &FieldLine| found.key != "mode";
    document.source().contains(':') && read(document, section, &METADATA).iter().any(is_sign)
}

/// Where the status of a step is on a line of its own: a word or two, not a sentence.
pub(crate) fn status(document: &Document, section: SectionId) -> Option<Range<usize>> {
    let found = read(document, section, &["status"]).into_iter().next()?;
    is_status(&document.source()[found.value.clone()]).then_some(found.value)
}

/// A text without the lines that are a status.
pub(in crate::domain) fn without_status(text: &str) -> String {
    let is_status =
        |line: &&str| line_field(line, &["status"]).is_some_and(|(_, at)| is_status(&line[at]));
    match text.lines().any(|line| is_status(&line)) {
        true => text.split_inclusive('\n').filter(|line| !is_status(line)).collect(),
        false => text.to_owned(),
    }
}

impl Plan {
    /// The plan's fields on lines of their own, below the title or in the metadata.
    pub(crate) fn metadata_lines(&self) -> Vec<FieldLine> {
        let sections = [metadata_section(&self.document), self.document.title_section()];
        let mut found: Vec<FieldLine> = Vec::new();
        for section in sections.into_iter().flatten() {
            for one in read(&self.document, section, &METADATA) {
                if found.iter().all(|known| known.key != one.key) {
                    found.push(one);
                }
            }
        }
        found
    }

    /// Sets a metadata field that is on a line of its own; whether there is one.
    ///
    /// # Errors
    /// No line can say the value.
    pub(crate) fn set_metadata_line(
        &self,
        edit: &mut Edit<'_>,
        key: &str,
        value: &str,
    ) -> Result<bool, ModelError> {
        let found = self.metadata_lines().into_iter().find(|found| found.key == key);
        found.map_or(Ok(false), |found| put(edit, key, found.value, value).map(|()| true))
    }

    /// Sets the status of a step where it is on a line of its own; whether it does.
    ///
    /// # Errors
    /// No line can say the value.
    pub(crate) fn set_status_line(
        &self,
        edit: &mut Edit<'_>,
        step: &Step,
        value: &str,
    ) -> Result<bool, ModelError> {
        let found = match step.item {
            Some(_) => None,
            None => status(&self.document, step.section),
        };
        found.map_or(Ok(false), |at| put(edit, "status", at, value).map(|()| true))
    }
}

fn put(edit: &mut Edit<'_>, key: &str, at: Range<usize>, value: &str) -> Result<(), ModelError> {
    let line = format!("{key}: {value}");
    let reads_back = line_field(&line, &[key_of(key)]).is_some_and(|(_, at)| &line[at] == value);
    if !reads_back || value.contains(['\n', '\r']) {
        let message = format!("`{key}` cannot be written on one line");
        let hint = format!("write it as a list item in plan.md: `- **{key}**: …`");
        return Err(ModelError::BadValue { message, hint: Some(hint) });
    }
    edit.replace_words(at, value);
    Ok(())
}

fn key_of(key: &str) -> &'static str {
    METADATA.into_iter().find(|known| *known == key).unwrap_or("status")
}

/// The fields on lines of their own in the paragraphs of a section.
fn read(document: &Document, section: SectionId, keys: &[&'static str]) -> Vec<FieldLine> {
    let mut found: Vec<FieldLine> = Vec::new();
    for part in document.body_blocks(section).into_iter().filter(|part| part.item.is_none()) {
        let text = &document.source()[part.span.clone()];
        if text.starts_with(['`', '~', '<', '>', '|', ' ', '\t', '[']) {
            continue;
        }
        let mut start = part.span.start;
        for line in text.split_inclusive(['\n', '\r']) {
            if let Some((key, at)) = line_field(line, keys)
                && found.iter().all(|known| known.key != key)
            {
                found.push(FieldLine { key, value: start + at.start..start + at.end });
            }
            start += line.len();
        }
    }
    found
}

/// `**Goal:** x`, `**Goal**: x` and `Goal: x`: the key and where the value is.
pub(crate) fn line_field<'k>(line: &str, keys: &[&'k str]) -> Option<(&'k str, Range<usize>)> {
    let text = line.trim_start();
    let marks = ["**", "__"].into_iter().find(|marks| text.starts_with(marks)).unwrap_or_default();
    let (name, rest) = text[marks.len()..].split_once([':', '：'])?;
    let (name, rest) = match name.trim_end().strip_suffix(marks) {
        Some(name) if !marks.is_empty() => (name, rest),
        _ => (name, rest.strip_prefix(marks)?),
    };
    let name = name.trim().to_ascii_lowercase().replace([' ', '-'], "_");
    let key = keys.iter().find(|key| **key == name)?;
    let value = rest.trim_start();
    let start = line.len() - value.len();
    let value = value.trim_end().trim_end_matches('\\').trim_end();
    (!value.is_empty() && !value.starts_with("**")).then(|| (*key, start..start + value.len()))
}

/// A word or two that can be a status, known or not.
fn is_status(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-');
    Workflow::builtin().step_status(text).is_some()
        || (text.split(' ').count() <= 2 && text.len() <= 24 && text.chars().all(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_field_when_it_begins_with_the_key() {
        let value = |line: &str| {
            let found = line_field(line, &["goal", "status"]);
            found.map(|(key, at)| format!("{key}={}", &line[at]))
        };
        for (line, expected) in [
            ("**Goal:** ship it  \n", Some("goal=ship it")),
            ("**Goal**: ship: it", Some("goal=ship: it")),
            ("Status: done\\\n", Some("status=done")),
            ("__status:__ in progress", Some("status=in progress")),
            ("Goal：出荷", Some("goal=出荷")),
            ("The goal: ship", None),
            ("Status:", None),
            ("**Status: done**", None),
        ] {
            assert_eq!(value(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_sentence_about_the_status_is_prose() {
        let source = "## Step 1: a\nStatus: we are waiting for Bob, who is away.\n";
        let document = Document::parse(source).unwrap();
        assert_eq!(status(&document, document.sections().last().unwrap()), None);
    }
}
