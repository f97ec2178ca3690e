//! The repairs of `check --fix`, none of which can lose anything.

use super::{
    super::{
        Answer, Draft, Error, Readiness, Workspace,
        log::removed::{PutBack, RemovedEntry},
        missing_files,
        snapshot::{buffered, workflow},
    },
    Fixed,
};
use crate::{
    domain::{ErrorCode, Plan, StateFile, StepId, StepUpdate, Workflow},
    history::verify,
    store::{AppendedView, View},
    text::display::counted,
    text::json::Put,
};

/// The kind of the operations that repair.
pub(in super::super) const FIX: &str = "check.fix";

/// The heading of a history that has to be started anew.
const HISTORY_HEADING: &[u8] = b"# Execution History\n\n## Step Execution Log\n";

impl Workspace {
    /// Sets a damaged log aside; then, as one operation, restores what the log or git has and updates
    /// what follows from the plan.
    pub(super) fn fix(&self) -> Result<Vec<Fixed>, Error> {
        // The log may have what a checkpoint has lost, so checkpoints come first.
        let mut fixed = self.fix_checkpoints()?;
        fixed.extend(self.fix_log()?);
        self.change_or_create(FIX, |draft| {
            let mut repaired = self.repair_files(draft)?;
            let messages = repaired.iter().map(|one| format!("{}: {}", one.file, one.message));
            let answers = messages.map(Answer::new).collect();
            fixed.append(&mut repaired);
            Ok(answers)
        })?;
        Ok(fixed)
    }

    /// What the repairs of the files would be, and the state after them. Writes nothing, and is for
    /// dry runs only.
    pub(super) fn preview_fix(&self) -> Result<(Vec<Fixed>, Option<View>), Error> {
        let (mut fixed, mut after) = (Vec::new(), None);
        let previewed = self.change_or_create(FIX, |draft| {
            fixed = self.repair_files(draft)?;
            after = Some(draft.view_after());
            Ok(Vec::new())
        });
        match previewed {
            // A damaged log is set aside before.
            Err(error) if error.code() != ErrorCode::LogDamaged => Err(error),
            _ => Ok((fixed, after)),
        }
    }

    /// Restores what was lost, then updates what follows from it.
    fn repair_files(&self, draft: &mut Draft<'_>) -> Result<Vec<Fixed>, Error> {
        let mut repaired = self.restore_lost(draft)?;
        repaired.extend(self.repair(draft, !repaired.is_empty())?);
        Ok(repaired)
    }

