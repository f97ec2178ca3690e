//! context.md from its sections.

use super::{heading, not_read_back, parse};
use crate::{
    domain::{Context, PutMode, StateFile},
    text::markdown::Document,
    workspace::{
        Error,
        state::{SectionState, sections_of, source::DocumentPart},
    },
};

const FILE: StateFile = StateFile::Context;

/// Writes the sections as they are; a text that would not stay inside its section is escaped.
pub(in super::super) fn context(document: &DocumentPart<'_>) -> Result<String, Error> {
    let mut wanted = Vec::new();
    for part in document.list("context")? {
        wanted.push(section(&part)?);
    }
    let plain = compose(&wanted)?;
    if let Ok(document) = Document::parse(plain.as_str())
        && same(&sections_of(&document), &wanted)
    {
        return Ok(plain);
    }
    let bare: Vec<SectionState> =
        wanted.iter().map(|s| SectionState { text: String::new(), ..s.clone() }).collect();
    let mut text = compose(&bare)?;
    let mut root = String::new();
    for (at, section) in wanted.iter().enumerate().filter(|(_, s)| !s.text.is_empty()) {
        if section.level == 0 {
            root = section.text.clone();
            continue;
        }
        let document = parse(FILE, text)?;
        // Earlier texts may contain headings, below their sections.
        let found = document
            .sections()
            .filter(|id| document.section(*id).level > 0)
            .filter(|id| document.section(*id).title == section.title)
            .nth(wanted[..at].iter().filter(|s| s.title == section.title).count());
        let Some(id) = found else { return Err(not_read_back(FILE, "the context")) };
        let edited =
            Context::put_text(&document, id, &section.text, PutMode::Replace, str::to_owned);
        let edited = edited.map_err(|_| not_read_back(FILE, "the context"))?;
        text = edited.document.into_source();
    }
    if !root.is_empty() {
        let document = parse(FILE, text)?;
        let mut edit = document.edit();
        edit.append_text(document.root(), &root);
        let edited = edit.finish().map_err(|_| not_read_back(FILE, "the context"))?;
        text = edited.document.into_source();
    }
    Ok(text)
}

fn section(part: &DocumentPart<'_>) -> Result<SectionState, Error> {
    let mut path = Vec::new();
    for title in part.list("path")? {
        path.push(title.as_text()?);
    }
    let level = match part.get("level") {
        Some(_) => u8::try_from(part.count("level")?).unwrap_or(6).min(6),
        None => u8::try_from(path.len() + 2).unwrap_or(6).min(6),
    };
    let text = part.text("text")?.unwrap_or_default();
    let title = part.text("title")?.unwrap_or_default();
    Ok(SectionState { title, level, path, text: Context::trimmed(&text).to_owned(), place: None })
}

fn compose(sections: &[SectionState]) -> Result<String, Error> {
    let mut text = String::new();
    for section in sections {
        if section.level > 0 {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&heading(section.level, &section.title)?);
        }
        if !section.text.is_empty() {
            let gap = if section.level > 0 { "\n" } else { "" };
            text.push_str(&format!("{gap}{}\n", Context::as_written(&section.text)));
        }
    }
    Ok(text)
}

/// Whether title, level and text of all sections are the same; the path follows from these.
fn same(found: &[SectionState], wanted: &[SectionState]) -> bool {
    found.len() == wanted.len()
        && found.iter().zip(wanted).all(|(found, wanted)| {
            (&found.title, found.level, &found.text) == (&wanted.title, wanted.level, &wanted.text)
        })
}
