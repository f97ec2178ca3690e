use std::path::PathBuf;

use serde_json::json;

use crate::{
    adapters::{
        adopt::{AdoptRequest, FoundPlan, Proposed, propose},
        cli::{CliResult, Failure, Session},
    },
    domain::{ErrorCode, StateFile, layout::profile},
    workspace::Workspace,
};

/// Work in plans that already exist: Spec Kit, OpenSpec, Kiro, TODO.md and others
///
/// Recognises the files in the directory and uses them as a state without changing a byte of them:
/// it writes only `statedir.yaml`, which says what each file is, and `.statedir/`. From then on,
/// completing a step ticks its box; claims, attempts and results are kept in separate files. Run it
/// again after adding plans.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir adopt --dry-run
  statedir adopt
  statedir adopt specs/001-login
  statedir adopt TODO.md
  statedir adopt --profile kiro
  statedir adopt --list-profiles

A profile is a YAML file: the patterns of its files and the markers of its boxes. Those below
$XDG_CONFIG_HOME/statedir/layouts (~/.config/statedir/layouts) are found by their name.")]
pub(in crate::adapters) struct Args {
    /// The project, the folder of one plan, or one file
    #[arg(value_name = "DIR|FILE")]
    path: Option<PathBuf>,
    /// The profile of the files, or a file with your own profile
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,
    /// Keep what is added in `.statedir/`, which git does not see
    #[arg(long)]
    private: bool,
    /// List the profiles, and write nothing
    #[arg(long)]
    list_profiles: bool,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    if args.list_profiles {
        return list(session);
    }
    let named = args.path.clone().or_else(|| session.named_dir());
    let path = named.clone().unwrap_or_else(|| PathBuf::from("."));
    let (known, mut proposed) = match propose_at(session, args, path) {
        // If no path is given and nothing is found here, the plan of the current state may have the
        // boxes.
        Err(failure) if named.is_none() => {
            let plan = plan_in_use(session).map(|plan| propose_at(session, args, plan));
            plan.and_then(Result::ok).ok_or(failure)?
        }
        proposed => proposed?,
    };
    if proposed.layout.execution_id.is_empty() {
        proposed.layout.execution_id = known.execution_id();
    }
    let adopting = session.adopting(&proposed)?;
    let lines = proposed.found.lines();
    let message = format!("adopted {}", lines.join("; "));
    let mut outcome = adopting.adopt(&message, &proposed.documents())?;
    if known.layout().is_none() {
        // No need to report that the files were adopted: that was the request.
        outcome.notices.clear();
    }
    report(session, &proposed, &adopting, &outcome);
    Ok(0)
}

/// The existing state at a path, and what would be adopted there.
fn propose_at(
    session: &Session<'_>,
    args: &Args,
    path: PathBuf,
) -> Result<(Workspace, Proposed), Failure> {
    let dir = match path.parent().filter(|_| path.is_file()) {
        Some(dir) if dir.as_os_str().is_empty() => PathBuf::from("."),
        Some(dir) => dir.to_owned(),
        None => path.clone(),
    };
    let known = session.workspace_in(dir, None)?;
    let wanted = AdoptRequest { path, profile: args.profile.clone(), private: args.private };
    let proposed = propose(&wanted, known.layout())
        .map_err(|refused| Failure::new(ErrorCode::NotFound, refused.message).hint(refused.hint))?;
    Ok((known, proposed))
}

/// The plan of the current state, if it is not an adopted one.
fn plan_in_use(session: &mut Session<'_>) -> Option<PathBuf> {
    let state = session.workspace().ok().filter(|state| state.layout().is_none())?;
    Some(state.directory().join(StateFile::Plan.name())).filter(|plan| plan.is_file())
}

fn report(
    session: &mut Session<'_>,
    proposed: &Proposed,
    adopting: &Workspace,
    outcome: &crate::workspace::Outcome,
) {
    let layout = &proposed.layout;
    let others: Vec<String> =
        proposed.others.iter().map(|found| found.profile.profile.clone()).collect();
    session.output.value(|| {
        let plan = |one: &FoundPlan| {
            let count = |role| one.tasks.count(role);
            let unboxed = one.tasks.unboxed.iter();
            let without_box: Vec<_> =
                unboxed.map(|item| json!({ "line": item.line, "text": item.text })).collect();
            json!({ "file": one.path, "name": one.name, "tasks": one.tasks.len(),
                "done": count(crate::domain::StepRole::Done),
                "open": count(crate::domain::StepRole::Open),
                "active": count(crate::domain::StepRole::Active),
                "unknown_markers": one.tasks.unknown(),
                "without_box": without_box,
                "prose": one.tasks.prose })
        };
        let plans: Vec<_> = proposed.found.plans.iter().map(plan).collect();
        json!({
            "directory": adopting.directory(), "profile": layout.profile, "plans": plans,
            "tasks": proposed.found.count(), "context": layout.context,
            "constraints": layout.constraints, "also_found": others,
            "unreadable": proposed.found.unreadable,
            "changed": if outcome.committed { vec!["statedir.yaml"] } else { Vec::new() },
            "dry_run": session.global.dry_run, "revision": outcome.revision.as_str(),
            "notices": outcome.notices,
        })
    });
    for notice in &outcome.notices {
        session.output.note(notice);
    }
    for line in proposed.found.lines() {
        session.output.line(line);
    }
    for (role, files) in [("context", &layout.context), ("constraints", &layout.constraints)] {
        if !files.is_empty() {
            let names: Vec<&str> = files.iter().map(|file| file.as_str()).collect();
            session.output.line(format!("{role}: {}", names.join(", ")));
        }
    }
    for why in proposed.found.plans.iter().filter_map(FoundPlan::unboxed) {
        session.output.note(&why);
    }
    for why in &proposed.found.unreadable {
        session.output.note(&format!("{why}; it is left out"));
    }
    if !others.is_empty() {
        let names = others.join(", ");
        session.output.note(&format!("there are also files of {names}; `--profile` chooses"));
    }
    let adopted = what_was_adopted(proposed, adopting);
    session.output.line(match (session.global.dry_run, outcome.committed) {
        (true, _) => {
            "nothing was written; `statedir adopt` without `--dry-run` writes statedir.yaml"
                .to_owned()
        }
        (false, true) => format!("adopted {adopted}  [{}]", outcome.revision),
        (false, false) => format!("already adopted {adopted}  [{}]", outcome.revision),
    });
}

/// The file, if it is one; else how many plans there are, and where.
fn what_was_adopted(proposed: &Proposed, adopting: &Workspace) -> String {
    let dir = adopting.directory();
    let place = match dir.as_os_str() == "." {
        true => "the current directory".to_owned(),
        false => dir.display().to_string(),
    };
    match proposed.found.plans.as_slice() {
        [] => format!("the files of {} in {place}", proposed.layout.profile),
        [one] => {
            let path = dir.join(&one.path);
            path.strip_prefix(".").unwrap_or(&path).display().to_string()
        }
        plans => format!("{} plans in {place}", plans.len()),
    }
}

fn list(session: &mut Session<'_>) -> CliResult {
    session.output.value(|| json!({ "profiles": profile::NAMES }));
    for name in profile::NAMES {
        session.output.line(name);
    }
    Ok(0)
}
