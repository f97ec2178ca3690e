//! Taking over a project: claiming it, and getting its files onto this machine.

use std::{path::PathBuf, time::Duration};

use serde_json::{Value, json};

use super::{database, host};
use crate::{
    adapters::{
        cli::{CliResult, Failure, Session},
        directory::is_directory,
        fleet::{self, FleetError, Membership, Project, ProjectChoice, Pulled},
    },
    domain::{ErrorCode, format_age},
    text::shell::shell_word,
    workspace::{Change, Workspace},
};

/// The copy of a project that this machine has, if it has one.
pub(super) fn copy_of(session: &Session<'_>, id: &str) -> Result<Option<Workspace>, Failure> {
    let known = fleet::joined_directories()?;
    for (_, dir) in known.into_iter().rev().filter(|(known, _)| known == id) {
        if is_directory(&dir).map_err(FleetError::from)? {
            return session.workspace_in(dir, None).map(Some);
        }
    }
    Ok(None)
}

/// Records a new fencing number in this machine's copy, if that is up to date.
fn note_lease(session: &Session<'_>, project: &Project) -> Result<Option<Workspace>, Failure> {
    let Some(workspace) = copy_of(session, &project.id)? else { return Ok(None) };
    if let Some(mut known) = Membership::find(&workspace)? {
        known.fence = project.lease.fence;
        known.save(&workspace)?;
    }
    Ok(Some(workspace))
}

/// The project that this state is.
pub(super) fn project_of_state(session: &Session<'_>) -> Result<String, Failure> {
    Ok(Membership::of(&session.workspace()?)?.id)
}

pub(super) fn claim(
    session: &mut Session<'_>,
    wanted: ProjectChoice,
    lease: Duration,
) -> CliResult {
    let (_, mut database) = database()?;
    let host = host(session)?;
    let Some(project) = database.claim(&host, &wanted, lease)? else {
        session.output.value(|| json!({ "claimed": Value::Null }));
        session.output.line("no project is free");
        return Ok(0);
    };
    let copy = note_lease(session, &project)?;
    print_claim(session, &project, copy.as_ref());
    Ok(0)
}

fn print_claim(session: &mut Session<'_>, project: &Project, copy: Option<&Workspace>) {
    let directory = copy.map(|workspace| workspace.directory().to_owned());
    session.output.value(|| json!({ "claimed": project, "directory": directory }));
    let left = format_age(u64::try_from(project.lease.left_ms).unwrap_or(0));
    let (name, fence) = (&project.name, project.lease.fence);
    session.output.line(format!("claimed `{name}` for {left} (fencing number {fence})"));
    let next = match directory {
        Some(dir) => format!("statedir -C {} brief", shell_word(&dir.display().to_string())),
        None => format!("statedir fleet pull {}", shell_word(name)),
    };
    session.output.line(format!("next: {next}"));
}

pub(super) fn release(session: &mut Session<'_>, name: Option<String>) -> CliResult {
    let (_, mut database) = database()?;
    let host = host(session)?;
    let name = name.map_or_else(|| project_of_state(session), Ok)?;
    let project = database.project(&name)?.ok_or_else(|| FleetError::NoProject(name.clone()))?;
    let released =
        project.lease.host == host && database.release(&project.id, &host, project.lease.fence)?;
    if !released {
        let holder = match project.lease.host.as_str() {
            "" => "nobody holds it".to_owned(),
            other => format!("{other} has it"),
        };
        let message = format!("{host} does not have the lease of `{}`: {holder}", project.name);
        return Err(Failure::new(ErrorCode::LeaseLost, message));
    }
    session.output.value(|| json!({ "released": project.name, "id": project.id }));
    session.output.line(format!("released `{}`", project.name));
    Ok(0)
}

pub(super) fn steal(
    session: &mut Session<'_>,
    name: &str,
    why: &str,
    lease: Duration,
) -> CliResult {
    if why.trim().is_empty() {
        return Err(Failure::usage("`--why` needs a reason"));
    }
    let (_, mut database) = database()?;
    let host = host(session)?;
    let before = database.project(name)?.ok_or_else(|| FleetError::NoProject(name.to_owned()))?;
    let project = database.steal(&host, &before.id, lease)?;
    let copy = note_lease(session, &project)?;
    if let Some(workspace) = &copy {
        let from = match before.lease.host.as_str() {
            "" => "nobody".to_owned(),
            other => other.to_owned(),
        };
        let title = format!("Lease taken from {from} by {host}");
        let fields = [("why".to_owned(), json!(why))].into_iter().collect();
        workspace.apply(&[Change::HistoryAdd { title, fields }])?;
    }
    print_claim(session, &project, copy.as_ref());
    Ok(0)
}

pub(super) fn pull(
    session: &mut Session<'_>,
    name: &str,
    dir: Option<PathBuf>,
    merge: bool,
) -> CliResult {
    let (_, mut database) = database()?;
    let host = host(session)?;
    let fetched = fleet::fetch(&mut *database, name)?;
    let workspace = pull_directory(session, &fetched.project, dir)?;
    let pulled = fleet::pull(&mut *database, &fetched, &workspace, &host, merge)?;
    let conflicts = workspace.read()?.conflicts()?.len();
    let project = &fetched.project;
    session.output.value(|| {
        json!({ "name": project.name, "id": project.id, "result": pulled,
            "directory": workspace.directory(), "revision": project.revision,
            "conflicts": conflicts, "has_lease": project.lease.host == host })
    });
    let dir = workspace.directory().display().to_string();
    session.output.line(match pulled {
        Pulled::New => format!("pulled `{}` into {dir}", project.name),
        Pulled::Updated => format!("{dir} is at revision {} now", project.revision),
        Pulled::UpToDate => format!("{dir} is up to date"),
        Pulled::Merged => format!("merged `{}` into {dir}", project.name),
    });
    if conflicts > 0 {
        let dir = shell_word(&dir);
        session.output.line(format!("{conflicts} conflicts: statedir -C {dir} merge --list"));
    }
    if project.lease.host != host {
        let name = shell_word(&project.name);
        session
            .output
            .note(&format!("{host} does not have its lease: `statedir fleet claim {name}`"));
    }
    Ok(0)
}

/// Where a pulled project goes.
fn pull_directory(
    session: &Session<'_>,
    project: &Project,
    dir: Option<PathBuf>,
) -> Result<Workspace, Failure> {
    let dir = match dir.or_else(|| session.global.dir.clone()) {
        Some(dir) => dir,
        None => match copy_of(session, &project.id)? {
            Some(copy) => return Ok(copy),
            None => PathBuf::from(folder_name(&project.name)).join("state"),
        },
    };
    new_copy(session, dir)
}

/// The state in a directory, by its absolute path.
pub(super) fn new_copy(session: &Session<'_>, dir: PathBuf) -> Result<Workspace, Failure> {
    session.workspace_in(std::path::absolute(dir).map_err(FleetError::from)?, None)
}

/// A project's name as the name of a folder, without anything that leads elsewhere.
pub(super) fn folder_name(name: &str) -> String {
    let clean: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .take(100)
        .collect();
    let clean = clean.trim_start_matches('.').to_owned();
    if clean.is_empty() { "project".to_owned() } else { clean }
}
