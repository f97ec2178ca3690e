//! Items without a box that stand in a list of tasks: easily taken for tasks, and not read as such.

use crate::text::{
    display::shorten,
    markdown::{Document, Item, ItemId, SectionId},
};

/// An item without a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unboxed {
    /// Where it begins.
    pub start: usize,
    /// The number of its line.
    pub line: usize,
    /// Its first line, without the bullet.
    pub text: String,
}

/// The items of these sections that have no box, in lists in which others are tasks; `tasks` says where
/// those begin, in order. What is nested in a task belongs to it, and an item around tasks groups them.
pub(crate) fn unboxed(
    document: &Document,
    sections: impl Iterator<Item = SectionId>,
    tasks: &[usize],
) -> Vec<Unboxed> {
    let mut found = Vec::new();
    if !tasks.is_empty() {
        for section in sections {
            visit(document, document.items(section), tasks, &mut found);
        }
    }
    found
}

fn visit(document: &Document, items: &[ItemId], tasks: &[usize], found: &mut Vec<Unboxed>) {
    let is_task = |item: &Item| tasks.binary_search(&item.span.start).is_ok();
    let items: Vec<&Item> = items.iter().map(|item| document.item(*item)).collect();
    for list in items.chunk_by(|before, next| is_same_list(document, before, next)) {
        let has_task = list.iter().any(|item| is_task(item));
        for item in list.iter().filter(|item| !is_task(item)) {
            let inside = tasks.partition_point(|task| *task < item.span.start);
            if tasks.get(inside).is_some_and(|task| *task < item.span.end) {
                visit(document, &item.children, tasks, found);
            } else if has_task {
                found.extend(Unboxed::read(document, item));
            }
        }
    }
}

/// Whether two neighbours are in one list: with nothing between them, and with the same bullet.
fn is_same_list(document: &Document, before: &Item, next: &Item) -> bool {
    let source = document.source();
    let bullet = |item: &Item| {
        let text = source.get(item.span.clone()).unwrap_or_default();
        text.trim_start_matches(|c: char| c.is_ascii_digit()).chars().next()
    };
    let between = source.get(before.span.end..next.span.start).unwrap_or_default();
    between.trim().is_empty() && bullet(before) == bullet(next)
}

impl Unboxed {
    /// Reads an item; `None` if it says nothing, or is a field such as `**Owner**: ada`.
    fn read(document: &Document, item: &Item) -> Option<Self> {
        let text = document.source().get(item.head..item.span.end)?.lines().next()?.trim();
        let is_field = item.key.is_some() && text.starts_with("**");
        if text.is_empty() || is_field {
            return None;
        }
        let start = item.span.start;
        Some(Self { start, line: document.place(start).line, text: text.to_owned() })
    }
}

/// How many places are named.
const MOST: usize = 5;

/// `` `Buy paint` has no box, so it is not a task ``, for all of them in one sentence.
pub(crate) fn message(found: &[Unboxed], (one, many): (&str, &str)) -> Option<String> {
    let (first, others) = found.split_first()?;
    let text = shorten(&first.text, 60);
    if others.is_empty() {
        return Some(format!("`{text}` has no box, so it is not a {one}"));
    }
    let mut lines: Vec<String> = others.iter().take(MOST).map(|one| one.line.to_string()).collect();
    if others.len() > MOST {
        lines.push("…".to_owned());
    }
    let (word, lines) = (if others.len() == 1 { "line" } else { "lines" }, lines.join(", "));
    Some(format!(
        "`{text}` and {} more ({word} {lines}) have no box, so they are not {many}",
        others.len()
    ))
}

/// What to do about them.
pub(crate) fn hint(found: &[Unboxed]) -> Option<String> {
    // `[ ]text` lacks only the space.
    let text = &found.first()?.text;
    let bare = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| text.strip_prefix(mark));
    let text = shorten(bare.unwrap_or(text).trim(), 60);
    Some(format!(
        "write `- [ ] {text}` if it is to be done; indent what belongs to the item above it"
    ))
}
