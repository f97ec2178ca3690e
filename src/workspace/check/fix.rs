//! Repairs that cannot lose anything.

use serde_json::json;

use super::{
    super::{Answer, Draft, Error, Readiness, Workspace},
    Fixed, plan,
};
use crate::{
    domain::{Plan, StateFile, StepId, Workflow},
    store::{ChangeKind, FileChange, StoreError},
    text::json::Path,
};

impl Workspace {
    /// Sets a damaged log aside, restores missing files from the log and sets right what follows
    /// from the plan.
    pub(super) fn fix(&self) -> Result<Vec<Fixed>, Error> {
        // The log may know what a checkpoint has lost, so it is asked before it is set aside.
        let mut fixed = self.fix_checkpoints()?;
        fixed.extend(self.replace_damaged_log()?);
        fixed.extend(self.restore_missing()?);
        fixed.extend(self.restore_removed()?);
        let outcome = self.change("check.fix", |draft| {
            let mut answers = Vec::new();
            let mut repaired = new_ids(draft)?;
            repaired.extend(repairs(draft)?);
            for repair in repaired {
                answers.push(Answer::new(format!("{}: {}", repair.file, repair.message)));
                fixed.push(repair);
            }
            Ok(answers)
        });
        match outcome {
            Ok(_) => Ok(fixed),
            // A file that cannot be read is a finding, not a failure of the repair.
            Err(Error::Model(_)) => Ok(fixed),
            Err(error) => Err(error),
        }
    }

    fn replace_damaged_log(&self) -> Result<Vec<Fixed>, Error> {
        let view = self.store.read(self.options.wait)?;
        let sound = view.log_damage().is_none()
            && !matches!(self.store.operations(None), Err(StoreError::Damaged { .. }));
        drop(view);
        if sound {
            return Ok(Vec::new());
        }
        let kept = self.store.set_log_aside(self.options.wait, &self.holder())?;
        let message = format!("set aside as {}; a new one was started", kept.display());
        Ok(vec![Fixed { file: StateFile::Log, message }])
    }

    /// Puts back files that are gone, as far as the log knows them, as one operation; in a dry run
    /// it only says which.
    ///
    /// # Errors
    /// The log cannot be read, or a file cannot be written.
    pub fn restore_from_log(&self) -> Result<Vec<Fixed>, Error> {
        let missing = self.missing_files()?;
        self.put_back(missing, None)
    }

    /// Whether the log knows what a file held.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn is_in_log(&self, file: StateFile) -> Result<bool, Error> {
        Ok(match file {
            StateFile::History => self.store.appended_from_log()?.is_some(),
            file => self.store.last_known_files()?.contains_key(file.name()),
        })
    }

    /// Those of the five files that are not there.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn missing_files(&self) -> Result<Vec<StateFile>, Error> {
        let view = self.store.read(self.options.wait)?;
        let gone = |file: &StateFile| match file {
            StateFile::History => !view.appended().exists(),
            file => view.bytes(file.name()).is_none(),
        };
        Ok(StateFile::FIVE.into_iter().filter(gone).collect())
    }

    /// Puts back what the log knows of files that are gone or cut, as one operation.
    fn restore_missing(&self) -> Result<Vec<Fixed>, Error> {
        let missing = self.missing_files()?;
        let cut = if missing.contains(&StateFile::History) || self.is_history_elsewhere() {
            None
        } else {
            self.store.appended_missing_tail()?.filter(|tail| !tail.is_empty())
        };
        self.put_back(missing, cut)
    }

    fn put_back(&self, missing: Vec<StateFile>, cut: Option<Vec<u8>>) -> Result<Vec<Fixed>, Error> {
        if missing.is_empty() && cut.is_none() {
            return Ok(Vec::new());
        }
        let mut known = self.store.last_known_files()?;
        let mut operation = self.operation("check.fix", "restored missing files".to_owned());
        let mut fixed = Vec::new();
        if let Some(tail) = cut {
            let message = format!("restored {} bytes that had been cut off at its end", tail.len());
            fixed.push(Fixed { file: StateFile::History, message });
            operation.append = tail;
        }
        for file in missing {
            if file == StateFile::History {
                let Some(bytes) = self.store.appended_from_log()? else { continue };
                operation.append = bytes;
            } else {
                let Some(bytes) = known.remove(file.name()) else { continue };
                let (name, kind) = (file.name().to_owned(), ChangeKind::Write(bytes));
                operation.changes.push(FileChange { name, kind });
            }
            fixed.push(Fixed { file, message: "restored from the log".to_owned() });
        }
        if !fixed.is_empty() && !self.options.dry_run {
            self.begin()?.commit(operation)?;
        }
        Ok(fixed)
    }

    /// Whether the log holds files that could be restored.
    pub(in super::super) fn knows_files(&self) -> bool {
        self.store.last_known_files().is_ok_and(|files| !files.is_empty())
    }
}

