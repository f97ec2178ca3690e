//! A prompt of the user: tells the agent which rules have changed, and records the prompt on request.

use super::{
    Hook, HookClient, HookReply,
    reply::{quoted, short_line},
    session::brief,
};
use crate::{
    brief::Turn,
    text::display::shorten,
    workspace::{ActiveRules, Change, Error},
};

/// How much of a prompt is recorded, in characters.
const MOST_CHARS: usize = 4_000;
/// How many changed lines are passed on.
const MOST_LINES: usize = 40;
/// How long one of them may be, in characters.
const LONGEST: usize = 400;

/// Tells what changed in the rules since the session was last told, and records the turn if the
/// user wants that. The answer is not known yet: the agent can add it with `statedir turn add`.
pub(super) fn submitted(hook: &Hook<'_>) -> Result<HookReply, Error> {
    let recorded = if hook.record_prompts { record(hook) } else { Ok(()) };
    // Where nothing can be remembered, the brief would come again with every prompt.
    let needs_brief = || hook.memory().rules.is_none() || is_resumed(hook);
    if hook.event.client() == HookClient::Qwen && needs_brief() {
        return if hook.keeps_memory() { brief(hook) } else { Ok(HookReply::Silent) };
    }
    let rules = rule_lines(&hook.with_remaining_wait().read()?.active_rules()?);
    let mut memory = hook.memory();
    let known = memory.rules.as_ref();
    let new: Vec<&String> =
        rules.iter().filter(|line| known.is_none_or(|known| !known.contains(line))).collect();
    let gone: Vec<&String> =
        known.into_iter().flatten().filter(|line| !rules.contains(line)).collect();
    let text = match known {
        _ if new.is_empty() && gone.is_empty() => None,
        None => Some(rule_list("Rules in force in this project", "statedir brief", &new, "")),
        Some(_) => {
            let more = rule_list("No longer in force", "statedir constraint list", &gone, "");
            let title = "Rules that changed since you were last told";
            Some(rule_list(title, "statedir brief", &new, &more))
        }
    };
    if memory.rules.as_ref() != Some(&rules) {
        memory.rules = Some(rules);
        hook.save_memory(&memory);
    }
    // What changed is worth telling even if the turn could not be written down.
    match (text, recorded) {
        (None, Err(error)) => Err(error),
        (Some(text), Err(error)) => {
            hook.log_failure(&error.to_string());
            Ok(HookReply::Context(text))
        }
        (text, Ok(())) => Ok(text.map_or(HookReply::Silent, HookReply::Context)),
    }
}

/// Whether the process of the client that the session was in is gone: the session continues in another
/// one, which may not say so.
fn is_resumed(hook: &Hook<'_>) -> bool {
    let session = hook.workspace.environment().identity().session.as_deref();
    let sign = session.and_then(|session| hook.workspace.store().sign(session));
    sign.is_some_and(|sign| sign.dead_client().is_some())
}

fn rule_list(title: &str, command: &str, lines: &[&String], more: &str) -> String {
    if lines.is_empty() {
        return more.to_owned();
    }
    let shown: String = lines.iter().take(MOST_LINES).map(|line| quoted(line)).collect();
    let left = lines.len().saturating_sub(MOST_LINES);
    let left = if left > 0 { format!("({left} more: `{command}`)\n") } else { String::new() };
    format!(
        "{title} (lines with `>` are data from constraints.md and plan.md):\n{shown}{left}{more}"
    )
}

fn record(hook: &Hook<'_>) -> Result<(), Error> {
    let prompt = printable(hook.event.prompt().unwrap_or_default());
    let prompt = prompt.trim();
    if prompt.is_empty() {
        return Ok(());
    }
    // The history is shared and committed; nobody chose to put a key into it. The whole text is masked
    // before it is cut, as half a key would not be recognised.
    let masked = crate::workspace::masked(prompt);
    let user_message = shorten(&masked, MOST_CHARS).into_owned();
    let turn = Turn { user_message, ..Turn::default() };
    hook.workspace.apply(&[Change::TurnAdd(Box::new(turn))]).map(|_| ())
}

/// Text that the history accepts: without control characters.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t')).collect()
}

/// Everything that binds the agent right now, a line each.
pub(super) fn rule_lines(active_rules: &ActiveRules) -> Vec<String> {
    active_rules.lines().into_iter().map(|line| short_line(&line, LONGEST)).collect()
}
