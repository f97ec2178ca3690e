//! Phases: numbered headings with a status line.

use std::ops::Range;

use super::{Grammar, Label, Task, heading_path, words_of};
use crate::{
    domain::StepRole,
    text::markdown::{Document, SectionId},
};

/// The phases of a document, each with everything that belongs to it.
pub(super) fn read(document: &Document, grammar: &Grammar) -> Vec<(Range<usize>, Task)> {
    let code: Vec<Range<usize>> = document.code_blocks().chain(document.html_blocks()).collect();
    let mut found = Vec::new();
    for section in document.sections() {
        let whole = document.section(section);
        if whole.level == 0 {
            continue;
        }
        let label = Label::parse(&whole.title, grammar);
        let (Some(id), Some(marker)) = (label.id, status(document, section, &code)) else {
            continue;
        };
        let word = document.source().get(marker.clone()).unwrap_or_default();
        let role = grammar.role_of_word(word);
        let mut group = heading_path(document, section);
        group.pop();
        let body = document.source().get(whole.body.start..whole.extent.end).unwrap_or_default();
        let kept = |line: &&str| !line.trim().is_empty() && status_of(line).is_none();
        let details = body.lines().filter(kept).collect::<Vec<_>>().join("\n");
        let task = Task {
            id: Some(id.clone()),
            number: label.number,
            title: if label.title.is_empty() { id } else { label.title },
            role: role.unwrap_or(StepRole::Open),
            is_known: role.is_some(),
            marker,
            is_word: true,
            words: Vec::new(),
            group,
            parent: None,
            depth: 0,
            is_optional: false,
            fields: label.fields,
            depends_on: label.depends_on,
            details: (!details.is_empty()).then_some(details),
            span: whole.extent.clone(),
            section,
        };
        found.push((whole.extent.clone(), task));
    }
    let written = found.iter().filter_map(|(_, task)| document.source().get(task.marker.clone()));
    let words = words_of(written, grammar);
    found.iter_mut().for_each(|(_, task)| task.words.clone_from(&words));
    found
}

/// Where the word of the status line in a section's own body is.
fn status(document: &Document, section: SectionId, code: &[Range<usize>]) -> Option<Range<usize>> {
    let body = document.section(section).body.clone();
    let mut at = body.start;
    for line in document.source().get(body)?.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if code.iter().any(|range| range.contains(&start)) {
            continue;
        }
        if let Some(word) = status_of(line) {
            return Some(start + word.start..start + word.end);
        }
    }
    None
}

/// The word in `- **Status:** in_progress`, as a range of the line.
fn status_of(line: &str) -> Option<Range<usize>> {
    let mut rest = line.trim_start();
    if let Some(width) = super::boxes::bullet_width(rest) {
        rest = rest[width..].trim_start();
    }
    rest = rest.trim_start_matches(['*', '_']);
    let key = rest.get(..6).filter(|key| key.eq_ignore_ascii_case("status"))?;
    rest = rest[key.len()..].trim_start_matches(['*', '_', ' ']).strip_prefix(':')?;
    rest = rest.trim_start_matches(['*', '_', ' ', '\t', '`']);
    let begin = line.len() - rest.len();
    let word = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | ' '));
    let word = rest[..word.unwrap_or(rest.len())].trim_end_matches([' ', '_', '-']);
    (!word.is_empty()).then(|| begin..begin + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_line_is_read_however_it_is_dressed() {
        for line in [
            "- **Status:** in_progress",
            "- **Status**: in_progress\n",
            "**Status:** in_progress",
            "Status: in_progress (since Monday)",
            "* status: `in_progress`",
        ] {
            let word = status_of(line).unwrap();
            assert_eq!(&line[word], "in_progress", "{line}");
        }
        assert!(status_of("- Statuses: many").is_none());
        assert!(status_of("- **Status:**").is_none());
    }
}
