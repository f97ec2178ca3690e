//! Looking at a fleet.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde_json::json;

use super::database;
use crate::{
    adapters::{
        cli::{CliResult, Session, args::duration, output::Colour},
        fleet::{self, Filter, FilterColumn, FleetError, ProjectSummary, Totals},
    },
    domain::{Money, format_age, format_duration},
    text::display::counted,
};

#[derive(Clone, Debug, clap::Args)]
pub(in crate::adapters) struct ListArgs {
    /// active, paused, completed or failed
    #[arg(long)]
    status: Option<String>,
    /// The machine that has or had the lease
    #[arg(long)]
    machine: Option<String>,
    /// Not published for at least this long
    #[arg(long, value_name = "TIME", value_parser = duration)]
    older_than: Option<Duration>,
    /// Words in the name, the goal or the last action
    #[arg(long)]
    text: Option<String>,
    /// The most to list
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Clone, Debug, clap::Args)]
pub(in crate::adapters) struct WatchArgs {
    /// Stop after that time
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
}

#[derive(Clone, Debug, clap::Args)]
pub(in crate::adapters) struct MetricsArgs {
    /// A line for each machine or each template
    #[arg(long, value_enum, default_value = "machine")]
    by: By,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum By {
    Machine,
    Template,
}

/// A project in a line.
pub(super) fn line(project: &ProjectSummary) -> String {
    let ProjectSummary { name, status, steps_done, steps, .. } = project;
    let mut text = format!("{name}  {status} {steps_done}/{steps}");
    if let Some(step) = &project.current_step {
        text.push_str(&format!("  step {step}"));
    }
    if project.open_reviews > 0 {
        text.push_str(&format!("  {} open reviews", project.open_reviews));
    }
    let heard = format_age(project.heard_ms);
    text.push_str(&match &project.machine {
        Some(machine) if project.is_held => format!("  on {machine}, last heard from {heard} ago"),
        Some(machine) if status == "active" => format!("  {machine} silent for {heard}"),
        _ => "  free".to_owned(),
    });
    text.push_str(&format!("  published {} ago", format_age(project.published_ms)));
    text
}

fn colour(project: &ProjectSummary) -> Colour {
    match project.status.as_str() {
        "failed" => Colour::Red,
        "completed" => Colour::Green,
        _ => Colour::None,
    }
}

pub(super) fn list(session: &mut Session<'_>, args: &ListArgs) -> CliResult {
    let status = args.status.clone().map(|value| (FilterColumn::Status, value));
    let machine = args.machine.clone().map(|value| (FilterColumn::Machine, value));
    let filter = Filter {
        equal: status.into_iter().chain(machine).collect(),
        older_than: args.older_than,
        text: args.text.clone(),
        run_out: false,
        limit: args.limit,
    };
    if session.output.is_json() {
        let (_, mut database) = database()?;
        let found = database.list(&filter)?;
        session.output.value(|| json!({ "projects": found }));
        return Ok(0);
    }
    let found = fleet::summaries(&filter)?;
    if found.is_empty() {
        session.output.line("no projects");
    }
    for project in &found {
        session.output.painted(colour(project), &line(project));
    }
    Ok(0)
}

pub(super) fn show(session: &mut Session<'_>, name: &str) -> CliResult {
    let (_, mut database) = database()?;
    let project = database.project(name)?.ok_or_else(|| FleetError::NoProject(name.to_owned()))?;
    let document = database.document(&project.id)?;
    session.output.value(|| json!({ "project": project, "document": document }));
    session.output.painted(Colour::Bold, &line(&(&project).into()));
    let none = || "-".to_owned();
    let rows = [
        ("goal", project.metadata["goal"].as_str().map(str::to_owned)),
        ("id", Some(project.id.clone())),
        ("agent", project.current_agent_id.clone()),
        ("last", project.last_action.clone()),
        ("revision", Some(project.revision.clone())),
        ("lease", Some(format!("number {}", project.lease.fence))),
        ("history", Some(format!("{} bytes", project.history_length))),
    ];
    for (name, value) in rows {
        session.output.line(format!("{name:<10}{}", value.unwrap_or_else(none)));
    }
    for step in document.iter().flat_map(|state| state["steps"].as_array()).flatten() {
        let (number, status) = (&step["number"], step["status"].as_str().unwrap_or_default());
        session.output.line(format!(
            "  {number}  {status:<10}  {}",
            step["title"].as_str().unwrap_or_default()
        ));
    }
    Ok(0)
}

pub(super) fn watch(session: &mut Session<'_>, args: &WatchArgs) -> CliResult {
    let (_, mut database) = database()?;
    let end = args.time.map(|time| Instant::now() + time);
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    // It subscribes before it reads, so that no change is missed.
    database.wait(Duration::ZERO)?;
    let (mut first, mut news) = (true, true);
    loop {
        let found = if news { database.list(&Filter::default())? } else { Vec::new() };
        for project in &found {
            let before = known.insert(project.id.clone(), project.revision.clone());
            if first || before.as_ref() == Some(&project.revision) {
                continue;
            }
            let text = match session.output.is_json() {
                true => json!(project).to_string(),
                false => line(&project.into()),
            };
            if !session.output.stream(format!("{text}\n").as_bytes()) {
                return Ok(0);
            }
        }
        first = false;
        let second = Duration::from_secs(1);
        let left = end.map_or(second, |end| end.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Ok(0);
        }
        news = database.wait(left.min(second))?;
    }
}

pub(super) fn metrics(session: &mut Session<'_>, args: &MetricsArgs) -> CliResult {
    let (_, mut database) = database()?;
    let totals = database.totals(args.by == By::Template)?;
    let all = totals.iter().fold(Totals { group: "all".to_owned(), ..Totals::default() }, sum);
    session.output.value(|| {
        let by = if args.by == By::Template { "template" } else { "machine" };
        json!({ "by": by, "groups": totals, "all": all })
    });
    for group in totals.iter().chain([&all]) {
        session.output.line(total_line(group));
    }
    Ok(0)
}

fn sum(all: Totals, one: &Totals) -> Totals {
    Totals {
        group: all.group,
        projects: all.projects + one.projects,
        completed: all.completed + one.completed,
        failed: all.failed + one.failed,
        steps_done: all.steps_done + one.steps_done,
        steps: all.steps + one.steps,
        cost: all.cost + one.cost,
        time_ms: all.time_ms.saturating_add(one.time_ms),
        recoveries: all.recoveries + one.recoveries,
    }
}

fn total_line(sum: &Totals) -> String {
    let number = |value: i64| usize::try_from(value).unwrap_or(0);
    format!(
        "{}: {}, {} completed, {} failed; {}/{} steps; {}; {}; {}",
        if sum.group.is_empty() { "(none)" } else { &sum.group },
        counted(number(sum.projects), "project", "projects"),
        sum.completed,
        sum.failed,
        sum.steps_done,
        sum.steps,
        Money::from_json(&json!(sum.cost)).unwrap_or(Money(0)),
        format_duration(u64::try_from(sum.time_ms).unwrap_or(0)),
        counted(number(sum.recoveries), "recovery", "recoveries")
    )
}
