use serde_json::{Value, json};

use crate::{
    adapters::{
        choose_archived,
        cli::{CliResult, Session},
    },
    workspace::{Archived, ArchivedState, Workspace},
};

/// Archive a finished execution as a whole, and look at archived ones
///
/// The state directory is renamed, log and all, to `archive/<execution_id>/` beside it; `init` then
/// starts a new state in its place. An execution that is not finished is refused unless `--force`
/// is given. Nothing is ever overwritten.
#[derive(Clone, Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  statedir archive
  statedir archive --force
  statedir archive list
  statedir archive show exec_2026
  statedir archive restore exec_2026
  statedir archive prune --older-than 30d

An archived state can be read with -C, too: `statedir -C workspace/archive/exec_2026 history list`."
)]
pub(in crate::adapters) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Even if the execution is not finished
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Debug, clap::Subcommand)]
#[command(defer = true)]
enum Verb {
    /// List the archived executions
    #[command(after_help = "Examples:\n  statedir archive list --json")]
    List,
    /// Show where an archived execution stood
    #[command(after_help = "Examples:\n  statedir archive show exec_2026")]
    Show {
        /// Its name, or the beginning of it
        id: String,
    },
    /// Delete archived executions that have ended, after showing which
    ///
    /// Only executions that have ended are deleted. Without --yes they are only listed. What is
    /// deleted cannot be restored.
    #[command(
        after_help = "Examples:\n  statedir archive prune --older-than 30d\n  statedir archive prune --older-than 30d --yes"
    )]
    Prune {
        /// Those last changed longer ago than this, such as 30d
        #[arg(long, value_name = "AGE", value_parser = super::gc::age)]
        older_than: u64,
        /// Delete them
        #[arg(long)]
        yes: bool,
    },
    /// Move an archived execution back; refused while there is a state
    #[command(after_help = "Examples:\n  statedir archive restore exec_2026")]
    Restore {
        /// Its name, or the beginning of it
        id: String,
    },
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: Args) -> CliResult {
    let dir = choose_archived(session.named_dir().as_deref())?;
    let workspace = session.workspace_in(dir, session.global.if_match.clone())?;
    match args.verb {
        None => {
            let archived = workspace.archive(args.force)?;
            print(session, "archived", &archived)
        }
        Some(Verb::Restore { id }) => {
            let archived = workspace.restore_archived(&id)?;
            print(session, "restored", &archived)
        }
        Some(Verb::List) => list(session, &workspace),
        Some(Verb::Prune { older_than, yes }) => prune(session, &workspace, older_than, yes),
        Some(Verb::Show { id }) => show(session, &workspace.archived_named(&id)?),
    }
}

fn print(session: &mut Session<'_>, verb: &str, archived: &Archived) -> CliResult {
    let Archived { id, from, to, outcome } = archived;
    session.output.value(|| {
        json!({ verb: id, "from": from.display().to_string(),
            "to": to.display().to_string(), "revision": outcome.revision.as_str(),
            "committed": outcome.committed, "notices": outcome.notices,
            "dry_run": session.global.dry_run })
    });
    for notice in &outcome.notices {
        session.output.note(notice);
    }
    let would = if session.global.dry_run { "would be " } else { "" };
    session.output.line(format!("{would}{verb}: {} → {}", from.display(), to.display()));
    Ok(0)
}

fn prune(
    session: &mut Session<'_>,
    workspace: &Workspace,
    older_than: u64,
    yes: bool,
) -> CliResult {
    let old = workspace.prunable(older_than)?;
    let deletes = yes && !session.global.dry_run;
    for state in &old {
        let time = state.last_updated.as_deref().unwrap_or("?");
        let title = state.overview.as_ref().map_or("", |overview| overview.title.as_str());
        session.output.line(format!("{:<36} {time}  {title}", state.id));
    }
    if deletes {
        workspace.prune(&old)?;
    }
    session.output.value(|| {
        let states: Vec<Value> = old.iter().map(line_json).collect();
        json!({ "prunable": states, "deleted": deletes })
    });
    session.output.line(match (old.len(), deletes) {
        (0, _) => "no execution that has ended is that old".to_owned(),
        (1, true) => "deleted 1 execution".to_owned(),
        (count, true) => format!("deleted {count} executions"),
        (count, false) => format!("{count} would be deleted; `--yes` deletes them for good"),
    });
    Ok(0)
}

fn list(session: &mut Session<'_>, workspace: &Workspace) -> CliResult {
    let all = workspace.archived()?;
    session.output.value(|| {
        let lines: Vec<Value> = all.iter().map(line_json).collect();
        json!({ "archived": lines })
    });
    if all.is_empty() {
        session.output.line("nothing is archived");
    }
    for state in &all {
        let what = match &state.overview {
            Ok(overview) => format!(
                "{:<18} {}/{} steps  {}",
                overview.status,
                overview.counts.finished(),
                overview.counts.total,
                overview.title.trim()
            ),
            Err(error) => format!("cannot be read: {error}"),
        };
        session.output.line(format!("{:<36} {what}", state.id));
    }
    Ok(0)
}

fn show(session: &mut Session<'_>, state: &ArchivedState) -> CliResult {
    session.output.value(|| {
        json!({ "archived": line_json(state),
            "status": state.overview.as_ref().ok() })
    });
    session.output.line(format!("{:<10} {}", "archived", state.id));
    session.output.line(format!("{:<10} {}", "directory", state.directory.display()));
    match &state.overview {
        Ok(overview) => {
            let goal = overview.goal.as_deref().unwrap_or("?");
            let (status, counts) = (&overview.status, &overview.counts);
            let (finished, total) = (counts.finished(), counts.total);
            session.output.line(format!("{:<10} {goal}", "goal"));
            session
                .output
                .line(format!("{:<10} {status}, {finished} of {total} steps finished", "status",));
            session.output.line(format!("{:<10} {}", "revision", overview.revision));
        }
        Err(error) => session.output.line(format!("{:<10} cannot be read: {error}", "status")),
    }
    if let Some(time) = &state.last_updated {
        session.output.line(format!("{:<10} {time}", "updated"));
    }
    Ok(0)
}

fn line_json(state: &ArchivedState) -> Value {
    let mut line = json!({ "id": state.id, "directory": state.directory.display().to_string(),
        "last_updated": state.last_updated });
    match &state.overview {
        Ok(overview) => {
            line["status"] = json!(overview.status);
            line["goal"] = json!(overview.goal);
            line["execution_id"] = json!(overview.execution_id);
            line["completed"] = json!(overview.counts.done);
            line["total_steps"] = json!(overview.counts.total);
            line["percent"] = json!(overview.counts.percent());
        }
        Err(error) => line["problem"] = json!(error.to_string()),
    }
    line
}
