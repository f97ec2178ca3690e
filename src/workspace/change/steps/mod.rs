//! Changes of steps; here: selecting, starting and retrying one.

pub(in crate::workspace::change) mod add;
pub(in crate::workspace) mod claim;
pub(in crate::workspace::change) mod fields;
pub(in crate::workspace::change) mod finish;
pub(in crate::workspace::change) mod gate;
pub(in crate::workspace::change) mod moves;
pub(in crate::workspace) mod needed;
pub(in crate::workspace::change) mod progress;
pub(in crate::workspace::change) mod reorder;
pub(in crate::workspace::change) mod reset;
pub(in crate::workspace::change) mod shape;

use serde_json::json;

use crate::{
    domain::{
        AtLimit, ErrorCode, ModelError, Plan, Problem, StateFile, Step, StepCounts, StepId,
        StepRef, StepRole as Role,
    },
    recovery::{Situation, StepStanding, Waits, next_move},
    store::Report,
    workspace::{
        Answer, Draft, Error, ErrorKind, Overview, Readiness,
        change::{
            review::refuse_while_open,
            steps::{
                gate::{Passage, attempts_allowed, attempts_possible},
                progress::{PlanProgress, status_of},
            },
        },
    },
};

/// Starts a step that nobody has started yet.
pub(in crate::workspace::change) fn start(
    draft: &mut Draft<'_>,
    selected: Option<&StepRef>,
) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let step = match selected {
        Some(selected) => plan.step(selected)?,
        None => next_ready(draft, &plan)?,
    };
    let role = draft.workflow().step_role(&status_of(draft, step));
    if role == Some(Role::Failed) {
        let hint = format!("`statedir step retry {}` starts it again", step.number);
        return Err(illegal(draft, step, Role::Active, &hint));
    }
    refuse_waiting(draft, &plan, step)?;
    let active = active_after(draft, step)?;
    if selected.is_none() {
        tell_own(draft, &plan);
    }
    begin(draft, &plan, step, &active)
}

/// Refuses to start a step before those that it depends on are finished, and the groups before its
/// own.
fn refuse_waiting(draft: &Draft<'_>, plan: &Plan, step: &Step) -> Result<(), Error> {
    if step.depends_on.is_empty() && draft.workflow().group().is_none() {
        return Ok(());
    }
    let readiness = Readiness::new(plan, draft.workflow());
    let waiting = readiness.unmet(step);
    if !waiting.is_empty() {
        let names: Vec<String> =
            waiting.iter().map(|step| format!("step {}", readiness.name(step))).collect();
        return Err(Error::refused_with(
            ErrorCode::DependencyOpen,
            format!("{} waits for {}", step.name(), names.join(", ")),
            "`statedir step next` names a step that is ready",
        ));
    }
    let at = plan.steps.iter().position(|other| other.offset == step.offset);
    let is_new = |at: &usize| readiness.roles()[*at] == Some(Role::Open);
    if let Some(group) = at.filter(is_new).and_then(|at| readiness.held_by(at)) {
        return Err(Error::refused_with(
            ErrorCode::DependencyOpen,
            format!("{} waits for {group}", step.name()),
            "`statedir status` shows what is left there",
        ));
    }
    Ok(())
}

/// Refuses what keeps a step from being started, whatever its status.
fn refuse_to_begin(draft: &Draft<'_>, step: &Step) -> Result<(), Error> {
    let plan = draft.plan()?;
    refuse_while_open(&plan)?;
    refuse_waiting(draft, &plan, step)
}

/// The status that a step gets when it is started.
fn active_after(draft: &Draft<'_>, step: &Step) -> Result<String, Error> {
    let from = status_of(draft, step);
    Ok(draft.workflow().step_towards(&from, Role::Active).to_owned())
}

/// Says which steps the actor works on already, who asked for just any step.
fn tell_own(draft: &mut Draft<'_>, plan: &Plan) {
    let is_own = |step: &&Step| {
        draft.workflow().role_of(step) == Some(Role::Active) && draft.holder(step).own
    };
    if let Some(own) = plan.steps.iter().find(is_own) {
        let number = own.number;
        let note = format!("step {number} is yours, too: `statedir step done {number}` ends it");
        draft.notices.push(note);
    }
}

