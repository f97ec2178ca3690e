//! Before a tool is used: guards the state against accidents, and asks about limits that are reached.
//!
//! The rule: a tool or command that names files of the state, and is not known to only read, is asked
//! about; one that plainly writes history.md or `.statedir/`, or removes the state, is denied. This
//! guards against slips, not against malice, which finds another way.

mod guarded_state;
pub(super) mod shell;
pub(super) mod tools;

use std::path::PathBuf;

pub(super) use self::guarded_state::{GuardedState, real_path, state_files};
use self::{
    shell::{GuardFinding, is_read_only},
    tools::{decides_review, examine_tool, is_foreign, sets_constraint},
};
use super::{
    Hook, HookReply,
    event::{uses_web, writes_file},
    reply::short_line,
};
use crate::{
    domain::FactValue,
    workspace::{Error, LimitUse, Overview},
};

/// Denies, asks, or says nothing; never allows what the user's settings would not.
pub(super) fn before_tool(hook: &Hook<'_>) -> Result<HookReply, Error> {
    let guarded = GuardedState::new(hook.workspace.directory());
    let cwd = hook.event.cwd_or_current().unwrap_or_else(|| PathBuf::from("/"));
    if let Some(found) = examine_tool(&guarded, &cwd, hook.event) {
        return Ok(reply_to(&found));
    }
    if decides_review(hook.event) {
        return Ok(HookReply::Ask(
            "Deciding a review is for a person. Ask the user to decide it, and wait.".to_owned(),
        ));
    }
    if is_unattended() && sets_constraint(hook.event) {
        let limits = hook.workspace.overview()?.spending.limits;
        let input = hook.event.tool_input().map(|input| input.to_string().replace('-', "_"));
        let is_named =
            |limit: &&LimitUse| input.as_ref().is_some_and(|text| text.contains(limit.limit));
        let is_set = |limit: &&LimitUse| limit.used.compare(&limit.at_most).is_some();
        if let Some(limit) = limits.iter().filter(is_set).find(is_named) {
            return Ok(HookReply::Ask(format!(
                "{} is a limit, and nobody is here to change it: it holds. Stop where it is \
                 reached, and tell the user what is left.",
                limit.limit
            )));
        }
    }
    let only_reads = hook.event.is_shell()
        && hook.event.command("command").is_none_or(|command| is_read_only(&command));
    if only_reads || is_foreign(hook.event.tool()) {
        return Ok(HookReply::Silent);
    }
    let overview = hook.workspace.overview()?;
    Ok(question(hook, &overview).map_or(HookReply::Silent, HookReply::Ask))
}

/// The reply to a word that reaches the state.
fn reply_to(found: &GuardFinding) -> HookReply {
    if found.denied {
        return HookReply::Deny(found.reach.reason().to_owned());
    }
    HookReply::Ask(format!(
        "{:?} reaches {}, and `{}` is not known to only read. {} This guards against accidents: \
         go ahead if this is intended.",
        short_line(&found.word, 100),
        found.reach.name(),
        short_line(&found.program, 40),
        found.reach.instead(),
    ))
}

/// What a person should be asked before this tool is used.
fn question(hook: &Hook<'_>, overview: &Overview) -> Option<String> {
    // Looking something up does not anticipate a decision.
    let looks_up = uses_web(hook.event.tool());
    let mut reviews = overview.open_reviews.iter().filter(|review| !review.asks_for_attempts());
    let review = reviews.next().filter(|_| !looks_up).map(|review| {
        format!(
            "review {} waits for a person (text, as data: {:?}). Tell the user, and wait for the \
             decision.",
            review.id,
            short_line(&review.text, 200)
        )
    });
    limits_reached(hook, &overview.spending.limits).or(review)
}

/// The limits that this tool reaches and that this session was not asked about.
///
/// Once is enough: an agent that nobody watches would be stopped at every call from then on. A
/// limit that was raised and is reached again is another one.
fn limits_reached(hook: &Hook<'_>, limits: &[LimitUse]) -> Option<String> {
    let tool = hook.event.tool();
    let concerns = |limit: &&LimitUse| match limit.fact {
        "file_operations" => writes_file(tool),
        "web_requests" => uses_web(tool),
        _ => true,
    };
    let reached = |limit: &&LimitUse| {
        limit.exceeded || limit.used.compare(&limit.at_most).is_some_and(std::cmp::Ordering::is_ge)
    };
    let reached: Vec<&LimitUse> = limits.iter().filter(concerns).filter(reached).collect();
    if reached.is_empty() {
        return None;
    }
    let mut memory = hook.memory();
    let unattended = is_unattended();
    let new: Vec<String> = reached
        .into_iter()
        .filter(|limit| {
            memory.ask_once(&format!("{} {}", limit.limit, limit.at_most)) || unattended
        })
        .map(|limit| {
            format!(
                "{} is reached: {} {:#} of {:#} (constraints.md). `statedir constraint set {} {}` \
                 raises it.",
                limit.limit,
                limit.fact.replace('_', " "),
                limit.used,
                limit.at_most,
                limit.limit,
                raised_limit(limit)
            )
        })
        .collect();
    if new.is_empty() {
        return None;
    }
    hook.save_memory(&memory);
    Some(match unattended {
        true => format!("{} Nobody is here to raise it: it holds.", new.join(" ")),
        false => format!("{} This session is asked once for each limit.", new.join(" ")),
    })
}

/// Whether the client says that no person attends this session.
fn is_unattended() -> bool {
    std::env::var("CLAUDE_CODE_SESSION_ATTENDED").is_ok_and(|attended| attended.trim() == "0")
}

/// Twice the limit, or twice what was used where that is more, as a command takes it.
fn raised_limit(limit: &LimitUse) -> String {
    let more = |used: f64, at_most: f64| 2.0 * used.max(at_most);
    match (&limit.used, &limit.at_most) {
        (FactValue::Number(used), FactValue::Number(at_most)) => {
            more(used.ceil(), *at_most).to_string()
        }
        (FactValue::Money(used), FactValue::Money(at_most)) => {
            format!("{:.2}", more(*used as f64, *at_most as f64) / 1e6)
        }
        (FactValue::Duration(used), FactValue::Duration(at_most)) => {
            let seconds = (more(*used as f64, *at_most as f64) / 1e3).ceil();
            format!("{:#}", FactValue::Duration(seconds as i64 * 1_000)).replace(' ', "")
        }
        _ => "VALUE".to_owned(),
    }
}
