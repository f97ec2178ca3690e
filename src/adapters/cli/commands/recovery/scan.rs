use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    adapters::{
        Scan, ScanResult, adopt,
        cli::{
            CliResult, Failure, Session,
            output::{Colour, Output},
        },
        foreign::{self, FoundForeign},
        is_archived, scan,
    },
    domain::{ErrorCode, Money, PlanRole, format_age},
    text::{display::counted, shell},
    workspace::Workspace,
};

/// Find every state directory below a directory, damaged ones too
///
/// A state directory holds a plan and at least one more of its files, or an operation log. Links
/// are not followed. Archived executions are listed as such. Directories that cannot be
/// read are named, and the exit code is 4.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir scan ~/projects
  statedir scan . --unfinished --json
  statedir recover --all ~/projects")]
pub(in crate::adapters) struct Args {
    /// Where to look
    #[arg(value_name = "DIR", default_value = ".")]
    root: PathBuf,
    /// Leave out what is finished or archived
    #[arg(long)]
    unfinished: bool,
    /// How many directories deep
    #[arg(long, value_name = "N", default_value_t = Scan::default().most_depth)]
    depth: usize,
}

/// One state directory.
struct FoundState {
    dir: PathBuf,
    archived: bool,
    seen: Result<Value, Failure>,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    refuse_if_match(session)?;
    let ScanResult { directories, adoptable, mut adopted, left_out, unread: some_unread } =
        find(&args.root, args.depth)?;
    let mut systems = Vec::new();
    let offers = adoptable.iter().filter_map(|dir| offer(dir, &mut adopted, &mut systems));
    let offers: Vec<Value> = offers.collect();
    let mut lines: Vec<FoundState> = Vec::new();
    for dir in directories {
        let seen = summarise_state(session, &dir);
        let line = FoundState { archived: is_archived(&dir), dir, seen };
        let finished = line.seen.as_ref().is_ok_and(|seen| seen["finished"] == true);
        // A plan without known steps that can be adopted is not a state yet.
        let has_steps = line.seen.as_ref().is_ok_and(|seen| seen["total_steps"] != 0);
        let is_offered = !has_steps && adopted.contains(&line.dir.join("plan.md"));
        if !(is_offered || args.unfinished && (finished || line.archived)) {
            lines.push(line);
        }
    }
    let damaged = lines.iter().filter(|line| line.seen.is_err()).count();
    for line in &lines {
        line.print(session.output);
    }
    if lines.is_empty() {
        session.output.line("no state directories");
    }
    for offer in &offers {
        let text = |key: &str| offer[key].as_str().unwrap_or_default().to_owned();
        let (found, command) = (text("found"), text("command"));
        session.output.line(format!("not adopted: {found}: `{command}`"));
    }
    for what in &left_out {
        session.output.note(&format!("left out: {what}"));
    }
    session.end(some_unread.then(unreadable_directories), || {
        let states: Vec<Value> = lines.iter().map(FoundState::to_json).collect();
        json!({ "root": args.root, "states": states, "adoptable": offers,
            "totals": totals(&lines), "damaged": damaged, "left_out": left_out })
    })
}

/// What could be adopted in a directory, and how, unless all of it is in use or listed already. A
/// project comes before its folders, and the folders of its own system, such as an archive, are not
/// listed separately.
fn offer(dir: &Path, taken: &mut HashSet<PathBuf>, systems: &mut Vec<PathBuf>) -> Option<Value> {
    if systems.iter().any(|system| dir.starts_with(system)) {
        return None;
    }
    let found = adopt::look(dir);
    let best = adopt::best(&found).map(|at| &found[at]).filter(|found| found.count() > 0);
    let here = dir.display().to_string();
    let Some(best) = best else {
        let FoundForeign { name, path, tasks } = foreign::found_in(dir)?;
        let state = dir.join("workspace/state").display().to_string();
        let command = shell::command_line(["-C", &state, "import", "--from", name, &here]);
        return Some(json!({ "directory": here, "profile": name, "tasks": tasks,
            "found": format!("{here}: {name}, {path}: {}", counted(tasks, "task", "tasks")),
            "command": command }));
    };
    let plans: Vec<PathBuf> = best.plans.iter().map(|plan| dir.join(&plan.path)).collect();
    if plans.iter().all(|plan| taken.contains(plan)) {
        return None;
    }
    taken.extend(plans);
    systems.extend(best.profile.markers.iter().map(|marker| dir.join(marker)));
    let dir = here;
    let command = shell::command_line(["adopt", dir.as_str()]);
    Some(json!({ "directory": dir, "profile": best.profile.profile, "tasks": best.count(),
        "found": format!("{dir}: {}", best.line()), "command": command }))
}

/// A revision belongs to one state, so `--if-match` makes no sense for many.
pub(super) fn refuse_if_match(session: &Session<'_>) -> Result<(), Failure> {
    match session.global.if_match {
        Some(_) => {
            let message = "`--if-match` applies to one state, and this command reads many";
            Err(Failure::usage(message)
                .hint("`-C` names one state; a command for one state takes `--if-match`"))
        }
        None => Ok(()),
    }
}

