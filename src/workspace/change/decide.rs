//! Decides reviews: an approval makes the move that waited for it, a rejection goes back to a step.

use serde_json::json;

use super::{
    pause::pause,
    review::{Opening, open_review, opening},
    steps::{
        gate,
        progress::PlanProgress,
        reset::{begun, built_on, numbers, reopen_all, said},
    },
};
use crate::{
    domain::{Decision, ErrorCode, FactValue, Plan, PlanRole, Review, StateFile, Step},
    workspace::{Answer, Draft, Error, ErrorKind, adapted},
};

/// A decision as a person gives it.
pub(super) struct ReviewDecision<'a> {
    pub(super) id: &'a str,
    pub(super) approve: bool,
    pub(super) why: Option<&'a str>,
    /// The step to go back to, instead of the gate's.
    pub(super) to: Option<&'a str>,
}

/// Decides a review.
pub(super) fn decide(draft: &mut Draft<'_>, given: &ReviewDecision<'_>) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let review = plan.review(given.id)?.clone();
    if review.decision != Decision::Open {
        let message = format!("review {} is already decided", review.id);
        return Err(Error::refused(ErrorCode::Decided, message));
    }
    if given.approve && given.to.is_some() {
        let message = "only a rejected review can go back to a step";
        return Err(Error::refused(ErrorCode::BadValue, message));
    }
    super::review::refuse_own(draft, &review)?;
    let actor = draft.env.actor().to_owned();
    let why = given.why.filter(|why| !why.trim().is_empty());
    why.map_or(Ok(()), Review::refuse_decision)?;
    let mut edit = plan.document.edit();
    plan.decide_review(&mut edit, &review, given.approve, &actor, why);
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    let verdict = if given.approve { "approved" } else { "rejected" };
    let mut fields = vec![
        ("kind".to_owned(), "review".to_owned()),
        ("review".to_owned(), review.id.clone()),
        ("decision".to_owned(), verdict.to_owned()),
        ("question".to_owned(), review.text.clone()),
        ("actor".to_owned(), actor),
    ];
    fields.extend(why.map(|why| ("reason".to_owned(), why.to_owned())));
    let mut answer = Answer::new(format!("review {} {verdict}", review.id))
        .with("review", review.id.clone())
        .with("decision", json!(verdict));
    let title = if given.approve { "Approved" } else { "Rejected" };
    let title = format!("Review {} {title}", review.id);
    if given.approve {
        draft.log(title, fields)?;
        carry_out(draft, &review, &mut answer)?;
        end_plan(draft, &mut answer)?;
    } else {
        go_back(draft, &review, given, &mut answer, &mut fields)?;
        draft.log(title, fields)?;
    }
    Ok(answer)
}

/// Makes the move that waited for the approval. If that is no longer possible, the approval stands
/// and the answer says so.
fn carry_out(draft: &mut Draft<'_>, review: &Review, answer: &mut Answer) -> Result<(), Error> {
    if review.gate().is_none() {
        return Ok(());
    }
    let Some(Opening { by, waiting: Some(change) }) = opening(draft, review)? else {
        return Ok(());
    };
    draft.on_behalf_of.clone_from(&by);
    let made = draft.attempt(|draft| adapted(draft, &change));
    draft.on_behalf_of = None;
    let error = match made {
        Ok(made) => {
            answer.message.push_str(&format!("\n{}", made.message));
            answer.data.extend(made.data);
            return Ok(());
        }
        Err(error) if error.exit_code() == 1 => error,
        Err(error) => return Err(error),
    };
    match error.into_kind() {
        // Another gate applies to the same move.
        ErrorKind::NeedsReview { question, waiting, .. } => {
            draft.on_behalf_of = by;
            let id = open_review(draft, &question, waiting.as_deref())?;
            answer.message.push_str(&format!("\nreview {id} is open: {question}"));
        }
        other => {
            let error = Error::from(other);
            answer.message.push_str(&format!("\nthe move was not made: {error}"));
        }
    }
    Ok(())
}

/// Completes a plan whose steps were finished while a review was open.
fn end_plan(draft: &mut Draft<'_>, answer: &mut Answer) -> Result<(), Error> {
    let plan = draft.plan()?;
    let mut progress = PlanProgress::new(draft, &plan)?;
    if plan.steps.is_empty() || !progress.complete_plan()? {
        return Ok(());
    }
    if let Some(status) = progress.finish(&[])? {
        answer.message.push_str(&format!("\nplan {status}"));
        answer.data.insert("plan_status".to_owned(), json!(status));
    }
    Ok(())
}