    /// Updates what follows from the plan, if the files can be read.
    fn repair(&self, draft: &mut Draft<'_>, has_restored: bool) -> Result<Vec<Fixed>, Error> {
        match workflow(draft.view()) {
            Ok(_) => {}
            // An unreadable workflow is a finding and must not undo the restored files.
            Err(_) if has_restored => return Ok(Vec::new()),
            Err(error) if error.is_about_file() => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
        let mut fixed = Vec::new();
        for repair in [replace_duplicate_ids, replace_duplicate_numbers, update_derived] {
            match repair(draft) {
                Ok(repaired) => fixed.extend(repaired),
                // A file that cannot be read is a finding, not a failure of the repair.
                Err(error) if error.is_about_file() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(fixed)
    }

    /// Restores missing files from the log as one operation; a dry run only lists them.
    pub(crate) fn restore_from_log(&self) -> Result<Vec<Fixed>, Error> {
        let mut fixed = Vec::new();
        // If nothing can be restored, nothing is recorded. Else it is checked again under the lock.
        let mut is_restorable = false;
        for file in self.missing_files()? {
            is_restorable |= self.is_in_log(file)?;
        }
        if !is_restorable {
            return Ok(fixed);
        }
        self.change_or_create(FIX, |draft| {
            let history;
            (fixed, history) = self.restore_missing(draft)?;
            draft.put_back(history, Vec::new());
            Ok(vec![Answer::new("restored missing files")])
        })?;
        Ok(fixed)
    }

    /// Whether the log has the content of a file.
    pub(crate) fn is_in_log(&self, file: StateFile) -> Result<bool, Error> {
        Ok(match file {
            StateFile::History => self.store.appended_from_log()?.is_some(),
            file => self.store.last_known_files()?.contains_key(file.name()),
        })
    }

    /// The missing ones of the five files.
    pub(crate) fn missing_files(&self) -> Result<Vec<StateFile>, Error> {
        Ok(missing_files(&self.read_view()?))
    }

    /// Restores what the log or git has: missing files, the end of the history if it was cut off,
    /// entries that were removed from it.
    fn restore_lost(&self, draft: &mut Draft<'_>) -> Result<Vec<Fixed>, Error> {
        let view = draft.view();
        let (mut fixed, mut append) = self.restore_missing(draft)?;
        let has_history = view.appended().exists();
        let mut cut_off = None;
        if has_history && !self.is_history_elsewhere(view.appended())? {
            append = self.store.appended_missing_tail()?.unwrap_or_default();
            cut_off = Some(append.len()).filter(|length| *length > 0);
        }
        // Where the log cannot restore a lost history whole, a new one starts with the entries it has.
        let is_new = !has_history && append.is_empty();
        if is_new {
            append = HISTORY_HEADING.to_vec();
        }
        let history = view.appended().with_added(&append);
        // Restored entries may record that others were removed on purpose.
        let let_go = verify(buffered(&history)?, &[], &mut |_| {})?.let_go;
        let removed_from = |history: &AppendedView| -> Result<Vec<RemovedEntry>, Error> {
            let mut removed = self.removed_entries(history, self.evidence(view))?;
            removed.retain(|removed| !let_go.contains(&removed.entry));
            Ok(removed)
        };
        let mut removed = if has_history { removed_from(view.appended())? } else { Vec::new() };
        fixed.extend(self.bring_files_back(draft, &removed)?);
        if let Some(length) = cut_off {
            let message = format!("restored {length} bytes that had been cut off at its end");
            fixed.push(Fixed { file: StateFile::History, message });
        }
        // What is restored at the end is no longer missing.
        if !has_history || !append.is_empty() {
            removed = removed_from(&history)?;
        }
        if is_new && removed.is_empty() {
            append.clear();
        }
        let back = PutBack::of(&history, removed)?;
        append.extend(back.append);
        for (count, place) in
            [(back.insert.len(), "put back in place"), (back.appended, "appended again")]
        {
            if count > 0 {
                let entries = counted(count, "entry", "entries");
                let message = format!("{entries} that had been removed: {place}");
                fixed.push(Fixed { file: StateFile::History, message });
            }
        }
        draft.put_back(append, back.insert);
        Ok(fixed)
    }

    /// Restores missing files from the log; the history is returned, because it can only be appended
    /// to.
    fn restore_missing(&self, draft: &mut Draft<'_>) -> Result<(Vec<Fixed>, Vec<u8>), Error> {
        let (mut fixed, mut history) = (Vec::new(), Vec::new());
        let missing = missing_files(draft.view());
        if missing.is_empty() {
            return Ok((fixed, history));
        }
        let mut known = self.store.last_known_files()?;
        for file in missing {
            if file == StateFile::History {
                let Some(bytes) = self.store.appended_from_log()? else { continue };
                history = bytes;
            } else {
                let Some(bytes) = known.remove(file.name()) else { continue };
                draft.put_bytes(file, bytes);
            }
            fixed.push(Fixed { file, message: "restored from the log".to_owned() });
        }
        Ok((fixed, history))
    }

    /// Whether the log holds files that could be restored.
    pub(in super::super) fn has_files_in_log(&self) -> bool {
        self.store.last_known_files().is_ok_and(|files| !files.is_empty())
    }
}

/// Gives copied steps a new id: the data stored under the id belongs to the first of them.
fn replace_duplicate_ids(draft: &mut Draft<'_>) -> Result<Vec<Fixed>, Error> {
    let plan = draft.plan()?;
    let mut edit = plan.document.edit();
    let mut new_ids: Vec<StepId> = Vec::new();
    let mut fixed = Vec::new();
    for step in plan.steps.iter().filter(|step| plan.original_of(step).is_some()) {
        let taken = |text: &str| {
            let mut ids = plan.steps.iter().filter_map(|step| step.id.as_ref()).chain(&new_ids);
            ids.any(|id| id.as_str() == text)
        };
        let id = StepId::generate(draft.env.random(), taken);
        let mut update = StepUpdate::default();
        update.set("id", id.as_str());
        if plan.update_step(&mut edit, step, &update).is_err() {
            continue;
        }
        let message = format!("{}: the id was taken, now {id}", step.name());
        fixed.push(Fixed { file: StateFile::Plan, message });
        new_ids.push(id);
    }
    if !fixed.is_empty() {
        draft.put(StateFile::Plan, Plan::finish(edit)?);
    }
    Ok(fixed)
}

/// Gives steps with the number of an earlier one the next free number, as after a merge by lines in
/// which both sides added a step.
fn replace_duplicate_numbers(draft: &mut Draft<'_>) -> Result<Vec<Fixed>, Error> {
    let plan = draft.plan()?;
    let mut edit = plan.document.edit();
    let mut fixed = Vec::new();
    let mut next = plan.new_number(None);
    for (at, step) in plan.steps.iter().enumerate() {
        if plan.steps[..at].iter().all(|earlier| earlier.number != step.number) {
            continue;
        }
        let mut update = StepUpdate::default();
        update.set_number(next);
        if plan.update_step(&mut edit, step, &update).is_err() {
            continue;
        }
        let message = format!("{}: number {} was taken, now {next}", step.name(), step.number);
        fixed.push(Fixed { file: StateFile::Plan, message });
        next += 1;
    }
    if !fixed.is_empty() {
        draft.put(StateFile::Plan, Plan::finish(edit)?);
    }
    Ok(fixed)
}

/// Updates the fields that follow from the steps, in the plan and in the variables.
pub(in super::super) fn update_derived(draft: &mut Draft<'_>) -> Result<Vec<Fixed>, Error> {
    let mut fixed = Vec::new();
    let plan = draft.plan()?;
    // An emptied or broken plan must not spread to the other files.
    if plan.metadata_section().is_none() || plan.metadata.status.is_none() {
        return Ok(fixed);
    }
    let workflow = draft.workflow().clone();
    let current_step = Readiness::new(&plan, &workflow).counts().current_step;
    fix_plan(draft, &plan, &workflow, current_step, &mut fixed)?;
    fix_variables(draft, &plan, current_step, &mut fixed)?;
    Ok(fixed)
}

fn fix_plan(
    draft: &mut Draft<'_>,
    plan: &Plan,
    workflow: &Workflow,
    current_step: u32,
    fixed: &mut Vec<Fixed>,
) -> Result<(), Error> {
    let mut edit = plan.document.edit();
    let mut fields: Vec<(&str, String, String)> = Vec::new();
    if let Some(written) = &plan.metadata.current_step
        && written.trim() != current_step.to_string()
    {
        fields.push(("current_step", written.clone(), current_step.to_string()));
    }
    if let Some(written) = &plan.metadata.status
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
    plan.set_metadata(&mut edit, &borrowed)?;
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    for (key, from, to) in fields {
        fixed.push(Fixed { file: StateFile::Plan, message: format!("{key}: {from} → {to}") });
    }
    Ok(())
}

fn fix_variables(
    draft: &mut Draft<'_>,
    plan: &Plan,
    current_step: u32,
    fixed: &mut Vec<Fixed>,
) -> Result<(), Error> {
    let Ok(variables) = draft.variables() else { return Ok(()) };
    let mut puts = variables.metadata(&plan.metadata);
    puts.extend(variables.step_data(current_step, plan.steps.len()));
    for put in &puts {
        if let Put::Set(path, value) = put {
            let before = variables.document.get(path).unwrap_or_default();
            let message = format!("{path}: {before} → {value}");
            fixed.push(Fixed { file: StateFile::Variables, message });
        }
    }
    draft.put_variables(variables.put_all(&puts)?);
    Ok(())
}
