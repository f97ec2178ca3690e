//! Putting free text into a section so that it stays there, whatever it contains.

use std::ops::Range;

use crate::text::markdown::change::{ChangeSet, Expect, Joint, TextChange};
use crate::text::markdown::{Document, EditError, ItemId, SectionId, line, title, value};

/// Whether text is added to what a section says, or takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Append,
    Replace,
    /// It takes the place of some of the section's [blocks](Document::body_blocks), from one to before another.
    Blocks(usize, usize),
    /// The same, where items without a key may be among them.
    Lists(usize, usize),
}

/// Adds to `set` what puts `text` into `section`: as it is if that is harmless, else with more
/// marks before its headings, else as a fenced block. Nothing else of the text changes.
///
/// Each form is tried on the section alone with a heading after it, so that something unclosed
/// is found out even at the end of a document, where it would swallow only what comes later.
pub(crate) fn put(
    set: &mut ChangeSet,
    document: &Document,
    section: SectionId,
    mode: Mode,
    text: &str,
) -> Result<(), EditError> {
    if text.contains('\0') {
        return Err(EditError::ContainsNul { name: document.section(section).title.to_owned() });
    }
    let newline = document.newline();
    let plain = line::normalise(text, newline);
    if plain.is_empty() && mode == Mode::Append {
        return Ok(());
    }
    let floor = first_child_level(document, section)
        .unwrap_or(document.section(section).level.saturating_add(1));
    let (alone, inner) = alone(document, section)?;
    let forms: [&dyn Fn() -> Option<String>; 3] =
        [&|| Some(plain.clone()), &|| demoted(&plain, floor, newline), &|| {
            Some(fenced(&plain, newline))
        }];
    let earlier = earlier(set, section);
    let mut refusal = None;
    // What is cleared needs no other form.
    let tried = if plain.is_empty() { 1 } else { forms.len() };
    for form in forms.iter().take(tried).filter_map(|form| form()) {
        let mut trial = ChangeSet::default();
        for text in &earlier {
            push(&mut trial, &alone, inner, Mode::Append, text.clone());
        }
        push(&mut trial, &alone, inner, mode, form.clone());
        match trial.carry_out(&alone) {
            Ok(_) => {
                push(set, document, section, mode, form);
                return Ok(());
            }
            Err(error) => refusal = Some(error),
        }
    }
    // The place in the trial means nothing to the caller.
    let place = document.place(document.section(section).heading.start);
    let reason = match (refusal, document.hidden()) {
        (_, Some(hidden)) => hidden.to_string(),
        (Some(EditError::WouldChangeStructure { reason, .. }), None) => reason,
        _ => "the text cannot be kept inside its section".to_owned(),
    };
    Err(EditError::WouldChangeStructure { place, reason })
}

/// Where text at the end of a section's own body goes: after its last line with content.
pub(crate) fn end_of_body(document: &Document, section: SectionId) -> usize {
    let body = &document.section(section).body;
    end_of_content(document.source(), body.start, body.end)
}

/// The end of the last line between `start` and `end` that is not blank.
pub(crate) fn end_of_content(source: &str, start: usize, end: usize) -> usize {
    let content = line::trim_end(source, start, end);
    if content <= start { start } else { line::next_line(source, content).min(end) }
}

/// The change itself, for text that has its final form.
fn push(set: &mut ChangeSet, document: &Document, section: SectionId, mode: Mode, text: String) {
    let body = document.section(section).body.clone();
    let source = document.source();
    let end = end_of_body(document, section);
    let expect = Expect::Inside(section);
    if let Mode::Blocks(first, behind) | Mode::Lists(first, behind) = mode {
        let blocks = document.body_blocks(section);
        let Some(blocks) = blocks.get(first..behind) else { return };
        let (Some(start), Some(end)) = (blocks.first(), blocks.last()) else { return };
        let at = start.span.start..end.span.end;
        if matches!(mode, Mode::Lists(..)) {
            let items = blocks.iter().filter_map(|block| block.item);
            let plain = items.filter(|item| document.item(*item).key.is_none());
            remove_items(set, document, plain.collect());
        }
        let (at, new) = match text.is_empty() {
            true => (whole_lines(source, body.start, at), text),
            false => (at, text.trim_end_matches(['\n', '\r']).to_owned()),
        };
        set.changes.push(TextChange { at, new, joint: Joint::Replace, expect });
        return;
    }
    if mode == Mode::Append || end == body.start {
        if !text.is_empty() {
            let joint = Joint::Text { indented: text.starts_with([' ', '\t']) };
            set.changes.push(TextChange { at: end..end, new: text, joint, expect });
        }
        return;
    }
    remove_items(set, document, document.items(section).to_vec());
    let mut new = text;
    let first = line::skip_space(source, body.start, end);
    let start = match new.is_empty() {
        true => body.start,
        false => line::line_start(source, first).max(body.start),
    };
    if !new.is_empty() && !line::blank_at(source, end) {
        new.push_str(document.newline());
    }
    set.changes.push(TextChange { at: start..end, new, joint: Joint::Replace, expect });
}

