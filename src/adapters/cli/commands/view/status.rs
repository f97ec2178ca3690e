use serde_json::json;

use crate::{
    adapters::cli::{CliResult, Session, commands::steps::view::mark, output::Colour, way_back},
    domain::format_duration,
    workspace::{LimitUse, Screen, ScreenStep, Status},
};

/// How many steps are listed.
const MOST_STEPS: usize = 12;
/// How many lines of one kind are listed.
const MOST: usize = 5;

/// Show where the execution is
///
/// One screen: progress, steps with their age, what runs, what failed, open reviews, retries,
/// cost and limits, and what comes next.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir status\n  statedir status --json")]
pub(in crate::adapters) struct Args {}

type Painted = (Colour, String);

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, _: &Args) -> CliResult {
    let workspace = session.workspace()?;
    if session.output.is_json() {
        let mut status = workspace.read()?.status()?;
        way_back::explain(&workspace, &mut status.problems);
        session.output.value(json!(status));
        return Ok(0);
    }
    let mut screen = workspace.screen()?;
    way_back::explain(&workspace, &mut screen.status.problems);
    for (colour, line) in lines(&screen) {
        session.output.painted(colour, &line);
    }
    Ok(0)
}

fn lines(screen: &Screen) -> Vec<Painted> {
    let status = &screen.status;
    let mut lines = vec![(Colour::Bold, status.title.clone())];
    if let Some(goal) = status.goal.as_ref().filter(|goal| **goal != status.title) {
        lines.push(plain(format!("goal      {}", one_line(goal))));
    }
    let mode = status.mode.as_deref().unwrap_or("?");
    let age = screen.age_ms.map(|ms| format!(", {} old", rough(ms))).unwrap_or_default();
    let name = status.status.as_deref().unwrap_or("unknown");
    lines.push(plain(format!("status    {name} ({mode}{age})")));
    let finished = status.completed + status.skipped;
    let bar = bar(finished, status.total_steps);
    lines.push((
        Colour::Green,
        format!("progress  {bar} {finished}/{} ({}%)", status.total_steps, status.percent),
    ));
    lines.extend(steps(&screen.steps));
    lines.extend(outlook(status));
    lines.push(plain(format!("revision  {}", status.revision)));
    lines
}

/// The steps around the one at hand.
fn steps(steps: &[ScreenStep]) -> Vec<Painted> {
    let at = steps.iter().position(|step| !step.finished).unwrap_or(steps.len());
    let last = (at.saturating_sub(3) + MOST_STEPS).min(steps.len());
    let first = last.saturating_sub(MOST_STEPS);
    let mut lines: Vec<Painted> = Vec::new();
    for step in &steps[first..last] {
        let line = &step.line;
        let mut notes: Vec<String> = Vec::new();
        if let Some(by) = line.claimed_by.as_ref().filter(|_| step.running) {
            notes.push(format!("by {by}"));
        }
        if let Some(age) = step.age_ms {
            let verb = if step.running { "for" } else { "started" };
            let ago = if step.running { "" } else { " ago" };
            notes.push(format!("{verb} {}{ago}", rough(age)));
        }
        notes.extend(step.took_ms.map(|ms| format!("took {}", format_duration(ms))));
        if line.attempts > 1 || step.failed {
            notes.push(format!("attempt {} of {}", line.attempts, step.attempts_allowed));
        }
        if !step.finished && !line.waits_for.is_empty() {
            notes.push(format!("waits for {}", line.waits_for.join(", ")));
        }
        let notes =
            if notes.is_empty() { String::new() } else { format!("  ({})", notes.join("; ")) };
        let colour = match (step.running, step.failed, step.finished) {
            (true, _, _) => Colour::Yellow,
            (_, true, _) => Colour::Red,
            (_, _, true) => Colour::Dim,
            _ => Colour::None,
        };
        let mark = mark(line.role);
        let text =
            format!("  {mark} {:>3}  {:<10} {}{notes}", line.number, line.status, line.title);
        lines.push((colour, text));
    }
    let hidden = steps.len() - (last - first);
    if hidden > 0 {
        let all = steps.len();
        lines.push((Colour::Dim, format!("  … {hidden} more: statedir step list --limit {all}")));
    }
    lines
}

