//! Recognises legends: checkboxes that explain the notation and are not tasks.

use super::Checkbox;

/// Titles of a legend, in a heading or in the line above a list.
const TITLES: [&str; 10] = [
    "legend", "notation", "symbols", "markers", "marker meanings", "status key", "status markers",
    "checkbox states", "task states", "key",
];

/// The meanings that a legend gives to markers.
const MEANINGS: [&str; 22] = [
    "pending", "todo", "to do", "open", "not started", "not done", "unchecked", "incomplete",
    "in progress", "in-progress", "started", "running", "partial", "done", "complete", "completed",
    "finished", "checked", "blocked", "skipped", "cancelled", "deferred",
];

/// Whether a heading is that of a legend.
pub(super) fn is_heading(title: &str) -> bool {
    let title = title.trim().trim_end_matches(':').to_ascii_lowercase();
    TITLES.iter().any(|word| {
        title == *word
            || title.strip_suffix(word).is_some_and(|rest| rest.ends_with(' ') && *word != "key")
            || title
                .strip_prefix(word)
                .is_some_and(|rest| rest.starts_with([' ', ':']) && *word != "key")
    })
}

/// Whether the line above a list announces a legend: `Legend:`.
pub(super) fn is_announced_by(line: &str) -> bool {
    let bare = line.trim().trim_matches(['*', '_', '#', '>', ' ']);
    bare.ends_with(':') && is_heading(bare) || is_heading(bare) && bare.len() < line.trim().len()
}

/// Whether a list of boxes is a legend: no marker twice, and nothing but meanings.
pub(super) fn is_legend(list: &[Checkbox]) -> bool {
    if !(2..=12).contains(&list.len()) || !list.iter().all(|found| is_meaning(&found.text)) {
        return false;
    }
    let mut marks: Vec<&str> = list.iter().map(|found| found.mark.as_str()).collect();
    marks.sort_unstable();
    marks.dedup();
    marks.len() == list.len()
}

/// Whether a text is the meaning of the marker before it: `= done`.
pub(super) fn is_definition(text: &str) -> bool {
    let rest = text.trim_start().strip_prefix(['=', ':', '→']);
    rest.is_some_and(|rest| !rest.trim().is_empty())
}

/// Whether the text says what a marker means.
fn is_meaning(text: &str) -> bool {
    if is_definition(text) {
        return true;
    }
    if text.len() > 40 {
        return false;
    }
    let bare = text.trim().trim_matches(['*', '_', '`', '.', '(', ')']).to_ascii_lowercase();
    let words = bare.trim_start_matches(['-', '–', '—', ' ']).trim();
    let rest =
        ["task ", "tasks ", "step ", "phase "].iter().find_map(|start| words.strip_prefix(start));
    MEANINGS.contains(&rest.map_or(words, |rest| rest.trim_start_matches("is ").trim()))
}
