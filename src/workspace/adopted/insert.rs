//! Adds a task to a checklist of an adopted state, for `step add --after` and `--before`.

use super::spliced;
use crate::{
    domain::{
        ErrorCode, ModelError, Plan, StateFile, StepRef, StepRole,
        adopted::{Adopted, TaskStep},
    },
    rules::workflow_or_builtin,
    store::{ByteSplice, ChangeKind, FileChange, NewOperation},
    text::markdown::Document,
    workspace::{Error, Outcome, StepShape, Workspace, change, transact::Proposal},
};

impl Workspace {
    /// Inserts a task into a checklist, beside the named step.
    ///
    /// # Errors
    /// That step is not in a checklist, or more than a title is given.
    pub(in crate::workspace) fn insert_task(&self, shape: &StepShape) -> Result<Outcome, Error> {
        let bad = |message: &str, hint: &str| {
            Error::refused_with(ErrorCode::BadValue, message.to_owned(), hint)
        };
        let title = shape.title.as_deref().unwrap_or_default().trim();
        if title.is_empty() || title.contains(char::is_control) {
            let hint = match (&shape.after, &shape.before) {
                (Some(after), _) => format!("`statedir step add 'What to do' --after {after}`"),
                (_, Some(before)) => format!("`statedir step add 'What to do' --before {before}`"),
                _ => "`statedir step add 'What to do'`".to_owned(),
            };
            return Err(bad("a title is one line of text", &hint));
        }
        let plain = StepShape {
            title: shape.title.clone(),
            after: shape.after.clone(),
            before: shape.before.clone(),
            ..StepShape::default()
        };
        if *shape != plain {
            return Err(bad(
                "a line of the file has no place for more than a title",
                "without `--after` and `--before` the step is kept beside the file",
            ));
        }
        self.transact(self.options.dry_run, |opened| {
            let (Some(seen), Some(layout)) = (opened.adopted(), self.files.layout()) else {
                return Ok(Proposal::default());
            };
            self.refuse_unmerged_lists(opened.raw())?;
            let composed = seen.plan.composed()?;
            let plan = seen.view.bytes(StateFile::Plan.name()).unwrap_or_default().to_vec();
            let plan = Document::from_bytes(plan).map(Plan::read);
            let plan = plan.map_err(|error| ModelError::markdown(StateFile::Plan, &error))?;
            let (beside, is_before) = match (&shape.after, &shape.before) {
                (Some(StepRef::Number(0)), _) => (plan.steps.first(), true),
                (Some(after), _) => (Some(plan.step(after)?), false),
                (None, Some(before)) => (Some(plan.step(before)?), true),
                (None, None) => (None, false),
            };
            let task_steps = beside.and_then(|step| {
                composed.task_steps.iter().find(|one| Some(&one.id) == step.id.as_ref())
            });
            let task_steps = task_steps.ok_or_else(|| {
                bad("that step is in none of the files", "name a step that one of the files has")
            })?;
            let workflow = workflow_or_builtin(seen.view.bytes(StateFile::Workflow.name()));
            let adopted = Adopted { layout, workflow: &workflow };
            let insertion =
                adopted.insertion(&seen.plan.raw, composed, task_steps, is_before, title)?;
            let name = layout.plan[insertion.file].file.to_string();
            let splice =
                ByteSplice { at: insertion.splice.at, new: insertion.splice.new.into_bytes() };
            let mut files = seen.plan.raw.clone();
            let old = files.get(&name).cloned().unwrap_or_default();
            files.insert(name.clone(), spliced(&old, std::slice::from_ref(&splice)));
            let after = adopted.compose(&files)?;
            let is_new = |one: &&TaskStep| composed.task_steps.iter().all(|old| old.id != one.id);
            let new = after.task_steps.iter().find(is_new).or(after.task_steps.last());
            let mut proposal = Proposal { is_raw: true, ..Proposal::default() };
            if let Some(new) = new {
                let status = workflow.step_with_role(StepRole::Open);
                let answer = change::added_answer(new.number, Some(&new.id), title, status);
                proposal.answers.push(answer);
            }
            let message = proposal.answers.first().map(|answer| answer.message.clone());
            let change = FileChange { name, kind: ChangeKind::Splice(vec![splice]) };
            proposal.changed = vec![StateFile::Plan];
            proposal.operation = NewOperation {
                changes: vec![change],
                ..self.operation("step.add", message.unwrap_or_default())
            };
            Ok(proposal)
        })
    }
}
