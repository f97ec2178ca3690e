//! Adding to and replacing sections of the context.

use std::{borrow::Cow, iter};

use super::ContextText;
use crate::{
    domain::{Context, ErrorCode, ModelError, PutMode, StateFile, Step, StepRole},
    text::markdown::{Document, EditError, Edited, SectionId},
    workspace::{Answer, Draft, Error},
};

const FILE: StateFile = StateFile::Context;
/// The lowest level that a heading can have.
const DEEPEST: u8 = 6;

/// Adds text at the end of a section, whole. What a template left there goes.
///
/// Where an earlier text brought headings of its own, the new one gets a heading, too, unless it begins
/// with one: it would otherwise belong to the last of them.
pub(super) fn add(draft: &mut Draft<'_>, text: &ContextText) -> Result<Answer, Error> {
    if text.text.trim().is_empty() {
        return Err(Error::refused(ErrorCode::BadValue, "there is no text to add"));
    }
    let section = match draft.context()?.own_section(section_name(text)) {
        // Files of other people have it, and it is added to ours.
        Some(Err(true)) => create(draft, section_name(text))?,
        _ => find_or_create(draft, text)?,
    };
    let origin = TextOrigin::now(draft);
    let mut context = draft.context()?;
    let title = context.document.section(section).title.to_owned();
    let (mut place, mut text) = (section, text.text.as_str());
    if let Some(level) = context.level_below(section) {
        let own = own_heading(text).filter(|(title, _)| is_free(title, &context));
        let (heading, rest) = own.unwrap_or_else(|| (origin.heading(&context), text));
        text = rest;
        let mut edit = context.document.edit();
        edit.insert_section(section, None, level, &heading, "");
        finish(draft, edit.finish())?;
        context = draft.context()?;
        place = context.document.children(section).last().unwrap_or(section);
    }
    let put = if context.is_filler(place) { PutMode::Replace } else { PutMode::Append };
    let sign = |text: &str| origin.sign(text).into_owned();
    finish(draft, Context::put_text(&context.document, place, text, put, sign))?;
    answer(draft, "added to", title)
}

/// Replaces the text of a section; its subsections stay.
pub(super) fn set(draft: &mut Draft<'_>, text: &ContextText) -> Result<Answer, Error> {
    let section = find_or_create(draft, text)?;
    let context = draft.context()?;
    let title = context.document.section(section).title.to_owned();
    let put =
        Context::put_text(&context.document, section, &text.text, PutMode::Replace, str::to_owned);
    finish(draft, put)?;
    answer(draft, "replaced in", title)
}

/// When and during which step a text was added.
struct TextOrigin {
    step: Option<u32>,
    time: String,
}

impl TextOrigin {
    fn now(draft: &Draft<'_>) -> Self {
        Self { step: running_step(draft), time: draft.env.now() }
    }

    /// The text with an origin comment at its end, if there can be one.
    fn sign<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let date = self.time.get(..10).unwrap_or(&self.time);
        Context::with_origin(text, self.step, date)
    }

    /// A heading that no section has yet.
    fn heading(&self, context: &Context) -> String {
        let minute = self.time.get(..16).unwrap_or(&self.time).replace('T', " ");
        let title = match self.step {
            Some(step) => format!("Step {step}, {minute}"),
            None => minute,
        };
        let others = (2..).map(|count| format!("{title} ({count})"));
        let is_free = |title: &String| is_free(title, context);
        iter::once(title.clone()).chain(others).find(is_free).unwrap_or(title)
    }
}

fn is_free(title: &str, context: &Context) -> bool {
    context.sections.iter().all(|known| known.title != title)
}

/// The plain heading that a text begins with and all the rest is below, and the rest.
fn own_heading(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    let (line, rest) = text.split_once('\n').filter(|(_, rest)| !rest.trim().is_empty())?;
    let title = line.strip_prefix('#')?.trim_start_matches('#').trim();
    let document = Document::parse(text).ok()?;
    let mut children = document.children(document.root());
    let (Some(only), None) = (children.next(), children.next()) else { return None };
    (document.section(only).title == title).then(|| (title.to_owned(), rest))
}

