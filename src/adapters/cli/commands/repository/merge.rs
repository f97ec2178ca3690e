use std::path::PathBuf;

use serde_json::json;

use crate::{
    adapters::{
        cli::{CliResult, Failure, Session},
        git::{self, Driven, Resolved, Unmerged, drive},
    },
    domain::StateFile,
    merge::{Conflict, Side},
};

/// List and resolve the conflicts that a merge left
///
/// With `statedir git install`, git merges the state files by meaning: entries, steps, fields,
/// settings, paragraphs and keys, each by its identity. What only one side changed is taken from
/// that side; counters, costs and attempts add what each side added; lists get what each side
/// added. A field that both sides changed differently is a conflict. It is written to the file as
/// one value:
///
///   - **status**: <<<<<<< ours "FAILED" ||||||| base "RUNNING" ======= theirs "COMPLETED" >>>>>>>
///
/// and in variables.json as {"<<<<<<< conflict": {"base": …, "ours": …, "theirs": …}}. Every
/// command that changes the state refuses (exit 4) until all are resolved: with `--take`, or by
/// hand, by writing the right value. `-` stands for a side that has no such field.
///
/// Counters are numbers under `cost_tracking`, `counters`, `counts` or `costs`, and those whose name
/// begins or ends with count, counter, total, cost, attempts or retries.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir merge --list
  statedir merge --take theirs plan.k3f9.status
  statedir merge --take ours plan variables
  statedir merge --take theirs specs/001-login/tasks.md:7
  statedir merge --take ours --all
  statedir merge --resolve          # git merged without the driver: start again from its index")]
