//! Finds checkboxes in list items and in lines of HTML such as `<details>`, and the text below them.

use std::ops::Range;

use super::{Checkbox, Grammar, label};
use crate::text::markdown::{Document, ItemId, SectionId};

/// The boxes in list items of these sections, and in lines of their HTML blocks except comments.
pub(super) fn boxes(
    document: &Document,
    grammar: &Grammar,
    sections: impl Iterator<Item = SectionId>,
) -> Vec<Checkbox> {
    let mut found = Vec::new();
    for section in sections {
        let start = found.len();
        for &item in document.items(section) {
            boxes_in(document, grammar, item, None, &mut found);
        }
        let from_items = found.len();
        for block in document.html_blocks_in(section) {
            boxes_in_html(document, grammar, (section, block), &mut found);
        }
        if found.len() > from_items {
            found[start..].sort_by_key(|one| one.span.start);
        }
    }
    found
}

fn boxes_in(
    document: &Document,
    grammar: &Grammar,
    item: ItemId,
    outer: Option<ItemId>,
    found: &mut Vec<Checkbox>,
) {
    let read = document.item(item);
    let source = document.source();
    let mut around = outer;
    if let Some(text) = source.get(read.span.clone())
        && let Some(parsed) = BoxSpan::parse(text, grammar)
    {
        let first_child = read.children.first().map(|child| document.item(*child).span.start);
        let end = first_child.unwrap_or(read.span.end).max(read.span.start + parsed.end);
        let behind = source.get(read.span.start + parsed.end..end).unwrap_or_default();
        let (said, lines) = first_paragraph(behind);
        let checkbox = parsed.at(text, read.span.start, outer, read.section);
        found.push(Checkbox { text: said, lines, item: Some(item), ..checkbox });
        around = Some(item);
    }
    boxes_in_paragraph(document, grammar, (item, around), found);
    for &child in &read.children {
        boxes_in(document, grammar, child, around, found);
    }
}

/// Boxes in lines that are indented so deep that markdown reads them as part of an item's first
/// paragraph.
fn boxes_in_paragraph(
    document: &Document,
    grammar: &Grammar,
    (item, outer): (ItemId, Option<ItemId>),
    found: &mut Vec<Checkbox>,
) {
    let read = document.item(item);
    let end = read.children.first().map_or(read.span.end, |child| document.item(*child).span.start);
    let Some(text) = document.source().get(read.span.start..end) else { return };
    let mut at = read.span.start;
    for (count, line) in text.split_inclusive('\n').enumerate() {
        let start = at;
        at += line.len();
        let bare = line.trim_start();
        let first = &bare[bullet_width(bare).filter(|_| count == 0).unwrap_or(0)..];
        if first.trim().is_empty()
            || OTHER_BLOCKS.iter().any(|open| first.trim_start().starts_with(open))
        {
            return;
        }
        if count == 0 {
            continue;
        }
        let begin = start + line.len() - bare.len();
        let line = bare.trim_end();
        found.extend(Checkbox::on_line(line, begin, grammar, outer, read.section));
    }
}

fn boxes_in_html(
    document: &Document,
    grammar: &Grammar,
    (section, block): (SectionId, Range<usize>),
    found: &mut Vec<Checkbox>,
) {
    let Some(text) = document.source().get(block.clone()) else { return };
    let hidden = ["<!--", "<pre", "<script", "<style", "<textarea", "<?", "<!["];
    if hidden.iter().any(|open| starts_with(text, open)) {
        return;
    }
    let mut in_comment = false;
    let mut at = block.start;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let is_hidden = in_comment || line.contains("<!--");
        if line.contains("<!--") || line.contains("-->") {
            in_comment = line.rfind("<!--") > line.rfind("-->");
        }
        let indent = line.len() - line.trim_start().len();
        if is_hidden {
            continue;
        }
        let line = line[indent..].trim_end();
        found.extend(Checkbox::on_line(line, start + indent, grammar, None, section));
    }
}

