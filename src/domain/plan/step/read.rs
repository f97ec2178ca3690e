//! Reading one step.

use std::{borrow::Cow, ops::Range};

use crate::domain::plan::{
    at_value,
    bookkeeping::{ATTEMPTS, Bookkeeping, CLAIMED_BY, COMPLETED_AT, STARTED_AT},
    duplicate, key_of, line_of,
    read::{
        field_lines,
        locate::{LocatedStep, locate},
    },
    says_step,
    step::details::{LazyDetails, StepDetails},
    value_of,
};
use crate::{
    domain::{Claim, ErrorCode, Problem, Step, plan::step::BookkeepingForm},
    text::markdown::{Document, ItemId, SectionId},
};

/// The list of dependencies, which is understood once all steps are known.
pub(crate) type Dependencies = Option<(ItemId, String)>;

/// Reads the step in `section`.
pub(crate) fn read(
    document: &Document,
    found: LocatedStep,
    problems: &mut Vec<Problem>,
) -> (Step, Dependencies) {
    let LocatedStep { section, item, heading, number } = found;
    let (heading_prefix, title, heading) = heading.into_parts();
    let offset = match item {
        Some(item) => document.item(item).span.start,
        None => document.section(section).heading.start,
    };
    let mut step = Step {
        number,
        id: None,
        depends_on: Vec::new(),
        attempts: 0,
        failures: None,
        details: LazyDetails::default(),
        heading,
        bookkeeping: BookkeepingForm::Line,
        offset,
        section,
        item,
    };
    let mut details = StepDetails { title, heading_prefix, ..StepDetails::default() };
    let mut dependencies = None;
    let mut seen: Vec<Cow<'_, str>> = Vec::new();
    let fields = match item {
        Some(item) => document.item(item).children.as_slice(),
        None => document.items(section),
    };
    for &item in fields {
        let Some(key) = key_of(document, item) else { continue };
        if seen.contains(&key) {
            problems.push(duplicate(document, item, &key));
            continue;
        }
        let value = match is_one_line(&key) {
            true => line_of(document, item),
            false => value_of(document, item),
        };
        match &*key {
            "id" => read_line(document, item, value, (&mut step, &mut details), problems),
            "status" => {
                details.status = value;
                if step.id.is_some() {
                    // Older states begin a step with its id.
                    step.bookkeeping = BookkeepingForm::Fields;
                }
            }
            "component" => details.component = value,
            "tool_mapping" => details.tool_mapping = value,
            "estimated_cost" => details.estimated_cost = value,
            "estimated_time" => details.estimated_time = value,
            "side_effects" => details.side_effects = value,
            "result" => details.result = value,
            COMPLETED_AT => details.completed_at = value,
            CLAIMED_BY | STARTED_AT | ATTEMPTS => {
                step.bookkeeping = BookkeepingForm::Fields;
                match &*key {
                    CLAIMED_BY => details.claimed_by = value.as_deref().map(Claim::parse),
                    STARTED_AT => details.started_at = value,
                    _ => match value.as_deref().map_or(Ok(0), str::parse) {
                        Ok(attempts) => step.attempts = attempts,
                        Err(_) => {
                            let message = "`attempts` is not a whole number".to_owned();
                            problems.push(at_value(document, item, ErrorCode::BadNumber, message));
                        }
                    },
                }
            }
            "failures" => match value.as_deref().map(str::parse).transpose() {
                Ok(failures) => step.failures = failures,
                Err(_) => {
                    let message = "`failures` is not a whole number".to_owned();
                    problems.push(at_value(document, item, ErrorCode::BadNumber, message));
                }
            },
            "inputs" => details.inputs = nested(document, item),
            "expected_outputs" => {
                details.expected_outputs = inline_names(value.as_deref());
                details.expected_outputs.extend(nested(document, item));
            }
            "depends_on" => dependencies = value.map(|list| (item, list)),
            _ => details.other.push((key.to_string(), document.value(item))),
        }
        seen.push(key);
    }
    if let Some(item) = item {
        details.description = description_in_box(document, item);
    } else if !has_fields_only(document, section) {
        if details.status.is_none() {
            let status = field_lines::status(document, section);
            details.status = status.map(|at| document.source()[at].to_owned());
        }
        details.description = description(document, section);
    }
    step.details = details.into();
    (step, dependencies)
}

/// Whether a field is one that this program keeps in a line.
pub(super) fn is_one_line(key: &str) -> bool {
    let known = ["id", "status", "failures", ATTEMPTS, CLAIMED_BY, STARTED_AT, COMPLETED_AT];
    known.contains(&key)
}

/// What somebody typed right below a field of one line.
pub(super) fn typed_below(document: &Document, item: ItemId) -> Option<Range<usize>> {
    let is_kept = key_of(document, item).is_some_and(|key| is_one_line(&key));
    let (own, end) = (document.own_lines_end(item), document.item(item).value_span.end);
    let space = document.source()[own..end].len() - document.source()[own..end].trim_start().len();
    (is_kept && own < end).then_some(own + space..end)
}

