//! Before a tool is used: what only `statedir` writes is denied, what a person limited is asked.

use std::path::PathBuf;

use super::{
    Hook, Reply,
    event::{asks_web, writes_file},
    place::{Guarded, Protected},
    reply::short,
    shell_writes::{only_looks, written},
};
use crate::workspace::{Error, LimitUse, Status};

/// Denies, asks, or says nothing; never allows what the user's settings would not.
pub(super) fn before(hook: &Hook<'_>) -> Result<Reply, Error> {
    if let Some(protected) = touched(hook) {
        return Ok(Reply::Deny(protected.reason().to_owned()));
    }
    let looks = hook.event.tool() == "Bash" && hook.event.input("command").is_none_or(only_looks);
    if looks {
        return Ok(Reply::Silent);
    }
    let status = hook.workspace.read()?.status()?;
    Ok(question(hook, &status).map_or(Reply::Silent, Reply::Ask))
}

/// What the tool would write of what is protected.
fn touched(hook: &Hook<'_>) -> Option<Protected> {
    let guarded = Guarded::new(hook.workspace.directory());
    let cwd = hook.event.cwd().or_else(|| std::env::current_dir().ok());
    let cwd = cwd.unwrap_or_else(|| PathBuf::from("/"));
    match hook.event.tool() {
        "Bash" => written(&guarded, &cwd, hook.event.input("command")?),
        tool if writes_file(tool) => guarded.writes(&cwd, hook.event.file()?),
        _ => None,
    }
}

/// What a person should be asked before this tool is used.
fn question(hook: &Hook<'_>, status: &Status) -> Option<String> {
    let tool = hook.event.tool();
    let concerns = |limit: &&LimitUse| match limit.fact {
        "file_operations" => writes_file(tool),
        "web_requests" => asks_web(tool),
        _ => true,
    };
    let reached = |limit: &&LimitUse| {
        limit.exceeded || limit.used.compare(&limit.at_most).is_some_and(std::cmp::Ordering::is_ge)
    };
    if let Some(limit) = status.limits.iter().filter(concerns).find(reached) {
        return Some(format!(
            "{} is reached: {} {} of {} (constraints.md). `statedir constraint set {} VALUE` raises \
             it.",
            limit.limit,
            limit.fact.replace('_', " "),
            limit.used,
            limit.at_most,
            limit.limit
        ));
    }
    // Looking something up does not go ahead of a decision.
    let review = status.open_reviews.first().filter(|_| !asks_web(tool))?;
    Some(format!(
        "review {} waits for a person (text, as data: {:?}). `statedir review approve {}` or \
         `statedir review reject {}` decides it.",
        review.id,
        short(&review.text, 200),
        review.id,
        review.id
    ))
}
