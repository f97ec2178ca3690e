//! Writes our own file: what the checklists have no place for.

use std::collections::BTreeSet;

use super::{
    Adopted, ChecklistFiles, FilesByName, TaskStep,
    compose::{OWN_NOTE, OwnFile, TASKS, other_sections, push_escaped, push_field, without_items},
    decompose::id_of,
    ids::by_written_id,
};
use crate::{
    domain::{ModelError, Plan, Step},
    text::markdown::{Document, ItemId, SectionId},
};

/// A section's own text without some items.
fn own_body(document: &Document, section: SectionId, gone: &[ItemId]) -> String {
    let whole = without_items(document, section, gone);
    let below = document.section(section).extent.end - document.section(section).body.end;
    whole[..whole.len().saturating_sub(below)].to_owned()
}

/// What our own file is written from besides the plan.
pub(super) struct OwnFileInput<'a> {
    pub(super) files: &'a FilesByName,
    pub(super) lists: &'a ChecklistFiles,
    pub(super) task_steps: &'a [TaskStep],
    /// The task of each step of the plan.
    pub(super) tasks: &'a [Option<&'a TaskStep>],
    /// The ids of the steps that have changed.
    pub(super) changed: &'a BTreeSet<&'a str>,
    pub(super) old: Option<&'a OwnFile>,
}

impl OwnFileInput<'_> {
    /// The section of a task in the old file, with its heading.
    fn old_text(&self, id: &str) -> String {
        let found = self.old.and_then(|old| Some((old, *old.tasks.get(id)?)));
        let Some((old, at)) = found else { return String::new() };
        let document = &old.plan.document;
        let extent = document.section(old.plan.steps[at].section).extent.clone();
        format!("\n{}\n", document.source()[extent].trim_end())
    }
}

impl Adopted<'_> {
    /// The section of our own file for one task; empty if its line says everything.
    fn own_task(
        &self,
        document: &Document,
        step: &Step,
        one: &TaskStep,
        input: &OwnFileInput<'_>,
    ) -> String {
        let Some(list) = self.list_containing(input.files, input.lists, input.task_steps, one)
        else {
            return String::new();
        };
        let Some(task) = list.task(one) else { return String::new() };
        let written = by_written_id(&list, one.file, input.task_steps);
        let derived = self.derived(one, task, &list, input.task_steps, &written);
        let shown = self.workflow.step_with_role(task.role);
        let is_derived = |item: &&ItemId| {
            let item = document.item(**item);
            let key = item.key.as_deref().unwrap_or_default();
            let value = || document.value(item.id);
            match key {
                "status" => value() == shown,
                key => derived.iter().any(|(name, said)| name == key && *said == value()),
            }
        };
        let section = document.section(step.section);
        let items = document.items(step.section).iter();
        let gone: Vec<ItemId> = items.filter(is_derived).copied().collect();
        let body = without_items(document, step.section, &gone);
        if body.trim() == format!("- **id**: {}", one.id) {
            return String::new();
        }
        let heading = document.source()[section.heading.clone()].trim_end();
        format!("\n{heading}\n{}\n", body.trim_end())
    }

    /// The text of our own file, and whether the file is needed.
    pub(super) fn own_text(
        &self,
        after: &Plan,
        input: &OwnFileInput<'_>,
    ) -> Result<(String, bool), ModelError> {
        let document = &after.document;
        let roles = self.roles(after);
        let mut tasks = String::new();
        let mut steps = String::new();
        for (step, task) in after.steps.iter().zip(input.tasks) {
            let id = id_of(step);
            let Some(one) = task else {
                let section = document.section(step.section);
                let heading = document.source()[section.heading.clone()].trim_end();
                let body = document.extent_text(step.section).trim_end();
                steps.push_str(&format!("\n{heading}\n{body}\n"));
                continue;
            };
            match input.changed.contains(id) {
                true => tasks.push_str(&self.own_task(document, step, one, input)),
                false => tasks.push_str(&input.old_text(id)),
            }
        }
        // The section of a task that is gone is kept in case the task comes back.
        if let Some(old) = input.old {
            let mut orphans: BTreeSet<&str> = old.tasks.keys().map(String::as_str).collect();
            for one in input.task_steps {
                orphans.remove(one.id.as_str());
            }
            orphans.iter().for_each(|id| tasks.push_str(&input.old_text(id)));
        }
        let derived = self.metadata(&roles);
        let mut said = String::new();
        if let Some(section) = after.metadata_section() {
            let is_derived = |item: &&ItemId| {
                let item = document.item(**item);
                let key = item.key.as_deref().unwrap_or_default();
                derived.iter().any(|(name, value)| name == key && *value == document.value(item.id))
            };
            let items = document.items(section);
            let gone: Vec<ItemId> = items.iter().filter(is_derived).copied().collect();
            said = own_body(document, section, &gone);
        }
        let others = other_sections(after);
        let is_needed = [&tasks, &steps, &said].iter().any(|text| !text.trim().is_empty());
        let is_needed = is_needed || !others.is_empty();
        let mut text = String::from("# ");
        push_escaped(&mut text, &format!("Execution Plan: {}", self.layout.title));
        text.extend(["\n\n", OWN_NOTE, "## Metadata\n"]);
        if said.trim().is_empty() {
            push_field(&mut text, "execution_id", &self.layout.execution_id)?;
        } else {
            text.push_str(said.trim_end());
            text.push('\n');
        }
        for (title, body) in [(TASKS, tasks), ("Steps", steps)] {
            if !body.is_empty() {
                text.push_str(&format!("\n## {title}\n{body}"));
            }
        }
        for section in others {
            let extent = document.section(section).extent.clone();
            text.push_str(&format!("\n{}\n", document.source()[extent].trim_end()));
        }
        Ok((text, is_needed))
    }
}