/// Lets items go, with all that is nested in them.
fn remove_items(set: &mut ChangeSet, document: &Document, mut items: Vec<ItemId>) {
    while let Some(item) = items.pop() {
        items.extend(&document.item(item).children);
        set.intent.removed_items.insert(item);
    }
}

/// The lines at `at`, with the blank ones before them where others follow or nothing does.
fn whole_lines(source: &str, top: usize, at: Range<usize>) -> Range<usize> {
    let end = line::next_line(source, at.end);
    match line::blank_at(source, end) {
        true => line::blank_run_start(source, at.start).max(top)..end,
        false => at.start..end,
    }
}

/// The texts that `set` already adds to `section`.
fn earlier(set: &ChangeSet, section: SectionId) -> Vec<String> {
    let inside = |change: &&TextChange| {
        matches!(change.expect, Expect::Inside(other) if other == section)
            && change.joint != Joint::Replace
    };
    set.changes.iter().filter(inside).map(|change| change.new.clone()).collect()
}

/// The section alone: its heading, its own body, and the heading that follows or a plain one.
fn alone(document: &Document, section: SectionId) -> Result<(Document, SectionId), EditError> {
    let found = document.section(section);
    let root = section == document.root();
    let from = if root { 0 } else { found.heading.start };
    let to =
        document.nth_section(section.number() + 1).map(|next| document.section(next).heading.end);
    // A line before a heading keeps its first bytes from being read as a byte order mark.
    let mut source = if root { String::new() } else { document.newline().to_owned() };
    source.push_str(&document.source()[from..to.unwrap_or(found.body.end)]);
    if to.is_none() {
        if !source.is_empty() && !line::begins_line(&source, source.len()) {
            source.push_str(document.newline());
        }
        source.push_str(&title::heading(found.level.max(1), "end", document.newline())?);
    }
    let alone = Document::parse(source)?;
    let inner = SectionId::nth(usize::from(!root));
    if alone.nth_section(inner.number()).is_none_or(|copy| alone.section(copy).title != found.title)
    {
        return Err(EditError::WouldChangeStructure {
            place: document.place(found.heading.start),
            reason: "the section cannot be read apart from the text before it".to_owned(),
        });
    }
    Ok((alone, inner))
}

fn first_child_level(document: &Document, section: SectionId) -> Option<u8> {
    let first = document.children(section).next()?;
    Some(document.section(first).level)
}

/// `text` with its headings moved down so that the highest has level `floor`; none when they
/// do not fit, when one is underlined (there are only two levels of these), or when there is
/// nothing to move.
pub(crate) fn demoted(text: &str, floor: u8, newline: &str) -> Option<String> {
    // A line before it keeps a rule at the start of the text from being read as front matter.
    let source = format!("{newline}{text}");
    let document = Document::parse(source.as_str()).ok()?;
    let headings = document.sections.get(1..)?;
    if !headings.iter().all(|section| title::is_marked(&source, section.start())) {
        return None;
    }
    let highest = headings.iter().map(|section| section.level).min()?;
    let shift = floor.checked_sub(highest).filter(|shift| *shift > 0)?;
    if floor > 6 {
        return None;
    }
    let mut out = String::with_capacity(source.len() + headings.len() * 4);
    let mut done = newline.len();
    for section in headings {
        let level = (section.level + shift).min(6);
        let start = line::skip_blanks(&source, section.start());
        out.push_str(&source[done..start]);
        out.push_str(&"#".repeat(usize::from(level)));
        done = start + usize::from(section.level);
    }
    out.push_str(&source[done..]);
    Some(out)
}

fn fenced(text: &str, newline: &str) -> String {
    let lines: Vec<&str> = line::lines(text).collect();
    format!("{}{newline}", value::fence(&lines.join("\n"), "", newline))
}
