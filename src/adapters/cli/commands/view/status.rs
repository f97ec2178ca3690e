use serde_json::json;

use crate::{
    adapters::cli::{
        CliResult, Session,
        commands::steps::view::mark,
        missing_file,
        output::{Colour, Output},
    },
    domain::{
        Decision, Group, GroupProgress, PlanRole, Review, StepRole, format_age, format_duration,
    },
    text::display::counted,
    workspace::{
        Artefact, Environment, LimitUse, Overview, StepOverview, StepOverviews, StepTimes,
        TicketOverview,
    },
};

/// How many steps are listed.
const MOST_STEPS: usize = 12;
/// How many groups are shown.
const MOST_GROUPS: usize = 8;
/// How many lines of one kind are listed.
const MOST: usize = 5;

/// Show where the execution stands
///
/// One screen: progress, steps with their age, what is running, what failed, open reviews, retries,
/// cost and limits, and what comes next.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir status\n  statedir status --json")]
pub(in crate::adapters) struct Args {}

type Painted = (Colour, String);

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, _: &Args) -> CliResult {
    let workspace = session.workspace()?;
    let snapshot = workspace.read()?;
    let mut overview = snapshot.overview()?;
    missing_file::add_hints(&workspace, &mut overview.problems);
    session.output.value(|| json!(overview));
    // Reading the history is most of the work, and only ended attempts have a duration.
    let has_times = !session.output.is_json() && visible_steps(&overview.steps).any(took_time);
    let times = if has_times { snapshot.recent_step_times() } else { StepTimes::default() };
    for (colour, line) in lines(&overview, &times, workspace.environment(), session.output) {
        session.output.painted(colour, &line);
    }
    Ok(0)
}

fn lines(
    overview: &Overview,
    times: &StepTimes,
    env: &Environment,
    output: &Output,
) -> Vec<Painted> {
    let mut lines = vec![(Colour::Bold, overview.title.clone())];
    if let Some(goal) = overview.goal.as_ref().filter(|goal| **goal != overview.title) {
        lines.push(unpainted(format!("goal      {}", one_line(goal))));
    }
    let mode = overview.mode.as_deref().unwrap_or("?");
    let age =
        overview.age_ms(env).map(|ms| format!(", {} old", format_age(ms))).unwrap_or_default();
    let why = overview.paused_because.as_ref().filter(|_| overview.role == Some(PlanRole::Paused));
    let why = why.map(|why| format!(": {}", one_line(why))).unwrap_or_default();
    lines.push(unpainted(format!("status    {} ({mode}{age}){why}", overview.status)));
    let (finished, total) = (overview.counts.finished(), overview.counts.total);
    let (bar, percent) = (bar(finished, total), overview.counts.percent());
    lines.push((Colour::Green, format!("progress  {bar} {finished}/{total} ({percent}%)")));
    lines.extend(groups(overview));
    lines.extend(overview.ticket.iter().flat_map(ticket));
    lines.extend(steps(&overview.steps, times, env));
    let outlook = outlook(overview).into_iter();
    lines.extend(outlook.map(|(colour, line)| (colour, output.with_directory(&line).into_owned())));
    lines.push(unpainted(format!("revision  {}", overview.revision)));
    lines
}

/// The ticket, who has approved what, and the results.
fn ticket(ticket: &TicketOverview) -> Vec<Painted> {
    let on = ticket.platform.as_ref().map(|platform| format!(" ({platform})"));
    let branch = ticket.branch.as_ref().map(|branch| format!(", branch {branch}"));
    let (on, branch) = (on.unwrap_or_default(), branch.unwrap_or_default());
    let mut lines = vec![unpainted(format!("ticket    {}{on}{branch}", ticket.id))];
    let (approved, all) = ticket.approved();
    if all > 0 {
        lines.push(unpainted(format!("approvals {approved} of {all}")));
    }
    let decided = ticket.approvals.iter().rev().filter(|review| review.decision != Decision::Open);
    let decided: Vec<&Review> = decided.collect();
    let line = |review: &&Review| {
        let word = if review.decision == Decision::Approved { "approved" } else { "rejected" };
        unpainted(format!("{word:<9} {}: {}", review.id, one_line(&review.text)))
    };
    push_first_few(&mut lines, decided.iter().map(line), "statedir review list --all");
    let line = |artefact: &Artefact| {
        unpainted(format!("artefact  {}: {}", artefact.name, one_line(&artefact.value)))
    };
    push_first_few(
        &mut lines,
        ticket.artefacts.iter().map(line),
        "statedir var get step_data.outputs",
    );
    lines
}

