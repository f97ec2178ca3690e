//! Turns an edited plan into edits of files: markers in the checklists, the rest in our own file.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use super::{
    Adopted, ChecklistFile, Composed, FilesByName, TaskStep, compose::OwnFile,
    own_file::OwnFileInput,
};
use crate::{
    domain::{ModelError, Plan, StateFile, Step, StepId, StepRole},
    text::{Splice, apply_splices, markdown::Document},
};

/// A change of an adopted state as edits of its files.
#[derive(Debug)]
pub(crate) struct Decomposed {
    /// The edits by file name.
    pub changes: Vec<(String, FileEdit)>,
    /// The bytes to cache, as from [`Adopted::to_cache`].
    pub cached: Option<Vec<u8>>,
}

/// An edit of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileEdit {
    /// Ranges are replaced.
    Splice(Vec<Splice>),
    /// The whole file is written.
    Write(Vec<u8>),
}

impl Adopted<'_> {
    /// The edits that bring the files of an adopted state from `before` to the native files in
    /// `after`, proven by composing the result again. A changed plan can be passed parsed instead of
    /// as text; `before` is needed only if the plan changes.
    ///
    /// # Errors
    /// Something changed that the files have no place for, such as the title or the order of steps.
    pub(crate) fn decompose(
        &self,
        raw: &FilesByName,
        before: Option<&Composed>,
        after: &BTreeMap<StateFile, Vec<u8>>,
        plan: Option<Rc<Plan>>,
    ) -> Result<Decomposed, ModelError> {
        let mut changes = Vec::new();
        let mut cached = None;
        let added = &self.layout.added;
        let plan = match (plan, after.get(&StateFile::Plan)) {
            (None, Some(bytes)) => Some(Rc::new(read(bytes)?)),
            (plan, _) => plan,
        };
        if let Some(plan) = plan {
            let before = before.ok_or_else(|| {
                refused("the plan was changed without being read", "run the command again")
            })?;
            Decomposed { changes, cached } = self.decompose_plan(raw, before, &plan)?;
        }
        for (file, new) in after {
            match file {
                StateFile::Context => {
                    let own = self.own_prose(raw, *file, new)?;
                    changes.push((added.context.to_string(), FileEdit::Write(own)));
                }
                StateFile::Constraints => {
                    let own = self.own_prose(raw, *file, new)?;
                    changes.push((added.constraints.to_string(), FileEdit::Write(own)));
                }
                StateFile::Variables => {
                    changes.push((added.variables.to_string(), FileEdit::Write(new.clone())));
                }
                StateFile::Workflow => {
                    let Some(path) = &added.workflow else {
                        return Err(refused(
                            "an adopted state has no file for its own lifecycle yet",
                            "name a file as `workflow:` under `added:` in `statedir.yaml`",
                        ));
                    };
                    changes.push((path.to_string(), FileEdit::Write(new.clone())));
                }
                StateFile::Plan | StateFile::History | StateFile::Log => {}
            }
        }
        // The plan is composed differently under another workflow.
        let cached = cached.filter(|_| !after.contains_key(&StateFile::Workflow));
        Ok(Decomposed { changes, cached })
    }

    fn decompose_plan(
        &self,
        raw: &FilesByName,
        before: &Composed,
        after: &Plan,
    ) -> Result<Decomposed, ModelError> {
        let tasks = tasks_of(after, &before.task_steps);
        let changed = changed(before, after, &tasks);
        self.refuse_reshaped(raw, before, after, (&tasks, &changed))?;
        let mut files = raw.clone();
        let mut changes = Vec::new();
        let (mut edited, mut longer) = (BTreeSet::new(), BTreeSet::new());
        for (at, mut edits) in self.markers(raw, before, after, (&tasks, &changed)) {
            let name = self.layout.plan[at].file.as_str();
            let old = raw.get(name).and_then(|bytes| std::str::from_utf8(bytes).ok());
            let old = old.unwrap_or_default();
            let text = apply_splices(old, &mut edits)
                .map_err(|error| ModelError::BadValue { message: error.to_string(), hint: None })?;
            edited.insert(at);
            if edits.iter().any(|edit| edit.new.len() != edit.at.len()) {
                longer.insert(at);
            }
            files.insert(name.to_owned(), text.into_bytes());
            changes.push((name.to_owned(), FileEdit::Splice(edits)));
        }
        let lists = before.lists.edited(&edited, &longer);
        let is_edited =
            |one: &&TaskStep| edited.contains(&one.file) && changed.contains(one.id.as_str());
        for one in before.task_steps.iter().filter(is_edited) {
            let was = self.list_containing(raw, &before.lists, &before.task_steps, one);
            let is = self.list_containing(&files, &lists, &before.task_steps, one);
            if tasks_around(was, one) != tasks_around(is, one) {
                let name = &self.layout.plan[one.file].file;
                let message =
                    format!("the list in `{name}` would read as an explanation of markers");
                return Err(refused(&message, "give the tasks longer texts"));
            }
        }
        let name = self.layout.added.steps.as_str();
        let old = OwnFile::read(raw.get(name))?;
        let input = OwnFileInput {
            files: &files,
            lists: &lists,
            task_steps: &before.task_steps,
            tasks: &tasks,
            changed: &changed,
            old: old.as_ref(),
        };
        let (own, is_needed) = self.own_text(after, &input)?;
        let own = own.into_bytes();
        let task_steps = &before.task_steps;
        if (is_needed || raw.contains_key(name)) && raw.get(name) != Some(&own) {
            files.insert(name.to_owned(), own.clone());
            changes.push((name.to_owned(), FileEdit::Write(own)));
        }
        let roles = self.roles(after);
        let again = self.text(&files, &lists, task_steps, Some((&changed, roles.as_slice())))?;
        prove(after, &read(again.text.as_bytes())?, (&tasks, &changed))?;
        let old = (before.plan.as_str(), before.places.as_slice());
        // Usually the text that was asked for is what is composed from the files.
        let (mut left, mut is_same) = (after.document.source(), true);
        let places =
            again.within(old, task_steps, &changed, |piece| match left.strip_prefix(piece) {
                Some(rest) => left = rest,
                None => is_same = false,
            });
        let cached = places.and_then(|places| {
            let read_again = match is_same && left.is_empty() {
                true => None,
                false => {
                    let mut text = String::with_capacity(old.0.len() + again.text.len());
                    again.within(old, task_steps, &changed, |piece| text.push_str(piece))?;
                    Some(read(text.as_bytes()).ok()?)
                }
            };
            let plan = read_again.as_ref().unwrap_or(after);
            debug_assert_eq!(
                self.compose(&files).map(|whole| whole.plan.into_string()).ok().as_deref(),
                Some(plan.document.source())
            );
            self.cache_text((plan.document.source(), &places), &lists, task_steps, plan)
        });
        Ok(Decomposed { changes, cached })
    }

    pub(super) fn roles(&self, plan: &Plan) -> Vec<StepRole> {
        plan.steps.iter().filter_map(|step| self.workflow.role_of(step)).collect()
    }

    /// Refuses changes of the text, order or number of tasks, which belong to the files.
    fn refuse_reshaped(
        &self,
        raw: &FilesByName,
        before: &Composed,
        after: &Plan,
        (tasks, changed): (&[Option<&TaskStep>], &BTreeSet<&str>),
    ) -> Result<(), ModelError> {
        let mut next = before.task_steps.iter();
        let mut own = None;
        for (step, task) in after.steps.iter().zip(tasks) {
            let Some(one) = task else {
                own = Some(step);
                continue;
            };
            if let Some(own) = own {
                let message = format!(
                    "{}, which you added, cannot come before tasks of the files",
                    own.name()
                );
                return Err(refused(
                    &message,
                    "`statedir step add 'What to do'` adds it after them",
                ));
            }
            if next.next().is_none_or(|expected| expected.id != one.id) {
                let what = format!("the order of {} and its neighbours", step.name());
                return Err(belongs(&self.place(raw, before, one).0, &what));
            }
            if changed.contains(id_of(step)) {
                let (place, title) = self.place(raw, before, one);
                if step.title != title {
                    return Err(belongs(&place, &format!("the text of {}", step.name())));
                }
            }
        }
        match next.next() {
            Some(one) => {
                let what = format!("step {} ({})", one.number, one.id);
                Err(belongs(&self.place(raw, before, one).0, &what))
            }
            None => Ok(()),
        }
    }

    fn place(&self, raw: &FilesByName, before: &Composed, one: &TaskStep) -> (String, String) {
        let file = &self.layout.plan[one.file].file;
        let list = self.list_containing(raw, &before.lists, &before.task_steps, one);
        match list.as_ref().and_then(|list| Some((list, list.task(one)?))) {
            Some((list, task)) => {
                let line = list.document.place(task.span.start).line;
                (format!("{file}:{line}"), task.title.clone())
            }
            None => (file.to_string(), String::new()),
        }
    }

    /// The edits of markers by file.
    fn markers(
        &self,
        raw: &FilesByName,
        before: &Composed,
        after: &Plan,
        (tasks, changed): (&[Option<&TaskStep>], &BTreeSet<&str>),
    ) -> BTreeMap<usize, Vec<Splice>> {
        let mut splices: BTreeMap<usize, Vec<Splice>> = BTreeMap::new();
        let steps = after.steps.iter().zip(tasks);
        for (step, task) in steps.filter(|(step, _)| changed.contains(id_of(step))) {
            let Some(one) = task else { continue };
            let list = self.list_containing(raw, &before.lists, &before.task_steps, one);
            let task = list.as_ref().and_then(|list| list.task(one));
            let (Some(task), Some(role)) = (task, self.workflow.role_of(step)) else { continue };
            if let Some(mark) = task.marker_for(role, self.grammar()) {
                let splice = Splice { at: task.marker.clone(), new: mark };
                splices.entry(one.file).or_default().push(splice);
            }
        }
        splices
    }
}

