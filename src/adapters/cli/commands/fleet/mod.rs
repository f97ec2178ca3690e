//! States of many machines in one database.

mod agent;
mod lease;
mod recover;
mod show;

use std::{collections::BTreeMap, path::PathBuf, process::Stdio, time::Duration};

use serde_json::json;

use crate::{
    adapters::{
        cli::{CliResult, Failure, Session, args::duration},
        fleet::{
            self, Address, Database, Filter, FilterColumn, FleetError, Joined, LONGEST_LEASE,
            Membership, ProjectChoice,
        },
    },
    domain::{ErrorCode, format_age},
    text::display::counted,
    workspace::Workspace,
};

/// Keep states of many machines in a database, one writer at a time
///
/// A fleet is a SQLite file or a PostgreSQL database. `join` makes a state part of it; `push`
/// publishes what changed since the last push, and of the history only what was added. One machine
/// at a time has the lease of a project: a push without it is refused (exit 3), whatever the clocks
/// say. Losing a machine loses at most what was not pushed; another one claims the project, pulls
/// it and continues.
///
/// The files on the machine with the lease stay the truth, and no other command waits for a network.
/// Pushes happen at the end of a client's turn, by `fleet agent`, or by hand.
///
/// The database is $STATEDIR_FLEET, else the one given to `fleet init`, else a SQLite file in your
/// home. The machine is $STATEDIR_HOST, else the host's name with an id of its own. A password comes
/// from the address in the environment, $PGPASSWORD or ~/.pgpass, and is never written anywhere.
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir fleet init postgres://worker@db.example/fleet
  statedir fleet join --name billing
  statedir fleet push
  statedir fleet claim --next --where status=active
  statedir fleet pull billing work/billing/state
  statedir fleet list --status failed
  statedir fleet recover --all --apply"
)]
pub(in crate::adapters) enum Verb {
    /// Choose the database, and create missing tables
    #[command(after_help = "\
Examples:
  statedir fleet init
  statedir fleet init sqlite:/srv/fleet.db
  statedir fleet init 'postgres://worker@db.example/fleet?sslrootcert=/etc/ssl/db.pem'")]
    Init {
        /// sqlite:PATH or postgres://USER@HOST/DATABASE; else a file in your home
        url: Option<String>,
    },
    /// Show what is connected and how old it is
    #[command(after_help = "Examples:\n  statedir fleet status\n  statedir fleet status --json")]
    Status,
    /// Make this state part of the fleet, with the lease for this machine
    #[command(after_help = "Examples:\n  statedir fleet join --name billing")]
    Join {
        /// Its name in the fleet, which also renames it; else the execution_id
        #[arg(long)]
        name: Option<String>,
        /// Leave values that look like secrets in the searchable document
        #[arg(long)]
        with_secrets: bool,
        #[command(flatten)]
        lease: Lease,
    },
    /// Publish what changed since the last push
    #[command(after_help = "Examples:\n  statedir fleet push\n  statedir fleet push --whole")]
    Push {
        /// Publish the whole history anew, after its published part was changed
        #[arg(long)]
        whole: bool,
        #[command(flatten)]
        lease: Lease,
    },
    /// Take the lease of a project that no other machine holds
    #[command(after_help = "\
Examples:
  statedir fleet claim
  statedir fleet claim billing
  statedir fleet claim --next
  statedir fleet claim --next --where status=active --where template=ticket")]
    Claim {
        /// Its name or execution_id; else the project of this state
        #[arg(value_name = "NAME", conflicts_with = "next")]
        name: Option<String>,
        /// The free project that has been idle longest
        #[arg(long)]
        next: bool,
        /// Only projects with this value in a column (status, machine, agent, template, …)
        #[arg(long = "where", value_name = "COLUMN=VALUE", requires = "next", value_parser = condition)]
        conditions: Vec<(FilterColumn, String)>,
        #[command(flatten)]
        lease: Lease,
    },
    /// Give up the lease
    #[command(after_help = "Examples:\n  statedir fleet release\n  statedir fleet release billing")]
    Release {
        /// The project; else the one of this state
        name: Option<String>,
    },
    /// Take the lease even though another machine holds it
    #[command(after_help = "Examples:\n  statedir fleet steal billing --why 'its machine is gone'")]
    Steal {
        /// The project
        name: String,
        /// The reason, for the history
        #[arg(long, value_name = "TEXT")]
        why: String,
        #[command(flatten)]
        lease: Lease,
    },
    /// Copy a project to this machine, byte for byte
    #[command(after_help = "\
Examples:
  statedir fleet pull billing
  statedir fleet pull billing work/billing/state
  statedir fleet pull billing --merge")]
    Pull {
        /// The project
        name: String,
        /// The state directory; else where this machine has it, else NAME/state
        #[arg(value_name = "DIR")]
        into: Option<PathBuf>,
        /// Merge unpublished changes with what is published, by meaning
        #[arg(long)]
        merge: bool,
    },
    /// List projects: failed ones, open reviews and silent machines first
    #[command(after_help = "\
Examples:
  statedir fleet list
  statedir fleet list --status active --older-than 1h
  statedir fleet list --machine build7 --text 'vector databases' --json")]
    List(show::ListArgs),
    /// Show one project
    #[command(
        after_help = "Examples:\n  statedir fleet show billing\n  statedir fleet show billing --json"
    )]
    Show {
        /// Its name or execution_id
        name: String,
    },
    /// Print projects as they are published
    #[command(
        after_help = "Examples:\n  statedir fleet watch\n  statedir fleet watch --for 10m --json"
    )]
    Watch(show::WatchArgs),
    /// Sum up costs, times and results of all projects
    #[command(after_help = "Examples:\n  statedir fleet metrics --by template")]
    Metrics(show::MetricsArgs),
    /// Claim, pull and recover every active project whose lease has expired
    Recover(recover::Args),
    /// Push every joined state of this machine as it changes, and send heartbeats
    Agent(agent::Args),
}