/// The running step of the actor, or else the only running step.
fn running_step(draft: &Draft<'_>) -> Option<u32> {
    let plan = draft.plan().ok()?;
    let is_active = |step: &&Step| draft.workflow().role_of(step) == Some(StepRole::Active);
    let running: Vec<&Step> = plan.steps.iter().filter(is_active).collect();
    let is_own = |step: &&&Step| {
        step.claimed_by.as_ref().is_some_and(|claim| claim.is_by(draft.env.actor()))
    };
    match (running.as_slice(), running.iter().find(is_own)) {
        (_, Some(own)) => Some(own.number),
        ([only], None) => Some(only.number),
        _ => None,
    }
}

fn section_name(text: &ContextText) -> &str {
    text.section.as_deref().unwrap_or(Context::DEFAULT_SECTION)
}

fn find_or_create(draft: &mut Draft<'_>, text: &ContextText) -> Result<SectionId, Error> {
    let name = section_name(text);
    if name.trim().is_empty() {
        return Err(Error::refused(ErrorCode::BadValue, "a section needs a name"));
    }
    let context = draft.context()?;
    let own = context.own_section(name).and_then(Result::ok);
    match own.map_or_else(|| context.section(name), Ok) {
        Ok(section) => Ok(section),
        Err(ModelError::NotFound { .. }) if text.create => match parent_of(&context, name) {
            Some((parent, title)) => create_below(draft, parent, title),
            None => create(draft, name),
        },
        Err(ModelError::NotFound { file, message, hint }) => {
            let create = "`--create` adds the section";
            let hint = match (hint, context.document.hidden()) {
                // Nothing can be added behind what hides the rest, either.
                (Some(hidden), Some(_)) => hidden,
                (Some(nearest), None) => format!("{nearest} {create}"),
                (None, _) => create.to_owned(),
            };
            let hint = Some(hint);
            Err(ModelError::NotFound { file, message, hint }.into())
        }
        Err(error) => Err(error.into()),
    }
}

fn finish(draft: &mut Draft<'_>, edited: Result<Edited, EditError>) -> Result<(), Error> {
    draft.put(FILE, edited.map_err(|error| ModelError::edit(FILE, &error))?);
    Ok(())
}

fn answer(draft: &mut Draft<'_>, verb: &str, title: String) -> Result<Answer, Error> {
    draft.facts()?.touch(&format!("{FILE} {title}"));
    Ok(Answer::new(format!("{verb} `{title}`")).with("section", title))
}

/// Adds a section at the end of our own text.
fn create(draft: &mut Draft<'_>, name: &str) -> Result<SectionId, Error> {
    let context = draft.context()?;
    let document = &context.document;
    let parent = document.title_section();
    let mut edit = document.edit();
    edit.insert_section(parent.unwrap_or_else(|| document.root()), None, 2, name, "");
    finish(draft, edit.finish())?;
    let context = draft.context()?;
    match context.own_section(name) {
        Some(Ok(section)) => Ok(section),
        _ => Ok(context.section(name)?),
    }
}

/// The section that a path of headings would add one to, and its heading. Where others add to the
/// state, a name is a name.
fn parent_of<'n>(context: &Context, name: &'n str) -> Option<(SectionId, &'n str)> {
    let (above, title) = name.rsplit_once('/')?;
    let is_name = !title.trim().is_empty() && context.own_section(name).is_none();
    let parent = context.section(above).ok().filter(|_| is_name)?;
    (context.document.section(parent).level < DEEPEST).then_some((parent, title.trim()))
}

/// Adds a section at the end of another.
fn create_below(draft: &mut Draft<'_>, parent: SectionId, title: &str) -> Result<SectionId, Error> {
    let context = draft.context()?;
    let level = context.document.section(parent).level + 1;
    let mut edit = context.document.edit();
    edit.insert_section(parent, None, level, title, "");
    finish(draft, edit.finish())?;
    let context = draft.context()?;
    Ok(context.document.children(parent).last().unwrap_or(parent))
}
