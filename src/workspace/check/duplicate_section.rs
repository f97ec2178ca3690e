//! Sections that appear more than once, so that only some are read, or none can be added to.

use std::collections::HashSet;

use super::ParsedFiles;
use crate::{
    domain::{
        ConstraintList, Constraints, Context, ContextSection, ErrorCode, Plan, Problem, StateFile,
    },
    text::markdown::{Document, SectionId, is_placeholder},
};

pub(super) fn check(files: &ParsedFiles, found: &mut Vec<Problem>) {
    if let Some(plan) = &files.plan {
        check_plan(plan, found);
    }
    if let Some(constraints) = &files.constraints {
        check_constraints(constraints, found);
    }
    if let Some(context) = &files.context {
        check_context(context, found);
    }
}

fn check_plan(plan: &Plan, found: &mut Vec<Problem>) {
    let document = &plan.document;
    if let [first, again, ..] = beside_first(document, named(document, &["Metadata"])).as_slice() {
        let read = plan.metadata_section();
        let what = if read == Some(*first) { "only the first is read" } else { "one is not read" };
        let message = format!("`{}` appears more than once; {what}", title(document, *again));
        found.push(problem(StateFile::Plan, true, message, document, *again));
    }
    if let [_, again, ..] = beside_first(document, named(document, &["Steps"])).as_slice() {
        let message = format!(
            "`{}` appears more than once; the steps below each of them count, and new steps go to the end",
            title(document, *again)
        );
        found.push(problem(StateFile::Plan, false, message, document, *again));
    }
}

fn check_constraints(constraints: &Constraints, found: &mut Vec<Problem>) {
    let document = &constraints.document;
    for names in ConstraintList::ALL.map(ConstraintList::titles) {
        // Whoever adds to a list cannot know which is meant; another spelling of it is not looked for.
        let Some(same) = names.iter().map(|name| named(document, &[name])).find(|s| !s.is_empty())
        else {
            continue;
        };
        if let [_, again, ..] = same.as_slice() {
            let message = format!(
                "`{}` appears more than once: each is read, but no command adds to any of them",
                title(document, *again)
            );
            found.push(problem(StateFile::Constraints, true, message, document, *again));
            continue;
        }
        if let [first, again, ..] = named(document, names).as_slice() {
            let (read, other) = if same.contains(first) { (first, again) } else { (again, first) };
            let message = format!(
                "`{}` and `{}` are names of the same section; only the first takes effect",
                title(document, *read),
                title(document, *other)
            );
            found.push(problem(StateFile::Constraints, true, message, document, *other));
        }
    }
}

/// Sections of free text with the same title: nothing can be added to them by name.
fn check_context(context: &Context, found: &mut Vec<Problem>) {
    let document = &context.document;
    let mut seen = HashSet::new();
    for ContextSection { title, section, .. } in &context.sections {
        let parent = document.section(*section).parent;
        let is_new = seen.insert((parent, title.trim().to_ascii_lowercase()));
        if is_new || title.trim().is_empty() || is_placeholder(title.trim()) {
            continue;
        }
        let message =
            format!("`{title}` appears more than once, so nothing can be added to it by that name");
        found.push(problem(StateFile::Context, false, message, document, *section));
    }
}

/// Those of the sections that have the same parent as the first of them: a step may have a
/// `Metadata` of its own.
fn beside_first(document: &Document, sections: Vec<SectionId>) -> Vec<SectionId> {
    let parent = |id: &SectionId| document.section(*id).parent;
    let first = sections.first().map(parent);
    sections.into_iter().filter(|id| Some(parent(id)) == first).collect()
}

/// The sections with one of these titles, in the order of the file.
fn named(document: &Document, names: &[&str]) -> Vec<SectionId> {
    let is_named = |id: &SectionId| {
        names.iter().any(|name| document.section(*id).title.trim().eq_ignore_ascii_case(name))
    };
    document.sections().filter(is_named).collect()
}

fn title(document: &Document, section: SectionId) -> &str {
    document.section(section).title.trim()
}

fn problem(
    file: StateFile,
    is_error: bool,
    message: String,
    document: &Document,
    section: SectionId,
) -> Problem {
    let code = ErrorCode::DoubledSection;
    let problem = match is_error {
        true => Problem::error(code, file, message),
        false => Problem::warning(code, file, message),
    };
    let place = document.place(document.section(section).heading.start);
    problem.at(place).hint("put what is below them under one heading, or rename one of them")
}