/// The task of each step of a plan; `None` if the step is not in a checklist.
fn tasks_of<'b>(plan: &Plan, task_steps: &'b [TaskStep]) -> Vec<Option<&'b TaskStep>> {
    let mut next = task_steps.iter().peekable();
    let mut by_id = None;
    let task_of = |step: &Step| {
        let id = id_of(step);
        // Usually all of them are there, in order.
        next.next_if(|one| one.id.as_str() == id).or_else(|| {
            let all = || task_steps.iter().map(|one| (one.id.as_str(), one)).collect();
            let by_id: &BTreeMap<&str, &TaskStep> = by_id.get_or_insert_with(all);
            by_id.get(id).copied()
        })
    };
    plan.steps.iter().map(task_of).collect()
}

/// The ids of the steps whose text has changed.
fn changed<'p>(
    before: &Composed,
    after: &'p Plan,
    tasks: &[Option<&TaskStep>],
) -> BTreeSet<&'p str> {
    let whole = before.plan.as_str();
    let mut places = before.task_steps.iter().zip(&before.places);
    let is_changed = |(step, task): &(&Step, &Option<&TaskStep>)| {
        let extent = after.document.section(step.section).extent.clone();
        let text = after.document.source()[extent].trim();
        let same = places.next().filter(|(one, _)| task.is_some_and(|task| task.id == one.id));
        same.and_then(|(_, place)| whole.get(place.clone())).map(str::trim) != Some(text)
    };
    after.steps.iter().zip(tasks).filter(is_changed).map(|(step, _)| id_of(step)).collect()
}