/// Starts a failed step again.
pub(in crate::workspace::change) fn retry(
    draft: &mut Draft<'_>,
    selected: Option<&StepRef>,
    note: Option<&str>,
) -> Result<Answer, Error> {
    let plan = draft.plan()?;
    let step = select(draft, &plan, selected, &[Role::Failed], "has failed")?;
    let from = status_of(draft, step);
    let role = draft.workflow().step_role(&from);
    if role != Some(Role::Failed) {
        let hint = match role {
            Some(Role::Active) => return Err(claim::running_already(draft, step, &from)),
            Some(Role::Open) => format!("`statedir step start {}` starts it", step.number),
            _ => how_to_go_on(draft, step, &from),
        };
        let hint = format!("it has not failed; {hint}");
        return Err(illegal(draft, step, Role::Active, &hint));
    }
    refuse_limit(draft, &plan, step)?;
    let active = active_after(draft, step)?;
    let answer = begin(draft, &plan, step, &active)?;
    if let Some(note) = note.filter(|note| !note.trim().is_empty()) {
        let id = step.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        let fields = vec![
            ("step".to_owned(), format!("{}{id}", step.number)),
            ("next_attempt".to_owned(), (step.attempts + 1).to_string()),
            ("notes".to_owned(), note.to_owned()),
            ("actor".to_owned(), draft.env.actor().to_owned()),
        ];
        draft.log(format!("Step {} Retry", step.number), fields)?;
    }
    Ok(answer)
}

/// Refuses to try a step again that has failed too often.
fn refuse_limit(draft: &Draft<'_>, plan: &Plan, step: &Step) -> Result<(), Error> {
    let allowed = attempts_allowed(draft.workflow(), plan, step);
    let failures = draft.workflow().failures_of(step);
    if failures < allowed {
        return Ok(());
    }
    let (workflow, from) = (draft.workflow(), status_of(draft, step));
    let fresh = moves::fresh_start(workflow, step, &from)
        .unwrap_or_else(|| moves::allowed_moves(workflow, step, &from));
    let hint = match workflow.at_limit() {
        AtLimit::Review => format!("`statedir review list` shows what was asked; {fresh}"),
        AtLimit::Status(_) => fresh,
    };
    let message = format!("{} has failed {failures} times, which is the limit", step.name());
    Err(Error::refused_with(ErrorCode::RetryLimit, message, hint))
}

/// What to do about a step that cannot be started from the status it has.
fn how_to_go_on(draft: &Draft<'_>, step: &Step, from: &str) -> String {
    match draft.workflow().step_role(from) {
        Some(Role::Waiting) => moves::allowed_moves(draft.workflow(), step, from),
        _ => moves::way_back(draft.workflow(), step, from),
    }
}

fn begin(draft: &mut Draft<'_>, plan: &Plan, step: &Step, active: &str) -> Result<Answer, Error> {
    refuse_while_open(plan)?;
    plan.refuse_copied(step)?;
    let from = status_of(draft, step);
    // Where a lifecycle has two statuses for work, from one to the other is a move and no start.
    if draft.workflow().step_role(&from) == Some(Role::Active) {
        return Err(claim::running_already(draft, step, &from));
    }
    if let Err(refusal) = draft.workflow().check_step(&from, active) {
        let hint = how_to_go_on(draft, step, &from);
        let hint = Some(hint);
        let (subject, refusal) = (step.name(), Box::new(refusal));
        return Err(ErrorKind::Transition { subject, refusal, hint }.into());
    }
    let attempts = (step.attempts + 1).to_string();
    let (now, claim) = (draft.env.now(), draft.env.identity().claim().to_string());
    let mut progress = PlanProgress::new(draft, plan)?;
    progress.begin_plan()?;
    let id = progress.set_fields(
        step,
        &[
            ("status", active),
            ("attempts", attempts.as_str()),
            ("claimed_by", claim.as_str()),
            ("started_at", now.as_str()),
        ],
    );
    progress.step(step).clear("result");
    progress.finish(&[])?;
    gate::check(draft, &Passage::of_step(&id, active, None))?;
    draft.facts()?.touches.insert(id.as_str().to_owned(), Vec::new());
    Ok(Answer::new(format!("step {} {active}: {}", step.number, step.title))
        .with("step", step_json(step, &id, active))
        .with("attempt", step.attempts + 1))
}