/// How far each group is: `0-setup 4/4 · 1-foundation 3/3 · 2-backend 4/6`.
fn groups(overview: &Overview) -> Vec<Painted> {
    let (Some(field), false) = (&overview.group_by, overview.groups.is_empty()) else {
        return Vec::new();
    };
    let all = &overview.groups;
    let at = all.iter().position(|group| group.progress != GroupProgress::Finished);
    let last = (at.unwrap_or(all.len()).saturating_sub(3) + MOST_GROUPS).min(all.len());
    let first = last.saturating_sub(MOST_GROUPS);
    let labels = |group: &Group| {
        let stopped = if group.progress == GroupProgress::Stopped { " stopped" } else { "" };
        format!("{} {}/{}{stopped}", group.name, group.finished, group.total)
    };
    let mut labels: Vec<String> = all[first..last].iter().map(labels).collect();
    if first > 0 {
        labels.insert(0, format!("{first} before"));
    }
    if last < all.len() {
        labels.push(format!("{} more", all.len() - last));
    }
    let mut lines = vec![unpainted(format!("{field:<9} {}", labels.join(" · ")))];
    if let Some(stopped) = &overview.stopped {
        lines.push((Colour::Red, format!("stopped   {stopped}")));
    }
    lines
}

/// The steps around the current one.
fn visible_steps(steps: &StepOverviews) -> impl ExactSizeIterator<Item = &StepOverview> {
    let is_unfinished = |role: Option<StepRole>| !role.is_some_and(StepRole::is_finished);
    let at = steps.places(is_unfinished).next().unwrap_or(steps.len());
    let last = (at.saturating_sub(3) + MOST_STEPS).min(steps.len());
    (last.saturating_sub(MOST_STEPS)..last).map(|at| &steps[at])
}

/// Whether there was an attempt that has ended, as far as the status tells.
fn took_time(step: &StepOverview) -> bool {
    step.is_finished() || step.is_failed() || step.role.is_none()
}

fn steps(steps: &StepOverviews, times: &StepTimes, env: &Environment) -> Vec<Painted> {
    let mut lines: Vec<Painted> =
        visible_steps(steps).map(|step| step_line(step, times, env)).collect();
    let hidden = steps.len() - lines.len();
    if hidden > 0 {
        let all = steps.len();
        lines.push((Colour::Dim, format!("  … {hidden} more: statedir step list --limit {all}")));
    }
    lines
}

fn step_line(step: &StepOverview, times: &StepTimes, env: &Environment) -> Painted {
    let mut notes: Vec<String> = Vec::new();
    match &step.holder {
        Some(holder) => {
            notes.push(holder.remark());
            notes.extend(holder.take.as_ref().filter(|_| holder.stale).cloned());
        }
        None => {
            let age = step.age_ms(env).map(|age| format!("started {} ago", format_age(age)));
            notes.extend(age);
        }
    }
    if took_time(step) {
        let took = step.id.as_deref().and_then(|id| times.newest(id));
        notes.extend(took.map(|ms| format!("took {}", format_duration(ms))));
    }
    if step.attempts > 1 || step.is_failed() {
        notes.push(match step.failures {
            0 => format!("attempt {}", step.attempts),
            failures => {
                format!("attempt {}, failed {failures} of {}", step.attempts, step.attempts_allowed)
            }
        });
    }
    if !step.is_finished() && !step.waits_for.is_empty() {
        notes.push(format!("waits for {}", step.waits_for.join(", ")));
    }
    notes.extend(step.held_by.as_ref().map(|group| format!("after {group}")));
    let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join("; ")) };
    let colour = match step.role {
        Some(StepRole::Active | StepRole::Waiting) => Colour::Yellow,
        Some(StepRole::Failed) => Colour::Red,
        Some(StepRole::Done | StepRole::Skipped) => Colour::Dim,
        Some(StepRole::Open) | None => Colour::None,
    };
    let (mark, StepOverview { number, status, title, .. }) = (mark(step.role), step);
    (colour, format!("  {mark} {number:>3}  {status:<10} {title}{notes}"))
}

