use serde_json::json;

use crate::{
    adapters::cli::{CliResult, Session},
    domain::format_duration,
    workspace::{Breakdown, Metrics},
};

/// How many steps are listed for people.
const MOST_STEPS: usize = 20;

/// Show progress, attempts, costs, times and sizes in numbers
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir metrics
  statedir metrics --by layer
  statedir metrics --by actor --json")]
pub(in crate::adapters) struct Args {
    /// Add up by a field of the steps, such as layer or component, or by actor
    #[arg(long, value_name = "FIELD")]
    by: Option<String>,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let metrics = session.workspace()?.metrics(args.by.as_deref())?;
    session.output.value(|| json!(metrics));
    let lines = match &metrics.by {
        Some(by) => shares(by),
        None => lines(&metrics),
    };
    for line in lines.into_iter().chain(covered(&metrics)) {
        session.output.line(line);
    }
    Ok(0)
}

/// A line for each group, component or actor.
fn shares(by: &Breakdown) -> Vec<String> {
    let names = by.shares.iter().map(|share| share.name.chars().count());
    let width = names.max().unwrap_or(0).max(by.field.chars().count());
    let mut lines = vec![format!(
        "{:<width$}  {:>8}  {:>8}  {:>6}  {:>8}  {:>10}  {:>10}",
        by.field, "steps", "finished", "failed", "attempts", "cost", "time"
    )];
    for share in &by.shares {
        lines.push(format!(
            "{:<width$}  {:>8}  {:>8}  {:>6}  {:>8}  {:>10}  {:>10}",
            share.name,
            share.steps,
            share.finished,
            share.failed,
            share.attempts,
            share.cost.to_string(),
            format_duration(share.time_ms)
        ));
    }
    lines
}

/// The note for a history that was not read completely.
fn covered(metrics: &Metrics) -> Option<String> {
    let covered = &metrics.step_times_cover;
    (covered.entries < covered.of).then(|| {
        format!(
            "(times of steps are from the newest {} of {} entries)",
            covered.entries, covered.of
        )
    })
}

/// `2 timeout, 1 network`.
fn failures(metrics: &Metrics) -> String {
    if metrics.failures.is_empty() {
        return "none".to_owned();
    }
    let counts: Vec<String> =
        metrics.failures.iter().map(|(class, count)| format!("{count} {class}")).collect();
    counts.join(", ")
}

/// What there is only where it happened.
fn timeline(metrics: &Metrics) -> Vec<(&'static str, String)> {
    let timeline = &metrics.timeline;
    let mut rows = Vec::new();
    let ended = metrics.completed_at.as_ref().map(|time| format!(", completed {time}"));
    if let Some(elapsed) = metrics.elapsed_ms {
        let elapsed = format_duration(elapsed);
        rows.push(("elapsed", format!("{elapsed}{}", ended.unwrap_or_default())));
    }
    let reviews = &timeline.reviews;
    if reviews.approved + reviews.rejected > 0 {
        let (approved, rejected) = (reviews.approved, reviews.rejected);
        let waited = format_duration(reviews.waited_ms);
        rows.push((
            "reviews",
            format!("{approved} approved, {rejected} rejected, waited {waited}"),
        ));
    }
    if !timeline.recoveries_by_result.is_empty() {
        let results = timeline.recoveries_by_result.iter();
        let counts: Vec<String> = results.map(|(what, count)| format!("{count} {what}")).collect();
        rows.push(("recovered", counts.join(", ")));
    }
    if timeline.input_tokens + timeline.output_tokens > 0 {
        let (read, written) = (timeline.input_tokens, timeline.output_tokens);
        rows.push(("tokens", format!("{read} read, {written} written")));
    }
    if timeline.commits > 0 {
        rows.push(("commits", timeline.commits.to_string()));
    }
    rows
}

fn lines(metrics: &Metrics) -> Vec<String> {
    let time = |ms: u64| format_duration(ms);
    let share = |share: Option<f64>| share.map_or("-".to_owned(), |n| format!("{:.0}%", n * 100.0));
    let budget = metrics.budget.map(|budget| format!(" of {budget}")).unwrap_or_default();
    let row = |name: &str, value: String| format!("{name:<14}{value}");
    let mut lines = vec![
        row(
            "progress",
            format!("{}/{} ({}%)", metrics.finished_steps, metrics.total_steps, metrics.percent),
        ),
        row(
            "attempts",
            format!(
                "{}: {} completed, {} failed, {} skipped",
                metrics.attempts, metrics.completed, metrics.failed, metrics.skipped
            ),
        ),
        row("failures", failures(metrics)),
        row("retries", metrics.retries.to_string()),
        row("success rate", share(metrics.success_rate)),
        row("cost", format!("{}{budget}", metrics.total_cost)),
        row("time", time(metrics.total_time_ms)),
        row("recoveries", metrics.recoveries.to_string()),
        row("compression", share(metrics.compression_ratio)),
        row("entries", metrics.history_entries.to_string()),
    ];
    lines.extend(timeline(metrics).into_iter().map(|(name, value)| row(name, value)));
    for (name, bytes) in &metrics.sizes {
        lines.push(row("size", format!("{bytes:>10}  {name}")));
    }
    if !metrics.steps.is_empty() {
        lines.push(format!("step  {:>8}  {:>10}  {:>10}  title", "attempts", "cost", "time"));
    }
    for step in metrics.steps.iter().take(MOST_STEPS) {
        let took = step.time_ms.map_or("-".to_owned(), time);
        let (number, attempts) = (step.number, step.attempts);
        let cost = step.cost.map_or("-".to_owned(), |cost| cost.to_string());
        lines.push(format!("{number:>4}  {attempts:>8}  {cost:>10}  {took:>10}  {}", step.title));
    }
    if let Some(more) = metrics.steps.len().checked_sub(MOST_STEPS).filter(|more| *more > 0) {
        lines.push(format!("{more} more steps: statedir metrics --json"));
    }
    lines
}
