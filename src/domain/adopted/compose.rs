//! Composes the text of a plan from checklists and our own file.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::{Adopted, ChecklistFile, ChecklistFiles, FilesByName, TaskStep, ids::by_written_id};
use crate::{
    domain::{
        ModelError, Plan, PlanRole, StateFile, Step, StepRole, checklist::Task, literal,
        plan::step::heading::Heading,
    },
    text::markdown::{Document, ItemId, SectionId},
};

/// The section of our own file with what the markers of tasks cannot show.
pub(super) const TASKS: &str = "Tasks";

/// The comment at the top of our own file.
pub(super) const OWN_NOTE: &str = "<!-- What statedir keeps besides the checklists that statedir.yaml \
    names: their markers say which tasks are done. -->\n\n";

/// Our own file, read.
pub(super) struct OwnFile {
    pub plan: Plan,
    /// The indexes in `plan.steps` of tasks, by step id.
    pub tasks: BTreeMap<String, usize>,
}

impl OwnFile {
    pub(super) fn read(bytes: Option<&Vec<u8>>) -> Result<Option<Self>, ModelError> {
        let Some(bytes) = bytes else { return Ok(None) };
        let document = Document::from_bytes(bytes.clone())
            .map_err(|error| ModelError::markdown(StateFile::Plan, &error))?;
        let plan = Plan::read(document);
        let mut tasks = BTreeMap::new();
        for (at, step) in plan.steps.iter().enumerate() {
            if is_task(&plan, step)
                && let Some(id) = &step.id
            {
                tasks.entry(id.as_str().to_owned()).or_insert(at);
            }
        }
        Ok(Some(Self { plan, tasks }))
    }

    /// The steps that are not in a checklist.
    pub(super) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.plan.steps.iter().filter(|step| !is_task(&self.plan, step))
    }
}

fn is_task(plan: &Plan, step: &Step) -> bool {
    let parent = plan.document.section(step.section).parent;
    parent.is_some_and(|id| plan.document.section(id).title.trim() == TASKS)
}

/// The composed text of a plan.
pub(super) struct ComposedText {
    pub text: String,
    /// Where the tasks are, each directly after the one before.
    pub places: Vec<Range<usize>>,
    /// Where the tasks end and the steps that are not in a checklist begin.
    pub end: usize,
}

impl ComposedText {
    /// Splices this text, which has only the `changed` tasks, into `old`, which has all of them:
    /// passes the pieces of the new whole to `put` and returns where the tasks are in it.
    pub(super) fn within<'t>(
        &'t self,
        old: (&'t str, &[Range<usize>]),
        task_steps: &[TaskStep],
        changed: &BTreeSet<&str>,
        mut put: impl FnMut(&'t str),
    ) -> Option<Vec<Range<usize>>> {
        let begin = self.places.first().map_or(self.end, |first| first.start);
        put(self.text.get(..begin)?);
        let mut at = begin;
        let mut places = Vec::with_capacity(task_steps.len());
        let mut new = self.places.iter();
        for (one, place) in task_steps.iter().zip(old.1) {
            let piece = match changed.contains(one.id.as_str()) {
                true => self.text.get(new.next()?.clone())?,
                false => old.0.get(place.clone())?,
            };
            put(piece);
            places.push(at..at + piece.len());
            at += piece.len();
        }
        put(self.text.get(self.end..)?);
        Some(places)
    }
}

impl Adopted<'_> {
    /// Composes the text of the plan. With `part`, it contains only the tasks with those ids, and the
    /// plan's status follows from those roles of all steps.
    pub(super) fn text(
        &self,
        raw: &FilesByName,
        lists: &ChecklistFiles,
        task_steps: &[TaskStep],
        part: Option<(&BTreeSet<&str>, &[StepRole])>,
    ) -> Result<ComposedText, ModelError> {
        let own = OwnFile::read(raw.get(self.layout.added.steps.as_str()))?;
        let mut steps = String::with_capacity(task_steps.len() * 128);
        let mut roles = Vec::with_capacity(task_steps.len());
        let mut places = Vec::with_capacity(task_steps.len());
        let mut written: BTreeMap<(usize, usize, usize), _> = BTreeMap::new();
        for one in task_steps {
            if part.is_some_and(|(wanted, _)| !wanted.contains(one.id.as_str())) {
                continue;
            }
            let Some(list) = self.list_containing(raw, lists, task_steps, one) else { continue };
            let Some(task) = list.task(one) else { continue };
            let start = steps.len();
            let known = own.as_ref().and_then(|own| {
                let at = *own.tasks.get(one.id.as_str())?;
                Some((own, &own.plan.steps[at]))
            });
            let status = self.status_of(task, known.map(|(_, step)| step));
            let role = self.workflow.role_of_status(Some(&status)).unwrap_or(task.role);
            roles.push(role);
            steps.push_str("\n### ");
            push_heading(&mut steps, one.number, &task.title, role);
            steps.push('\n');
            push_field(&mut steps, "status", &status)?;
            let said = known.map(|(own, step)| body_without(own, step, "status"));
            let has = |key: &str| {
                known.is_some_and(|(own, step)| {
                    matches!(own.plan.document.field(step.section, key), Ok(Some(_)))
                })
            };
            // A section knows fewer ids than its whole file.
            let read = (one.file, list.first, list.tasks.tasks.len());
            let waits =
                written.entry(read).or_insert_with(|| by_written_id(&list, one.file, task_steps));
            for (key, value) in self.derived(one, task, &list, task_steps, waits) {
                if !has(&key) {
                    push_field(&mut steps, &key, &value)?;
                }
            }
            match said {
                Some(said) => {
                    steps.push_str(said.trim_end());
                    steps.push('\n');
                }
                None => push_field(&mut steps, "id", one.id.as_str())?,
            }
            places.push(start..steps.len());
        }
        let end = steps.len();
        let mut next = task_steps.iter().map(|one| one.number).max().unwrap_or(0);
        if let Some(own) = &own {
            for step in own.steps() {
                let document = &own.plan.document;
                let role = self.workflow.role_of(step);
                roles.extend(role);
                next += 1;
                steps.push_str("\n### ");
                push_heading(&mut steps, next, &step.title, role.unwrap_or(StepRole::Open));
                steps.push('\n');
                steps.push_str(document.extent_text(step.section).trim_end());
                steps.push('\n');
            }
        }
        let roles = part.map_or(roles.as_slice(), |(_, roles)| roles);
        let (text, before) = self.around(own.as_ref(), &steps, roles)?;
        let places = places.iter().map(|place| place.start + before..place.end + before).collect();
        Ok(ComposedText { text, places, end: end + before })
    }