/// The number of tasks in the section of a task.
fn tasks_around(list: Option<ChecklistFile>, one: &TaskStep) -> Option<usize> {
    let tasks = &list.filter(|list| list.task(one).is_some())?.tasks.tasks;
    Some(tasks.iter().filter(|task| task.section.number() == one.section).count())
}

fn read(bytes: &[u8]) -> Result<Plan, ModelError> {
    Document::from_bytes(bytes.to_vec())
        .map(Plan::read)
        .map_err(|error| ModelError::markdown(StateFile::Plan, &error))
}

pub(super) fn id_of(step: &Step) -> &str {
    step.id.as_ref().map(StepId::as_str).unwrap_or_default()
}

/// Proves that what was read back is what was intended, for each step that changed or is our own.
fn prove(
    intended: &Plan,
    read: &Plan,
    (tasks, changed): (&[Option<&TaskStep>], &BTreeSet<&str>),
) -> Result<(), ModelError> {
    let meaning = |step: &Step| -> serde_json::Value {
        let mut step = step.clone();
        step.depends_on.sort_by_key(ToString::to_string);
        let mut details = step.details().clone();
        details.other.sort();
        details.description = details.description.map(|text| text.trim().to_owned());
        step.set_details(details);
        serde_json::to_value(step).unwrap_or_default()
    };
    let no_place = |message: &str| refused(message, "`statedir.yaml` says which files those are");
    let steps = intended.steps.iter().zip(tasks);
    let is_intended = |(step, task): &(&Step, &Option<&TaskStep>)| {
        task.is_none() || changed.contains(id_of(step))
    };
    let wanted: Vec<&Step> = steps.filter(is_intended).map(|(step, _)| step).collect();
    let pair =
        wanted.iter().zip(&read.steps).find(|(intended, read)| meaning(intended) != meaning(read));
    if let Some((intended, _)) = pair {
        let name = intended.name();
        return Err(no_place(&format!(
            "the adopted files have no place for what {name} would say"
        )));
    }
    let metadata = |plan: &Plan| serde_json::to_value(&plan.metadata).unwrap_or_default();
    if wanted.len() != read.steps.len()
        || metadata(intended) != metadata(read)
        || intended.reviews.len() != read.reviews.len()
    {
        return Err(no_place("the adopted files have no place for this change"));
    }
    Ok(())
}

fn belongs(place: &str, what: &str) -> ModelError {
    let hint = format!("edit `{place}` with an editor; statedir follows");
    refused(&format!("{what} belongs to {place}"), &hint)
}

fn refused(message: &str, hint: &str) -> ModelError {
    ModelError::BadValue { message: message.to_owned(), hint: Some(hint.to_owned()) }
}
