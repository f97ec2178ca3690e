use serde_json::json;

use super::{CliResult, Session, step_view::mark};
use crate::workspace::Status;

/// Show where the execution is
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir status\n  statedir status --json")]
pub(in super::super) struct Args {}

pub(super) fn run(session: &mut Session<'_>, _: &Args) -> CliResult {
    let status = session.workspace()?.read()?.status()?;
    if session.output.is_json() {
        session.output.value(json!(status));
        return Ok(0);
    }
    for line in lines(&status) {
        session.output.line(line);
    }
    Ok(0)
}

fn lines(status: &Status) -> Vec<String> {
    let mut lines = vec![status.title.clone()];
    if let Some(goal) = status.goal.as_ref().filter(|goal| **goal != status.title) {
        lines.push(format!("goal      {}", goal.lines().next().unwrap_or_default()));
    }
    let mode = status.mode.as_deref().unwrap_or("?");
    lines.push(format!("status    {} ({mode})", status.status.as_deref().unwrap_or("unknown")));
    let finished = status.completed + status.skipped;
    let bar = bar(finished, status.total_steps);
    lines.push(format!("progress  {bar} {finished}/{} ({}%)", status.total_steps, status.percent));
    for step in &status.running_steps {
        let by = step.claimed_by.as_deref().unwrap_or("?");
        let since = step.started_at.as_deref().unwrap_or("?");
        lines.push(format!(
            "running   {} {} {} (by {by} since {since})",
            mark("RUNNING"),
            step.number,
            step.title
        ));
    }
    for step in &status.failed_steps {
        let times = if step.attempts == 1 { "attempt" } else { "attempts" };
        lines.push(format!(
            "failed    {} {} {} ({} {times})",
            mark("FAILED"),
            step.number,
            step.title,
            step.attempts
        ));
    }
    match &status.next {
        Some(step) => lines.push(format!("next      {} {}", step.number, step.title)),
        None if status.total_steps == 0 => {
            lines.push("next      no steps yet: statedir step add TITLE".to_owned())
        }
        None => {}
    }
    let budget = status.budget.map(|budget| format!(" of {budget}")).unwrap_or_default();
    lines.push(format!("cost      {}{budget}", status.total_cost));
    for review in &status.open_reviews {
        lines.push(format!("review    {} waits for a person: {}", review.id, review.text));
    }
    for limit in &status.limits_exceeded {
        lines.push(format!("limit     {limit}"));
    }
    for directive in &status.directives {
        lines.push(format!("directive {directive}"));
    }
    for problem in &status.problems {
        lines.push(format!("problem   {}: {}", problem.location(), problem.message));
    }
    lines.push(format!("revision  {}", status.revision));
    lines
}

fn bar(done: usize, total: usize) -> String {
    const WIDTH: usize = 20;
    let filled = (done * WIDTH).checked_div(total).unwrap_or(0);
    format!("[{}{}]", "#".repeat(filled), ".".repeat(WIDTH - filled))
}
