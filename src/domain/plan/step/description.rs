//! Replacing the description of a step: its prose, and nothing else.

use std::{borrow::Cow, ops::Range};

use crate::{
    domain::{
        ModelError, Plan, Step,
        plan::{
            read::field_lines,
            step::{heading::Heading, read::typed_below},
        },
    },
    text::{
        display::{one_line, shorten},
        markdown::{BodyBlock, Document, Edit, ItemId, SectionId, demoted},
    },
};

/// How many characters of a paragraph are quoted.
const QUOTED: usize = 40;

impl Plan {
    /// Makes `text` the prose below the heading of a step; an empty text clears it. Fields, comments
    /// and sections stay, and so does a list, unless the text has one; whether there is a list that does.
    ///
    /// # Errors
    /// The prose is in several places, or it cannot be told what the text is to replace.
    pub(crate) fn set_description(
        &self,
        edit: &mut Edit<'_>,
        step: &Step,
        text: &str,
    ) -> Result<bool, ModelError> {
        let document = &self.document;
        let blocks = document.body_blocks(step.section);
        let is_list =
            |block: &BodyBlock| block.item.is_some_and(|id| document.item(id).key.is_none());
        let has_list = blocks.iter().any(is_list);
        let new = Document::parse(format!("# Step\n\n{text}\n")).ok();
        let brings_list = new.as_ref().is_some_and(|new| {
            let mut parts = new.sections().take(2).flat_map(|id| new.body_blocks(id));
            parts.any(|block| block.item.is_some())
        });
        let replaces_list = has_list && brings_list && self.has_list_apart(step, &blocks);
        if step.description.as_deref().unwrap_or_default().trim() == text.trim() {
            return Ok(false);
        }
        let source = |block: &BodyBlock| &document.source()[block.span.clone()];
        // A rule at the end separates the step from what follows, unless the text has one of its own.
        let has_rule = text.trim_end().lines().next_back().is_some_and(is_rule);
        let separator = blocks.last().filter(|block| !has_rule && is_rule(source(block)));
        let is_prose = |block: &BodyBlock| {
            let is_comment = source(block).starts_with("<!--") && !text.contains(source(block));
            let is_meant = block.item.is_none() || replaces_list && is_list(block);
            is_meant && !is_comment && separator != Some(block)
        };
        let runs = runs(&blocks, is_prose);
        let first_of = |run: &Range<usize>| {
            shorten(&one_line(source(&blocks[run.start])), QUOTED).replace('`', "'")
        };
        if let [one, other, ..] = runs.as_slice() {
            let message = format!(
                "the description of {} is in several places: `{}` and `{}`",
                step.name(),
                first_of(one),
                first_of(other)
            );
            return Err(by_hand(message));
        }
        let items = document.items(step.section);
        if items.iter().any(|item| typed_below(document, *item).is_some()) {
            let message = format!("text of {} is right below a field", step.name());
            return Err(by_hand(message));
        }
        let has_status = field_lines::status(document, step.section).is_some();
        if has_status && !runs.is_empty() {
            let message = format!("the description of {} contains its `Status:`", step.name());
            return Err(by_hand(message));
        }
        if has_list && brings_list && !replaces_list {
            return Err(by_hand(format!("{} has a list already, which stays", step.name())));
        }
        self.refuse_doubled(step, new.as_ref())?;
        let text = &*self.below_step(step, text);
        match (runs.into_iter().next(), separator) {
            (Some(run), _) if replaces_list => edit.replace_lists(step.section, run, text),
            (Some(run), _) => edit.replace_blocks(step.section, run, text),
            (None, Some(rule)) if !text.trim().is_empty() => {
                let text = format!("{text}\n\n{}", source(rule));
                edit.replace_blocks(step.section, blocks.len() - 1..blocks.len(), &text)
            }
            (None, _) => edit.append_text(step.section, text),
        };
        Ok(has_list && !replaces_list)
    }

    /// The text of a description with headings that read as steps so deep that nobody can have meant
    /// them as steps of this plan.
    pub(crate) fn below_step<'t>(&self, step: &Step, text: &'t str) -> Cow<'t, str> {
        let floor = self.document.section(step.section).level + 2;
        let Ok(new) = Document::parse(format!("\n{text}")) else { return Cow::Borrowed(text) };
        let is_mistakable = |id: SectionId| {
            new.section(id).level < floor && Heading::read(&new, id, false).is_some()
        };
        let deeper = new.sections().skip(1).any(is_mistakable);
        let deeper = deeper.then(|| demoted(text, floor, self.document.newline())).flatten();
        deeper.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Whether the items without a key are a list of the description beyond doubt: without boxes,
    /// and not right below a field.
    fn has_list_apart(&self, step: &Step, blocks: &[BodyBlock]) -> bool {
        let document = &self.document;
        let is_plain = |item: &ItemId| document.item(*item).checkbox.is_none();
        let key = |item: ItemId| document.item(item).key.as_ref();
        let items = document.items(step.section).iter();
        let is_below_field = |pair: &[BodyBlock]| {
            let [Some(above), Some(below)] = [pair[0].item, pair[1].item] else { return false };
            let before = document.source()[..pair[1].span.start].trim_end_matches([' ', '\t']);
            let is_apart = before.ends_with("\n\n") || before.ends_with("\n\r\n");
            key(above).is_some() && key(below).is_none() && !is_apart
        };
        items.filter(|item| key(**item).is_none()).all(is_plain)
            && !blocks.windows(2).any(is_below_field)
    }

    /// Refuses a text with a status, and one with a section that the step has already: what is there
    /// stays, so it would be there twice.
    fn refuse_doubled(&self, step: &Step, new: Option<&Document>) -> Result<(), ModelError> {
        let Some(new) = new else { return Ok(()) };
        if new.sections().nth(1).is_some_and(|id| field_lines::status(new, id).is_some()) {
            let message = format!("a line of the text would be a status of {}", step.name());
            let hint = "write the line in another way: `Status: …` is read as a field".to_owned();
            return Err(ModelError::BadValue { message, hint: Some(hint) });
        }
        let titles = |document: &Document, id| document.section(id).title.trim().to_owned();
        let known: Vec<String> =
            self.document.children(step.section).map(|id| titles(&self.document, id)).collect();
        let new = new.sections().skip(2).map(|id| titles(new, id));
        match new.into_iter().find(|title| known.contains(title)) {
            Some(title) => {
                let message = format!("{} has a section `{title}` already", step.name());
                Err(by_hand(message))
            }
            None => Ok(()),
        }
    }
}

/// The runs of neighbours that are meant.
fn runs(blocks: &[BodyBlock], is_meant: impl Fn(&BodyBlock) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..blocks.len()).filter(|at| is_meant(&blocks[*at])) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

fn is_rule(text: &str) -> bool {
    let mut marks = text.chars().filter(|c| !c.is_whitespace());
    let first = marks.next().filter(|c| "-*_".contains(*c));
    first.is_some_and(|first| marks.clone().count() >= 2 && marks.all(|mark| mark == first))
}

fn by_hand(message: String) -> ModelError {
    let hint = "edit the file by hand: the next command records what was changed".to_owned();
    ModelError::BadValue { message, hint: Some(hint) }
}