/// Directories could not be read, so that states may be missing from the answer.
pub(super) fn unreadable_directories() -> Failure {
    let message = "some directories could not be read, and states in them were left out";
    Failure::new(ErrorCode::LeftOut, message)
        .hint("`left_out` names them; look at their permissions")
}

/// The state directories below `root`, what could be one, and what was left out.
pub(super) fn find(root: &Path, depth: usize) -> Result<ScanResult, Failure> {
    if !root.is_dir() {
        let message = format!("`{}` is not a directory", root.display());
        return Err(Failure::new(ErrorCode::NotFound, message).hint("name an existing directory"));
    }
    Ok(scan(root, Scan { most_depth: depth, ..Scan::default() }))
}

/// What can be said about one state.
fn summarise_state(session: &Session<'_>, dir: &Path) -> Result<Value, Failure> {
    let workspace: Workspace = session.workspace_in(dir.to_owned(), None)?;
    let snapshot = workspace.read()?;
    let overview = snapshot.overview()?;
    let updated = overview.last_updated.as_deref();
    let age = updated.and_then(|time| workspace.environment().since(time));
    if let Some(problem) = overview.problems.iter().find(|problem| is_damage(problem.code)) {
        let failure = Failure { location: None, ..Failure::damage(problem) };
        return Err(failure.hint("`statedir check --fix` repairs what is safe"));
    }
    if let Some(damage) = snapshot.view().log_damage() {
        let message = format!("the operation log is damaged: {}", damage.message);
        return Err(Failure::new(ErrorCode::LogDamaged, message)
            .hint("`statedir check --fix` sets the log aside and starts a new one"));
    }
    let at_hand = overview.counts.current_step;
    let current = overview.steps.iter().find(|step| step.number == at_hand);
    let current = current.map(|step| {
        let actor = step.claimed_by.as_ref().map(|claim| claim.actor.clone());
        json!({ "number": step.number, "id": step.id, "title": step.title,
            "status": step.status, "actor": actor })
    });
    let last = snapshot.last_entries(1).unwrap_or_default();
    let last = last.first().map(
        |entry| json!({ "title": entry.title, "time": entry.time, "actor": entry.field("actor") }),
    );
    let (counts, finished) = (&overview.counts, overview.role == Some(PlanRole::Succeeded));
    Ok(json!({ "title": overview.title, "goal": overview.goal,
        "execution_id": overview.execution_id, "status": overview.status, "finished": finished,
        "percent": counts.percent(), "completed": counts.done, "skipped": counts.skipped,
        "total_steps": counts.total,
        "running": counts.running, "failed": counts.failed,
        "current_step": current, "last_action": last,
        "total_cost": overview.spending.total_cost,
        "open_reviews": overview.open_reviews.len(), "last_updated": updated, "age_ms": age,
        "revision": overview.revision }))
}

/// What the states add up to.
fn totals(lines: &[FoundState]) -> Value {
    let seen = || lines.iter().filter_map(|line| line.seen.as_ref().ok());
    let sum = |key: &str| seen().filter_map(|state| state[key].as_u64()).sum::<u64>();
    let costs = seen().filter_map(|state| Money::from_json(&state["total_cost"]));
    let cost = costs.fold(Money::default(), |sum, cost| sum + cost);
    json!({ "states": lines.len(), "finished": seen().filter(|s| s["finished"] == true).count(),
        "total_steps": sum("total_steps"), "completed": sum("completed"),
        "running": sum("running"), "failed": sum("failed"),
        "open_reviews": sum("open_reviews"), "total_cost": cost })
}

fn is_damage(code: ErrorCode) -> bool {
    use ErrorCode::{BadWorkflow, FileMissing, UnknownStatus, Unreadable};
    matches!(code, FileMissing | Unreadable | BadWorkflow | UnknownStatus)
}

impl FoundState {
    fn to_json(&self) -> Value {
        let mut value = match &self.seen {
            Ok(seen) => seen.clone(),
            Err(failure) => json!({ "error": failure.to_json()["error"] }),
        };
        value["directory"] = json!(self.dir);
        value["damaged"] = json!(self.seen.is_err());
        value["archived"] = json!(self.archived);
        value
    }

    fn print(&self, output: &mut Output) {
        let dir = self.dir.display();
        let archived = if self.archived { " (archived)" } else { "" };
        match &self.seen {
            Ok(seen) => {
                let age = seen["age_ms"].as_u64().map(|ms| format!(", {} ago", format_age(ms)));
                let count = |key: &str| seen[key].as_u64().unwrap_or(0);
                let finished = count("completed") + count("skipped");
                let text = |key: &str| seen[key].as_str().unwrap_or("?").to_owned();
                let colour = if seen["finished"] == true || self.archived {
                    Colour::Dim
                } else if seen["failed"] != 0 {
                    Colour::Red
                } else {
                    Colour::None
                };
                output.painted(
                    colour,
                    &format!(
                        "{:<17} {}/{} ({}%){}  {dir}{archived}  {}",
                        text("status"),
                        finished,
                        seen["total_steps"],
                        seen["percent"],
                        age.unwrap_or_default(),
                        text("title"),
                    ),
                );
            }
            Err(failure) => {
                let text = format!("{:<17} {dir}{archived}  {}", "DAMAGED", failure.message);
                output.painted(Colour::Red, &text);
            }
        }
    }
}