pub(in crate::adapters) struct Args {
    /// List the conflicts (the default)
    #[arg(long)]
    list: bool,
    /// Resolve fields by taking one side
    #[arg(long, value_name = "SIDE", conflicts_with_all = ["list", "resolve"])]
    take: Option<Taken>,
    /// Merge by meaning what git left in conflict, from its index or from its markers
    #[arg(long, conflicts_with = "list")]
    resolve: bool,
    /// All conflicts
    #[arg(long, requires = "take", conflicts_with = "fields")]
    all: bool,
    /// The fields, as `--list` names them; the name of a file or step means all in it
    #[arg(value_name = "FIELD", requires = "take")]
    fields: Vec<String>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Taken {
    Ours,
    Theirs,
    Base,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    match args.take {
        Some(side) => take_side(session, side, args),
        None if args.resolve => resolve(session),
        None => list(session),
    }
}

/// What is said of a file that git holds for unmerged though it was changed since.
const EDITED: &str = "git reports it as unmerged, but it has changed since: `git add` it if it is right, or \
                      `git checkout --merge` it and `statedir merge --resolve`";

fn list(session: &mut Session<'_>) -> CliResult {
    let workspace = session.workspace()?;
    let mut conflicts = workspace.read()?.conflicts()?;
    // Git may leave one side as it is, without a mark, when it cannot run the driver.
    let unmerged = git::unmerged_files(workspace.directory())?;
    let is_marked = |file: StateFile| conflicts.iter().any(|conflict| conflict.file == file);
    let (edited, left): (Vec<Unmerged>, Vec<Unmerged>) = unmerged
        .iter()
        .filter(|unmerged| !is_marked(unmerged.file))
        .partition(|unmerged| unmerged.edited);
    conflicts.extend(left.iter().map(|unmerged| Conflict::of_file(unmerged.file)));
    conflicts.extend(workspace.list_conflicts()?);
    session.output.value(|| json!({ "conflicts": conflicts, "unmerged": unmerged }));
    if conflicts.is_empty() && edited.is_empty() {
        session.output.line("no conflicts");
    }
    for conflict in &conflicts {
        print(session, conflict);
    }
    for unmerged in &edited {
        session.output.line(format!("{}: {EDITED}", unmerged.file));
    }
    Ok(0)
}

fn print(session: &mut Session<'_>, conflict: &Conflict) {
    let line = conflict.line.map(|line| format!(":{line}")).unwrap_or_default();
    // A conflict in an adopted list is named by its place.
    let place = match conflict.field.ends_with(&line) && !line.is_empty() {
        true => String::new(),
        false => format!("  ({}{line})", conflict.file),
    };
    session.output.line(format!("{}{place}", conflict.field));
    if conflict.is_whole() {
        session
            .output
            .advice("  git did not merge this file by meaning: `statedir merge --resolve`");
        return;
    }
    let sides = [("base", &conflict.base), ("ours", &conflict.ours), ("theirs", &conflict.theirs)];
    for (name, side) in sides {
        let text = side.as_deref().map_or("(absent)".to_owned(), |text| text.replace('\n', "\\n"));
        session.output.line(format!("  {name:<7} {text}"));
    }
}

fn take_side(session: &mut Session<'_>, side: Taken, args: &Args) -> CliResult {
    let side = match side {
        Taken::Ours => Side::Ours,
        Taken::Theirs => Side::Theirs,
        Taken::Base => Side::Base,
    };
    let workspace = session.workspace()?;
    let conflicts = workspace.read()?.conflicts()?;
    let in_lists = workspace.list_conflicts()?;
    let mut fields = args.fields.clone();
    let list_of = |conflict: &Conflict| -> Option<String> {
        conflict.field.rsplit_once(':').map(|(name, _)| name.to_owned())
    };
    let is_listed = |field: &String| {
        in_lists
            .iter()
            .any(|conflict| conflict.field == *field || list_of(conflict).as_ref() == Some(field))
    };
    let mut listed: Vec<String> = fields.iter().filter(|field| is_listed(field)).cloned().collect();
    fields.retain(|field| !is_listed(field));
    if args.all {
        fields = conflicts.iter().map(|conflict| conflict.file.name().to_owned()).collect();
        fields.iter_mut().for_each(|name| name.truncate(name.find('.').unwrap_or(name.len())));
        fields.dedup();
        listed = in_lists.iter().filter_map(list_of).collect();
        listed.dedup();
        if fields.is_empty() && listed.is_empty() {
            print_message(session, "no conflicts");
            return Ok(0);
        }
    }
    if !listed.is_empty() {
        let outcome = workspace.take_in_lists(side, &listed)?;
        session.output.outcome(&outcome, session.global.dry_run);
        if !session.global.dry_run {
            let left = workspace.list_conflicts()?;
            let mut names: Vec<String> = in_lists.iter().filter_map(list_of).collect();
            names.dedup();
            names.retain(|name| left.iter().all(|one| list_of(one).as_ref() != Some(name)));
            git::stage_resolved(workspace.directory(), &names)?;
        }
        if fields.is_empty() {
            return Ok(0);
        }
    }
    if fields.is_empty() {
        let failure = Failure::usage("name the fields to resolve, or use `--all`");
        return Err(failure.hint("`statedir merge --list` shows them"));
    }
    // A log is a set of entries: it is united, whichever side is taken.
    let is_history = |field: &String| field.split('.').next() == Some("history");
    let has_history = fields.iter().any(is_history);
    fields.retain(|field| !is_history(field));
    if has_history && !session.global.dry_run {
        git::unite_history(workspace.directory(), side)?;
    }
    if has_history && fields.is_empty() {
        let would = if session.global.dry_run { "would have " } else { "" };
        print_message(session, &format!("history: {would}merged the entries of both sides"));
    }
    let mut changed = Vec::new();
    if !fields.is_empty() {
        let outcome = workspace.take_side(side, &fields)?;
        session.output.outcome(&outcome, session.global.dry_run);
        changed = outcome.changed;
    }
    if !session.global.dry_run {
        let left = session.workspace_as_it_is()?.read()?.conflicts()?;
        for file in StateFile::FIVE {
            let was = conflicts.iter().any(|conflict| conflict.file == file);
            if was && left.iter().all(|conflict| conflict.file != file) {
                // Outside of a repository there is nobody to tell.
                let is_marked = git::mark_resolved(workspace.directory(), file).unwrap_or(false);
                let clean = |other: &StateFile| left.iter().all(|left| left.file != *other);
                if is_marked && changed.iter().all(clean) {
                    git::stage(workspace.directory(), &changed)?;
                }
            }
        }
    }
    Ok(0)
}

/// Prints an answer that is only a message.
fn print_message(session: &mut Session<'_>, message: &str) {
    session.output.value(|| json!({ "message": message, "settled": 0 }));
    session.output.line(message);
}

fn resolve(session: &mut Session<'_>) -> CliResult {
    let workspace = session.workspace()?;
    let resolved: Vec<Resolved> = git::resolve(workspace.directory(), session.global.dry_run)?;
    let left: usize = resolved.iter().map(|file| file.conflicts.len()).sum();
    session.output.value(|| json!({ "resolved": resolved, "left": left }));
    if resolved.is_empty() {
        session.output.line("git left nothing in conflict");
    }
    for file in &resolved {
        let count = file.conflicts.len();
        let rest = match count {
            0 if file.kept => EDITED.to_owned(),
            _ if file.kept => {
                "unchanged: `statedir merge --help` shows how to resolve it".to_owned()
            }
            0 => "merged".to_owned(),
            1 => "merged, 1 conflict left".to_owned(),
            _ => format!("merged, {count} conflicts left"),
        };
        session.output.line(format!("{}: {rest}", file.file));
    }
    for conflict in resolved.iter().flat_map(|file| &file.conflicts) {
        print(session, conflict);
    }
    Ok(0)
}

/// Merge one state file for git, which calls this with %O %A %B %P
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  git config merge.statedir.driver 'statedir merge-driver %O %A %B %P'")]
pub(in crate::adapters) struct DriverArgs {
    /// The common version
    base: PathBuf,
    /// Our version, which is replaced by the result
    ours: PathBuf,
    /// Their version
    theirs: PathBuf,
    /// The path in the repository
    path: String,
}

pub(in crate::adapters::cli) fn drive_merge(
    session: &mut Session<'_>,
    args: &DriverArgs,
) -> CliResult {
    match drive(&args.base, &args.ours, &args.theirs, &args.path) {
        Ok(Driven::Merged(conflicts)) => {
            for conflict in &conflicts {
                session.output.note(&format!("conflict in {}: {}", args.path, conflict.field));
            }
            Ok(u8::from(!conflicts.is_empty()))
        }
        Ok(Driven::ByLines { clean, why }) => {
            session.output.note(&format!("{} was merged line by line: {why}", args.path));
            Ok(u8::from(!clean))
        }
        // Git then reports an ordinary conflict, with our version in the file.
        Err(error) => {
            session.output.note(&format!("{} was not merged: {error}", args.path));
            Ok(1)
        }
    }
}