/// What is next, what it costs, and what is in the way.
fn outlook(overview: &Overview) -> Vec<Painted> {
    let (counts, spending) = (&overview.counts, &overview.spending);
    let mut lines = Vec::new();
    lines.push((Colour::Bold, format!("next      {}", overview.next_move().text)));
    if counts.total == 0 && overview.unread_boxes > 0 {
        let count = overview.unread_boxes;
        let checkboxes = counted(count, "checkbox", "checkboxes");
        lines.push(unpainted(format!("boxes     {checkboxes}, no steps known: statedir adopt")));
    }
    if counts.failed > 0 {
        let numbers = overview.with_role(StepRole::Failed).map(|step| step.number.to_string());
        let numbers: Vec<String> = numbers.take(MOST).collect();
        let more = if counts.failed > MOST { ", …" } else { "" };
        lines.push((Colour::Red, format!("failed    step {}{more}", numbers.join(", "))));
    }
    if overview.retries() > 0 {
        let (count, limit) = (overview.retries(), overview.retry_limit);
        lines.push(unpainted(format!("retries   {count} (a step may fail {limit} times)")));
    }
    let budget = spending.budget.map(|budget| format!(" of {budget}")).unwrap_or_default();
    if spending.total_cost.0 != 0 || !budget.is_empty() {
        lines.push(unpainted(format!("cost      {}{budget}", spending.total_cost)));
    }
    let shown = |limit: &LimitUse| {
        format!("{} {:#} of {:#}", limit.fact.replace('_', " "), limit.used, limit.at_most)
    };
    let (over, kept): (Vec<_>, Vec<_>) = spending.limits.iter().partition(|limit| limit.exceeded);
    let kept: Vec<String> = kept.into_iter().filter(|l| l.fact != "cost").map(shown).collect();
    if !kept.is_empty() {
        lines.push(unpainted(format!("limits    {}", kept.join(", "))));
    }
    let unlimited =
        [("file_operations", spending.file_operations), ("web_requests", spending.web_requests)]
            .into_iter()
            .filter(|(fact, used)| {
                *used > 0 && spending.limits.iter().all(|limit| limit.fact != *fact)
            })
            .map(|(fact, used)| format!("{} {used}", fact.replace('_', " ")));
    let unlimited: Vec<String> = unlimited.collect();
    if !unlimited.is_empty() {
        lines.push(unpainted(format!("used      {}", unlimited.join(", "))));
    }
    for limit in over {
        lines.push((Colour::Red, format!("exceeded  {}", shown(limit))));
    }
    let reviews = overview.open_reviews.iter().map(|review| {
        (Colour::Yellow, format!("review    {} waits for a person: {}", review.id, review.text))
    });
    push_first_few(&mut lines, reviews, "statedir review list");
    let directives = overview.directives.iter().map(|text| unpainted(format!("directive {text}")));
    push_first_few(&mut lines, directives, "statedir directive list");
    let problems = overview.problems.iter();
    let problems = problems.map(|problem| (Colour::Red, format!("problem   {}", problem.line())));
    push_first_few(&mut lines, problems, "statedir check");
    lines
}

/// The first few, and how to see the rest.
fn push_first_few(
    lines: &mut Vec<Painted>,
    all: impl ExactSizeIterator<Item = Painted>,
    how: &str,
) {
    let hidden = all.len().saturating_sub(MOST);
    lines.extend(all.take(MOST));
    if hidden > 0 {
        lines.push((Colour::Dim, format!("          … {hidden} more: {how}")));
    }
}

fn unpainted(line: String) -> Painted {
    (Colour::None, line)
}

fn one_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn bar(done: usize, total: usize) -> String {
    const WIDTH: usize = 20;
    let filled = (done * WIDTH).checked_div(total).unwrap_or(0);
    format!("[{}{}]", "#".repeat(filled), ".".repeat(WIDTH - filled))
}