/// The id, and what is in its line.
fn read_line(
    document: &Document,
    item: ItemId,
    value: Option<String>,
    (step, details): (&mut Step, &mut StepDetails),
    problems: &mut Vec<Problem>,
) {
    let Some(value) = value else { return };
    let line = Bookkeeping::parse(&value);
    step.id = line.step_id();
    if step.id.is_none() {
        let message = format!("`{value}` cannot be the id of a step");
        problems.push(at_value(document, item, ErrorCode::BadId, message));
        return;
    }
    if line.attempts > 0 {
        step.attempts = line.attempts;
    }
    let claim = line.claimed_by.as_deref().map(Claim::parse);
    details.claimed_by = claim.or(details.claimed_by.take());
    details.started_at = line.started_at.or(details.started_at.take());
    details.completed_at = line.completed_at.or(details.completed_at.take());
}

fn nested(document: &Document, item: ItemId) -> Vec<(String, String)> {
    let children = &document.item(item).children;
    let pair = |child: &ItemId| {
        let key = document.item(*child).key.clone().unwrap_or_default();
        (key, document.value(*child))
    };
    children.iter().map(pair).collect()
}

/// The names in an inline JSON array.
fn inline_names(value: Option<&str>) -> Vec<(String, String)> {
    let names: Option<Vec<String>> = value.and_then(|text| serde_json::from_str(text).ok());
    names.unwrap_or_default().into_iter().map(|name| (name, String::new())).collect()
}

/// The text under a step that is not a field: markdown, as written.
fn description(document: &Document, section: SectionId) -> Option<String> {
    let found = document.section(section);
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for part in document.body_blocks(section) {
        let is_field = part.item.is_some_and(|item| document.item(item).key.is_some());
        match (is_field, is_open, runs.last_mut()) {
            (true, ..) => runs.extend(part.item.and_then(|item| typed_below(document, item))),
            (false, true, Some(run)) => run.end = part.span.end,
            (false, ..) => runs.push(part.span),
        }
        is_open = !is_field;
    }
    if let Some(first) = document.children(section).next() {
        let end = steps_inside(document, section).unwrap_or(found.extent.end);
        runs.push(document.heading_start(first)..end);
    }
    let texts = runs.into_iter().map(|run| document.source()[run].trim_end());
    let text = texts.collect::<Vec<_>>().join(&document.newline().repeat(2));
    let text = field_lines::without_status(&text);
    Some(text).filter(|text| !text.trim().is_empty())
}

/// Where steps begin that stand inside this one, which can only be where there is no *Steps*.
pub(in crate::domain) fn steps_inside(document: &Document, section: SectionId) -> Option<usize> {
    let children = || document.children(section);
    if !children().any(|id| says_step(document, id)) {
        return None;
    }
    let inside = locate(document).into_iter().find(|step| children().any(|id| id == step.section));
    inside.map(|step| document.section(step.section).heading.start)
}

/// What is nested in a box and is not a field, without its indentation.
fn description_in_box(document: &Document, item: ItemId) -> Option<String> {
    let found = document.item(item);
    let is_plain = |child: &&ItemId| document.item(**child).key.is_none();
    let texts = found.children.iter().filter(is_plain);
    let own = |child: &ItemId| dedent(document, document.item(*child).span.clone());
    let text = texts.map(own).collect::<Vec<_>>().join(document.newline());
    Some(text).filter(|text| !text.trim().is_empty())
}

/// The text of an item without the white space that its first line begins with.
fn dedent(document: &Document, span: Range<usize>) -> String {
    let source = document.source();
    let line = source[..span.start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let indent = &source[line..span.start];
    let lines = source[span].lines().enumerate().map(|(at, line)| match at {
        0 => line,
        _ => line.strip_prefix(indent).unwrap_or_else(|| line.trim_start()),
    });
    lines.collect::<Vec<_>>().join(document.newline()).trim_end().to_owned()
}

/// Whether nothing but fields is in the section, as in nearly every step.
fn has_fields_only(document: &Document, section: SectionId) -> bool {
    let found = document.section(section);
    let is_blank = |span: Range<usize>| {
        document.source().get(span).is_some_and(|text| text.trim_ascii().is_empty())
    };
    let mut end = found.body.start;
    for &item in document.items(section) {
        let is_typed_below = typed_below(document, item).is_some();
        let item = document.item(item);
        // The bullet is before the item's own span only by its indentation.
        if item.key.is_none() || is_typed_below || !is_blank(end..item.span.start.max(end)) {
            return false;
        }
        end = item.span.end;
    }
    document.children(section).next().is_none() && is_blank(end.min(found.body.end)..found.body.end)
}