/// Resets the steps that a rejection leads to; if there are none, pauses the plan.
fn go_back(
    draft: &mut Draft<'_>,
    review: &Review,
    given: &ReviewDecision<'_>,
    answer: &mut Answer,
    fields: &mut Vec<(String, String)>,
) -> Result<(), Error> {
    let plan = draft.plan()?;
    let reason = given.why.filter(|why| !why.trim().is_empty()).unwrap_or_default();
    let target = match given.to {
        Some(name) => match plan.step_called(name) {
            Some(step) => Some(step),
            None => {
                let message = format!("there is no step `{name}` to go back to");
                let hint = "`statedir step list` shows them";
                return Err(Error::refused_with(ErrorCode::NoSuchStep, message, hint));
            }
        },
        None => route(draft, &plan, review, reason)?,
    };
    if let Some(target) = target {
        let again = again(draft, &plan, target, review);
        let reopened = draft.attempt(|draft| reopen_all(draft, &plan, &again, false));
        match reopened {
            Ok(changes) => {
                let again_numbers = numbers(&again);
                let name = draft
                    .plan()?
                    .steps
                    .iter()
                    .find(|step| step.number == target.number)
                    .map_or_else(|| target.name(), Step::name);
                fields.push(("step".to_owned(), name.replacen("step ", "", 1)));
                fields.push(("again".to_owned(), again_numbers.clone()));
                fields.push(("state_changes".to_owned(), said(&changes)));
                fields
                    .extend((!reason.is_empty()).then(|| ("notes".to_owned(), reason.to_owned())));
                answer.message.push_str(&format!(
                    ": back to step {} {} (again: {again_numbers}; no attempt counted)",
                    target.number, target.title
                ));
                answer.data.insert("back_to".to_owned(), json!(target.number));
                let again: Vec<u32> = again.iter().map(|step| step.number).collect();
                answer.data.insert("again".to_owned(), json!(again));
                return Ok(());
            }
            Err(error) if given.to.is_some() || error.exit_code() != 1 => return Err(error),
            Err(error) => answer.message.push_str(&format!("\nnot sent back: {error}")),
        }
    }
    // A request for more attempts blocks only its own step.
    if review.asks_for_attempts() {
        return Ok(());
    }
    stop(draft, review, reason, answer)
}

/// Pauses the plan with the reason, if it can be paused.
fn stop(
    draft: &mut Draft<'_>,
    review: &Review,
    reason: &str,
    answer: &mut Answer,
) -> Result<(), Error> {
    let role = draft.workflow().role_of_plan(&draft.plan()?.metadata);
    if matches!(role, Some(PlanRole::Paused)) {
        return Ok(());
    }
    let why = match reason.is_empty() {
        true => format!("review {} rejected", review.id),
        false => format!("review {} rejected: {reason}", review.id),
    };
    match draft.attempt(|draft| pause(draft, &why)) {
        Ok(paused) => {
            answer.message.push_str(&format!("\n{}", paused.message));
            answer.message.push_str("; `statedir resume` continues it");
            answer.data.extend(paused.data);
            Ok(())
        }
        Err(error) if error.exit_code() == 1 => Ok(()),
        Err(error) => Err(error),
    }
}

/// The step of the gate's first route whose condition holds.
fn route<'p>(
    draft: &mut Draft<'_>,
    plan: &'p Plan,
    review: &Review,
    reason: &str,
) -> Result<Option<&'p Step>, Error> {
    let Some(name) = review.gate() else { return Ok(None) };
    let gate = draft.workflow().gates().iter().find(|gate| gate.name == name);
    let Some(routes) = gate.map(|gate| gate.reject.clone()) else { return Ok(None) };
    for route in &routes {
        if let Some(when) = &route.when {
            let (condition, mut facts) = gate::facts(draft, when)?;
            facts.insert("reason", FactValue::text(reason));
            if !condition.holds(&facts) {
                continue;
            }
        }
        let found = plan.step_called(&route.reset);
        if found.is_none() {
            let text =
                format!("the gate `{name}` leads back to `{}`, which is not a step", route.reset);
            draft.notices.push(text);
        }
        return Ok(found);
    }
    Ok(None)
}

/// The steps to do again: `target` and its dependents, or, if the step under review does not depend on
/// it, all steps between the two.
fn again<'p>(
    draft: &Draft<'_>,
    plan: &'p Plan,
    target: &'p Step,
    review: &Review,
) -> Vec<&'p Step> {
    let behind = built_on(draft, plan, target);
    let is_own = |step: &&Step| step.id.as_ref().is_some_and(|id| review.is_about(id));
    let moved = plan.steps.iter().find(is_own);
    let is_before = |step: &&Step| {
        let last = moved.map_or(u32::MAX, |moved| moved.number);
        (target.number..=last).contains(&step.number) && step.offset != target.offset
    };
    let depends = match moved {
        Some(moved) => {
            moved.offset == target.offset || behind.iter().any(|step| step.offset == moved.offset)
        }
        None => !behind.is_empty(),
    };
    let rest = match depends {
        true => behind,
        false => plan.steps.iter().filter(is_before).collect(),
    };
    let mut again = vec![target];
    again.extend(begun(draft, rest));
    again
}
