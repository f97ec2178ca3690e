//! Claims: only the holder of a running step may end it; `step take` takes it over.

use crate::{
    domain::{ErrorCode, Plan, Step, StepRef, StepRole as Role},
    recovery::Holder,
    workspace::{
        Answer, Draft, Error, ErrorKind,
        change::steps::{
            progress::{PlanProgress, status_of},
            step_json,
        },
    },
};

/// Takes over a running step that somebody else holds; its attempt continues.
pub(in crate::workspace::change) fn take(
    draft: &mut Draft<'_>,
    selected: Option<&StepRef>,
    force: bool,
    why: Option<&str>,
) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let step = match selected {
        Some(selected) => plan.step(selected)?,
        None => the_one_to_take(draft, &plan)?,
    };
    plan.refuse_copied(step)?;
    let status = status_of(draft, step);
    if draft.workflow().step_role(&status) != Some(Role::Active) {
        return Err(not_running(draft, step, &status));
    }
    let why = why.map(str::trim).filter(|why| !why.is_empty());
    let holder = draft.holder(step);
    if holder.own {
        let answer = Answer::new(format!("{} is yours already", step.name()));
        return Ok(match &step.id {
            Some(id) => answer.with("step", step_json(step, id, &status)),
            None => answer,
        });
    }
    if holder.is_held() && !force {
        return Err(held(&holder, step));
    }
    if holder.is_held() && why.is_none() {
        return Err(Error::refused_with(
            ErrorCode::Held,
            format!("step {} is held by {}: say why you take it", step.number, holder.phrase()),
            format!("`statedir step take {} --force --why \"it is gone\"`", step.number),
        ));
    }
    let taken = adopt(draft, &plan, step, &holder, why)?;
    Ok(taken.with("attempt", step.attempts.max(1)))
}

/// Claims a step for the actor and notes the former holder.
fn adopt(
    draft: &mut Draft<'_>,
    plan: &Plan,
    step: &Step,
    holder: &Holder,
    why: Option<&str>,
) -> Result<Answer, Error> {
    let status = status_of(draft, step);
    let claim = draft.env.identity().claim().to_string();
    let mut progress = PlanProgress::new(draft, plan)?;
    let id = progress.set_fields(step, &[("claimed_by", claim.as_str())]);
    progress.finish(&[])?;
    let from = holder.claimed_by.as_ref().map_or_else(|| "nobody".to_owned(), ToString::to_string);
    let mut fields = vec![
        ("step".to_owned(), id.to_string()),
        ("taken_from".to_owned(), from.clone()),
        ("evidence".to_owned(), holder.evidence.clone()),
    ];
    fields.extend(why.map(|why| ("notes".to_owned(), why.to_owned())));
    fields.push(("actor".to_owned(), draft.env.actor().to_owned()));
    draft.log(format!("Step {} Taken Over: {}", step.number, step.title), fields)?;
    Ok(Answer::new(format!("step {} is yours now: {} (from {from})", step.number, step.title))
        .with("step", step_json(step, &id, &status))
        .with("taken_from", from))
}

/// The only running step that is not the actor's; a stale one before others.
fn the_one_to_take<'p>(draft: &Draft<'_>, plan: &'p Plan) -> Result<&'p Step, Error> {
    let running = plan.steps.iter().filter(|step| {
        draft.workflow().role_of(step) == Some(Role::Active) && !draft.holder(step).own
    });
    let (stale, held): (Vec<&Step>, Vec<&Step>) =
        running.partition(|step| draft.holder(step).stale);
    let candidates = if stale.is_empty() { held } else { stale };
    match candidates.as_slice() {
        [step] => Ok(step),
        [] => Err(Error::refused_with(
            ErrorCode::NoSuchStep,
            "no step is held by somebody else",
            "`statedir step next` names a step that is ready",
        )),
        [first, ..] => {
            let names: Vec<String> = candidates.iter().map(|s| s.number.to_string()).collect();
            Err(Error::refused_with(
                ErrorCode::Ambiguous,
                format!("more than one step can be taken over: {}", names.join(", ")),
                format!("`statedir step take {}`", first.number),
            ))
        }
    }
}

/// Refuses to end a step that somebody else holds.
pub(in crate::workspace::change) fn refuse_others(
    draft: &Draft<'_>,
    step: &Step,
) -> Result<(), Error> {
    if draft.workflow().role_of(step) != Some(Role::Active) {
        return Ok(());
    }
    let holder = draft.holder(step);
    if holder.is_foreign() { Err(held(&holder, step)) } else { Ok(()) }
}

/// The error that names the holder of a step and how to take it over.
pub(in crate::workspace) fn held(holder: &Holder, step: &Step) -> Error {
    let message = format!("{} is held by {}", step.name(), holder.phrase());
    Error::refused_with(ErrorCode::Held, message, how_to_take(holder))
}

/// The error for a step that cannot be started because it runs: who runs it, and what the actor may do.
pub(super) fn running_already(draft: &Draft<'_>, step: &Step, status: &str) -> Error {
    let holder = draft.holder(step);
    let (by, hint) = if holder.is_foreign() {
        (format!("held by {}", holder.phrase()), how_to_take(&holder))
    } else if holder.own {
        let ends = holder.ends.first().map(|end| format!("; when it is finished: `{end}`"));
        (format!("held by you, {}", holder.who()), format!("go on{}", ends.unwrap_or_default()))
    } else {
        let take = format!("`statedir step take {}` makes it yours", step.number);
        ("and nobody has claimed it".to_owned(), take)
    };
    let message = format!("{} is {status} already, {by}", step.name());
    Error::refused_with(ErrorCode::IllegalTransition, message, hint)
}

/// The command to take a step over, depending on whether its holder is gone.
pub(in crate::workspace::change) fn how_to_take(holder: &Holder) -> String {
    let number = holder.step;
    match holder.stale {
        true => format!("`statedir step take {number}` takes it over"),
        false => format!(
            "`statedir step next` names another; if you know that the holder is gone: \
             `statedir step take {number} --force --why \"it is gone\"`"
        ),
    }
}

fn not_running(draft: &Draft<'_>, step: &Step, status: &str) -> Error {
    let number = step.number;
    let hint = match draft.workflow().step_role(status) {
        Some(Role::Open) => format!("`statedir step start {number}` starts it"),
        Some(Role::Failed) => format!("`statedir step retry {number}` starts it again"),
        _ => format!("`statedir step show {number}` shows its result"),
    };
    let message = format!("cannot take over {}: it is {status}", step.name());
    ErrorKind::Refused { code: ErrorCode::IllegalTransition, message, hint: Some(hint) }.into()
}