// No doc comment: it would replace the help of the verbs that use it.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(in crate::adapters) struct Lease {
    /// How long the lease lasts; a push and `fleet agent` renew it
    #[arg(long = "for", value_name = "TIME", default_value = "5m", value_parser = lease_time)]
    lease: Duration,
}

fn lease_time(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    match time.is_zero() || time > LONGEST_LEASE {
        true => Err("a lease lasts from 1ms to 24h".to_owned()),
        false => Ok(time),
    }
}

fn condition(text: &str) -> Result<(FilterColumn, String), String> {
    let (column, value) = text.split_once('=').ok_or("such as status=active")?;
    Ok((FilterColumn::named(column.trim()), value.trim().to_owned()))
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Self {
        let error = match error {
            FleetError::Workspace(error) => return error.into(),
            error => error,
        };
        let mut failure = Self::new(error.code(), error.to_string());
        if let FleetError::Refused(refusal) = &error {
            failure.data = Some(Box::new(json!({ "refusal": refusal })));
        }
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    if session.global.dry_run {
        return Err(Failure::usage("`--dry-run` cannot be used with `fleet`"));
    }
    match verb {
        Verb::Init { url } => init(session, url.as_deref()),
        Verb::Status => status(session),
        Verb::Join { name, with_secrets, lease } => join(session, name, with_secrets, lease.lease),
        Verb::Push { whole, lease } => push(session, whole, lease.lease),
        Verb::Claim { name, next, conditions, lease: time } => {
            let wanted = match name {
                _ if next => ProjectChoice::Next(Filter { equal: conditions, ..Filter::default() }),
                Some(name) => ProjectChoice::Named(name),
                None => {
                    ProjectChoice::Named(lease::project_of_state(session).map_err(|failure| {
                        failure.hint(
                            "name a project, or take a free one: `statedir fleet claim --next`",
                        )
                    })?)
                }
            };
            lease::claim(session, wanted, time.lease)
        }
        Verb::Release { name } => lease::release(session, name),
        Verb::Steal { name, why, lease: time } => lease::steal(session, &name, &why, time.lease),
        Verb::Pull { name, into, merge } => lease::pull(session, &name, into, merge),
        Verb::List(args) => show::list(session, &args),
        Verb::Show { name } => show::show(session, &name),
        Verb::Watch(args) => show::watch(session, &args),
        Verb::Metrics(args) => show::metrics(session, &args),
        Verb::Recover(args) => recover::run(session, &args),
        Verb::Agent(args) => agent::run(session, &args),
    }
}

/// This machine.
fn host(session: &Session<'_>) -> Result<String, Failure> {
    let host = session.environment()?.identity().host.clone();
    host.map(|host| fleet::machine(&host)).ok_or_else(|| {
        let message = "this machine has no name";
        Failure::new(ErrorCode::BadValue, message)
            .hint("set STATEDIR_HOST, such as STATEDIR_HOST=build7")
    })
}

fn database() -> Result<(Address, Box<dyn Database>), Failure> {
    let address = fleet::configured()?;
    let database = fleet::open(&address)?;
    Ok((address, database))
}

fn init(session: &mut Session<'_>, url: Option<&str>) -> CliResult {
    let address = match url {
        Some(url) => Address::parse(url)?,
        None => fleet::configured()?,
    };
    let made = fleet::install(&address)?;
    if url.is_some() {
        fleet::remember(&address)?;
    }
    let fleet = address.to_string();
    session.output.value(|| json!({ "fleet": fleet, "created": made }));
    let done = if made { "created the tables of" } else { "the tables exist:" };
    session.output.line(format!("{done} {fleet}"));
    if has_password(url) {
        let note = "the password was not kept: put it into ~/.pgpass or PGPASSWORD";
        session.output.note(note);
    }
    Ok(0)
}

fn has_password(url: Option<&str>) -> bool {
    let Some(Ok(address)) = url.map(Address::parse) else { return false };
    url.is_some_and(|url| url.starts_with("postgres") && address.to_string() != url.trim())
}

fn status(session: &mut Session<'_>) -> CliResult {
    let (address, mut database) = database()?;
    let (what, host) = (database.description()?, host(session)?);
    let all = database.list(&Filter::default())?;
    let held = all.iter().filter(|project| project.lease.is_held()).count();
    let count = |status: &str| all.iter().filter(|project| project.status == status).count();
    let here =
        session.workspace().ok().and_then(|workspace| Membership::find(&workspace).ok().flatten());
    let there = here.as_ref().and_then(|here| all.iter().find(|project| project.id == here.id));
    // How many projects each machine has, and how long ago it was heard of.
    let mut machines: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for project in &all {
        let heard = u64::try_from(project.silent_ms).unwrap_or(0);
        let (projects, last) = machines.entry(project.machine()).or_insert((0, heard));
        (*projects, *last) = (*projects + 1, heard.min(*last));
    }
    session.output.value(|| {
        json!({ "fleet": address.to_string(), "database": what, "machine": host,
            "projects": all.len(), "active": count("active"), "failed": count("failed"),
            "held": held, "here": here, "project": there,
            "machines": machines.iter().map(|(machine, (projects, heard))| {
                json!({ "machine": machine, "projects": projects, "heard_ms": heard })
            }).collect::<Vec<_>>() })
    });
    session.output.line(format!("fleet     {address} ({what})"));
    session.output.line(format!("machine   {host}"));
    session.output.line(format!(
        "projects  {}: {} active, {} failed, {held} held by a machine",
        all.len(),
        count("active"),
        count("failed")
    ));
    for (machine, (projects, heard)) in machines {
        let projects = counted(projects, "project", "projects");
        let heard = format_age(heard);
        session
            .output
            .line(format!("          {machine}: {projects}, last heard from {heard} ago"));
    }
    match (here, there) {
        (Some(here), Some(project)) => {
            session.output.line(format!("here      {}", show::line(&project.into())));
            if project.lease.fence != here.fence {
                session.output.line("          this machine does not have its lease");
            }
        }
        (Some(here), None) => {
            session.output.line(format!("here      `{}` is not in this fleet", here.name));
        }
        (None, _) => {}
    }
    Ok(0)
}

fn join(
    session: &mut Session<'_>,
    name: Option<String>,
    with_secrets: bool,
    lease: Duration,
) -> CliResult {
    if let Some(name) = &name
        && (name.trim().is_empty() || name.len() > 200 || name.contains(char::is_control))
    {
        let message = "a name is one line of at most 200 bytes";
        return Err(Failure::new(ErrorCode::BadName, message));
    }
    let (address, mut database) = database()?;
    let (workspace, host) = (session.workspace()?, host(session)?);
    // The log must know the files before this machine can remember what it published.
    workspace.adopt_files()?;
    let fleet = address.to_string();
    let request = Joined { name: name.as_deref(), host: &host, fleet: &fleet, with_secrets, lease };
    let (known, _) = fleet::join(&mut *database, &workspace, &request)?;
    print_membership(
        session,
        &known,
        format!("`{}` is part of the fleet; {host} has the lease", known.name),
    )
}

fn push(session: &mut Session<'_>, whole: bool, lease: Duration) -> CliResult {
    let (workspace, host) = (session.workspace()?, host(session)?);
    Membership::of(&workspace)?;
    let (_, mut database) = database()?;
    let (known, changed) = fleet::push(&mut *database, &workspace, &host, lease, whole)?;
    let message = match changed {
        true => format!("published `{}` at revision {}", known.name, known.revision),
        false => format!("`{}` is already published, at revision {}", known.name, known.revision),
    };
    session.output.value(|| json!({ "name": known.name, "id": known.id, "pushed": changed,
            "revision": known.revision, "fence": known.fence, "history_length": known.history_length }));
    session.output.line(message);
    Ok(0)
}

/// Publishes a joined state beside the command that runs now, which does not wait for it.
pub(in crate::adapters::cli) fn push_later(workspace: &Workspace) {
    let is_joined = Membership::find(workspace).is_ok_and(|known| known.is_some());
    let Some(program) = std::env::current_exe().ok().filter(|_| is_joined) else { return };
    let mut push = std::process::Command::new(program);
    push.arg("-C").arg(workspace.directory()).args(["fleet", "push"]);
    push.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The client may kill the hook's process group.
    std::os::unix::process::CommandExt::process_group(&mut push, 0);
    // What is not published now is published with the next push.
    let _ = push.spawn();
}

fn print_membership(session: &mut Session<'_>, known: &Membership, message: String) -> CliResult {
    session.output.value(|| {
        json!({ "name": known.name, "id": known.id, "fence": known.fence,
            "revision": known.revision, "fleet": known.fleet })
    });
    session.output.line(message);
    Ok(0)
}