/// What is next, what it costs, and what stands in the way.
fn outlook(status: &Status) -> Vec<Painted> {
    let mut lines = Vec::new();
    match &status.next {
        Some(step) => {
            lines.push((Colour::Bold, format!("next      {} {}", step.number, step.title)))
        }
        None if status.total_steps == 0 => {
            lines.push(plain("next      no steps yet: statedir step add TITLE".to_owned()));
        }
        None => {}
    }
    if status.failed > 0 {
        let numbers = status.failed_steps.iter().map(|step| step.number.to_string());
        let numbers: Vec<String> = numbers.take(MOST).collect();
        let more = if status.failed > MOST { ", …" } else { "" };
        let hint = "statedir step retry N";
        lines.push((Colour::Red, format!("failed    step {}{more}: {hint}", numbers.join(", "))));
    }
    if status.retries > 0 {
        let (count, limit) = (status.retries, status.retry_limit);
        lines.push(plain(format!("retries   {count} (a step may be attempted {limit} times)")));
    }
    let budget = status.budget.map(|budget| format!(" of {budget}")).unwrap_or_default();
    lines.push(plain(format!("cost      {}{budget}", status.total_cost)));
    let shown = |limit: &LimitUse| {
        format!("{} {} of {}", limit.fact.replace('_', " "), limit.used, limit.at_most)
    };
    let (over, kept): (Vec<_>, Vec<_>) = status.limits.iter().partition(|limit| limit.exceeded);
    let kept: Vec<String> = kept.into_iter().filter(|l| l.fact != "cost").map(shown).collect();
    if !kept.is_empty() {
        lines.push(plain(format!("limits    {}", kept.join(", "))));
    }
    for limit in over {
        lines.push((Colour::Red, format!("exceeded  {}", shown(limit))));
    }
    let reviews = status.open_reviews.iter().map(|review| {
        (Colour::Yellow, format!("review    {} waits for a person: {}", review.id, review.text))
    });
    some(&mut lines, reviews, "statedir review list");
    let directives = status.directives.iter().map(|text| plain(format!("directive {text}")));
    some(&mut lines, directives, "statedir directive list");
    let problems = status.problems.iter().map(|problem| {
        (Colour::Red, format!("problem   {}: {}", problem.location(), problem.message))
    });
    some(&mut lines, problems, "statedir check");
    lines
}

/// The first few, and how to see the rest.
fn some(lines: &mut Vec<Painted>, all: impl ExactSizeIterator<Item = Painted>, how: &str) {
    let hidden = all.len().saturating_sub(MOST);
    lines.extend(all.take(MOST));
    if hidden > 0 {
        lines.push((Colour::Dim, format!("          … {hidden} more: {how}")));
    }
}

fn plain(line: String) -> Painted {
    (Colour::None, line)
}

fn one_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A length of time as people say it: its largest unit and the next.
pub(in crate::adapters::cli) fn rough(ms: u64) -> String {
    let (minutes, hours) = (ms / 60_000, ms / 3_600_000);
    match hours {
        48.. => format!("{}d", hours / 24),
        1.. => format!("{hours}h {}m", minutes % 60),
        0 if minutes > 0 => format!("{minutes}m"),
        0 => format!("{}s", ms / 1000),
    }
}

fn bar(done: usize, total: usize) -> String {
    const WIDTH: usize = 20;
    let filled = (done * WIDTH).checked_div(total).unwrap_or(0);
    format!("[{}{}]", "#".repeat(filled), ".".repeat(WIDTH - filled))
}
