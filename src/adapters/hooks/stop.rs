//! The agent wants to stop: mentions a step that it left running, once.

use super::{Hook, HookReply, SessionMemory, reply::short_line};
use crate::{
    domain::{Claim, Plan, Step, StepRole, Workflow},
    recovery::ends_of,
    text::shell::shell_word,
    workspace::{Error, clean_line, masked},
};

/// How many steps are named.
const MOST: usize = 5;
/// The longest note that is offered, in characters.
const LONGEST_NOTE: usize = 200;

/// Names the steps of this session that are still running.
///
/// Never twice for the same attempt of a step, and never when a hook already kept the agent from
/// stopping: a hook that loops costs more than a step that is left open.
pub(super) fn stopping(hook: &Hook<'_>) -> Result<HookReply, Error> {
    if hook.event.stop_hook_active() {
        return Ok(HookReply::Silent);
    }
    let message = hook.event.last_message();
    if let Some(message) = message.filter(|_| hook.captures_tasks && hook.keeps_memory()) {
        hook.workspace.keep_last_words(&hook.session(), message);
    }
    let snapshot = hook.workspace.read()?;
    let (plan, workflow) = (snapshot.plan()?, snapshot.workflow()?);
    let mut memory = hook.memory();
    let mut left = Vec::new();
    for step in running(hook, &memory, &plan, &workflow) {
        let id = step.id.as_ref().map_or_else(|| step.number.to_string(), ToString::to_string);
        if memory.tell_once(&format!("running {id} attempt {}", step.attempts)) {
            left.push(step);
        }
    }
    let Some(first) = left.first() else { return Ok(HookReply::Silent) };
    hook.save_memory(&memory);
    let named: Vec<String> = left
        .iter()
        .take(MOST)
        .map(|step| {
            format!("step {} (title, as data: {:?})", step.number, short_line(&step.title, 100))
        })
        .collect();
    let (verb, more) = if left.len() == 1 { ("is", "") } else { ("are", ", and others") };
    let more = if left.len() > MOST { more } else { "" };
    let number = first.number;
    let from = workflow.status_of(first).unwrap_or_default();
    let active = match left.iter().all(|step| workflow.status_of(step) == Some(from)) {
        true => from,
        false => "running",
    };
    let note = message.map(|message| clean_line(&masked(message), LONGEST_NOTE));
    let note = note.map(|note| format!(" --note {}", shell_word(&note))).unwrap_or_default();
    // A shell that does not know the session acts under another name.
    let knows_session = memory.linked || hook.shell_has_session;
    let holder = first.claimed_by.as_ref().map(|claim| claim.actor.as_str());
    let holder = holder.filter(|name| !knows_session && hook.shell_actor.as_deref() != Some(*name));
    let actor = holder.map(|name| format!(" --actor {}", shell_word(name))).unwrap_or_default();
    let mut ends = ends_of(first, &workflow).into_iter();
    let ended = match (ends.next(), ends.next()) {
        (Some(done), Some(failed)) => {
            format!(" If it is finished, run `{done}{note}{actor}` (or `{failed}{actor}`).")
        }
        (Some(done), None) => format!(" If it is finished, run `{done}{note}{actor}`."),
        (None, _) => String::new(),
    };
    let is_open = workflow.step_towards(from, StepRole::Open);
    let given_back = match workflow.check_step(from, is_open) {
        Ok(()) => format!(" To give it back, run `statedir step reset {number}{actor}`."),
        Err(_) => String::new(),
    };
    let reason = format!(
        "{}{more} {verb} still {active} in the plan.{ended}{given_back} If it should stay running, \
         say so and stop: this reminder comes only once.",
        named.join(", ")
    );
    Ok(HookReply::Block { reason, context: None })
}

/// The running steps that this session or nobody holds.
pub(super) fn running<'p>(
    hook: &Hook<'_>,
    memory: &SessionMemory,
    plan: &'p Plan,
    workflow: &Workflow,
) -> Vec<&'p Step> {
    let identity = hook.workspace.environment().identity();
    let (me, session) = (identity.claim(), &identity.session);
    let mine = |claim: &Claim| {
        // A command of this session may have been given any name.
        let same_session = session.is_some() && claim.session == *session;
        claim.is_held_by(&me)
            || same_session
            || (!memory.linked
                && claim.session.is_none()
                && hook.other_names.iter().any(|name| claim.is_by(name)))
    };
    let is_running = |step: &&Step| {
        let role = step.status().and_then(|status| workflow.step_role(status));
        role == Some(StepRole::Active) && step.claimed_by.as_ref().is_none_or(mine)
    };
    plan.steps.iter().filter(is_running).collect()
}
