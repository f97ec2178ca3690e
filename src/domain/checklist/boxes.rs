//! Where the boxes are: in items of lists, and in lines of HTML such as `<details>`.

use std::ops::Range;

use super::{Found, Grammar};
use crate::text::markdown::{Document, ItemId, SectionId};

/// Every item with a box in these sections, and every such line in a block of HTML that is no
/// comment.
pub(super) fn boxes(
    document: &Document,
    grammar: &Grammar,
    sections: impl Iterator<Item = SectionId>,
) -> Vec<Found> {
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
    found: &mut Vec<Found>,
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
        found.push(Found {
            marker: read.span.start + parsed.mark.start..read.span.start + parsed.mark.end,
            mark: text[parsed.mark.clone()].to_owned(),
            is_optional: parsed.is_optional,
            is_word: parsed.is_word,
            text: said,
            lines,
            span: read.span.clone(),
            item: Some(item),
            outer,
            section: read.section,
        });
        around = Some(item);
    }
    boxes_in_paragraph(document, grammar, (item, around), found);
    for &child in &read.children {
        boxes_in(document, grammar, child, around, found);
    }
}

/// Boxes in lines that are indented so far that markdown takes them for more of the paragraph that an
/// item begins with.
fn boxes_in_paragraph(
    document: &Document,
    grammar: &Grammar,
    (item, outer): (ItemId, Option<ItemId>),
    found: &mut Vec<Found>,
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
        if let Some(parsed) = BoxSpan::parse(bare.trim_end(), grammar) {
            found.push(Found {
                marker: begin + parsed.mark.start..begin + parsed.mark.end,
                mark: bare[parsed.mark.clone()].to_owned(),
                is_optional: parsed.is_optional,
                is_word: parsed.is_word,
                text: bare[parsed.end..].trim().to_owned(),
                lines: 1,
                span: begin..start + line.trim_end().len(),
                item: None,
                outer,
                section: read.section,
            });
        }
    }
}

fn boxes_in_html(
    document: &Document,
    grammar: &Grammar,
    (section, block): (SectionId, Range<usize>),
    found: &mut Vec<Found>,
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
        if let Some(parsed) = BoxSpan::parse(line[indent..].trim_end(), grammar) {
            let begin = start + indent;
            found.push(Found {
                marker: begin + parsed.mark.start..begin + parsed.mark.end,
                mark: line[indent..][parsed.mark.clone()].to_owned(),
                is_optional: parsed.is_optional,
                is_word: parsed.is_word,
                text: line[indent..][parsed.end..].trim().to_owned(),
                lines: 1,
                span: begin..start + line.trim_end().len(),
                item: None,
                outer: None,
                section,
            });
        }
    }
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

/// What begins something else than text.
const OTHER_BLOCKS: [&str; 6] = ["```", "~~~", "#", ">", "|", "<"];

/// A bullet with a box behind it, in offsets of its text.
struct BoxSpan {
    mark: Range<usize>,
    /// Where the box ends, and a star behind it.
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
                // Some markers are drawn with a second character.
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
}

/// How wide the bullet at the beginning is, the space behind it included.
pub(super) fn bullet_width(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let bullet = match digits {
        0 => text.starts_with(['-', '*', '+']).then_some(1)?,
        1..=9 => text[digits..].starts_with(['.', ')']).then_some(digits + 1)?,
        _ => return None,
    };
    text[bullet..].starts_with([' ', '\t']).then_some(bullet + 1)
}

/// The lines up to the first that is empty or begins something else, as one, and their number.
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
