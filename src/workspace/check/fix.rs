//! Repairs that cannot lose anything.

use serde_json::json;

use super::{
    super::{Answer, Draft, Error, Readiness, Workspace},
    Fixed, plan,
};
use crate::{
    engine::Workflow,
    model::{Plan, StateFile},
    text::json::Path,
};

impl Workspace {
    /// Restores missing files from the log and sets right what follows from the plan.
    pub(super) fn fix(&self) -> Result<Vec<Fixed>, Error> {
        let mut fixed = self.restore_missing()?;
        let outcome = self.change("check.fix", |draft| {
            let mut answers = Vec::new();
            for repair in repairs(draft)? {
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

    fn restore_missing(&self) -> Result<Vec<Fixed>, Error> {
        let snapshot = self.read()?;
        let missing: Vec<StateFile> = StateFile::FIVE
            .into_iter()
            .filter(|file| *file != StateFile::History)
            .filter(|file| snapshot.view().bytes(file.name()).is_none())
            .collect();
        drop(snapshot);
        let mut fixed = Vec::new();
        for file in missing {
            let Some((operation, text)) = self.last_content(file)? else { continue };
            self.change("check.fix", |draft| {
                draft.put_whole(file, text);
                Ok(vec![Answer::new(format!("{file}: restored"))])
            })?;
            fixed.push(Fixed { file, message: format!("restored as it was after {operation}") });
        }
        Ok(fixed)
    }

    fn last_content(&self, file: StateFile) -> Result<Option<(String, String)>, Error> {
        for operation in self.store.operations(None)? {
            let files = self.store.files_at(operation.id.as_str())?;
            let text =
                files.get(file.name()).and_then(|bytes| String::from_utf8(bytes.clone()).ok());
            if let Some(text) = text {
                return Ok(Some((operation.id.as_str().to_owned(), text)));
            }
        }
        Ok(None)
    }
}

fn repairs(draft: &mut Draft<'_>) -> Result<Vec<Fixed>, Error> {
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