/// The step that was named, or the only one in one of `roles`: the actor's own first, then that
/// which is worked on in this working tree.
pub(in crate::workspace::change) fn select<'p>(
    draft: &Draft<'_>,
    plan: &'p Plan,
    selected: Option<&StepRef>,
    roles: &[Role],
    what: &str,
) -> Result<&'p Step, Error> {
    if let Some(selected) = selected {
        return Ok(plan.step(selected)?);
    }
    let mut fitting: Vec<&Step> = Vec::new();
    for step in &plan.steps {
        let role = step.status().and_then(|status| draft.workflow().step_role(status));
        if role.is_some_and(|role| roles.contains(&role)) {
            fitting.push(step);
        }
    }
    let me = draft.env.identity().claim();
    let is_active = |step: &Step| draft.workflow().role_of(step) == Some(Role::Active);
    let is_own = |step: &Step| step.claimed_by.as_ref().is_some_and(|by| by.is_held_by(&me));
    let own: Vec<&Step> =
        fitting.iter().copied().filter(|step| is_active(step) && is_own(step)).collect();
    // Without a number only one's own step is meant; one that nobody has claimed is anybody's.
    let of_others: Vec<&Step> = fitting
        .iter()
        .copied()
        .filter(|step| is_active(step) && step.claimed_by.is_some() && !is_own(step))
        .collect();
    fitting.retain(|step| !of_others.iter().any(|other| other.offset == step.offset));
    if let ([], [], [first, ..]) = (own.as_slice(), fitting.as_slice(), of_others.as_slice()) {
        return Err(claim::held(&draft.holder(first), first));
    }
    match (own.as_slice(), fitting.as_slice()) {
        ([step], _) | ([], [step]) => Ok(step),
        ([], []) => Err(Error::refused_with(
            ErrorCode::NoSuchStep,
            format!("no step {what}"),
            "`statedir step list` shows all of them",
        )),
        (own, all) => {
            let several = if own.is_empty() { all } else { own };
            let is_of_this_worktree =
                |step: &Step| draft.location.is_some_and(|location| location.is_of(step));
            let own: Vec<&Step> =
                several.iter().copied().filter(|step| is_of_this_worktree(step)).collect();
            if let [step] = own.as_slice() {
                return Ok(step);
            }
            let names: Vec<String> = several.iter().map(|step| step.number.to_string()).collect();
            let titles: Vec<String> =
                several.iter().map(|step| format!("{} is {}", step.number, step.title)).collect();
            Err(Error::refused_with(
                ErrorCode::Ambiguous,
                format!("more than one step {what}: {}", names.join(", ")),
                format!("name one of them: {}", titles.join("; ")),
            ))
        }
    }
}

/// The first step that is ready to be started.
fn next_ready<'p>(draft: &Draft<'_>, plan: &'p Plan) -> Result<&'p Step, Error> {
    let readiness = Readiness::new(plan, draft.workflow());
    let first = readiness.ready().next();
    first.ok_or_else(|| {
        let standing = |(at, step): (usize, &Step)| {
            let role = readiness.roles()[at];
            StepStanding::is_kept(role).then(|| StepStanding {
                at,
                number: step.number,
                role,
                holder: (role == Some(Role::Active)).then(|| draft.holder(step)),
                failures: draft.workflow().failures_of(step),
                allowed: attempts_possible(draft.workflow(), plan, step),
                waits: Waits::of(step, role, draft.workflow()),
            })
        };
        let counts = readiness.counts();
        let situation = Situation {
            role: draft.workflow().role_of_plan(&plan.metadata),
            plan_first: None,
            open_reviews: plan.open_reviews().map(|review| review.id.clone()).collect(),
            total: counts.total,
            unfinished: counts.total - counts.finished(),
            ready: None,
            steps: plan.steps.iter().enumerate().filter_map(standing).collect(),
            stopped: readiness.stopped(),
            is_no_plan: plan.has_lost_metadata(),
            boxes: if plan.steps.is_empty() { plan.unread_boxes() } else { 0 },
        };
        none_ready(&counts, &situation)
    })
}

/// Why no step can be started.
pub(crate) fn no_ready_step(overview: &Overview) -> Error {
    none_ready(&overview.counts, &overview.situation())
}