/// Gives steps that were copied with the id of another a new one: what is kept under the id belongs
/// to the first of them.
fn new_ids(draft: &mut Draft<'_>) -> Result<Vec<Fixed>, Error> {
    let read = draft.plan()?;
    let mut edit = read.document.edit();
    let mut given: Vec<StepId> = Vec::new();
    let mut fixed = Vec::new();
    for step in read.steps.iter().filter(|step| read.original_of(step).is_some()) {
        let taken = |text: &str| {
            let mut ids = read.steps.iter().filter_map(|step| step.id.as_ref()).chain(&given);
            ids.any(|id| id.as_str() == text)
        };
        let id = StepId::generate(draft.env.random(), taken);
        if read.set_step(&mut edit, step, &[("id", id.as_str())]).is_err() {
            continue;
        }
        let message = format!("{}: its id, which another step has, → {id}", step.name());
        fixed.push(Fixed { file: StateFile::Plan, message });
        given.push(id);
    }
    if !fixed.is_empty() {
        draft.put(StateFile::Plan, Plan::finish(edit)?);
    }
    Ok(fixed)
}

/// Brings what follows from the steps, in the plan and in the variables, in line with them.
pub(in super::super) fn repairs(draft: &mut Draft<'_>) -> Result<Vec<Fixed>, Error> {
    let mut fixed = Vec::new();
    let read = draft.plan()?;
    // What an emptied or broken plan says must not be spread over the other files.
    if read.metadata_section().is_none() || read.metadata.status.is_none() {
        return Ok(fixed);
    }
    let workflow = draft.workflow().clone();
    let should = plan::should_be(&read, &Readiness::new(&read, &workflow));
    fix_plan(draft, &read, &workflow, should, &mut fixed)?;
    fix_variables(draft, &read, should, &mut fixed)?;
    Ok(fixed)
}

fn fix_plan(
    draft: &mut Draft<'_>,
    read: &Plan,
    workflow: &Workflow,
    should: u32,
    fixed: &mut Vec<Fixed>,
) -> Result<(), Error> {
    let mut edit = read.document.edit();
    let mut fields: Vec<(&str, String, String)> = Vec::new();
    if let Some(written) = &read.metadata.current_step
        && written.trim() != should.to_string()
    {
        fields.push(("current_step", written.clone(), should.to_string()));
    }
    if let Some(written) = &read.metadata.status
        && let Some(status) = workflow.plan_status(written)
        && status != written
    {
        fields.push(("status", written.clone(), status.to_owned()));
    }
    let borrowed: Vec<(&str, &str)> =
        fields.iter().map(|(key, _, value)| (*key, value.as_str())).collect();
    if borrowed.is_empty() {
        return Ok(());
    }
    read.set_metadata(&mut edit, &borrowed)?;
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    for (key, from, to) in fields {
        fixed.push(Fixed { file: StateFile::Plan, message: format!("{key}: {from} → {to}") });
    }
    Ok(())
}

fn fix_variables(
    draft: &mut Draft<'_>,
    read: &Plan,
    should: u32,
    fixed: &mut Vec<Fixed>,
) -> Result<(), Error> {
    let Ok(variables) = draft.variables() else { return Ok(()) };
    let metadata = |key: &str| Path::root().join("execution_metadata").join(key);
    let data = |key: &str| Path::root().join("step_data").join(key);
    let text = |value: &Option<String>| value.as_ref().map(|text| json!(text));
    let wanted = [
        (metadata("execution_id"), text(&read.metadata.execution_id)),
        (metadata("goal"), text(&read.metadata.goal)),
        (metadata("mode"), text(&read.metadata.mode)),
        (data("current_step"), Some(json!(should))),
        (data("total_steps"), Some(json!(read.steps.len()))),
    ];
    let mut edit = variables.document.edit();
    for (path, value) in wanted {
        let (Some(before), Some(value)) = (variables.document.get(&path), value) else { continue };
        if before == value {
            continue;
        }
        if edit.set(&path, &value).is_ok() {
            let message = format!("{path}: {before} → {value}");
            fixed.push(Fixed { file: StateFile::Variables, message });
        }
    }
    draft.put_variables(edit.finish());
    Ok(())
}