    /// The whole text around the steps, and where the steps begin in it.
    fn around(
        &self,
        own: Option<&OwnFile>,
        steps: &str,
        roles: &[StepRole],
    ) -> Result<(String, usize), ModelError> {
        let mut text = String::with_capacity(steps.len() + 512);
        let derived = self.metadata(roles);
        let section = own.and_then(|own| own.plan.metadata_section());
        match own.zip(section) {
            Some((own, section)) => {
                let document = &own.plan.document;
                let found = document.section(section);
                let begin = &document.source()[..found.body.start];
                text.push_str(begin.replacen(OWN_NOTE, "", 1).trim_end());
                text.push('\n');
                let said = document.body_text(section).trim_end();
                if !said.is_empty() {
                    text.push_str(said.trim_start_matches(['\n', '\r']));
                    text.push('\n');
                }
                for (key, value) in &derived {
                    if !matches!(document.field(section, key), Ok(Some(_))) {
                        push_field(&mut text, key, value)?;
                    }
                }
            }
            None => {
                text.push_str("# ");
                push_escaped(&mut text, &format!("Execution Plan: {}", self.layout.title));
                text.push_str("\n\n## Metadata\n");
                for (key, value) in &derived {
                    push_field(&mut text, key, value)?;
                }
            }
        }
        text.push_str("\n## Steps\n");
        let begin = text.len();
        text.push_str(steps);
        if let Some(own) = own {
            for section in other_sections(&own.plan) {
                let document = &own.plan.document;
                text.push('\n');
                text.push_str(
                    document.source()[document.section(section).extent.clone()].trim_end(),
                );
                text.push('\n');
            }
        }
        Ok((text, begin))
    }

    /// The default metadata.
    pub(super) fn metadata(&self, roles: &[StepRole]) -> Vec<(String, String)> {
        let is_over = |role: &StepRole| matches!(role, StepRole::Done | StepRole::Skipped);
        let role = if !roles.is_empty() && roles.iter().all(is_over) {
            PlanRole::Succeeded
        } else if roles.iter().all(|role| *role == StepRole::Open) {
            PlanRole::Planning
        } else {
            PlanRole::Active
        };
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        vec![
            pair("execution_id", &self.layout.execution_id),
            pair("goal", &self.layout.goal),
            pair("status", self.workflow.plan_with_role(role)),
            pair("mode", "EXECUTION"),
        ]
    }

    /// The status of a task: that in our own file as long as the marker agrees with it.
    fn status_of(&self, task: &Task, own: Option<&Step>) -> String {
        let cached = own.and_then(|step| {
            let role = self.workflow.role_of(step)?;
            let shown = task.written_role(role, self.grammar())?;
            (shown == task.role).then(|| step.status.clone()).flatten()
        });
        cached.unwrap_or_else(|| self.workflow.step_with_role(task.role).to_owned())
    }