/// The same, with who holds those that run, and the recommended move.
fn none_ready(counts: &StepCounts, situation: &Situation) -> Error {
    let StepCounts { open, running, failed, total, .. } = counts;
    let next = next_move(situation);
    let message = if *total == 0 {
        // The hint says why.
        "no step can be started".to_owned()
    } else if counts.unfinished() == 0 {
        "all steps are finished".to_owned()
    } else {
        let holders = situation.steps.iter().filter_map(|step| step.holder.as_ref());
        let held: Vec<String> = holders
            .map(|holder| match holder.own {
                true => format!("; step {} is yours", holder.step),
                // The hint says the rest.
                false if next.step == Some(holder.step) => {
                    format!("; step {} is held by {}", holder.step, holder.who())
                }
                false => format!("; step {} is held by {}", holder.step, holder.phrase()),
            })
            .collect();
        let waits = situation.steps.iter().filter_map(|step| Some((step, step.waits.as_ref()?)));
        let waits =
            waits.map(|(step, waits)| format!("; step {} is {}", step.number, waits.status));
        let stopped = situation.stopped.iter().map(|stopped| format!("; {stopped}"));
        let held = held.into_iter().chain(waits).chain(stopped).collect::<String>();
        format!("no step is ready: {open} waiting, {running} running, {failed} failed{held}")
    };
    Error::refused_with(ErrorCode::NoReadyStep, message, next.text)
}

/// Checks a transition against the lifecycle.
pub(in crate::workspace::change) fn transition(
    draft: &Draft<'_>,
    step: &Step,
    from: &str,
    to: &str,
) -> Result<(), Error> {
    let Err(refusal) = draft.workflow().check_step(from, to) else { return Ok(()) };
    let is_unknown = |status: &&str| draft.workflow().step_status(status).is_none();
    if let Some(status) = step.status().filter(is_unknown) {
        return Err(unknown_status(draft, step, status)?);
    }
    let hint = match draft.workflow().step_role(from) {
        Some(Role::Active | Role::Waiting) => match draft.workflow().missing_move(from) {
            Some(next) => format!("`statedir step move {} {next}` comes first", step.number),
            None => moves::allowed_moves(draft.workflow(), step, from),
        },
        Some(Role::Open) => match refuse_to_begin(draft, step) {
            Ok(()) => format!("start it first: `statedir step start {}`", step.number),
            Err(waits) => format!("{waits}: {}", waits.hint().unwrap_or_default()),
        },
        Some(Role::Failed) => moves::way_back(draft.workflow(), step, from),
        // Somebody repeats a command and may not know that it worked.
        Some(_) if from == to => format!(
            "nothing is left to do for it: `statedir step next` shows what is; if it has to be done \
             again, {}",
            moves::way_back(draft.workflow(), step, from)
        ),
        _ => moves::way_back(draft.workflow(), step, from),
    };
    // An editor may have saved an old copy over what earlier commands did.
    let edited = match is_plan_just_edited(draft) {
        true => "the plan was edited outside statedir just now, `statedir diff @-` shows how; ",
        false => "",
    };
    let (subject, refusal, hint) = (step.name(), Box::new(refusal), format!("{edited}{hint}"));
    Err(ErrorKind::Transition { subject, refusal, hint: Some(hint) }.into())
}

/// Whether the plan was edited outside since the last operation.
fn is_plan_just_edited(draft: &Draft<'_>) -> bool {
    let is_plan = |name: &String| match draft.layout {
        Some(layout) => layout.role_of(name) == Some(StateFile::Plan),
        None => name == StateFile::Plan.name(),
    };
    let mut reports = draft.view().reports().iter();
    reports.any(|report| match report {
        Report::External { files, .. } => files.iter().any(is_plan),
        _ => false,
    })
}

fn illegal(draft: &Draft<'_>, step: &Step, to: Role, hint: &str) -> Error {
    let from = status_of(draft, step);
    let to = draft.workflow().step_with_role(to).to_owned();
    let message = format!("cannot set {} to {to}: it is {from}", step.name());
    Error::refused_with(ErrorCode::IllegalTransition, message, hint)
}

pub(in crate::workspace::change) fn step_json(
    step: &Step,
    id: &StepId,
    status: &str,
) -> serde_json::Value {
    json!({ "number": step.number, "id": id, "title": step.title, "status": status,
        "component": step.details().component, "tool_mapping": step.details().tool_mapping })
}

/// The error for a status that the lifecycle does not know.
fn unknown_status(draft: &Draft<'_>, step: &Step, status: &str) -> Result<Error, Error> {
    let message = format!("{} has an unknown status, `{status}`", step.name());
    let open = draft.workflow().step_with_role(Role::Open);
    let problem = Problem::error(ErrorCode::UnknownStatus, StateFile::Plan, message)
        .at(draft.plan()?.field_place(step, "status"))
        .hint(format!(
            "`statedir step reset {}` begins it anew, or set it to a status of the lifecycle, such as \
             `{open}`",
            step.number
        ));
    Ok(ModelError::Problem(Box::new(problem)).into())
}
