//! Carries out a recovery decision as one operation.

use serde_json::json;

use super::{super::*, Examined};
use crate::{
    domain::format_duration,
    domain::{ErrorCode, PlanRole, StepRef, StepRole},
    recovery::{RecoveryAction, RecoveryDecision},
};

/// Who decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DecidedBy {
    /// The built-in tables.
    Statedir,
    /// The one who gave the command.
    Caller,
    /// A program that was asked.
    Evaluator(String),
}

impl std::fmt::Display for DecidedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Statedir => f.write_str("statedir"),
            Self::Caller => f.write_str("caller"),
            Self::Evaluator(name) => write!(f, "evaluator {name}"),
        }
    }
}

impl Workspace {
    /// Carries a decision out as one operation, together with its entry in the history.
    ///
    /// # Errors
    /// The state has moved on since it was examined, or the lifecycle does not allow it. Nothing
    /// was changed.
    pub(crate) fn carry_out(
        &self,
        examined: &Examined,
        decision: &RecoveryDecision,
        by: &DecidedBy,
    ) -> Result<Outcome, Error> {
        if decision.action == RecoveryAction::RollbackCheckpoint {
            return self.roll_back(examined, decision, by);
        }
        if let Some(damaged) = examined.evidence.damage.first() {
            return Err(Error::refused_with(
                ErrorCode::Damaged,
                format!("cannot carry out a decision: {damaged}"),
                "`statedir check --fix` repairs what is safe; `statedir diff` shows what was edited",
            ));
        }
        let outcome = self.change("recover", |draft| {
            let found = draft.view().revision.clone();
            if found != examined.revision {
                return Err(self.moved(examined.revision.as_str(), &found));
            }
            let done = act(draft, examined, decision)?;
            // A review that is already open is not opened again.
            let idle = decision.action == RecoveryAction::HumanReview && draft.is_empty();
            if !decision.nothing_to_do && !idle {
                log(draft, examined, decision, by, &done)?;
            }
            let mut answer = Answer::new(done.join("\n"));
            answer.data.insert("done".to_owned(), json!(done));
            Ok(vec![answer])
        });
        match outcome {
            Ok(outcome) => Ok(outcome),
            Err(error) => Err(self.ask_first(error)?),
        }
    }

    /// Refuses what [`Self::carry_out`] would refuse, with the same error. Writes nothing.
    ///
    /// A gate is no refusal: carrying the decision out is how a person is asked.
    ///
    /// # Errors
    /// The decision cannot be carried out.
    pub(crate) fn rehearse(
        &self,
        examined: &Examined,
        decision: &RecoveryDecision,
        by: &DecidedBy,
    ) -> Result<(), Error> {
        let options = Options { dry_run: true, ..self.options.clone() };
        let files = self.files.clone();
        let rehearsal =
            Workspace { store: self.store.clone(), env: self.env.again(), options, files };
        match rehearsal.carry_out(examined, decision, by) {
            Err(error) if !matches!(error.kind(), ErrorKind::NeedsReview { .. }) => Err(error),
            _ => Ok(()),
        }
    }

    /// Restores the checkpoint that a decision names.
    fn roll_back(
        &self,
        examined: &Examined,
        decision: &RecoveryDecision,
        by: &DecidedBy,
    ) -> Result<Outcome, Error> {
        let Some(name) = &decision.checkpoint else {
            return Err(Error::refused(
                ErrorCode::NoCheckpoint,
                "there is no checkpoint to go back to",
            ));
        };
        let mut noted = vec![("recovery".to_owned(), decision.action.word().to_owned())];
        noted.extend(decision_fields(decision, by));
        // A step that was running then would be running again with nobody working on it.
        let chosen = examined.evidence.checkpoints.iter().find(|known| known.name == *name);
        let rewind = chosen.is_some_and(|checkpoint| checkpoint.rewind);
        let options = RestoreOptions { only: Vec::new(), rewind };
        let mut outcome = self.restore_noting(name, &options, Some(&examined.revision), &noted)?;
        for answer in &mut outcome.answers {
            answer.data.insert("done".to_owned(), json!([answer.message]));
        }
        Ok(outcome)
    }
}

