//! Phases: tasks that are numbered headings with a status line.

use std::ops::Range;

use super::{Grammar, Label, Task, heading_path};
use crate::{
    domain::StepRole,
    text::markdown::{Document, SectionId},
};

/// The phases of a document, each with its extent.
pub(super) fn read(document: &Document, grammar: &Grammar) -> Vec<(Range<usize>, Task)> {
    let code: Vec<Range<usize>> = document.code_blocks().chain(document.html_blocks()).collect();
    let mut found = Vec::new();
    let mut words: Vec<(StepRole, String)> = Vec::new();
    for section in document.sections() {
        let whole = document.section(section);
        if whole.level == 0 {
            continue;
        }
        let label = Label::parse(whole.title, grammar);
        let status = status(document, section, &code, grammar);
        let (Some(id), Some((marker, word))) = (label.id, status) else { continue };
        let word = document.source().get(word).unwrap_or_default();
        let role = role_of(word, grammar);
        if let Some(role) = role
            && words.iter().all(|(known, _)| *known != role)
        {
            words.push((role, word.to_owned()));
        }
        let mut group = heading_path(document, section);
        group.pop();
        let body = document.source().get(whole.body.start..whole.extent.end).unwrap_or_default();
        let kept = |line: &&str| !line.trim().is_empty() && status_of(line, grammar).is_none();
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
    found.iter_mut().for_each(|(_, task)| task.words.clone_from(&words));
    found
}

/// Where the status is in a line of a section's own body, and the known word in it.
fn status(
    document: &Document,
    section: SectionId,
    code: &[Range<usize>],
    grammar: &Grammar,
) -> Option<(Range<usize>, Range<usize>)> {
    let body = document.section(section).body.clone();
    let mut at = body.start;
    for line in document.source().get(body)?.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if code.iter().any(|range| range.contains(&start)) {
            continue;
        }
        if let Some((status, word)) = status_of(line, grammar) {
            return Some((
                start + status.start..start + status.end,
                start + word.start..start + word.end,
            ));
        }
    }
    None
}

/// The beginnings of a status line.
const KEYS: [&str; 8] =
    ["status", "状态", "狀態", "状態", "ステータス", "상태", "estado", "статус"];

/// The status in `- **Status:** in_progress` with a symbol before it, and the known word in it, as
/// ranges of the line.
fn status_of(line: &str, grammar: &Grammar) -> Option<(Range<usize>, Range<usize>)> {
    let mut rest = line.trim_start();
    if let Some(width) = super::boxes::bullet_width(rest) {
        rest = rest[width..].trim_start();
    }
    rest = rest.trim_start_matches(['*', '_', '-']);
    let key = KEYS.iter().find_map(|key| {
        let letters = rest.chars().zip(key.chars());
        let same = letters.take_while(|(one, other)| one.to_lowercase().eq(other.to_lowercase()));
        let same: Vec<char> = same.map(|(one, _)| one).collect();
        let is_key = same.len() == key.chars().count();
        is_key.then(|| same.iter().map(|c| c.len_utf8()).sum::<usize>())
    })?;
    rest = rest[key..].trim_start_matches(['*', '_', ' ']).strip_prefix([':', '：'])?;
    rest = rest.trim_start_matches(['*', '_', ' ', '\t', '`']);
    let begin = line.len() - rest.len();
    let sign = rest.len() - without_sign(rest).len();
    let said = &rest[sign..];
    let end = said.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | ' '));
    let said = &said[..end.unwrap_or(said.len())];
    let said = said.split(" - ").next().unwrap_or_default().trim_end_matches([' ', '_', '-']);
    let upto = |len: usize| begin..begin + rest[..sign + len].trim_end().len();
    let (status, word) = (upto(said.len()), upto(known_start(said, grammar).len()));
    (!status.is_empty()).then_some((status, word))
}

/// The text after a symbol such as ✅.
fn without_sign(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_ascii() && !c.is_alphanumeric())
        .trim_start_matches([' ', '\t'])
}

/// The words at the start that mean open or active, if more follows them: `pending research`. A task
/// is done only if nothing else follows.
fn known_start<'t>(said: &'t str, grammar: &Grammar) -> &'t str {
    if grammar.role_of_word(said).is_some() {
        return said;
    }
    let ends = said.char_indices().rev().filter(|(_, c)| *c == ' ').map(|(at, _)| at);
    let mut starts = ends.map(|at| said[..at].trim_end());
    let says_open = |start: &&str| {
        matches!(grammar.role_of_word(start), Some(StepRole::Open | StepRole::Active))
    };
    starts.find(says_open).unwrap_or(said)
}

/// What a status means: its word, or a symbol that stands for it.
fn role_of(status: &str, grammar: &Grammar) -> Option<StepRole> {
    match without_sign(status) {
        "" => status.chars().next().and_then(|sign| grammar.role_of(sign)),
        word => grammar.role_of_word(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_line_is_read_however_it_is_dressed() {
        let grammar = Grammar::default();
        for (line, said) in [
            ("- **Status:** in_progress", "in_progress"),
            ("- **Status**: in_progress\n", "in_progress"),
            ("**Status:** in_progress", "in_progress"),
            ("Status: in_progress (since Monday)", "in_progress"),
            ("* status: `in_progress`", "in_progress"),
            ("- **Status**: ⏳ Pending research by others", "⏳ Pending"),
            ("**Status:** ✅ complete - 2026-01-15", "✅ complete"),
            ("**Status:** ✅", "✅"),
            ("- **状态：** complete", "complete"),
            ("-**状态：**进行中", "进行中"),
            ("- **Status：** pending", "pending"),
            ("- Estado: planned", "planned"),
            // What is not known stays whole, and nothing is done because it begins so.
            ("Status: done except the tests", "done except the tests"),
        ] {
            let (status, word) = status_of(line, &grammar).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(&line[word], said, "{line}");
            assert!(line[status].starts_with(said), "{line}");
        }
        // What is said after a word is about that, and goes with it.
        let (status, _) = status_of("Status: pending review (soon)", &grammar).unwrap();
        assert_eq!(status, 8..22);
        for line in ["- Statuses: many", "- **Status:**", "- **状态**", "状态机：进行中"] {
            assert!(status_of(line, &grammar).is_none(), "{line}");
        }
        for (status, role) in [
            ("✅ complete", Some(StepRole::Done)),
            ("✅", Some(StepRole::Done)),
            ("⏳ Pending", Some(StepRole::Open)),
            ("⏳", None),
            ("done except the tests", None),
        ] {
            assert_eq!(role_of(status, &grammar), role, "{status}");
        }
    }
}
