//! Findings of `check` about an adopted state.

use super::{FileSet, workflow_in};
use crate::{
    domain::{
        ErrorCode, Plan, Problem, StateFile, Step, StepRole,
        adopted::Adopted,
        checklist::unboxed,
        layout::{FilePath, ForeignLayout, LAYOUT_FILE, PlanFile},
    },
    store::View,
    text::markdown::Document,
    workspace::{Error, Workspace},
};

impl Workspace {
    /// Turns findings about the composed files into findings about the adopted ones: with the places
    /// there, with unknown markers added, and without what is not ours to fix.
    pub(in crate::workspace) fn place_in_files(
        &self,
        findings: &mut Vec<Problem>,
    ) -> Result<(), Error> {
        let FileSet::Adopted(layout) = &self.files else { return Ok(()) };
        let raw = self.store.read(self.options.wait)?;
        let files = raw.files();
        let workflow = workflow_in(layout, &files);
        let adopted = Adopted { layout, workflow: &workflow };
        let composed = adopted.compose(&files)?;
        let others = adopted.compose_other_files(&files);
        let list = |file: usize| adopted.whole_file(&files, &composed.lists, file);
        let place = |problem: &Problem| -> Option<String> {
            let line = problem.place?.line;
            let text = match problem.file {
                StateFile::Plan => composed.plan.as_str(),
                file => std::str::from_utf8(others.get(file.name())?).ok()?,
            };
            match problem.file {
                StateFile::Plan => {
                    let plan = Plan::read(Document::parse(text).ok()?);
                    let line_of = |step: &Step| plan.document.place(step.offset).line;
                    let step = plan.steps.iter().rev().find(|step| line_of(step) <= line)?;
                    let one =
                        composed.task_steps.iter().find(|one| Some(&one.id) == step.id.as_ref())?;
                    let list = list(one.file)?;
                    let start = list.tasks.tasks[one.task].span.start;
                    let file = &layout.plan[one.file].file;
                    Some(format!("{file}:{}", list.document.place(start).line))
                }
                StateFile::Context | StateFile::Constraints => {
                    let names = layout.context.iter().chain(&layout.constraints);
                    let begins = |name: &FilePath| {
                        let at = text.find(&format!("\n\n# {name}\n\n"))?;
                        Some((text[..at].matches('\n').count() + 5, name.to_string()))
                    };
                    let found = names.filter_map(begins).filter(|(first, _)| *first <= line);
                    let (first, name) = found.max()?;
                    Some(format!("{name}:{}", line - first + 1))
                }
                _ => None,
            }
        };
        let added = &layout.added;
        findings.retain_mut(|problem| {
            problem.is_placed = problem.file != StateFile::Log;
            let Some(place) = place(problem) else {
                // Our own files come first in what is composed.
                let own = match problem.file {
                    StateFile::Context => Some(&added.context),
                    StateFile::Constraints => Some(&added.constraints),
                    StateFile::Variables => Some(&added.variables),
                    StateFile::History => Some(&added.history),
                    _ => None,
                };
                let at = match (own, problem.place) {
                    (Some(own), Some(at)) => format!("{own}:{}", at.line),
                    _ => layout.sources_of(problem.file, b""),
                };
                if problem.is_placed {
                    problem.message = format!("{at}: {}", problem.message);
                }
                return true;
            };
            let is_theirs = matches!(
                problem.code,
                ErrorCode::Placeholder | ErrorCode::DoubledSection | ErrorCode::DuplicateField
            );
            problem.message = format!("{place}: {}", problem.message);
            problem.place = None;
            !is_theirs
        });
        let word = |role| layout.grammar.word_of(role).unwrap_or_default();
        let [open, active, done] = [StepRole::Open, StepRole::Active, StepRole::Done].map(word);
        let words = format!("`{open}`, `{active}` or `{done}`");
        let lost = lost_lists(layout, &raw);
        for (one, fault) in &lost {
            let message = format!("{one}: {fault}");
            let problem = match lost.len() == layout.plan.len() {
                true => Problem::error(ErrorCode::FileMissing, StateFile::Plan, message),
                false => Problem::warning(ErrorCode::FileMissing, StateFile::Plan, message),
            };
            findings.push(Problem { is_placed: true, ..problem.hint(FIND_LIST) });
        }
        for (at, one) in layout.plan.iter().enumerate() {
            let Some(list) = list(at) else { continue };
            for task in list.tasks.tasks.iter().filter(|task| !task.is_known) {
                let line = list.document.place(task.marker.start).line;
                let mark = list.document.source().get(task.marker.clone()).unwrap_or_default();
                let (what, list, others) = match task.is_word {
                    true => ("status", "words", words.as_str()),
                    false => ("marker", "markers", "`[ ]` or `[x]`"),
                };
                let message = format!(
                    "{}:{line}: the {what} `{mark}` is not known, so the task counts as open",
                    one.file
                );
                let hint = format!("add it to `{list}:` in `{LAYOUT_FILE}`, or write {others}");
                let problem = Problem::warning(ErrorCode::UnknownStatus, StateFile::Plan, message);
                findings.push(Problem { is_placed: true, ..problem.hint(hint) });
            }
            let unboxed = list.tasks.unboxed(&list.document);
            if let Some(first) = unboxed.first()
                && let Some(message) = unboxed::message(&unboxed, ("task", "tasks"))
            {
                let message = format!("{}:{}: {message}", one.file, first.line);
                let problem = Problem::warning(ErrorCode::NotAStep, StateFile::Plan, message);
                let problem = Problem { hint: unboxed::hint(&unboxed), ..problem };
                findings.push(Problem { is_placed: true, ..problem });
            }
        }
        Ok(())
    }
}

/// What to do about a checklist that is not there.
const FIND_LIST: &str = "bring it back, for example from version control; if it was moved, \
    `statedir adopt --dry-run` shows which plans there are now; if it is gone for good, remove it from \
    `statedir.yaml`";

/// The checklists that are gone, or empty as after an accident in an editor.
fn lost_lists<'l>(layout: &'l ForeignLayout, raw: &View) -> Vec<(&'l FilePath, &'static str)> {
    let fault = |one: &'l PlanFile| match raw.bytes(one.file.as_str()) {
        None => Some((&one.file, "the file is missing")),
        Some(bytes) if bytes.trim_ascii().is_empty() => Some((&one.file, "the file is empty")),
        Some(_) => None,
    };
    layout.plan.iter().filter_map(fault).collect()
}

impl Workspace {
    /// Refuses an adopted state of which no checklist is left: whoever takes it for a plan without
    /// steps begins another one.
    pub(in crate::workspace) fn refuse_lost_lists(&self, raw: &View) -> Result<(), Error> {
        let FileSet::Adopted(layout) = &self.files else { return Ok(()) };
        let lost = lost_lists(layout, raw);
        match lost.first() {
            Some((file, fault)) if lost.len() == layout.plan.len() => {
                let message = format!("`{file}` has the steps of this plan, but {fault}");
                Err(Error::refused_with(ErrorCode::FileMissing, message, FIND_LIST))
            }
            _ => Ok(()),
        }
    }
}
