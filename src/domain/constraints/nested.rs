//! How people arrange the lists of constraints.md: under headings of their own, with lists in lists.

use super::{Behaviour, ConstraintList};
use crate::text::markdown::{Document, ItemId, SectionId};

/// Words in a heading or a label that mark something as not in force.
const NOT_IN_FORCE: [&str; 33] = [
    "archive", "archived", "deprecated", "disabled", "draft", "drafts", "e.g", "eg", "example",
    "examples", "former", "formerly", "idea", "ideas", "inactive", "longer", "not", "obsolete",
    "off", "old", "proposal", "proposals", "proposed", "removed", "retired", "sample", "samples",
    "template", "todo", "unused", "was", "were", "yet",
];
/// Words that may accompany them.
const ACCOMPANYING: [&str; 18] = [
    "a", "active", "an", "and", "directive", "directives", "enabled", "for", "force", "in", "no",
    "only", "rule", "rules", "the", "these", "this", "used",
];

/// Whether a heading or a label says that what follows is not in force: `Examples`, `Disabled`,
/// `For example`, `Old rules`; not `Draft stage`.
pub(crate) fn is_out_of_force(title: &str) -> bool {
    let title = title.to_lowercase();
    let words = title.split(|c: char| !c.is_alphanumeric() && c != '.');
    let words = words.map(|word| word.trim_matches('.')).filter(|word| !word.is_empty());
    let says_so = |word: &str| NOT_IN_FORCE.contains(&word);
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    words.clone().any(says_so)
        && words
            .clone()
            .all(|word| says_so(word) || ACCOMPANYING.contains(&word) || is_number(word))
}

/// The list that a section belongs to: its own, or that of a heading around it.
pub(in crate::domain) fn list_of(
    document: &Document,
    section: SectionId,
) -> Option<ConstraintList> {
    let mut at = Some(section);
    while let Some(id) = at {
        let found = document.section(id);
        let title = found.title.trim();
        let is = |list: &ConstraintList| {
            list.titles().iter().any(|spelling| spelling.eq_ignore_ascii_case(title))
        };
        if let Some(list) = ConstraintList::ALL.into_iter().find(is) {
            return Some(list);
        }
        if is_out_of_force(title) {
            return None;
        }
        at = found.parent;
    }
    None
}

/// The lines of a list, in the order of the file.
pub(super) fn items(
    document: &Document,
    list: ConstraintList,
) -> impl Iterator<Item = ItemId> + '_ {
    let sections = document.sections().filter(move |id| list_of(document, *id) == Some(list));
    sections.flat_map(|section| document.items(section).iter().copied())
}

/// What is nested below a line, without the indentation and without the value of a field.
pub(in crate::domain) fn below(document: &Document, item: ItemId) -> String {
    let found = document.item(item);
    if found.block.is_some() {
        return String::new();
    }
    let text = document.source().get(found.content.end..found.span.end).unwrap_or_default();
    // The rest of the line itself can only be a comment.
    let Some((_, text)) = text.split_once(['\n', '\r']) else { return String::new() };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let filled = text.lines().filter(|line| !line.trim().is_empty());
    let margin = filled.map(indent).min().unwrap_or_default();
    let lines = text.lines().map(|line| line.get(margin..).unwrap_or_default().trim_end());
    lines.collect::<Vec<&str>>().join("\n").trim_end().trim_start_matches('\n').to_owned()
}

/// The actions of a rule that are in a list below it: `If 2+ steps fail:`.
pub(super) fn continued(document: &Document, item: ItemId) -> Option<String> {
    let text = document.text(item);
    let open = [":", "→", "->", "=>", "then"].iter().any(|end| text.ends_with(end));
    open.then(|| listed(document, item)).flatten()
}

/// The lines of a list nested in an item as one text, if it is a list of plain lines.
pub(super) fn listed(document: &Document, item: ItemId) -> Option<String> {
    let children = &document.item(item).children;
    let plain = |child: &ItemId| {
        let found = document.item(*child);
        found.children.is_empty() && found.block.is_none() && found.checkbox.is_none()
    };
    if children.is_empty() || !children.iter().all(plain) {
        return None;
    }
    let lines = children.iter().map(|child| document.text(*child));
    let lines: Vec<String> =
        lines.map(|line| line.trim_end_matches(['.', ';', ',']).to_owned()).collect();
    // Nothing but the list is below it, so no paragraph is lost.
    let listed = below(document, item);
    let lines_below = listed.lines().filter(|line| !line.trim().is_empty()).count();
    (lines_below == children.len()).then(|| lines.join(", "))
}

impl Behaviour {
    /// What is nested below the behaviour and is not part of its actions.
    pub(in crate::domain) fn below(&self, document: &Document) -> String {
        let listed = document.value(self.item).is_empty() && !self.text.is_empty();
        if listed { String::new() } else { below(document, self.item) }
    }
}
