//! Continuing projects whose machine is gone.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    database, host,
    lease::{copy_of, folder_name, new_copy},
    lease_time,
};
use crate::{
    adapters::{
        Recovery, RecoveryOptions,
        cli::{CliResult, Failure, Session},
        fleet::{self, Database, Filter, FilterColumn, Project, ProjectChoice},
    },
    recovery::RecoveryAction,
    workspace::RecoverRequest,
};

/// Claim, pull and recover every active project whose lease has expired
///
/// Without --apply it lists them and changes nothing. With it each project is claimed, so that two
/// machines share the work without doing anything twice; pulled; decided as `statedir recover`
/// decides; carried out, or left to a person; and published.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir fleet recover
  statedir fleet recover --apply
  statedir fleet recover --all --apply --into /srv/agents")]
pub(in crate::adapters) struct Args {
    /// All of them; else one
    #[arg(long)]
    all: bool,
    /// Do it
    #[arg(long)]
    apply: bool,
    /// Where projects go that this machine has no copy of
    #[arg(long, value_name = "DIR", default_value = ".")]
    into: PathBuf,
    /// How long the leases last
    #[arg(long = "for", value_name = "TIME", default_value = "5m", value_parser = lease_time)]
    lease: std::time::Duration,
}

fn orphans() -> Filter {
    let equal = vec![(FilterColumn::Status, "active".to_owned())];
    Filter { equal, run_out: true, ..Filter::default() }
}

pub(super) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let (_, mut database) = database()?;
    if !args.apply {
        let found = database.list(&orphans())?;
        session.output.value(|| json!({ "projects": found, "applied": false }));
        if found.is_empty() {
            session.output.line("every active project has a machine");
        }
        for project in &found {
            session.output.line(super::show::line(&project.into()));
        }
        return Ok(0);
    }
    let host = host(session)?;
    let (mut done, mut failed) = (Vec::new(), None);
    while let Some(project) = database.claim(&host, &ProjectChoice::Next(orphans()), args.lease)? {
        let result = recover_project(session, &mut *database, &project, &host, args);
        let answer = match &result {
            Ok(answer) => answer.clone(),
            Err(failure) => json!({ "name": project.name, "error": failure.to_json()["error"] }),
        };
        session.output.line(match &result {
            Ok(answer) => format!(
                "{}: {} ({})",
                project.name,
                answer["decision"].as_str().unwrap_or_default(),
                answer["directory"].as_str().unwrap_or_default()
            ),
            Err(failure) => format!("{}: {}", project.name, failure.message),
        });
        done.push(answer);
        if let Err(failure) = result {
            failed.get_or_insert(failure);
        }
        if !args.all {
            break;
        }
    }
    if failed.is_some() {
        return session.end(failed, || json!({ "projects": done }));
    }
    session.output.value(|| json!({ "projects": done, "applied": true }));
    if done.is_empty() {
        session.output.line("every active project has a machine");
    }
    Ok(0)
}

fn recover_project(
    session: &Session<'_>,
    database: &mut dyn Database,
    project: &Project,
    host: &str,
    args: &Args,
) -> Result<Value, Failure> {
    let workspace = match copy_of(session, &project.id)? {
        Some(copy) => copy,
        None => new_copy(session, args.into.join(folder_name(&project.name)).join("state"))?,
    };
    let fetched = fleet::fetch(database, &project.id)?;
    let pulled = fleet::pull(database, &fetched, &workspace, host, true)?;
    // The lease has expired, so the holders of steps there count as gone.
    let request = RecoverRequest { stale_after_ms: Some(0), ..RecoverRequest::default() };
    let options = RecoveryOptions { request, ..RecoveryOptions::default() };
    let recovery = Recovery::decide(&workspace, &options)?;
    let whole = recovery.examined.evidence.damage.is_empty();
    if whole || recovery.decision.action == RecoveryAction::RollbackCheckpoint {
        recovery.carry_out(&workspace)?;
    }
    fleet::push(database, &workspace, host, args.lease, false)?;
    Ok(json!({ "name": project.name, "id": project.id, "pulled": pulled,
        "decision": recovery.decision.action.word(), "reasons": recovery.decision.reasons,
        "directory": workspace.directory() }))
}