    /// The fields of a step that follow from its task.
    pub(super) fn derived(
        &self,
        one: &TaskStep,
        task: &Task,
        list: &ChecklistFile,
        task_steps: &[TaskStep],
        written: &BTreeMap<String, crate::domain::StepId>,
    ) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        let mut put = |key: &str, value: String| fields.push((key.to_owned(), value));
        // The tasks of one file are adjacent.
        let first = task_steps.partition_point(|other| other.file < one.file) + list.first;
        let here = one.task - list.first;
        let nested = list.tasks.tasks.iter().enumerate().skip(here + 1);
        let nested = nested.take_while(|(_, inner)| inner.span.start < task.span.end);
        let inner = nested.filter(|(_, inner)| inner.parent == Some(here) && !inner.is_optional);
        let mut waits: Vec<String> = inner
            .filter_map(|(at, _)| {
                task_steps.get(first + at).map(|found| found.id.as_str().to_owned())
            })
            .collect();
        let named = task.depends_on.iter().filter_map(|id| written.get(id));
        for id in named.filter(|id| **id != one.id).map(|id| id.as_str().to_owned()) {
            if !waits.contains(&id) {
                waits.push(id);
            }
        }
        if !waits.is_empty() {
            put("depends_on", waits.join(", "));
        }
        if !task.group.is_empty() {
            put("group", task.group.join(" › "));
        }
        if task.is_optional {
            put("optional", "yes".to_owned());
        }
        for (key, value) in &task.fields {
            put(key, value.clone());
        }
        if let Some(details) = &task.details {
            put("details", details.clone());
        }
        fields
    }
}

/// The sections of our own file that are neither metadata nor steps, in order.
pub(super) fn other_sections(plan: &Plan) -> Vec<SectionId> {
    let document = &plan.document;
    let metadata = plan.metadata_section();
    let title = plan.document.title_section();
    let around = title.unwrap_or_else(|| document.root());
    let is_other = |id: &SectionId| {
        let section = document.section(*id);
        let is_steps = ["Steps", TASKS].contains(&section.title.trim());
        Some(*id) != metadata && !is_steps && section.level > 0
    };
    document.children(around).filter(is_other).collect()
}

/// The body of a step without one of its fields.
fn body_without(own: &OwnFile, step: &Step, key: &str) -> String {
    let document = &own.plan.document;
    let gone: Vec<ItemId> = document.field(step.section, key).ok().flatten().into_iter().collect();
    without_items(document, step.section, &gone)
}

/// The source below a heading without the lines of some items.
pub(super) fn without_items(document: &Document, section: SectionId, gone: &[ItemId]) -> String {
    let source = document.source();
    let found = document.section(section);
    let mut text = String::new();
    let mut at = found.body.start;
    for item in gone {
        let span = &document.item(*item).span;
        let start = source[..span.start].rfind('\n').map_or(0, |end| end + 1).max(at);
        let end = source[span.end..].find('\n').map_or(source.len(), |end| span.end + end + 1);
        text.push_str(source.get(at..start).unwrap_or_default());
        at = end.max(at);
    }
    text.push_str(source.get(at..found.extent.end).unwrap_or_default());
    text.trim_start_matches(['\n', '\r']).to_owned()
}

/// `Step 4: Title ✓` as the source of a heading.
fn push_heading(text: &mut String, number: u32, title: &str, role: StepRole) {
    let written = Heading::new(number, title).write(Some(number), title, Some(role));
    let mut said = written.text.as_str();
    let last = said.chars().next_back().filter(|_| written.ends_like_mark);
    if let Some(last) = last {
        said = &said[..said.len() - last.len_utf8()];
    }
    push_escaped(text, said);
    if let Some(last) = last {
        text.push_str(&format!("&#{};", u32::from(last)));
    }
}

/// Escapes text so that markdown reads it as plain text.
pub(super) fn push_escaped(text: &mut String, said: &str) {
    for c in said.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '#' | '~' | '|') {
            text.push('\\');
        }
        text.push(if c.is_control() { ' ' } else { c });
    }
}

/// Appends a field and a line end.
pub(super) fn push_field(text: &mut String, key: &str, value: &str) -> Result<(), ModelError> {
    let is_plain = value.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !value.ends_with(' ')
        && value.chars().all(|c| {
            c.is_ascii_alphanumeric()
                || matches!(c, ' ' | ',' | '.' | '/' | '-' | '_' | ':' | '(' | ')' | '›')
        });
    if is_plain && !value.contains("__") {
        text.extend(["- **", key, "**: ", value, "\n"]);
        return Ok(());
    }
    let field = literal::field("\n", 0, true, key, value)
        .map_err(|error| ModelError::edit(StateFile::Plan, &error))?;
    text.push_str(&field);
    Ok(())
}
