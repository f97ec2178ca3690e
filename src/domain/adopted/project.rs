//! Taking an edited plan apart: markers into the checklists, the rest into our own file.

use std::collections::BTreeMap;

use super::{
    Adopted, Bound, Composed, Files, List,
    bind::by_written_id,
    compose::{TASKS, other_sections, push_escaped, push_field, without_items},
};
use crate::{
    domain::{ModelError, Plan, StateFile, Step, StepRole},
    text::{
        Splice, apply_splices,
        markdown::{Document, ItemId},
    },
};

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Ranges are replaced.
    Splice(Vec<Splice>),
    /// The whole file is written.
    Write(Vec<u8>),
}

impl Adopted<'_> {
    /// The changes of the files of an adopted state that bring it from `before` to the native files
    /// in `after`, proven by composing the result again.
    ///
    /// # Errors
    /// Something was changed that such files have no place for, as the title or the order of steps.
    pub(crate) fn project(
        &self,
        raw: &Files,
        before: &Composed,
        after: &BTreeMap<StateFile, Vec<u8>>,
    ) -> Result<Vec<(String, Change)>, ModelError> {
        let mut changes = Vec::new();
        let added = &self.layout.added;
        for (file, new) in after {
            match file {
                StateFile::Plan => changes.extend(self.project_plan(raw, before, new)?),
                StateFile::Context => {
                    let own = self.own_prose(raw, *file, new)?;
                    changes.push((added.context.to_string(), Change::Write(own)));
                }
                StateFile::Constraints => {
                    let own = self.own_prose(raw, *file, new)?;
                    changes.push((added.constraints.to_string(), Change::Write(own)));
                }
                StateFile::Variables => {
                    changes.push((added.variables.to_string(), Change::Write(new.clone())));
                }
                StateFile::Workflow => {
                    let Some(path) = &added.workflow else {
                        return Err(refused(
                            "an adopted state has no place for a lifecycle of its own yet",
                            "name a file as `workflow:` under `added:` in `statedir.yaml`",
                        ));
                    };
                    changes.push((path.to_string(), Change::Write(new.clone())));
                }
                StateFile::History | StateFile::Log => {}
            }
        }
        Ok(changes)
    }

    fn project_plan(
        &self,
        raw: &Files,
        before: &Composed,
        new: &[u8],
    ) -> Result<Vec<(String, Change)>, ModelError> {
        let read = |bytes: &[u8]| {
            Document::from_bytes(bytes.to_vec())
                .map(Plan::read)
                .map_err(|error| ModelError::markdown(StateFile::Plan, &error))
        };
        let after = read(new)?;
        self.refuse_reshaped(before, &after)?;
        let splices = self.markers(before, &after);
        let mut files = raw.clone();
        let mut lists = before.lists.clone();
        let mut changes = Vec::new();
        for (at, mut edits) in splices {
            let Some(list) = &before.lists[at] else { continue };
            let name = self.layout.plan[at].file.as_str();
            let text = apply_splices(list.document.source(), &mut edits)
                .map_err(|error| ModelError::BadValue { message: error.to_string(), hint: None })?;
            lists[at] = Some(self.list(name, text.as_bytes())?);
            files.insert(name.to_owned(), text.into_bytes());
            changes.push((name.to_owned(), Change::Splice(edits)));
        }
        let name = self.layout.added.steps.as_str();
        let (own, is_needed) = self.own_text(&after, &lists, &before.bound)?;
        let own = own.into_bytes();
        if (is_needed || raw.contains_key(name)) && raw.get(name) != Some(&own) {
            files.insert(name.to_owned(), own.clone());
            changes.push((name.to_owned(), Change::Write(own)));
        }
        let bound = self.bind(&lists);
        let again = read(self.plan_text(&files, &lists, &bound)?.as_bytes())?;
        prove(&after, &again)?;
        Ok(changes)
    }

    /// Text, order and number of tasks belong to the files.
    fn refuse_reshaped(&self, before: &Composed, after: &Plan) -> Result<(), ModelError> {
        let known: BTreeMap<&str, (usize, &Bound)> =
            before.bound.iter().enumerate().map(|(at, one)| (one.id.as_str(), (at, one))).collect();
        let mut next = 0;
        for step in &after.steps {
            let Some((at, one)) = step.id.as_ref().and_then(|id| known.get(id.as_str())) else {
                continue;
            };
            let (place, task) = self.place(before, one);
            if *at != next {
                return Err(belongs(
                    &place,
                    &format!("the order of {} and its neighbours", step.name()),
                ));
            }
            next += 1;
            if step.title != task {
                return Err(belongs(&place, &format!("the text of {}", step.name())));
            }
        }
        match before.bound.get(next) {
            Some(one) if next < before.bound.len() => {
                let (place, _) = self.place(before, one);
                Err(belongs(&place, &format!("step {} ({})", one.number, one.id)))
            }
            _ => Ok(()),
        }
    }

    fn place(&self, before: &Composed, one: &Bound) -> (String, String) {
        let file = &self.layout.plan[one.file].file;
        match &before.lists[one.file] {
            Some(list) => {
                let task = &list.tasks.tasks[one.task];
                let line = list.document.place(task.span.start).line;
                (format!("{file}:{line}"), task.title.clone())
            }
            None => (file.to_string(), String::new()),
        }
    }

    /// The markers that change, by file.
    fn markers(&self, before: &Composed, after: &Plan) -> BTreeMap<usize, Vec<Splice>> {
        let mut splices: BTreeMap<usize, Vec<Splice>> = BTreeMap::new();
        let known = by_id(&before.bound);
        for step in &after.steps {
            let Some(one) = step.id.as_ref().and_then(|id| known.get(id.as_str())) else {
                continue;
            };
            let (Some(list), Some(role)) = (&before.lists[one.file], self.workflow.role_of(step))
            else {
                continue;
            };
            let task = &list.tasks.tasks[one.task];
            if let Some(mark) = task.marker_for(role, self.grammar()) {
                let splice = Splice { at: task.marker.clone(), new: mark };
                splices.entry(one.file).or_default().push(splice);
            }
        }
        splices
    }

    /// The text of our own file, and whether there is anything in it.
    fn own_text(
        &self,
        after: &Plan,
        lists: &[Option<List>],
        bound: &[Bound],
    ) -> Result<(String, bool), ModelError> {
        let document = &after.document;
        let roles: Vec<StepRole> =
            after.steps.iter().filter_map(|step| self.workflow.role_of(step)).collect();
        let mut tasks = String::new();
        let mut steps = String::new();
        let known = by_id(bound);
        let written: Vec<_> = lists
            .iter()
            .enumerate()
            .map(|(file, list)| list.as_ref().map(|list| by_written_id(list, file, bound)))
            .collect();
        for step in &after.steps {
            let id = step.id.as_ref().map(|id| id.as_str()).unwrap_or_default();
            let heading =
                document.source()[document.section(step.section).heading.clone()].trim_end();
            let found = known.get(id).and_then(|one| Some((*one, lists[one.file].as_ref()?)));
            let Some((one, list)) = found else {
                let body = document.extent_text(step.section).trim_end();
                steps.push_str(&format!("\n{heading}\n{body}\n"));
                continue;
            };
            let task = &list.tasks.tasks[one.task];
            let derived = self.derived(one, task, list, bound, written[one.file].as_ref());
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
            let items = &document.section(step.section).items;
            let gone: Vec<ItemId> = items.iter().filter(is_derived).copied().collect();
            let body = without_items(document, step.section, &gone);
            let bare = format!("- **id**: {id}");
            if body.trim() != bare {
                tasks.push_str(&format!("\n{heading}\n{}\n", body.trim_end()));
            }
        }
        let derived = self.metadata(&roles);
        let mut said = String::new();
        if let Some(section) = after.metadata_section() {
            let is_derived = |item: &&ItemId| {
                let item = document.item(**item);
                let key = item.key.as_deref().unwrap_or_default();
                derived.iter().any(|(name, value)| name == key && *value == document.value(item.id))
            };
            let items = &document.section(section).items;
            let gone: Vec<ItemId> = items.iter().filter(is_derived).copied().collect();
            said = own_body(document, section, &gone);
        }
        let others = other_sections(after);
        let is_needed = [&tasks, &steps, &said].iter().any(|text| !text.trim().is_empty());
        let is_needed = is_needed || !others.is_empty();
        let mut text = String::from("# ");
        push_escaped(&mut text, &format!("Execution Plan: {}", self.layout.title));
        text.push_str(
            "\n\n<!-- What statedir keeps besides the checklists that statedir.yaml names: their markers \
             say which tasks are done. -->\n\n## Metadata\n",
        );
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

/// A section's own text without some items.
fn own_body(
    document: &Document,
    section: crate::text::markdown::SectionId,
    gone: &[ItemId],
) -> String {
    let whole = without_items(document, section, gone);
    let below = document.section(section).extent.end - document.section(section).body.end;
    whole[..whole.len().saturating_sub(below)].to_owned()
}

fn by_id(bound: &[Bound]) -> BTreeMap<&str, &Bound> {
    bound.iter().map(|one| (one.id.as_str(), one)).collect()
}

/// What was read back must be what was meant, step by step.
fn prove(meant: &Plan, read: &Plan) -> Result<(), ModelError> {
    let said = |step: &Step| -> serde_json::Value {
        let mut step = step.clone();
        step.other.sort();
        step.depends_on.sort_by_key(ToString::to_string);
        step.description = step.description.map(|text| text.trim().to_owned());
        serde_json::to_value(step).unwrap_or_default()
    };
    let differs = |(meant, read): &(&Step, &Step)| said(meant) != said(read);
    let pair = meant.steps.iter().zip(&read.steps).find(differs);
    if let Some((meant, _)) = pair {
        return Err(refused(
            &format!("what {} would say has no place in the files that were adopted", meant.name()),
            "`statedir.yaml` says which files those are",
        ));
    }
    let metadata = |plan: &Plan| serde_json::to_value(&plan.metadata).unwrap_or_default();
    if meant.steps.len() != read.steps.len()
        || metadata(meant) != metadata(read)
        || meant.reviews.len() != read.reviews.len()
    {
        return Err(refused(
            "this change has no place in the files that were adopted",
            "`statedir.yaml` says which files those are",
        ));
    }
    Ok(())
}

fn belongs(place: &str, what: &str) -> ModelError {
    refused(
        &format!("{what} belongs to {place}"),
        &format!("edit `{place}` with an editor; statedir takes it from there"),
    )
}

fn refused(message: &str, hint: &str) -> ModelError {
    ModelError::BadValue { message: message.to_owned(), hint: Some(hint.to_owned()) }
}
