//! Adding to and replacing sections of the context.

use std::borrow::Cow;

use super::ContextText;
use crate::{
    domain::{Context, ErrorCode, ModelError, StateFile},
    text::markdown::{Document, Edit, SectionId, is_placeholder},
    workspace::{Answer, Draft, Error},
};

const FILE: StateFile = StateFile::Context;

/// Adds text behind what the section holds.
pub(super) fn add(draft: &mut Draft<'_>, text: &ContextText) -> Result<Answer, Error> {
    change(draft, text, "added to", |edit, section| {
        edit.append_text(section, &unlike_placeholders(&text.text));
    })
}

/// Replaces what the section holds; its subsections stay.
pub(super) fn set(draft: &mut Draft<'_>, text: &ContextText) -> Result<Answer, Error> {
    change(draft, text, "replaced in", |edit, section| {
        edit.replace_text(section, &unlike_placeholders(&text.text));
    })
}

/// The text with lines such as `[Smith 2024]` written as `\[Smith 2024]`, which looks the same and
/// is not taken for something that a template left open.
fn unlike_placeholders(text: &str) -> Cow<'_, str> {
    let is_alike = |line: &str| line.trim().starts_with('[') && is_placeholder(line.trim());
    if !text.lines().any(is_alike) {
        return Cow::Borrowed(text);
    }
    let Ok(document) = Document::parse(text) else { return Cow::Borrowed(text) };
    let code = document.code();
    let mut written = String::with_capacity(text.len() + 8);
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let bracket = line.len() - line.trim_start().len();
        if is_alike(line) && !code.iter().any(|range| range.contains(&offset)) {
            written.push_str(&line[..bracket]);
            written.push('\\');
            written.push_str(&line[bracket..]);
        } else {
            written.push_str(line);
        }
        offset += line.len();
    }
    Cow::Owned(written)
}

fn change(
    draft: &mut Draft<'_>,
    text: &ContextText,
    verb: &str,
    work: impl Fn(&mut Edit<'_>, SectionId),
) -> Result<Answer, Error> {
    if text.text.trim().is_empty() && verb == "added to" {
        return Err(Error::refused(ErrorCode::BadValue, "there is no text to add"));
    }
    let name = text.section.as_deref().unwrap_or(Context::DEFAULT_SECTION);
    if name.trim().is_empty() {
        return Err(Error::refused(ErrorCode::BadValue, "a section needs a name"));
    }
    let mut context = draft.context()?;
    let section = match context.section(name) {
        Ok(section) => section,
        Err(ModelError::NotFound { .. }) if text.create => {
            create(draft, &context, name)?;
            context = draft.context()?;
            context.section(name)?
        }
        Err(ModelError::NotFound { file, message, hint }) => {
            let hint = hint.map(|hint| format!("{hint} ")).unwrap_or_default();
            let hint = Some(format!("{hint}`--create` adds the section"));
            return Err(ModelError::NotFound { file, message, hint }.into());
        }
        Err(error) => return Err(error.into()),
    };
    let title = context.document.section(section).title.clone();
    let mut edit = context.document.edit();
    work(&mut edit, section);
    let edited = edit.finish().map_err(|error| ModelError::edit(FILE, &error))?;
    draft.put(FILE, edited);
    draft.facts()?.touch(&format!("{FILE} {title}"));
    Ok(Answer::new(format!("{verb} `{title}`")).with("section", title))
}

fn create(draft: &mut Draft<'_>, context: &Context, name: &str) -> Result<(), Error> {
    let document = &context.document;
    let parent = document.sections().find(|id| document.section(*id).level == 1);
    let mut edit = document.edit();
    edit.insert_section(parent.unwrap_or_else(|| document.root()), None, 2, name, "");
    let edited = edit.finish().map_err(|error| ModelError::edit(FILE, &error))?;
    draft.put(FILE, edited);
    Ok(())
}