/// Makes the changes that were decided and returns a message for each.
fn act(
    draft: &mut Draft<'_>,
    examined: &Examined,
    decision: &RecoveryDecision,
) -> Result<Vec<String>, Error> {
    if decision.nothing_to_do {
        return Ok(vec!["there is nothing to recover".to_owned()]);
    }
    let mut done = Vec::new();
    let note = || Some(format!("recover: {}", decision.reasons.join("; ")));
    let step = decision.step.map(StepRef::Number);
    match decision.action {
        RecoveryAction::ContinueTask => {
            let step = step.ok_or_else(no_step)?;
            if role(draft, &step)? == Some(StepRole::Active) {
                done.push(change::take_up(draft, &step)?.message);
            } else {
                activate(draft, &mut done)?;
                make(draft, &Change::StepStart { step: Some(step) }, &mut done)?;
            }
        }
        RecoveryAction::RestartTask => {
            activate(draft, &mut done)?;
            make(draft, &reset(step, note()), &mut done)?;
        }
        RecoveryAction::NextTask => {
            let step = step.ok_or_else(no_step)?;
            if role(draft, &step)? == Some(StepRole::Active) {
                change::take_up(draft, &step)?;
                let result = StepResult { step: Some(step), note: note(), ..StepResult::default() };
                make(draft, &Change::StepDone(Box::new(result)), &mut done)?;
                start_next(draft, &mut done)?;
            } else {
                activate(draft, &mut done)?;
                make(draft, &Change::StepStart { step: Some(step) }, &mut done)?;
            }
        }
        RecoveryAction::RetryTask => {
            activate(draft, &mut done)?;
            make(draft, &Change::StepRetry { step, note: None }, &mut done)?;
        }
        RecoveryAction::SkipTask => {
            activate(draft, &mut done)?;
            let result = StepResult { step, note: note(), force: true, ..StepResult::default() };
            make(draft, &Change::StepSkip(Box::new(result)), &mut done)?;
        }
        RecoveryAction::Restart => restart(draft, note(), &mut done)?,
        RecoveryAction::HumanReview => match examined.evidence.plan.open_reviews.first() {
            Some(review) => done.push(format!("a person has already been asked: {review}")),
            None => {
                let about = decision.step.map(|n| format!("step {n}: ")).unwrap_or_default();
                let why = decision.reasons.first().cloned().unwrap_or_default();
                let text = format!("how should this continue? {about}{why}");
                make(draft, &Change::ReviewOpen { text }, &mut done)?;
            }
        },
        RecoveryAction::RollbackCheckpoint => return Err(no_step()),
    }
    Ok(done)
}

/// Resets every step that has begun and is not completed; results stay.
fn restart(
    draft: &mut Draft<'_>,
    note: Option<String>,
    done: &mut Vec<String>,
) -> Result<(), Error> {
    activate(draft, done)?;
    let plan = draft.plan()?;
    for step in &plan.steps {
        let status = step.status().unwrap_or_default();
        let role = draft.workflow().step_role(status);
        let begun = matches!(role, Some(StepRole::Active | StepRole::Failed | StepRole::Skipped));
        if begun {
            let step = Some(StepRef::Number(step.number));
            make(draft, &reset(step, note.clone()), done)?;
        }
    }
    Ok(())
}

fn reset(step: Option<StepRef>, note: Option<String>) -> Change {
    Change::StepReset { step, note, force: true, fresh: false, dependents: false }
}

/// Resumes a paused or failed plan.
fn activate(draft: &mut Draft<'_>, done: &mut Vec<String>) -> Result<(), Error> {
    let plan = draft.plan()?;
    let status = plan.metadata.status.as_deref().unwrap_or_default();
    match draft.workflow().plan_role(status) {
        Some(PlanRole::Paused | PlanRole::Failed) => make(draft, &Change::Resume, done),
        _ => Ok(()),
    }
}

/// Starts the next step if there is one; if it has to wait, the recovery still succeeds.
fn start_next(draft: &mut Draft<'_>, done: &mut Vec<String>) -> Result<(), Error> {
    let plan = draft.plan()?;
    if Readiness::new(&plan, draft.workflow()).ready().next().is_none() {
        return Ok(());
    }
    match make(draft, &Change::StepStart { step: None }, done) {
        Err(error) if error.exit_code() == 1 => {
            done.push(format!("the next step was not started: {error}"));
            Ok(())
        }
        other => other,
    }
}

fn make(draft: &mut Draft<'_>, change: &Change, done: &mut Vec<String>) -> Result<(), Error> {
    let answer = adapted(draft, change)?;
    done.push(answer.message);
    Ok(())
}

fn role(draft: &Draft<'_>, step: &StepRef) -> Result<Option<StepRole>, Error> {
    let plan = draft.plan()?;
    let status = plan.step(step)?.status.clone().unwrap_or_default();
    Ok(draft.workflow().step_role(&status))
}

fn no_step() -> Error {
    Error::refused(ErrorCode::NoSuchStep, "the decision names no step")
}

/// The reasons of a decision, and who made it.
fn decision_fields(decision: &RecoveryDecision, by: &DecidedBy) -> Vec<(String, String)> {
    vec![
        ("evidence".to_owned(), decision.reasons.join("; ")),
        ("decided_by".to_owned(), by.to_string()),
    ]
}

/// Logs the decision, its reasons and who made it.
fn log(
    draft: &mut Draft<'_>,
    examined: &Examined,
    decision: &RecoveryDecision,
    by: &DecidedBy,
    done: &[String],
) -> Result<(), Error> {
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut put = |key: &str, value: String| fields.push((key.to_owned(), value));
    put("kind", "recover".to_owned());
    put("decision", decision.action.word().to_owned());
    let id = examined.evidence.step.as_ref().filter(|step| Some(step.number) == decision.step);
    if let Some(id) = id.and_then(|step| step.id.clone()) {
        put("step", id);
    }
    if let Some(attempt) = decision.attempt {
        put("attempt", attempt.to_string());
    }
    if let Some(wait) = decision.backoff_ms.filter(|wait| *wait > 0) {
        put("backoff", format_duration(wait));
    }
    fields.extend(decision_fields(decision, by));
    fields.push(("state_changes".to_owned(), done.join("; ")));
    fields.push(("actor".to_owned(), draft.env.actor().to_owned()));
    draft.log(format!("Recovery: {}", decision.action), fields)?;
    Ok(())
}