impl Checkbox {
    /// The box in a line of text that is not an item, which begins at `begin` in the source.
    fn on_line(
        line: &str,
        begin: usize,
        grammar: &Grammar,
        outer: Option<ItemId>,
        section: SectionId,
    ) -> Option<Self> {
        BoxSpan::parse(line, grammar).map(|parsed| parsed.at(line, begin, outer, section))
    }
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

/// The beginnings of blocks other than paragraphs.
const OTHER_BLOCKS: [&str; 6] = ["```", "~~~", "#", ">", "|", "<"];

/// A bullet followed by a box, in offsets of its text.
struct BoxSpan {
    mark: Range<usize>,
    /// The end of the box and of a star after it.
    end: usize,
    is_optional: bool,
    is_word: bool,
}

impl BoxSpan {
    /// Reads `- [x]`, `1. [ ]`, `* [~]`, `- [ ]*`, `- []`, `- [in progress]`.
    fn parse(text: &str, grammar: &Grammar) -> Option<Self> {
        let bullet = bullet_width(text)?;
        let rest = &text[bullet..];
        let space = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let inside = rest[space..].strip_prefix('[')?;
        let start = bullet + space + 1;
        let word = inside.split_once(']').map_or("", |(word, _)| word);
        let is_word = (3..=20).contains(&word.len()) && grammar.role_of_word(word).is_some();
        let mark = match inside.chars().next()? {
            ']' => "",
            _ if is_word => word,
            first => {
                let width = first.len_utf8();
                // Some emoji are followed by a variation selector.
                let width = width + if inside[width..].starts_with('\u{fe0f}') { 3 } else { 0 };
                inside.get(..width).filter(|_| inside[width..].starts_with(']'))?
            }
        };
        let is_known =
            is_word || mark.chars().next().is_none_or(|mark| grammar.role_of(mark).is_some());
        // `[P]` and `[1]` are tags and references.
        if !is_known && mark.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()) {
            return None;
        }
        let mut end = start + mark.len() + 1;
        let mut behind = &text[end..];
        let is_optional = behind.starts_with('*') && !behind.starts_with("**");
        if is_optional {
            behind = &behind[1..];
            end += 1;
        }
        let is_apart = behind.is_empty() || behind.starts_with([' ', '\t', '\n', '\r', '\u{a0}']);
        let says = !behind.trim().is_empty();
        let mark = start..start + mark.len();
        (is_apart && says).then_some(Self { mark, end, is_optional, is_word })
    }

    /// The box with its text, which begins at `begin` in the source.
    fn at(self, text: &str, begin: usize, outer: Option<ItemId>, section: SectionId) -> Checkbox {
        Checkbox {
            span: begin..begin + text.len(),
            marker: begin + self.mark.start..begin + self.mark.end,
            mark: text[self.mark].to_owned(),
            is_optional: self.is_optional,
            is_word: self.is_word,
            text: text[self.end..].trim().to_owned(),
            lines: 1,
            item: None,
            outer,
            section,
        }
    }
}

/// The width of the bullet at the beginning, with the space after it.
pub(super) fn bullet_width(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let bullet = match digits {
        0 => text.starts_with(['-', '*', '+']).then_some(1)?,
        1..=9 => text[digits..].starts_with(['.', ')']).then_some(digits + 1)?,
        _ => return None,
    };
    text[bullet..].starts_with([' ', '\t']).then_some(bullet + 1)
}

/// The lines up to a blank one or another block, joined into one, and their number.
fn first_paragraph(text: &str) -> (String, usize) {
    let mut lines = text.lines();
    let mut said = lines.next().unwrap_or_default().trim().to_owned();
    let mut count = 1;
    for line in lines {
        let line = line.trim();
        let mut begins = OTHER_BLOCKS.iter().chain(&["_Requirements", "**"]);
        if line.is_empty()
            || begins.any(|start| line.starts_with(start))
            || bullet_width(line).is_some()
        {
            break;
        }
        if !said.is_empty() {
            said.push(' ');
        }
        said.push_str(line);
        count += 1;
    }
    (said, count)
}

/// Details longer than this many characters are cut; the file has the rest.
const MAX_DETAILS: usize = 1500;

/// The text below the first lines of a task without its nested tasks, which are the first of
/// `behind`; and the requirements that it lists.
pub(super) fn details(
    document: &Document,
    one: &Checkbox,
    behind: &[Checkbox],
) -> (Option<String>, Option<String>) {
    let Some(item) = one.item else { return (None, None) };
    let end = document.item(item).span.end;
    let start = one.marker.end + 1;
    let Some(text) = document.source().get(start..end) else { return (None, None) };
    let mut lines: Vec<&str> = Vec::new();
    let mut requirements = None;
    let mut nested = behind.iter().take_while(|other| other.span.start < end).peekable();
    let mut at = start;
    for (count, line) in text.split_inclusive('\n').enumerate() {
        let begins = at;
        at += line.len();
        while nested.next_if(|other| other.span.end <= begins).is_some() {}
        let is_nested = nested.peek().is_some_and(|other| other.span.start < at);
        if count < one.lines || is_nested {
            continue;
        }
        match label::requirements(line) {
            Some((_, list)) => requirements = Some(list),
            None => lines.push(line.trim_end()),
        }
    }
    (joined(&lines), requirements)
}

/// The lines without their common indentation and without blank lines around them.
fn joined(lines: &[&str]) -> Option<String> {
    let is_blank = |line: &&str| line.trim().is_empty();
    let indent = |line: &&str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let shared = lines.iter().filter(|line| !is_blank(line)).map(indent).min()?;
    let mut text = String::new();
    for line in lines {
        if is_blank(line) && (text.is_empty() || text.ends_with("\n\n")) {
            continue;
        }
        text.push_str(line.get(shared..).unwrap_or_default());
        text.push('\n');
    }
    let text = text.trim_end();
    if text.chars().count() > MAX_DETAILS {
        let cut: String = text.chars().take(MAX_DETAILS).collect();
        return Some(format!("{}…", cut.trim_end()));
    }
    (!text.is_empty()).then(|| text.to_owned())
}
